import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { cel, defineResource, type Marker, type SchemaValue } from '../index.js';

interface Issue {
  readonly message: string;
  readonly path?: readonly unknown[];
}
type Validate = (
  value: unknown,
) => { readonly value: unknown } | { readonly issues: readonly Issue[] } | Promise<object>;

/** A schema of a library that writes JSON Schema and leaves out what that cannot say. */
function library(schema: Readonly<Record<string, unknown>>, validate: Validate): SchemaValue {
  const write = (): Record<string, unknown> => ({ ...schema });
  const standard = { version: 1, vendor: 'other', validate, jsonSchema: { input: write, output: write } } as const;
  return { '~standard': standard };
}

function warningsOf(spec: SchemaValue, rules: readonly Marker[] = []): readonly string[] {
  return defineResource({ group: 'example.com', kind: 'Thing', versions: { v1: { spec, rules } } }).warnings;
}

const named = {
  type: 'object',
  required: ['name', 'parts'],
  properties: {
    name: { type: 'string', maxLength: 20 },
    parts: {
      type: 'array',
      maxItems: 9,
      items: { type: 'object', properties: { size: { type: 'integer', minimum: 1 } } },
    },
  },
};
const part = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, 'parts') : undefined;
const takesAll: Validate = (value) => ({ value });

describe('a library that leaves a check out of its JSON Schema', () => {
  it('is found by values that the definition takes', () => {
    const spec = library(named, (value) => {
      const parts = part(value);
      const isOdd = (each: unknown): boolean => Number(Reflect.get(Object(each), 'size')) % 2 === 1;
      const index = Array.isArray(parts) ? parts.findIndex(isOdd) : -1;
      return index < 0 ? { value } : { issues: [{ message: 'must be even', path: ['parts', { key: index }, 'size'] }] };
    });
    expect(warningsOf(spec)).toEqual([
      'v1 spec.parts[].size: other refuses 1 (must be even), which the API server takes: write the check as a cel() rule',
    ]);
  });

  it('is named once for each field, and for the whole', () => {
    const spec = library(named, () => ({ issues: [{ message: 'no' }, { message: 'no name', path: ['name'] }] }));
    expect(warningsOf(spec).map((text) => text.replace(/ refuses.*? \((no.*?)\)/, ' … ($1)'))).toEqual([
      'v1 spec: other … (no), which the API server takes: write the check as a cel() rule',
      'v1 spec.name: other … (no name), which the API server takes: write the check as a cel() rule',
    ]);
  });

  it('is found in the last field of many, deep in the object', () => {
    const fields = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, { type: 'string' }]));
    const level = (inner: object): object => ({ type: 'object', properties: { ...fields, inner } });
    const spec = { ...level(level({ type: 'object', properties: { last: { type: 'boolean' } } })) };
    const path = ['inner', 'inner', 'last'];
    const found = warningsOf(
      library(spec, (value) => {
        const last = path.reduce<unknown>((current, step) => Reflect.get(Object(current), step), value);
        return last === true ? { issues: [{ message: 'not yet', path }] } : { value };
      }),
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toContain('v1 spec.inner.inner.last: other refuses true (not yet)');
  });

  it('is not named where a rule may say the same, where it takes everything, or where it cannot be called', () => {
    const never: Validate = () => ({ issues: [{ message: 'no name', path: ['name'] }] });
    const ruled = { ...named.properties.name, ...cel("self != 'x'") };
    expect(warningsOf(library({ ...named, properties: { ...named.properties, name: ruled } }, never))).toEqual([]);
    expect(warningsOf(library(named, never), [cel("self.spec.name != 'x'")])).toEqual([]);
    expect(warningsOf(library(named, takesAll))).toEqual([]);
    expect(warningsOf(library(named, () => Promise.resolve({ issues: [{ message: 'late' }] })))).toEqual([]);
    const throws: Validate = () => {
      throw new Error('not now');
    };
    expect(warningsOf(library(named, throws))).toEqual([]);
  });

  it('does not warn of what a real library says in whole', () => {
    const spec = v.object({
      name: v.pipe(v.string(), v.minLength(1), v.maxLength(9), v.regex(/^[a-z]*$/)),
      size: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)), 3),
      mode: v.optional(v.picklist(['a', 'b'])),
      note: v.optional(v.nullable(v.string())),
      at: v.optional(v.pipe(v.string(), v.isoDate())),
      labels: v.optional(v.record(v.string(), v.string())),
      parts: v.optional(v.array(v.object({ port: v.union([v.pipe(v.number(), v.integer()), v.string()]) }))),
    });
    expect(warningsOf(toStandardJsonSchema(spec))).toEqual([]);
  });
});
