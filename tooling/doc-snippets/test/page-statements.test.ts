// Each statement of the pages that compare and promise has a test that proves it: a new row, item or paragraph needs one.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { others, statements } from './page-statements.js';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Rows of tables, items of lists and paragraphs, without headings, code and markup. */
function partsOf(page: string): string[] {
  const lines = read(page)
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .split('\n');
  return lines.filter(
    (line, index) =>
      line !== '' && !/^(?:#|:::|<|!\[|\|[-:| ]+\|$)/.test(line) && !/^\|[-:| ]+\|$/.test(lines[index + 1] ?? ''),
  );
}

/** Pages of which every part is known; of the others, the statements that are listed. */
const whole = [
  'docs/index.md',
  'docs/guides/deployment.md',
  ...['pepr', 'kopf', 'defaults'].map((name) => `docs/coming-from/${name}.md`),
];

describe.each(Object.entries(statements))('%s', (page, proofs) => {
  it.each(proofs)('%s', (words, file, title) => {
    expect(read(page)).toContain(words);
    expect(existsSync(join(root, file))).toBe(true);
    expect(read(file)).toContain(title);
  });
});

it.each(whole)('%s has a test for each statement', (page) => {
  const known = [...(statements[page] ?? []).map(([words]) => words), ...(others[page] ?? [])];
  expect(partsOf(page).filter((part) => !known.some((words) => part.includes(words)))).toEqual([]);
});

it.each(Object.keys(statements))('%s names scripts of the workspace', (page) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = [...read(page).matchAll(/`(?:npx )?pnpm ([a-z:]+)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});
