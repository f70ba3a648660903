// Declared dependencies equal imports, for each package: what its sources import is declared as a dependency (or peer),
// what only its tests import as a development dependency, and nothing else is declared. Runtime dependencies are ranges,
// those on siblings exact: packages use each other's internal entries, which promise nothing (designs/020).
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

/** Declared by every package for its build and tests, without an import that says so. */
const tools = new Set([
  '@kctl/lifetime',
  '@kctl/tsconfig',
  '@kctl/tsup-config',
  '@kctl/vitest-config',
  '@types/node',
  'fast-check',
  'tsup',
  'typescript',
  'vitest',
]);

/** @param {string} specifier @returns {string | undefined} the package that an import names */
const packageOf = (specifier) => {
  if (/^(node:|\.|#|data:)/.test(specifier)) return undefined;
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
};

/** @param {readonly string[]} files @returns {Set<string>} */
const importedBy = (files) =>
  new Set(
    files
      .flatMap((file) => ts.preProcessFile(readFileSync(file, 'utf8'), true, true).importedFiles)
      .map(({ fileName }) => packageOf(fileName))
      .filter((name) => name !== undefined),
  );

/** The versions that `catalog:` stands for. */
const catalog = new Map(
  readFileSync(new URL('../pnpm-workspace.yaml', import.meta.url), 'utf8')
    .split('\n')
    .map((line) => /^  '?([^':]+)'?: (\S+)$/.exec(line))
    .filter((entry) => entry !== null)
    .map(([, name = '', version = '']) => [name, version]),
);

/** Whether a version lets an application have one copy for all, and a fix without a release here. @param {string} name @param {string} version */
const isRange = (name, version) =>
  version.startsWith('workspace:') || /^[\^>]/.test(version === 'catalog:' ? (catalog.get(name) ?? '') : version);

/**
 * The optional peers of the packages that a package depends on: it supplies them by declaring them.
 *
 * @param {string} folder @param {ReadonlySet<string>} runtime @returns {Set<string>}
 */
const optionalPeers = (folder, runtime) =>
  new Set(
    [...runtime]
      .filter((name) => name.startsWith('@kctl/'))
      .flatMap((name) => {
        const file = join(folder, '..', name.slice('@kctl/'.length), 'package.json');
        if (!existsSync(file)) return [];
        const { peerDependenciesMeta = {} } = JSON.parse(readFileSync(file, 'utf8'));
        return Object.keys(peerDependenciesMeta);
      }),
  );

/**
 * What is wrong with the declarations of one package.
 *
 * @param {string} folder @returns {string[]}
 */
export function dependencyProblems(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const isTest = (/** @type {string} */ file) => file.endsWith('.test.ts') || !file.startsWith(join(folder, 'src'));
  const files = globSync([
    ...['src', 'test', 'bench', 'template', 'page'].map((name) => join(folder, name, '**/*.ts')),
    join(folder, 'build', '**/*.mjs'),
  ]);
  const bySources = importedBy(files.filter((file) => !isTest(file)));
  const byTests = importedBy(files.filter(isTest));
  const runtime = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
  const development = new Set(Object.keys(manifest.devDependencies ?? {}));
  const problems = [];
  for (const [name, version] of Object.entries(manifest.dependencies ?? {}))
    if (String(version).startsWith('workspace:') && version !== 'workspace:*')
      problems.push(`${name} is a sibling with a range: give workspace:*, which is published as its exact version`);
    else if (!isRange(name, String(version)))
      problems.push(`${name} is a dependency of exactly one version: give a range`);
  for (const name of bySources)
    if (name !== manifest.name && !runtime.has(name))
      problems.push(`${name} is imported by sources and not a dependency`);
  for (const name of byTests)
    if (name !== manifest.name && !runtime.has(name) && !development.has(name))
      problems.push(`${name} is imported by tests and not declared`);
  // Types of Node stand in declarations without an import of the package; check-packages.mjs compares them.
  for (const name of runtime)
    if (!bySources.has(name) && name !== '@types/node' && !optionalPeers(folder, runtime).has(name))
      problems.push(
        byTests.has(name)
          ? `${name} is imported by tests alone: a devDependency`
          : `${name} is a dependency and never imported`,
      );
  for (const name of development)
    if (!runtime.has(name) && !byTests.has(name) && !tools.has(name))
      problems.push(`${name} is a devDependency and never imported`);
  return problems;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const folder of globSync('packages/*'))
    for (const problem of dependencyProblems(folder)) {
      console.error(`${folder}/package.json: ${problem}`);
      process.exitCode = 1;
    }
}
