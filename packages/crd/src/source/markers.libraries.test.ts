import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { Schema } from 'effect';
import {
  Any,
  Array as TArray,
  Enum,
  Integer,
  Object as TObject,
  Optional,
  Record as TRecord,
  String as TString,
  Union,
} from 'typebox';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  cel,
  defaultTo,
  defineResource,
  duration,
  embeddedResource,
  exactlyOneOf,
  externalDocs,
  format,
  fromJsonSchema,
  immutable,
  intOrString,
  listAtomic,
  listMap,
  listSet,
  mapAtomic,
  mapGranular,
  markers,
  nullable,
  preserveUnknownFields,
  quantity,
  timestamp,
  type SchemaValue,
} from '../index.js';

const described = { title: 'Mode', description: 'How it works.', example: 'fast' };
const ruled = markers(cel('self != "never"', { message: 'never', reason: 'FieldValueForbidden' }), described);
const keyed = markers(listMap('name'), cel('self.size() > 0', 'a machine has parts'));
const embedded = markers(embeddedResource(), preserveUnknownFields());
const endpoint = markers(format('uri'), externalDocs('https://example.com', 'About it.'));

const zodSpec = z.object({
  source: z.object({ a: z.string().optional(), b: z.string().optional() }).meta(exactlyOneOf('a', 'b')),
  mode: z.enum(['fast', 'slow']).meta(ruled),
  id: z.string().meta(immutable()).optional(),
  port: z.union([z.int(), z.string()]).meta(intOrString()),
  memory: z.union([z.int(), z.string()]).meta(quantity()),
  raw: z.object({}).meta(embedded),
  open: z.any().meta(preserveUnknownFields()),
  parts: z
    .array(z.object({ name: z.string(), size: z.int().optional() }))
    .max(5)
    .meta(keyed),
  tags: z.array(z.string()).max(5).meta(listSet()),
  order: z.array(z.string()).meta(listAtomic()),
  labels: z.record(z.string(), z.string()).meta(mapAtomic()),
  settings: z.record(z.string(), z.string()).meta(mapGranular()),
  note: z.string().meta(nullable()),
  level: z.int().min(1).meta(defaultTo(3)).optional(),
  endpoint: z.string().meta(endpoint),
  when: z.string().meta(timestamp()),
  every: z.string().meta(duration()),
});

const valibotSpec = toStandardJsonSchema(
  v.object({
    source: v.pipe(
      v.object({ a: v.optional(v.string()), b: v.optional(v.string()) }),
      v.metadata(exactlyOneOf('a', 'b')),
    ),
    mode: v.pipe(v.picklist(['fast', 'slow']), v.metadata(ruled)),
    id: v.optional(v.pipe(v.string(), v.metadata(immutable()))),
    port: v.pipe(v.union([v.pipe(v.number(), v.integer()), v.string()]), v.metadata(intOrString())),
    memory: v.pipe(v.union([v.pipe(v.number(), v.integer()), v.string()]), v.metadata(quantity())),
    raw: v.pipe(v.object({}), v.metadata(embedded)),
    open: v.pipe(v.any(), v.metadata(preserveUnknownFields())),
    parts: v.pipe(
      v.array(v.object({ name: v.string(), size: v.optional(v.pipe(v.number(), v.integer())) })),
      v.maxLength(5),
      v.metadata(keyed),
    ),
    tags: v.pipe(v.array(v.string()), v.maxLength(5), v.metadata(listSet())),
    order: v.pipe(v.array(v.string()), v.metadata(listAtomic())),
    labels: v.pipe(v.record(v.string(), v.string()), v.metadata(mapAtomic())),
    settings: v.pipe(v.record(v.string(), v.string()), v.metadata(mapGranular())),
    note: v.pipe(v.string(), v.metadata(nullable())),
    level: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.metadata(defaultTo(3)))),
    endpoint: v.pipe(v.string(), v.metadata(endpoint)),
    when: v.pipe(v.string(), v.metadata(timestamp())),
    every: v.pipe(v.string(), v.metadata(duration())),
  }),
);

