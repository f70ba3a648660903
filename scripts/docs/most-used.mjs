// The exports that users meet most: how often each name occurs in the code of examples, pages and READMEs. The API
// reference has an example for the first hundred (tooling/checks/test/api-examples.test.ts).
// `node scripts/docs/most-used.mjs [how many | --json]` prints them.
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { blocksOf, documents } from './documents.mjs';

/** @typedef {{ name: string, package: string, file: string }} Export where a name is exported first, and which file declares it */
/** @typedef {Export & { uses: number }} Used */

/** Entry points of every package that are written by hand: kinds are generated. @returns {{ specifier: string, file: string }[]} */
function entryPoints() {
  return readdirSync('packages').flatMap((name) => {
    const { exports } = JSON.parse(readFileSync(join('packages', name, 'package.json'), 'utf8'));
    return Object.entries(exports).flatMap(([path, target]) => {
      const source = typeof target === 'object' && target !== null ? target['@kctl/source'] : undefined;
      if (source === undefined || /^\.\/(?:kinds|schemas|internal)\b/.test(path)) return [];
      return [{ specifier: `@kctl/${name}${path.slice(1)}`, file: join('packages', name, source) }];
    });
  });
}

/**
 * The names that a module exports, each with the file that declares it. Names of other packages are left to those.
 * @param {string} file @returns {Map<string, string>}
 */
function exportsOf(file) {
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const [, names = '', from] of text.matchAll(/^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?/gm)) {
    if (from !== undefined && !from.startsWith('.')) continue;
    const target = from === undefined ? file : join(dirname(file), from.replace(/\.js$/, '.ts'));
    for (const part of names.split(',')) {
      const [original = '', renamed] = part
        .trim()
        .replace(/^type /, '')
        .split(' as ');
      if (original !== '') found.set(renamed ?? original, exportsOf(target).get(original) ?? target);
    }
  }
  for (const [, from = ''] of text.matchAll(/^export (?:type )?\* from '(\.[^']+)'/gm))
    for (const [name, at] of exportsOf(join(dirname(file), from.replace(/\.js$/, '.ts')))) found.set(name, at);
  const declared = /^export (?:declare )?(?:abstract )?(?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm;
  for (const [, name = ''] of text.matchAll(declared)) found.set(name, file);
  return found;
}

/** Every export that is written by hand. @returns {Export[]} */
export function everyExport() {
  /** @type {Map<string, Export>} */
  const all = new Map();
  for (const { specifier, file } of entryPoints())
    for (const [name, declaredIn] of exportsOf(file))
      if (!all.has(`${declaredIn} ${name}`))
        all.set(`${declaredIn} ${name}`, { name, package: specifier, file: declaredIn });
  return [...all.values()];
}

/** TypeScript that users read: sources of examples, `ts` blocks of documents. @returns {string[]} */
function readPrograms() {
  const examples = globSync('examples/*/src/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const blocks = documents().flatMap((file) => blocksOf(file).filter(({ language }) => language === 'ts'));
  return [...examples, ...blocks.map(({ text }) => text)];
}

/** Inline code of documents, outside of blocks. @returns {string[]} */
function inlineCode() {
  return documents().flatMap((file) => {
    const prose = readFileSync(file, 'utf8').replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
    return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  });
}

/** Exports by the number of their uses, the most used first; of equal ones functions and values before types. @returns {Used[]} */
export function mostUsed() {
  const all = everyExport().map((each) => ({ ...each, uses: 0 }));
  /** @type {Map<string, Used[]>} */
  const byName = Map.groupBy(all, ({ name }) => name);
  for (const program of readPrograms()) {
    const body = program.replaceAll(/^import [\s\S]*?;$/gm, '');
    for (const [, names = '', from = ''] of program.matchAll(/import (?:type )?\{([^}]*)\} from '(@kctl\/[^']*)'/g)) {
      for (const name of names.split(',').map(localName)) {
        const candidates = byName.get(name) ?? [];
        // A name that several packages have counts for the one that is imported; what it re-exports, for its origin.
        const used = candidates.find((each) => each.package === from) ?? candidates[0];
        if (used !== undefined) used.uses += body.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0;
      }
    }
  }
  for (const code of inlineCode()) {
    const name = /^(?:throw |await |new )*([A-Za-z]\w+)(?:\(|<|$)/.exec(code)?.[1];
    const [first] = (byName.get(name ?? '') ?? []).toSorted((a, b) => b.uses - a.uses);
    if (first !== undefined) first.uses += 1;
  }
  const rank = (/** @type {Used} */ { name }) => (/^[a-z]/.test(name) ? `0${name}` : `1${name}`);
  return all.sort((a, b) => b.uses - a.uses || (rank(a) < rank(b) ? -1 : 1));
}

const localName = (/** @type {string} */ part) =>
  part
    .trim()
    .replace(/^type /, '')
    .split(' as ')[0] ?? '';

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [wanted = '100'] = process.argv.slice(2);
  if (wanted === '--json') console.log(JSON.stringify(mostUsed()));
  else
    for (const { uses, name, package: from } of mostUsed().slice(0, Number(wanted)))
      console.log(`${String(uses).padStart(4)}  ${name}  ${from}`);
}
