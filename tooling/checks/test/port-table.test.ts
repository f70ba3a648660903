// The page for users of client-node counts lines and packages of each step of a port: the figures are those of the code.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

interface PortedStep {
  readonly file: string;
  readonly lines: number;
  readonly imports: readonly string[];
  readonly foreign: number;
}
const root = join(import.meta.dirname, '..', '..', '..');
const printed = execFileSync(process.execPath, ['scripts/docs/port.mjs', '--json'], { cwd: root, encoding: 'utf8' });
const steps = JSON.parse(printed) as PortedStep[];
const page = readFileSync(join(root, 'docs', 'coming-from', 'client-node.md'), 'utf8');
const rows = [...page.matchAll(/^\| \[`(\d-[\w-]+\.ts)`\]\([^)]*\) \| (\d+) \| ([^|]*) \| (\d+) \|$/gm)];

it('the page has every step, in order', () => {
  expect(rows.map(([, file]) => file)).toEqual(steps.map(({ file }) => file));
});

it.each(steps)('counts $file as it is', ({ file, lines, imports, foreign }) => {
  const [, , written, names = '', others] = rows.find(([, name]) => name === file) ?? [];
  expect(Number(written)).toBe(lines);
  expect(names.replaceAll('`', '').split(', ')).toEqual(imports);
  // A dependency of a dependency may come or go: `pnpm docs:build` asks for the exact number.
  expect(Math.abs(Number(others) - foreign)).toBeLessThanOrEqual(10);
});

it('each step adds one package, and the last one replaces them all', () => {
  const added = steps.slice(1, -1).map(({ imports }, index) => {
    const before = steps[index]?.imports ?? [];
    return imports.filter((name) => !before.includes(name));
  });
  expect(added).toEqual([
    ['@kctl/workqueue'],
    ['@kctl/apimachinery', '@kctl/client', '@kctl/client-http'], // a client, its contracts and its kinds
    ['@kctl/informer'],
    ['@kctl/leader-election'],
  ]);
  expect(steps.at(-1)?.imports).toEqual(['@kctl/apimachinery', '@kctl/runtime']);
});
