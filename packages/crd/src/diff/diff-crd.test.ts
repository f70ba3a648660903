import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  cel,
  defineResource,
  diffCrd,
  fromJsonSchema,
  listMap,
  listSet,
  type SchemaValue,
  type VersionOptions,
} from '../index.js';
import { intOrString } from '../zod/index.js';

function crd(
  spec: SchemaValue,
  more: Partial<VersionOptions> = {},
  others: Record<string, VersionOptions> = {},
): object {
  const versions = { v1: { spec, storage: true, ...more }, ...others };
  return defineResource({ group: 'example.com', kind: 'Thing', versions }).manifest;
}

function changesOf(old: object, next: object): string[] {
  return diffCrd(old, next).changes.map(
    ({ change, version, path, reason }) => `${change} ${version} ${path}: ${reason}`,
  );
}

const list = z.array(z.string()).max(5);

describe('diffCrd', () => {
  it('says whether objects are converted', () => {
    const converted = (strategy: string | undefined): object => {
      const manifest = structuredClone(crd(z.object({}))) as { spec: object };
      return { ...manifest, spec: { ...manifest.spec, ...(strategy !== undefined && { conversion: { strategy } }) } };
    };
    expect(changesOf(converted(undefined), converted('None'))).toEqual([]);
    expect(changesOf(converted('None'), converted('Webhook'))).toEqual([
      'compatible  : conversion None becomes Webhook',
    ]);
    expect(changesOf(converted('Webhook'), converted(undefined))).toEqual([
      'breaking  : conversion Webhook becomes None: objects in other versions are those that are stored, with another apiVersion',
    ]);
  });

  it.each([
    [
      'a removed field',
      z.object({ a: z.string() }),
      z.object({}),
      'breaking v1 spec.a: field is removed: stored values are dropped',
    ],
    ['an added field', z.object({}), z.object({ a: z.string().optional() }), 'compatible v1 spec.a: field is added'],
    [
      'a new requirement',
      z.object({ a: z.string().optional() }),
      z.object({ a: z.string() }),
      'breaking v1 spec.a: field is required, without a default',
    ],
    [
      'a dropped requirement',
      z.object({ a: z.string() }),
      z.object({ a: z.string().optional() }),
      'compatible v1 spec.a: field is no longer required',
    ],
    [
      'another type',
      z.object({ a: z.string() }),
      z.object({ a: z.int() }),
      'breaking v1 spec.a: type string becomes integer',
    ],
    [
      'a wider type',
      z.object({ a: z.int() }),
      z.object({ a: z.number() }),
      'compatible v1 spec.a: type integer becomes number',
    ],
    [
      'a wider type with a tighter bound',
      z.object({ a: z.int() }),
      z.object({ a: z.number().max(5) }),
      'compatible v1 spec.a: type integer becomes number\nnarrowing v1 spec.a: maximum none becomes 5',
    ],
    [
      'a string that may be a number, with a pattern',
      z.object({ a: z.string() }),
      z.object({ a: intOrString().meta({ pattern: '^a' }) }),
      'compatible v1 spec.a: type string becomes int-or-string\nnarrowing v1 spec.a: pattern becomes "^a"',
    ],
    [
      'a field of an open object that gets a type',
      z.looseObject({}),
      z.looseObject({ a: z.int().optional() }),
      'narrowing v1 spec.a: field was kept as it is, and has a type',
    ],
    [
      'an entry of a map that gets a name and another type',
      z.object({ m: z.record(z.string(), z.string()) }),
      z.object({ m: z.object({ a: z.int().optional() }) }),
      'breaking v1 spec.m.a: type string becomes integer\n' +
        'breaking v1 spec.m{}: map becomes an object: entries that it does not name are dropped',
    ],
    [
      'a map whose entries are no longer named',
      z.object({ m: z.record(z.string(), z.string()) }),
      z.object({ m: z.object({}) }),
      'breaking v1 spec.m{}: map becomes an object: entries that it does not name are dropped',
    ],
    [
      'a required field that loses its default',
      fromJsonSchema<unknown>({ type: 'object', required: ['a'], properties: { a: { type: 'string', default: 'x' } } }),
      fromJsonSchema<unknown>({ type: 'object', required: ['a'], properties: { a: { type: 'string' } } }),
      'compatible v1 spec.a: default "x" becomes none\nnarrowing v1 spec.a: field is required, and no longer has a default',
    ],
    [
      'a rule that runs on create, too',
      z.object({ a: z.string().max(5).meta(cel("oldSelf == 'a' || self != 'b'")) }),
      z.object({
        a: z
          .string()
          .max(5)
          .meta(cel("oldSelf.orValue('a') == 'a' || self != 'b'", { optionalOldSelf: true })),
      }),
      "narrowing v1 spec.a: rule \"oldSelf.orValue('a') == 'a' || self != 'b' (also on create)\" is added\n" +
        "compatible v1 spec.a: rule \"oldSelf == 'a' || self != 'b'\" is removed",
    ],
    [
      'a tighter bound',
      z.object({ a: z.string().max(9) }),
      z.object({ a: z.string().max(5) }),
      'narrowing v1 spec.a: maxLength 9 becomes 5',
    ],
    [
      'a looser bound',
      z.object({ a: z.int().min(3) }),
      z.object({ a: z.int().min(2) }),
      'compatible v1 spec.a: minimum 3 becomes 2',
    ],
    [
      'a removed enum value',
      z.object({ a: z.enum(['x', 'y']) }),
      z.object({ a: z.enum(['x']) }),
      'narrowing v1 spec.a: enum values "y" are removed',
    ],
    [
      'a list type',
      z.object({ a: list.meta(listSet()) }),
      z.object({ a: list }),
      'breaking v1 spec.a: x-kubernetes-list-type "set" becomes "atomic"',
    ],
    [
      'a default',
      z.object({ a: z.int().default(1) }),
      z.object({ a: z.int().default(2) }),
      'compatible v1 spec.a: default 1 becomes 2',
    ],
    [
      'null',
      z.object({ a: z.int().nullable() }),
      z.object({ a: z.int() }),
      'narrowing v1 spec.a: null is no longer allowed',
    ],
    [
      'null in an enum',
      z.object({ a: z.enum(['x', 'y']) }),
      z.object({ a: z.enum(['x', 'y']).nullable() }),
      'compatible v1 spec.a: enum values null are added\ncompatible v1 spec.a: null is allowed',
    ],
    [
      'a value of an enum with null',
      z.object({ a: z.enum(['x', 'y']).nullable() }),
      z.object({ a: z.enum(['x']).nullable() }),
      'narrowing v1 spec.a: enum values "y" are removed',
    ],
    [
      'items',
      z.object({ a: z.array(z.object({ n: z.string() })).meta(listMap('n')) }),
      z.object({ a: z.array(z.object({ n: z.string().max(3) })).meta(listMap('n')) }),
      'narrowing v1 spec.a[].n: maxLength none becomes 3',
    ],
    [
      'kept data',
      z.object({ a: z.looseObject({}) }),
      z.object({ a: z.object({}) }),
      'breaking v1 spec.a: unknown fields are no longer kept',
    ],
  ])('classes %s', (_name, old, next, change) => {
    const changes = change.split('\n');
    expect(changesOf(crd(old), crd(next))).toEqual(changes);
    const worst = ['breaking', 'narrowing', 'compatible'].find((each) => changes.some((line) => line.startsWith(each)));
    expect(diffCrd(crd(old), crd(next)).verdict).toBe(worst);
    expect(diffCrd(crd(old), crd(old))).toEqual({ changes: [], verdict: 'compatible', affected: [] });
  });

  it('looks at versions, rules and subresources', () => {
    const spec = z.object({ a: z.string().max(5) });
    const old = crd(spec, { status: z.object({}), selectableFields: ['.spec.a'] }, { v1beta1: { spec } });
    const next = crd(spec, { rules: [cel('self.spec.a != "x"')] });
    expect(changesOf(old, next)).toEqual([
      'breaking  : version v1beta1 is removed: clients of it fail',
      'breaking v1 : subresource status is removed',
      'breaking v1 : selectable field .spec.a is removed',
      'narrowing v1 : rule "self.spec.a != \\"x\\"" is added',
      'breaking v1 status: field is removed: stored values are dropped',
    ]);
    const stored = { ...old, status: { storedVersions: ['v1beta1', 'v1'] } };
    expect(changesOf(stored, next)[0]).toContain('objects may be stored in it');
  });

  it('names the stored objects that are met', () => {
    const apiVersion = 'example.com/v1';
    const object = (name: string, spec: object): object => ({
      apiVersion,
      kind: 'Thing',
      metadata: { namespace: 'a', name },
      spec,
    });
    const old = crd(z.object({ a: z.string(), b: z.string().optional() }));
    const next = crd(z.object({ a: z.string().max(3) }));
    const objects = [object('fine', { a: 'x' }), object('long', { a: 'xxxx' }), object('lost', { a: 'x', b: 'y' })];
    expect(diffCrd(old, next, { objects }).affected).toEqual([
      { namespace: 'a', name: 'long', message: 'spec.a: Too long: may not be more than 3 bytes', dropped: [] },
      { namespace: 'a', name: 'lost', message: '', dropped: ['spec.b'] },
    ]);
  });

  it('refuses what is not a definition', () => {
    expect(() => diffCrd({}, crd(z.object({})))).toThrow('expected a CustomResourceDefinition');
  });
});
