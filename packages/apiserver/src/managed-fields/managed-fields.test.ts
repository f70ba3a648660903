import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSchema, type Schema } from '@kctl/crd/internal/engine';
import type { Atom } from './atom.js';
import { compareObjects } from './compare.js';
import { decodeSet, encodeSet, isEmptySet, isSubset, difference, type FieldSet } from './field-set.js';
import { mergeObjects } from './merge.js';
import { parseElement, printPath } from './path-element.js';
import { reconcileSet } from './reconcile.js';
import { customAtom } from './schema-atom.js';
import { fieldSetOf, removeFields } from './walk.js';

const item = { type: 'object', properties: { name: { type: 'string' }, v: { type: 'string' } } };
const spec = {
  type: 'object',
  properties: {
    size: { type: 'integer' },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    struct: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    list: { type: 'array', items: { type: 'string' } },
    parts: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items: item },
  },
};

function atomOf(properties: Record<string, unknown>): Atom {
  const schema: Schema = compileSchema({ type: 'object', properties });
  return customAtom(schema, { map: { isAtomic: false, field: () => undefined, others: { scalar: 'string' } } });
}

const atom = atomOf({ spec });

const word = fc.constantFrom('a', 'b', 'c', 'd');
const wantedSpec = fc.record(
  {
    size: fc.integer({ min: 0, max: 2 }),
    map: fc.dictionary(word, word, { maxKeys: 3 }),
    struct: fc.record({ a: word, b: word }, { requiredKeys: [] }),
    set: fc.uniqueArray(word, { maxLength: 4 }),
    list: fc.array(word, { maxLength: 3 }),
    parts: fc.uniqueArray(fc.record({ name: word, v: word }, { requiredKeys: ['name'] }), {
      maxLength: 4,
      selector: ({ name }) => name,
    }),
  },
  { requiredKeys: [] },
);
const object = wantedSpec.map((value) => ({ spec: value }));

function paths(set: FieldSet): unknown {
  return encodeSet(set);
}

describe('sets of fields', () => {
  it('a set is part of another where nothing is left without it, and one that loses nothing stays the same set', () => {
    fc.assert(
      fc.property(object, object, (one, two) => {
        const [a, b] = [fieldSetOf(one, atom), fieldSetOf(two, atom)];
        const left = difference(a, b);
        expect(isSubset(a, b)).toBe(isEmptySet(left));
        expect(isSubset(left, a)).toBe(true);
        expect(difference(left, b)).toBe(left);
        const isSame = JSON.stringify(encodeSet(left)) === JSON.stringify(encodeSet(a));
        expect(left === a).toBe(isSame);
      }),
    );
  });

  it('§2.8-51: a set survives its encoding', () => {
    fc.assert(
      fc.property(object, (value) => {
        const set = fieldSetOf(value, atom);
        const read = decodeSet(JSON.parse(JSON.stringify(encodeSet(set))));
        expect(isEmptySet(difference(set, read)) && isEmptySet(difference(read, set))).toBe(true);
      }),
    );
  });

  it('§2.8-51: elements are sorted, keys are canonical, unknown kinds are dropped', () => {
    const value = { spec: { size: 1, parts: [{ name: 'b' }, { name: 'a<' }] } };
    expect(JSON.stringify(paths(fieldSetOf(value, atom)))).toBe(
      '{"f:spec":{"f:parts":{"k:{\\"name\\":\\"a\\\\u003c\\"}":{".":{},"f:name":{}},"k:{\\"name\\":\\"b\\"}":{".":{},"f:name":{}}},"f:size":{}}}',
    );
    expect(parseElement('k:{"b": 1, "a":"x"}')).toBe('k:{"a":"x","b":1}');
    expect(paths(decodeSet({ 'f:a': {}, 'z:b': {} }))).toEqual({ 'f:a': {} });
    expect(() => decodeSet({ bogus: {} })).toThrow(SyntaxError);
    expect(printPath(['f:spec', 'k:{"name":"a","port":1}', 'v:"x"', 'i:0'])).toBe('.spec[name="a",port=1][="x"][0]');
  });
});

describe('comparing and merging', () => {
  it('§2.8-51: nothing is in two of removed, modified and added; equal objects differ in nothing', () => {
    fc.assert(
      fc.property(object, object, (left, right) => {
        const { removed, modified, added } = compareObjects(left, right, { atom, ignored: undefined });
        const all = [removed, modified, added].map((set) => fieldNames(set));
        expect(new Set(all.flat()).size).toBe(all.flat().length);
        const same = compareObjects(left, structuredClone(left), { atom, ignored: undefined });
        expect([same.removed, same.modified, same.added].every(isEmptySet)).toBe(true);
      }),
    );
  });

  it('§2.8-50: a merge removes nothing, says what the configuration says, and is idempotent', () => {
    fc.assert(
      fc.property(object, object, (live, config) => {
        const merged = mergeObjects(live, config, atom);
        const change = compareObjects(live, merged, { atom, ignored: undefined });
        expect(isEmptySet(change.removed)).toBe(true);
        expect(isEmptySet(compareObjects(config, merged, { atom, ignored: undefined }).modified)).toBe(true);
        expect(mergeObjects(merged, config, atom)).toEqual(merged);
      }),
    );
  });

  it.each([
    { live: ['a', 'b', 'c'], config: ['c', 'a'], merged: ['b', 'c', 'a'] },
    { live: ['a', 'b'], config: ['x', 'a'], merged: ['x', 'a', 'b'] },
    { live: ['a', 'b', 'c'], config: ['b'], merged: ['a', 'b', 'c'] },
    { live: [], config: ['b', 'a'], merged: ['b', 'a'] },
    { live: ['a', 'b', 'c', 'd'], config: ['d', 'x', 'b'], merged: ['a', 'c', 'd', 'x', 'b'] },
  ])('§2.8-50: $config into $live gives $merged', ({ live, config, merged }) => {
    expect(mergeObjects({ spec: { set: live } }, { spec: { set: config } }, atom)).toEqual({ spec: { set: merged } });
  });

  it('§2.8-50: removing all that an object has leaves nothing of it', () => {
    fc.assert(
      fc.property(object, (value) => {
        const left = removeFields(value, fieldSetOf(value, atom), atom);
        expect(fieldNames(fieldSetOf(left ?? {}, atom)).filter((path) => /[a-z]=/.test(path))).toEqual([]);
      }),
    );
  });
});

function fieldNames(set: FieldSet, prefix = ''): string[] {
  const own = [...set.members].map((element) => prefix + printPath([element]));
  return [...own, ...[...set.children].flatMap(([element, child]) => fieldNames(child, prefix + printPath([element])))];
}

it('§2.8-51: what has become atomic is owned as a whole', () => {
  const before = fieldSetOf({ spec: { struct: { a: 'x' }, parts: [{ name: 'a' }], size: 1 } }, atom);
  const { struct, parts, ...others } = spec.properties;
  const atomic = atomOf({
    spec: {
      ...spec,
      properties: {
        ...others,
        struct: { ...struct, 'x-kubernetes-map-type': 'atomic' },
        parts: { type: 'array', items: parts.items },
      },
    },
  });
  expect(paths(reconcileSet(before, atomic))).toEqual({
    'f:spec': { 'f:parts': {}, 'f:size': {}, 'f:struct': {} },
  });
  expect(reconcileSet(before, atom)).toBe(before);
});
