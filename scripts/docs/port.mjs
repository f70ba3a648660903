// The table of docs/coming-from/client-node.md: what each step of examples/from-client-node is in lines, in packages that
// it imports, and in packages of others that these install. `node scripts/docs/port.mjs` writes it, `--check` compares,
// `--json` prints what it counts.
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '../../docs/.vitepress/pages.mjs';

const page = 'docs/coming-from/client-node.md';
const example = 'examples/from-client-node';
const [begin, end] = ['<!-- port:begin -->', '<!-- port:end -->'];

/** Lines of code: without blank lines, comments and imports. @param {string} source */
export function linesOf(source) {
  return source
    .replaceAll(/^import [\s\S]*?;$/gm, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s*\/\//.test(line)).length;
}

/** Packages that a module imports, types included. @param {string} source @returns {string[]} */
export function importsOf(source) {
  const names = [...source.matchAll(/from '((?:@[^/']+\/)?[^/'.][^/']*)/g)].map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => !name.startsWith('node:')).sort();
}

/** Where Node finds a package from a folder. @param {string} name @param {string} from @returns {string | undefined} */
function folderOf(name, from) {
  for (let at = from; ; at = dirname(at)) {
    const candidate = join(at, 'node_modules', name);
    if (existsSync(candidate)) return realpathSync(candidate);
    if (at === dirname(at)) return undefined;
  }
}

/** What is installed with packages: they, and what they depend on. @param {readonly string[]} names @param {string} from */
function installedWith(names, from) {
  /** @type {Map<string, string>} */
  const found = new Map();
  const visit = (/** @type {string} */ name, /** @type {string} */ place) => {
    const folder = folderOf(name, realpathSync(place));
    if (folder === undefined || found.has(folder)) return;
    found.set(folder, name);
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    for (const each of Object.keys(dependencies)) visit(each, folder);
  };
  for (const name of names) visit(name, from);
  return [...found.values()];
}

/** Each step: the file, its lines, what it imports, and how many packages of others come with that. */
export function portedSteps() {
  const folder = join(example, 'src', 'steps');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .sort()
    .map((file) => {
      const source = readFileSync(join(folder, file), 'utf8');
      const imports = importsOf(source);
      const foreign = installedWith(imports, example).filter((name) => !name.startsWith('@kctl/'));
      return { file, lines: linesOf(source), imports, foreign: foreign.length };
    });
}

export function portTable() {
  const rows = portedSteps().map(({ file, lines, imports, foreign }) => {
    const names = imports.map((name) => `\`${name}\``).join(', ');
    return `| [\`${file}\`](${repository}/blob/main/${example}/src/steps/${file}) | ${lines} | ${names} | ${foreign} |`;
  });
  const head = ['| step | lines | imports | packages of others that come with them |', '|---|---:|---|---:|'];
  return [...head, ...rows].join('\n');
}

if (process.argv[1]?.endsWith('port.mjs')) {
  const text = readFileSync(page, 'utf8');
  const [before = '', rest = ''] = text.split(begin);
  const [, after = ''] = rest.split(end);
  const wanted = `${before}${begin}\n\n${portTable()}\n\n${end}${after}`;
  if (process.argv.includes('--json')) console.log(JSON.stringify(portedSteps()));
  else if (!process.argv.includes('--check')) writeFileSync(page, wanted);
  else if (wanted !== text) {
    console.error(`${page} is out of date: run node scripts/docs/port.mjs`);
    process.exitCode = 1;
  }
}
