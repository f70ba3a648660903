import { expect, it } from 'vitest';
import { customColumns } from './custom-columns.js';

it('a table ends before a column whose path cannot be read', () => {
  const column = (name: string, jsonPath: string): object => ({ name, type: 'string', jsonPath });
  const columns = customColumns([column('A', '.spec.a'), column('B', '.spec.b['), column('C', '.spec.c')]);
  expect(columns.columns.map(({ name }) => name)).toEqual(['Name', 'A']);
  const object = { metadata: { name: 'x' }, spec: { a: '1', c: '3' } };
  expect(columns.cells(object, 0)).toEqual(['x', '1']);
});
