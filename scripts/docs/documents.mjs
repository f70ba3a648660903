// The Markdown that users read, and the code blocks in it. A `ts` block is a module of its own. After the language stand
// marks: `fragment` (not compiled), `program` (complete: it is run too, and prints what the `text output` block after it
// shows), `[file.ts]` (a title).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