const arkSpec = type({
  source: type({ 'a?': 'string', 'b?': 'string' }).configure(exactlyOneOf('a', 'b'), 'self'),
  mode: type("'fast' | 'slow'").configure(ruled, 'self'),
  'id?': type('string').configure(immutable(), 'self'),
  port: type('number.integer | string').configure(intOrString(), 'self'),
  memory: type('number.integer | string').configure(quantity(), 'self'),
  raw: type({}).configure(embedded, 'self'),
  open: type('unknown').configure(preserveUnknownFields(), 'self'),
  parts: type({ name: 'string', 'size?': 'number.integer' }).array().atMostLength(5).configure(keyed, 'self'),
  tags: type('string[] <= 5').configure(listSet(), 'self'),
  order: type('string[]').configure(listAtomic(), 'self'),
  labels: type({ '[string]': 'string' }).configure(mapAtomic(), 'self'),
  settings: type({ '[string]': 'string' }).configure(mapGranular(), 'self'),
  note: type('string').configure(nullable(), 'self'),
  'level?': type('number.integer >= 1').configure(defaultTo(3), 'self'),
  endpoint: type('string').configure(endpoint, 'self'),
  when: type('string').configure(timestamp(), 'self'),
  every: type('string').configure(duration(), 'self'),
});

const typeboxSpec = fromJsonSchema<unknown>(
  TObject({
    source: TObject({ a: Optional(TString()), b: Optional(TString()) }, exactlyOneOf('a', 'b')),
    mode: Enum(['fast', 'slow'], ruled),
    id: Optional(TString(immutable())),
    port: Union([Integer(), TString()], intOrString()),
    memory: Union([Integer(), TString()], quantity()),
    raw: TObject({}, embedded),
    open: Any(preserveUnknownFields()),
    parts: TArray(TObject({ name: TString(), size: Optional(Integer()) }), { ...keyed, maxItems: 5 }),
    tags: TArray(TString(), { ...listSet(), maxItems: 5 }),
    order: TArray(TString(), listAtomic()),
    labels: TRecord(TString(), TString(), mapAtomic()),
    settings: TRecord(TString(), TString(), mapGranular()),
    note: TString(nullable()),
    level: Optional(Integer({ minimum: 1, ...defaultTo(3) })),
    endpoint: TString(endpoint),
    when: TString(timestamp()),
    every: TString(duration()),
  }),
);

const effectSpec = Schema.toStandardJSONSchemaV1(
  Schema.Struct({
    source: Schema.Struct({ a: Schema.optionalKey(Schema.String), b: Schema.optionalKey(Schema.String) }).annotate(
      exactlyOneOf('a', 'b'),
    ),
    mode: Schema.Literals(['fast', 'slow']).annotate(ruled),
    id: Schema.optionalKey(Schema.String.annotate(immutable())),
    port: Schema.Union([Schema.Int, Schema.String]).annotate(intOrString()),
    memory: Schema.Union([Schema.Int, Schema.String]).annotate(quantity()),
    raw: Schema.Struct({}).annotate(embedded),
    open: Schema.Unknown.annotate(preserveUnknownFields()),
    parts: Schema.Array(Schema.Struct({ name: Schema.String, size: Schema.optional(Schema.Int) }))
      .check(Schema.isMaxLength(5))
      .annotate(keyed),
    tags: Schema.Array(Schema.String).check(Schema.isMaxLength(5)).annotate(listSet()),
    order: Schema.Array(Schema.String).annotate(listAtomic()),
    labels: Schema.Record(Schema.String, Schema.String).annotate(mapAtomic()),
    settings: Schema.Record(Schema.String, Schema.String).annotate(mapGranular()),
    note: Schema.String.annotate(nullable()),
    level: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).annotate(defaultTo(3))),
    endpoint: Schema.String.annotate(endpoint),
    when: Schema.String.annotate(timestamp()),
    every: Schema.String.annotate(duration()),
  }),
);

function manifestOf(spec: SchemaValue): unknown {
  const { manifest, warnings } = defineResource({
    group: 'example.com',
    kind: 'Machine',
    shortNames: ['mc'],
    versions: {
      v1: {
        spec,
        status: fromJsonSchema<unknown>({ type: 'object', properties: { replicas: { type: 'integer' } } }),
        rules: [cel('self.spec.mode == "fast" || self.spec.tags.size() < 5')],
        printColumns: [{ name: 'Level', path: '.spec.level', priority: 1 }],
        selectableFields: ['.spec.mode'],
        scale: { specReplicasPath: '.spec.level', statusReplicasPath: '.status.replicas' },
      },
    },
  });
  return { manifest, warnings };
}

describe('markers', () => {
  const expected = manifestOf(zodSpec);

  it('are all said in zod', () => {
    expect(expected).toMatchSnapshot();
  });

  it.each([
    ['Valibot', valibotSpec],
    ['ArkType', arkSpec],
    ['TypeBox', typeboxSpec],
    ['Effect Schema', effectSpec],
  ])('are said the same way in %s', (_name, spec) => {
    expect(manifestOf(spec)).toEqual(expected);
  });
});
