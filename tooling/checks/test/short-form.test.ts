// What readers copy takes the object and returns its status; where a program stays on keys, it says why.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const shown = [
  'README.md',
  'docs/**/*.md',
  'packages/*/README.md',
  'packages/create/{template,additions,built-in}/**/*.ts',
  'examples/*/README.md',
  'examples/*/src/**/*.ts',
  'packages/*/src/**/*.ts',
];
const isWebhook = /\.complete\(\)/;
const saysWhy = /A function on keys: |A Reconciler that /;

/** The lines of a text on which a controller is completed with a function on keys, without a word about it. */
function onKeys(text: string): string[] {
  const lines = text.split('\n');
  return lines.filter(
    (line, at) =>
      /^[ *]*\.complete\(|\)\.complete\(async/.test(line) &&
      !isWebhook.test(line) &&
      !saysWhy.test(lines[at - 1] ?? ''),
  );
}

it('is the short form in READMEs, guides, the scaffold, examples and API examples', () => {
  const files = globSync(shown, { cwd: root, exclude: (name) => /node_modules|\.test\.ts$|CHANGELOG/.test(name) });
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((file) =>
    onKeys(readFileSync(join(root, file), 'utf8')).map((line) => `${file}: ${line}`),
  );
  expect(found).toEqual([]);
});

it('is asked of programs on keys, which may say why', () => {
  const [chained, inOne] = [
    '  .complete(async (key) => {',
    'controllerManagedBy(manager).for(Pod).complete(async (key) => {',
  ];
  expect(onKeys(`${chained}\n${inOne}`)).toEqual([chained, inOne]);
  expect(onKeys(`  // A function on keys: one for all.\n${chained}`)).toEqual([]);
  expect(onKeys('webhookManagedBy(manager).for(Pod)\n  .complete();')).toEqual([]);
});
