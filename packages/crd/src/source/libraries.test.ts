import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { Integer, Object as TObject, Optional, String as TString, Union, Literal, type Static } from 'typebox';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { at, objectOf, objectsOf } from '../engine/values/json.js';
import { defineResource, fromJsonSchema, type SchemaValue } from '../index.js';

function specOf(spec: SchemaValue): unknown {
  const { manifest } = defineResource({ group: 'example.com', kind: 'Thing', versions: { v1: { spec } } });
  const [version] = objectsOf(objectOf(manifest['spec'])['versions']);
  return at(version, 'schema', 'openAPIV3Schema', 'properties', 'spec');
}

const zodSpec = z.object({
  name: z.string().min(1).max(9),
  size: z.int().min(1).max(5).default(3),
  mode: z.enum(['a', 'b']).optional(),
  note: z.string().nullable().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  port: z.union([z.int(), z.string()]).optional(),
});
const valibotSpec = toStandardJsonSchema(
  v.object({
    name: v.pipe(v.string(), v.minLength(1), v.maxLength(9)),
    size: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)), 3),
    mode: v.optional(v.picklist(['a', 'b'])),
    note: v.optional(v.nullable(v.string())),
    labels: v.optional(v.record(v.string(), v.string())),
    port: v.optional(v.union([v.pipe(v.number(), v.integer()), v.string()])),
  }),
);
const arkSpec = type({
  name: '1 <= string <= 9',
  size: '1 <= number.integer <= 5 = 3',
  'mode?': "'a' | 'b'",
  'note?': 'string | null',
  'labels?': { '[string]': 'string' },
  'port?': 'number.integer | string',
});
const typeboxSpec = TObject({
  name: TString({ minLength: 1, maxLength: 9 }),
  size: Optional(Integer({ minimum: 1, maximum: 5, default: 3 })),
  mode: Optional(Union([Literal('a'), Literal('b')])),
});

describe('libraries', () => {
  it('zod, Valibot and ArkType give the same schema for the same type', () => {
    const expected = specOf(zodSpec);
    expect(expected).toEqual({
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 9 },
        size: { type: 'integer', minimum: 1, maximum: 5, default: 3 },
        mode: { type: 'string', enum: ['a', 'b'] },
        note: { type: 'string', nullable: true },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        port: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
      },
    });
    expect(specOf(valibotSpec)).toEqual(expected);
    expect(specOf(arkSpec)).toEqual(expected);
  });

  it('takes TypeBox as JSON Schema', () => {
    expect(specOf(fromJsonSchema<Static<typeof typeboxSpec>>(typeboxSpec))).toMatchObject({
      required: ['name'],
      properties: { size: { type: 'integer', default: 3 }, mode: { type: 'string', enum: ['a', 'b'] } },
    });
  });

  it('infers types of all of them', () => {
    const thing = <S extends SchemaValue>(spec: S): { spec: unknown } & ReturnType<typeof make<S>> => make(spec);
    const make = <S extends SchemaValue>(spec: S) =>
      ({
        spec,
        resource: defineResource({ group: 'example.com', kind: 'Thing', versions: { v1: { spec } } }),
      }) as const;
    expect(thing(zodSpec).spec).toBe(zodSpec);
    const One = defineResource({ group: 'example.com', kind: 'Thing', versions: { v1: { spec: valibotSpec } } });
    const Two = defineResource({ group: 'example.com', kind: 'Thing', versions: { v1: { spec: arkSpec } } });
    expectTypeOf(One.create({ metadata: { name: 'a' }, spec: { name: 'x' } }).spec.size).toEqualTypeOf<number>();
    expectTypeOf(Two.create({ metadata: { name: 'a' }, spec: { name: 'x' } }).spec.size).toEqualTypeOf<number>();
  });

  it.each([
    [
      'Valibot check',
      toStandardJsonSchema(
        v.object({
          a: v.pipe(
            v.string(),
            v.check((text) => text !== 'x'),
          ),
        }),
      ),
      /"check" action/,
    ],
    [
      'Valibot transform',
      toStandardJsonSchema(v.object({ a: v.pipe(v.string(), v.transform(Number)) })),
      /v1 spec.*transform/,
    ],
    ['ArkType narrow', type({ a: type('string').narrow((text) => text === 'x') }), /v1 spec\.a: predicate cannot/],
    ['ArkType morph', type({ a: type('string').pipe(Number) }), /v1 spec\.a: morph cannot/],
    ['ArkType Date', type({ a: 'Date' }), /v1 spec\.a: date cannot/],
    ['zod check', z.object({ a: z.number().superRefine(() => undefined) }), /v1 spec\.a: refine cannot/],
    ['zod codec', z.object({ a: z.stringbool() }), /v1 spec\.a: transform cannot/],
    ['zod catch', z.object({ a: z.string().catch('x') }), /v1 spec\.a: catch cannot/],
    ['zod coercion', z.object({ a: z.coerce.number() }), /v1 spec\.a: coerce cannot/],
  ])('does not lose a %s', (_name, spec, message) => {
    expect(() => specOf(spec)).toThrow(message);
  });
});
