// The table of costs is what the tests declare: a row that cannot be read fails instead of being left out.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const { declaredRows }: { declaredRows(file: string, text: string): Record<string, string>[] } = await import(
  join(import.meta.dirname, '..', '..', '..', 'scripts', 'costs.mjs')
);

const row = (retains: string): string =>
  `structure({ package: '@kctl/a', structure: 'Store', operation: 'get', cost: 'O(1)', retains: ${retains} }, () => {});`;

describe('the cost table', () => {
  it('reads the rows of a test file in their order', () => {
    const rows = declaredRows('a.test.ts', `${row("'what ' + 'is stored'")}\n${row('`nothing`')}`);
    expect(rows.map((each) => each['retains'])).toEqual(['what is stored', 'nothing']);
  });

  it('refuses a row that is not literal or not complete, and names the line', () => {
    expect(() => declaredRows('a.test.ts', `\n${row('computed()')}`)).toThrow('a.test.ts:2: retains is not a string');
    expect(() => declaredRows('a.test.ts', row("''"))).toThrow('a.test.ts:1: the row has no retains');
    expect(() => declaredRows('a.test.ts', 'structure(shared, () => {})')).toThrow('is not an object literal');
  });
});
