import { Effect, Schema } from 'effect';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { at, objectOf, objectsOf } from '../engine/values/json.js';
import { defaultTo, defineResource, libraryOnly, type SchemaValue } from '../index.js';

function specOf(spec: SchemaValue): unknown {
  const { manifest } = defineResource({ group: 'example.com', kind: 'Thing', versions: { v1: { spec } } });
  const [version] = objectsOf(objectOf(manifest['spec'])['versions']);
  return at(version, 'schema', 'openAPIV3Schema', 'properties', 'spec');
}

const standard = Schema.toStandardJSONSchemaV1;
const fieldOf = (field: Schema.Top): unknown => at(specOf(standard(Schema.Struct({ a: field }))), 'properties', 'a');

class Point extends Schema.Class<Point>('Point')({ x: Schema.Int, y: Schema.optionalKey(Schema.Finite) }) {}

interface Tree {
  readonly children: readonly Tree[];
}
const Tree: Schema.Codec<Tree> = Schema.Struct({
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree)),
});

describe('Effect Schema', () => {
  it('gives the schema that other libraries give for the same type', () => {
    const spec = Schema.Struct({
      name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(9)),
      size: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })).annotate(defaultTo(3))),
      mode: Schema.optional(Schema.Literals(['a', 'b'])),
      note: Schema.optionalKey(Schema.NullOr(Schema.String)),
      labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
      port: Schema.optionalKey(Schema.Union([Schema.Int, Schema.String])),
    });
    expect(specOf(standard(spec))).toEqual({
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
  });

  it('infers types', () => {
    const spec = standard(Schema.Struct({ name: Schema.String, size: Schema.optionalKey(Schema.Int) }));
    const Thing = defineResource({ group: 'example.com', kind: 'Thing', versions: { v1: { spec } } });
    const { spec: made } = Thing.create({ metadata: { name: 'a' }, spec: { name: 'x' } });
    expectTypeOf(made.name).toEqualTypeOf<string>();
    expectTypeOf(made.size).toEqualTypeOf<number | undefined>();
    expect(made).toEqual({ name: 'x' });
  });

  it.each<[string, Schema.Top, object]>([
    ['a pattern', Schema.String.check(Schema.isPattern(/^a/)), { type: 'string', pattern: '^a' }],
    [
      'the tighter of two bounds',
      Schema.String.check(Schema.isMinLength(1), Schema.isMinLength(2)),
      { type: 'string', minLength: 2 },
    ],
    ['any number', Schema.Number, { type: 'number' }],
    [
      'exclusive bounds',
      Schema.Finite.check(Schema.isBetween({ minimum: 1, maximum: 2, exclusiveMaximum: true })),
      { type: 'number', minimum: 1, maximum: 2, exclusiveMaximum: true },
    ],
    ['an int32', Schema.Int.check(Schema.isInt32()), { type: 'integer', format: 'int32' }],
    [
      'a list that is not empty',
      Schema.NonEmptyArray(Schema.String),
      { type: 'array', minItems: 1, items: { type: 'string' } },
    ],
    [
      'bounds of a list and a map',
      Schema.Array(Schema.Record(Schema.String, Schema.Int).check(Schema.isMaxProperties(2))).check(
        Schema.isMaxLength(3),
      ),
      {
        type: 'array',
        maxItems: 3,
        items: { type: 'object', maxProperties: 2, additionalProperties: { type: 'integer' } },
      },
    ],
    [
      'a class',
      Point,
      { type: 'object', required: ['x'], properties: { x: { type: 'integer' }, y: { type: 'number' } } },
    ],
    [
      'a type with an identifier',
      Schema.Struct({ b: Schema.String.annotate({ identifier: 'B', description: 'It.' }) }).annotate({
        identifier: 'A',
      }),
      { type: 'object', required: ['b'], properties: { b: { type: 'string', description: 'It.' } } },
    ],
    [
      'annotations of a key',
      Schema.String.annotate({ description: 'type' }).annotateKey({ description: 'key', ...defaultTo('x') }),
      { type: 'string', description: 'key', default: 'x' },
    ],
    [
      'a struct with more fields',
      Schema.StructWithRest(Schema.Struct({ b: Schema.String }), [Schema.Record(Schema.String, Schema.Unknown)]),
      {
        type: 'object',
        required: ['b'],
        properties: { b: { type: 'string' } },
        'x-kubernetes-preserve-unknown-fields': true,
      },
    ],
    [
      'a suspended type that does not hold itself',
      Schema.suspend(() => Schema.Struct({ b: Schema.String })),
      { type: 'object', required: ['b'], properties: { b: { type: 'string' } } },
    ],
    [
      'a check that stays out',
      Schema.String.check(Schema.makeFilter((text) => text !== 'x')).annotate(libraryOnly()),
      { type: 'string' },
    ],
  ])('says %s', (_name, field, expected) => {
    expect(fieldOf(field)).toEqual(expected);
  });

  it.each<[string, Schema.Top, RegExp]>([
    ['filter', Schema.String.check(Schema.makeFilter((text) => text !== 'x')), /v1 spec\.a: predicate cannot.*cel\(\)/],
    [
      'filter before another check',
      Schema.String.check(
        Schema.makeFilter(() => true),
        Schema.isMinLength(1),
      ),
      /predicate/,
    ],
    ['Date', Schema.Date, /v1 spec\.a: date cannot.*timestamp\(\)/],
    ['transformation', Schema.FiniteFromString, /v1 spec\.a: transform cannot/],
    ['trim', Schema.Trim, /transform cannot/],
    [
      'default that is decoded',
      Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed('x'))),
      /decoding default cannot.*defaultTo/,
    ],
    ['flag of a pattern', Schema.String.check(Schema.isPattern(/^a/i)), /regular expression flags "i"/],
    ['bigint', Schema.BigInt, /bigint cannot.*int64/],
    ['check of names', Schema.Record(Schema.String.check(Schema.isPattern(/^a/)), Schema.Int), /check of record keys/],
    ['uniqueness', Schema.Array(Schema.Struct({ a: Schema.Int })).check(Schema.isUnique()), /uniqueItems.*listMap\(\)/],
    ['tuple', Schema.Tuple([Schema.String, Schema.Int]), /tuple cannot/],
    ['type within itself', Tree, /recursive type/],
    ['union of structs', Schema.Union([Point, Schema.Struct({ z: Schema.Int })]), /union of types/],
  ])('does not lose a %s', (_name, field, message) => {
    expect(() => fieldOf(field)).toThrow(message);
  });
});
