import { expect, test } from 'vitest';
import { compileSchema } from './compile.js';
import { applyDefaults } from './default.js';
import { LazyProperties } from './lazy-properties.js';
import { pruneUnknown } from './prune.js';
import type { Schema } from './schema.js';
import { validateValue } from './validate.js';
import { schemaWeight } from './weight.js';

function counted(): { compiled: string[]; properties: LazyProperties } {
  const compiled: string[] = [];
  const source = { b: { description: 'b' }, a: { description: 'a' }, c: 'no schema', __proto__: null };
  const compile = (schema: Readonly<Record<string, unknown>>): Schema => {
    compiled.push(typeof schema['description'] === 'string' ? schema['description'] : '');
    return {};
  };
  return { compiled, properties: new LazyProperties({ ...source }, compile) };
}

test('a property is compiled once, when it is asked for', () => {
  const { compiled, properties } = counted();
  expect([properties.size, properties.has('a'), properties.has('toString'), [...properties.keys()]]).toEqual([
    3,
    true,
    false,
    ['a', 'b', 'c'],
  ]);
  expect(properties.get('toString')).toBeUndefined();
  expect(compiled).toEqual([]);
  expect(properties.get('b')).toBe(properties.get('b'));
  expect(compiled).toEqual(['b']);
});

test('reads as a map that is sorted by name', () => {
  const { compiled, properties } = counted();
  const names: string[] = [];
  properties.forEach((_schema, name, map) => names.push(`${name} ${map === properties}`));
  expect(names).toEqual(['a true', 'b true', 'c true']);
  expect([...properties].map(([name]) => name)).toEqual(['a', 'b', 'c']);
  expect([...properties.values()]).toHaveLength(3);
  expect(new Map(properties).size).toBe(3);
  expect(compiled).toEqual(['a', 'b', '']);
});

test('a walk over an object compiles what the object has', () => {
  const touched: string[] = [];
  const properties = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index) => [
      `f${index}`,
      Object.defineProperty({}, 'type', {
        enumerable: true,
        get: () => {
          touched.push(`f${index}`);
          return 'string';
        },
      }),
    ]),
  );
  const schema = compileSchema({ type: 'object', properties });
  expect(touched).toEqual([]);
  const value = { f7: 'x', f8: 1, unknown: true };
  applyDefaults(value, schema);
  pruneUnknown(value, schema, []);
  expect(validateValue(value, schema)).toHaveLength(1);
  expect(new Set(touched)).toEqual(new Set(['f7', 'f8']));
});

test('rules, defaults and list types are counted to the last leaf', () => {
  const rules = [{ rule: 'true' }, { rule: 'true' }];
  const schema = {
    default: {},
    properties: {
      a: { items: { 'x-kubernetes-validations': rules, default: 0 } },
      b: { additionalProperties: { 'x-kubernetes-list-type': 'set' } },
      c: { default: null, 'x-kubernetes-list-type': 'atomic' },
    },
  };
  expect(schemaWeight(schema)).toEqual({ rules: 2, defaults: 2, listTypes: 1 });
  const has = { rules: true, defaults: true, listTypes: true };
  expect(compileSchema(schema).has).toEqual(has);
  expect(compileSchema(schema).properties?.get('c')?.has).toEqual({ rules: false, defaults: false, listTypes: false });
});
