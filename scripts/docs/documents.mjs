// The Markdown that users read, and the code blocks in it. A `ts` block is a module of its own. After the language stand
// marks: `fragment` (not compiled), `program` (complete: it is run too, and prints what the `text output` block after it
// shows), `recipe` (a program of one screen: scripts/docs/recipes.mjs runs all of them in one process), `[file.ts]` (a
// title).
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const generated = new Set(['packages', 'api', 'node_modules', '.vitepress', 'public']);

/** Hand-written pages of the site. @param {string} [folder] @returns {string[]} */
export function guides(folder = 'docs') {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      if (entry.isDirectory()) return generated.has(entry.name) ? [] : guides(join(folder, entry.name));
      return entry.name.endsWith('.md') ? [join(folder, entry.name)] : [];
    })
    .sort();
}

/** Every document whose code blocks are checked. */
export function documents() {
  const readmes = ['packages', 'examples'].flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name, 'README.md')),
  );
  return ['README.md', 'AGENTS.md', ...readmes, ...guides()].filter((file) => existsSync(file));
}

/**
 * @typedef {{ language: string, marks: string[], title: string | undefined, text: string, line: number }} Block
 * @param {string} markdown @returns {Block[]}
 */
export function codeBlocks(markdown) {
  return [...markdown.matchAll(/^( *)```(\w*)(.*)\n([\s\S]*?)^\1```/gm)].map((match) => ({
    language: match[2] ?? '',
    marks: (match[3] ?? '')
      .replace(/\[[^\]]*\]/, '')
      .trim()
      .split(/\s+/)
      .filter(Boolean),
    title: /\[([^\]]*)\]/.exec(match[3] ?? '')?.[1],
    text: (match[4] ?? '').replaceAll(new RegExp(`^${match[1]}`, 'gm'), ''),
    line: markdown.slice(0, match.index).split('\n').length + 1,
  }));
}

/** @param {string} file */
export const blocksOf = (file) => codeBlocks(readFileSync(file, 'utf8'));

/** What an `@example` may use without declaring it, so that it shows the one thing that it is about. */
const given = {
  client: "import('@kctl/client-http').HttpClient",
  manager: "import('@kctl/runtime').RuntimeManager",
  signal: 'AbortSignal',
  logger: "import('@kctl/telemetry').Logger",
  pod: "import('@kctl/client').ReadObject<typeof import('@kctl/apimachinery/kinds/core/v1').Pod>",
};

/** Sources whose TSDoc is the API reference. */
export const apiSources = () =>
  globSync('packages/*/src/**/*.ts', { exclude: (file) => /\.test\.ts$|\/kinds$/.test(String(file)) }).sort();

/**
 * The `ts` blocks of the `@example`s of a source, as modules: what they use and do not declare is declared below.
 * @param {string} file @returns {Block[]}
 */
export function examplesOf(file) {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(/^ *\/\*\*[\s\S]*?\*\//gm)].flatMap(({ 0: comment, index }) => {
    if (!comment.includes('@example')) return [];
    const markdown = comment.replaceAll(/^ *(?:\/\*\*| \*\/| \* ?)/gm, '');
    const before = source.slice(0, index).split('\n').length - 1;
    return codeBlocks(markdown).map((block) => {
      const declarations = Object.entries(given).filter(
        ([name]) => new RegExp(`\\b${name}\\b`).test(block.text) && !isDeclared(name, block.text),
      );
      const text = [block.text, ...declarations.map(([name, type]) => `declare const ${name}: ${type};\n`)].join('');
      return { ...block, text, line: before + block.line };
    });
  });
}

/** By a statement, an import, or a parameter of its own. @param {string} name @param {string} code */
function isDeclared(name, code) {
  const statement = `(?:const|let|using|function) (?:\\{[^}]*)?\\b${name}\\b|import [^;{]*\\{[^}]*\\b${name}\\b|\\b${name}: [A-Z]`;
  const parameter = `\\{[^{}]*\\b${name}\\b[^{}]*\\}(?:: \\{[^}]*\\})?(?: = \\{\\})?\\)(?:: [\\w<>]+)? (?:=>|\\{)`;
  return new RegExp(`${statement}|${parameter}`).test(code);
}
