// Writes facts.json from the Go source of the Kubernetes API, and from it the built-in kinds of @kctl/apimachinery.
//
//   generate.mjs           both (needs Go)
//   generate.mjs --kinds   the kinds alone, from the committed facts.json
//   generate.mjs --check   writes nothing and fails when a committed file differs; without Go it checks the kinds alone
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { renderLifecycles } from './lifecycles.mjs';
import { renderBuiltIn } from './render-built-in.mjs';
import { renderKinds } from './render-kinds.mjs';
import { renderSchemas } from './render-schemas.mjs';
import { renderStrategic } from './render-strategic.mjs';

const here = import.meta.dirname;
const root = join(here, '..', '..');
const factsFile = join(here, 'facts.json');
const machinery = join(root, 'packages', 'apimachinery');
const kindsDirectory = join(machinery, 'src', 'kinds', 'generated');
const schemasDirectory = join(machinery, 'src', 'schemas', 'generated');
const manifestFile = join(machinery, 'package.json');

const isCheck = process.argv.includes('--check');
const hasGo = spawnSync('go', ['version']).status === 0;
if (!isCheck && !process.argv.includes('--kinds') && !hasGo) {
  console.error('kube-facts: Go is not on the PATH. Install it, or pass --kinds to go by the committed facts.json');
  process.exit(1);
}

/** path → content of everything that is generated */
const wanted = new Map();
let factsText = readFileSync(factsFile, 'utf8');
if (hasGo && !process.argv.includes('--kinds')) {
  factsText = readSource();
  wanted.set(factsFile, factsText);
  wanted.set(join(root, 'packages', 'cli', 'src', 'doctor', 'generated', 'lifecycles.ts'), renderLifecycles(here));
}
const facts = JSON.parse(factsText);
const files = renderKinds(facts).set('built-in.ts', renderBuiltIn(facts));
for (const [name, content] of files) wanted.set(join(kindsDirectory, name), content);
const schemas = renderSchemas(facts, files);
for (const [name, content] of schemas) wanted.set(join(schemasDirectory, name), content);
wanted.set(join(machinery, 'src', 'strategic-merge', 'generated', 'facts.ts'), renderStrategic(facts));
wanted.set(manifestFile, withExports({ kinds: [...files.keys()], schemas: [...schemas.keys()] }));

const stale = [...wanted].filter(([file, content]) => read(file) !== content).map(([file]) => file);
const orphans = [...listFiles(kindsDirectory), ...listFiles(schemasDirectory)].filter((file) => !wanted.has(file));
if (isCheck) {
  for (const file of stale) console.error(`${relative(root, file)} is stale: run tooling/kube-facts/generate.mjs`);
  for (const file of orphans) console.error(`${relative(root, file)} is generated no more: run generate.mjs`);
  if (!hasGo) console.error('Go is not on the PATH: facts.json itself was not checked');
  process.exitCode = stale.length + orphans.length === 0 ? 0 : 1;
} else {
  for (const file of stale) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, wanted.get(file));
  }
  for (const file of orphans) rmSync(file);
  console.log(`kube-facts: ${files.size - 1} group versions, ${stale.length} files written, ${orphans.length} removed`);
}

/** Runs the Go program. */
function readSource() {
  const directory = mkdtempSync(join(tmpdir(), 'kube-facts-'));
  try {
    const file = join(directory, 'facts.json');
    execFileSync('go', ['run', '.', '-out', file], { cwd: here, stdio: 'inherit' });
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The manifest of apimachinery with one subpath for each generated module, before `./package.json`. */
function withExports(/** @type {Record<string, string[]>} */ folders) {
  const manifest = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const isGenerated = (/** @type {string} */ subpath) =>
    Object.keys(folders).some((folder) => subpath.startsWith(`./${folder}/`)) || subpath === './package.json';
  const kept = Object.entries(manifest.exports).filter(([subpath]) => !isGenerated(subpath));
  const generated = Object.entries(folders).flatMap(([folder, names]) =>
    names.sort().map((name) => {
      const base = name.replace(/\.ts$/, '');
      return [
        `./${folder}/${base}`,
        {
          '@kctl/source': `./src/${folder}/generated/${base}.ts`,
          types: `./dist/${folder}/generated/${base}.d.ts`,
          default: `./dist/${folder}/generated/${base}.js`,
        },
      ];
    }),
  );
  manifest.exports = Object.fromEntries([...kept, ...generated, ['./package.json', './package.json']]);
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function read(/** @type {string} */ file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function listFiles(/** @type {string} */ directory) {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}
