// Keeps what can be derived equal to its source: tsconfig references and turbo tags from architecture.json and the
// dependencies of each package.json. `node scripts/sync-packages.mjs` writes, `--check` fails on a difference.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @param {string} file @returns {any} */
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const format = (/** @type {unknown} */ value) => `${JSON.stringify(value, null, 2)}\n`;

/** @param {string} root */
export function readArchitecture(root) {
  const architecture = readJson(join(root, 'architecture.json'));
  /** @type {Map<string, number>} */
  const layerOf = new Map();
  for (const { layer, packages } of architecture.layers) for (const name of packages) layerOf.set(name, layer);
  return { ...architecture, layerOf };
}

/** The files that follow from the map, as `path → content`. @param {string} root */
export function derivedFiles(root) {
  const { layerOf, layers, scope, testsRead = {} } = readArchitecture(root);
  /** @type {Map<string, string>} */
  const files = new Map();
  const own = (/** @type {Record<string, string>} */ deps = {}) =>
    Object.keys(deps)
      .filter((name) => name.startsWith(`${scope}/`))
      .map((name) => name.slice(scope.length + 1))
      .filter((name) => layerOf.has(name))
      .sort();
  const directories = readdirSync(join(root, 'packages'))
    .filter((name) => existsSync(join(root, 'packages', name, 'package.json')))
    .sort();
  for (const name of directories) {
    const manifest = readJson(join(root, 'packages', name, 'package.json'));
    const references = own({ ...manifest.dependencies, ...manifest.peerDependencies });
    files.set(
      join('packages', name, 'tsconfig.build.json'),
      format({
        extends: '@kctl/tsconfig/base.json',
        compilerOptions: {
          composite: true,
          rootDir: 'src',
          outDir: 'dist',
          emitDeclarationOnly: true,
          tsBuildInfoFile: 'dist/tsconfig.tsbuildinfo',
        },
        include: ['src'],
        exclude: ['src/**/*.test.ts'],
        references: references.map((dependency) => ({ path: `../${dependency}/tsconfig.build.json` })),
      }),
    );
    files.set(
      join('packages', name, 'turbo.json'),
      format({
        extends: ['//'],
        tags: [`layer-${layerOf.get(name) ?? 'missing'}`],
        // A cached result of tests is valid only for the same files outside of the package.
        ...(testsRead[name] === undefined
          ? {}
          : {
              tasks: {
                test: {
                  inputs: [
                    '$TURBO_EXTENDS$',
                    ...testsRead[name].map((/** @type {string} */ file) => `$TURBO_ROOT$/${file}`),
                  ],
                },
              },
            }),
      }),
    );
  }
  files.set(
    'tsconfig.build.json',
    format({ files: [], references: directories.map((name) => ({ path: `packages/${name}/tsconfig.build.json` })) }),
  );
  const turbo = readJson(join(root, 'turbo.json'));
  const numbers = layers.map((/** @type {{ layer: number }} */ entry) => entry.layer);
  turbo.boundaries = {
    tags: Object.fromEntries(
      numbers.map((/** @type {number} */ layer) => [
        `layer-${layer}`,
        {
          dependencies: {
            deny: numbers
              .filter((/** @type {number} */ other) => other > layer)
              .map((/** @type {number} */ other) => `layer-${other}`),
          },
        },
      ]),
    ),
  };
  files.set('turbo.json', format(turbo));
  return files;
}

/** @param {string} root @returns {string[]} the files whose content is not what it should be */
export function staleFiles(root) {
  const stale = [];
  for (const [file, content] of derivedFiles(root)) {
    const path = join(root, file);
    const actual = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (!sameJson(actual, content)) stale.push(file);
  }
  return stale;
}

const sameJson = (/** @type {string} */ a, /** @type {string} */ b) => {
  try {
    return JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b));
  } catch {
    return false;
  }
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = process.cwd();
  const stale = staleFiles(root);
  if (process.argv.includes('--check')) {
    for (const file of stale) console.error(`${file} is stale: run node scripts/sync-packages.mjs`);
    process.exitCode = stale.length === 0 ? 0 : 1;
  } else {
    const files = derivedFiles(root);
    for (const file of stale) writeFileSync(join(root, file), files.get(file) ?? '');
    console.log(`${stale.length} files written`);
  }
}
