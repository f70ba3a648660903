// Troubleshooting quotes log lines and errors: each is in the source of a package as it stands.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(root, 'docs', 'troubleshooting.md'), 'utf8');
const quoted = [...page.matchAll(/^```text log\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
  block.split('\n').filter((line) => line !== ''),
);
const sources = readdirSync(join(root, 'packages'))
  .flatMap((name) => {
    const folder = join(root, 'packages', name, 'src');
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file));
  })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('generated'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

it.each(quoted)('%j is a message of a package', (message) => {
  expect(sources.includes(message)).toBe(true);
});

it('finds the quotations', () => {
  expect(quoted.length).toBeGreaterThan(10);
});
