import { join } from 'node:path';
import { startExample } from '@kctl/vitest-config/example';
import { expect, it } from 'vitest';

it('renders each picture once, and the failing one in the end', async () => {
  const example = startExample(join(import.meta.dirname, '..', 'src', 'main.ts'));
  expect(await example.exited).toBe(0);
  const lines = example.output.trim().split('\n');
  expect(lines[0]).toBe('30 reports, 3 pictures wait');
  expect(lines.filter((line) => line.endsWith(': rendered')).sort()).toEqual([
    'cat.jpg: rendered',
    'dog.jpg: rendered',
    'truncated.jpg: rendered',
  ]);
  expect(lines.filter((line) => line.includes('not complete')).map((line) => line.at(-2))).toEqual(['1', '2', '3']);
  expect(lines.at(-1)).toBe('all done');
});
