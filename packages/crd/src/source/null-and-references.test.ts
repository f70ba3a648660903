import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { at, objectOf, objectsOf } from '../engine/values/json.js';
import { defineResource, fromJsonSchema, generateKinds, type SchemaValue } from '../index.js';

const define = (spec: SchemaValue) =>
  defineResource({ group: 'example.com', kind: 'Thing', versions: { v1: { spec } } });

function fieldOf(spec: SchemaValue): unknown {
  const [version] = objectsOf(objectOf(define(spec).manifest['spec'])['versions']);
  return at(version, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties', 'a');
}

function takes(spec: SchemaValue, a: unknown): boolean {
  return define(spec).validate({ metadata: { name: 'x' }, spec: { a } }).isValid;
}

const definitions = {
  Part: { type: 'object', required: ['size'], properties: { size: { type: 'integer', maximum: 5 } } },
  Mode: { type: 'string', enum: ['a', 'b'] },
  Maybe: { anyOf: [{ $ref: '#/definitions/Mode' }, { type: 'null' }] },
  Short: { type: 'string', maxLength: 2 },
  Tree: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/definitions/Tree' }, { type: 'null' }] } } },
};
const ref = (name: keyof typeof definitions): object => ({ $ref: `#/definitions/${name}` });
const json = (a: object): SchemaValue => fromJsonSchema<unknown>({ type: 'object', definitions, properties: { a } });

const part = {
  type: 'object',
  nullable: true,
  required: ['size'],
  properties: { size: { type: 'integer', maximum: 5 } },
};
const mode = { type: 'string', nullable: true, allOf: [{ enum: ['a', 'b', null] }] };
const zodPart = z.object({ size: z.int().max(5) }).meta({ id: 'Part' });
const zodMode = z.enum(['a', 'b']).meta({ id: 'Mode' });

describe('a reference or null', () => {
  it.each<[string, SchemaValue, object]>([
    ['anyOf', json({ anyOf: [ref('Part'), { type: 'null' }] }), part],
    ['oneOf', json({ oneOf: [{ type: 'null' }, ref('Part')] }), part],
    ['enum of null', json({ anyOf: [ref('Part'), { enum: [null] }] }), part],
    ['const of null', json({ anyOf: [ref('Part'), { const: null }] }), part],
    ['below allOf', json({ allOf: [{ anyOf: [ref('Part'), { type: 'null' }] }] }), part],
    ['a union in a union', json({ anyOf: [{ anyOf: [ref('Part'), { type: 'null' }] }] }), part],
    ['zod nullable', z.object({ a: zodPart.nullable() }), part],
    ['zod nullish', z.object({ a: zodPart.nullish() }), part],
    ['zod with a default', z.object({ a: zodPart.nullable().default(null) }), part],
    ['schemars with a default', json({ anyOf: [ref('Mode'), { type: 'null' }], default: null }), mode],
    ['schemars for OpenAPI', json({ allOf: [ref('Mode')], nullable: true }), mode],
    ['a reference to such a type', json(ref('Maybe')), mode],
    ['a reference to such a type or null', json({ anyOf: [ref('Maybe'), { type: 'null' }] }), mode],
    ['zod enum with an id', z.object({ a: zodMode.nullable() }), mode],
  ])('keeps the type: %s', (_name, spec, expected) => {
    expect(fieldOf(spec)).toEqual(expected);
    expect(takes(spec, null)).toBe(true);
    expect(takes(spec, expected === part ? { size: 6 } : 'c')).toBe(false);
    expect(takes(spec, expected === part ? { size: 5 } : 'a')).toBe(true);
    expect(takes(spec, 7)).toBe(false);
  });

  it('keeps items and values of maps', () => {
    const schema = z.object({ a: z.array(zodPart.nullable()), b: z.record(z.string(), zodMode.nullable()).optional() });
    expect(fieldOf(schema)).toEqual({ type: 'array', items: part });
    expect(takes(schema, [null, { size: 1 }])).toBe(true);
    expect(takes(schema, [{ size: 'x' }])).toBe(false);
  });

  it('refuses what only seems to be without a type', () => {
    expect(() => fieldOf(json(ref('Tree')))).toThrow('v1 spec.a.next {"$ref":"#/definitions/Tree"}: a recursive type');
    expect(() => fieldOf(json({ allOf: [ref('Tree')] }))).toThrow('a recursive type');
    expect(() => fieldOf(json({ anyOf: [ref('Part'), { properties: { x: { type: 'string' } } }] }))).toThrow(
      'a union of types',
    );
    expect(() => fieldOf(json({ anyOf: [{ $ref: '#/definitions/None' }, { type: 'null' }] }))).toThrow('leads nowhere');
    expect(() => fieldOf(json({ anyOf: [ref('Short'), { type: 'null' }], type: 'integer' }))).toThrow('contradict');
  });

  it('takes the tighter of bounds that stand beside a reference', () => {
    expect(fieldOf(json({ ...ref('Short'), maxLength: 5 }))).toEqual({ type: 'string', maxLength: 2 });
    expect(fieldOf(json({ anyOf: [ref('Short'), { type: 'null' }], minLength: 1 }))).toEqual({
      type: 'string',
      nullable: true,
      minLength: 1,
      maxLength: 2,
    });
  });

  it('does not take null that something beside it excludes', () => {
    for (const a of [
      { type: 'string', anyOf: [{ type: 'null' }, { maxLength: 2 }] },
      { allOf: [ref('Maybe'), { type: 'string' }] },
      { oneOf: [ref('Maybe'), { type: 'null' }] },
    ]) {
      expect(fieldOf(json(a))).not.toHaveProperty('nullable');
    }
  });
});

describe('an enum or null', () => {
  it.each<[string, SchemaValue]>([
    ['zod', z.object({ a: z.enum(['a', 'b']).nullable() })],
    ['zod literals', z.object({ a: z.literal(['a', 'b', null]) })],
    ['zod union', z.object({ a: z.union([z.literal('a'), z.null(), z.literal('b')]) })],
    ['valibot', toStandardJsonSchema(v.object({ a: v.nullable(v.picklist(['a', 'b'])) }))],
    ['arktype', type({ a: "'a' | 'b' | null" })],
    ['JSON Schema', json({ type: ['string', 'null'], enum: ['a', 'b', null] })],
    ['JSON Schema without a type', json({ enum: ['a', 'b', null] })],
    ['OpenAPI', json({ type: 'string', nullable: true, enum: ['a', 'b'] })],
  ])('takes its values and null: %s', (_name, spec) => {
    expect(fieldOf(spec)).toEqual(mode);
    expect(['a', 'b', null].every((value) => takes(spec, value))).toBe(true);
    expect(['c', '', 1].some((value) => takes(spec, value))).toBe(false);
  });

  it('is a type with null in TypeScript', () => {
    const [module] = generateKinds([define(z.object({ a: z.enum(['a', 'b']).nullable() })).manifest]);
    expect(module?.text).toContain("  a: 'a' | 'b' | null;");
  });
});
