import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJsonPatch } from './json-patch.js';
import type { JsonPatchOperation } from './json-patch.js';
import { isSameJson } from '../json-object.js';
import { applyMergePatch, createMergePatch } from './merge-patch.js';

const epoch = '1970-01-01T00:00:00.000Z';
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(1, 'a', true, false, '', 0, 9007199254740993n, epoch, new Date(0), new Date(1)),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c/d', 'e~f', '__proto__', ''), tie('value'), { maxKeys: 4 }),
})).object;

describe('isSameJson', () => {
  it('compares what has toJSON by what that returns', () => {
    const own: object = Object.create({ toJSON: (): unknown => own });
    expect(isSameJson(new Date(0), new Date(1))).toBe(false);
    expect(isSameJson([{ at: new Date(0) }], [{ at: new Date(1) }])).toBe(false);
    expect(isSameJson(new Date(0), new Date(0))).toBe(true);
    expect(isSameJson(new Date(0), epoch)).toBe(true);
    expect(isSameJson(new Date(0), {})).toBe(false);
    expect(isSameJson(own, {})).toBe(true);
  });
});

describe('merge patches', () => {
  it('turn the one object into the other', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const patch = createMergePatch(before, after);
        expect(isSameJson(applyMergePatch(before, patch), after)).toBe(true);
        expect(isSameJson(before, after)).toBe(Object.keys(patch).length === 0);
      }),
      { numRuns: 500 },
    );
  });

  it('name what changed and nothing else', () => {
    const before = { metadata: { name: 'a', labels: { x: '1', y: '2' } }, spec: { list: [1, 2], keep: { a: 1 } } };
    const after = { metadata: { name: 'a', labels: { x: '1' } }, spec: { list: [1], keep: { a: 1 }, added: true } };
    expect(createMergePatch(before, after)).toEqual({
      metadata: { labels: { y: null } },
      spec: { list: [1], added: true },
    });
  });

  it('read undefined as not there, on both sides', () => {
    expect(createMergePatch({ a: 1, b: undefined }, { a: undefined, b: 2 })).toEqual({ a: null, b: 2 });
    expect(createMergePatch({ a: undefined }, {})).toEqual({});
  });

  // RFC 7386, appendix A.
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j patched with %j is %j', (target, patch, result) => {
    const before = structuredClone(target);
    expect(applyMergePatch(target, patch)).toEqual(result);
    expect(target).toEqual(before);
  });

  it('take a Date for the text that it is in JSON', () => {
    const at = (ms: number): object => ({ at: new Date(ms) });
    expect(createMergePatch(at(0), at(1))).toEqual(at(1));
    expect(createMergePatch(at(0), at(0))).toEqual({});
    expect(createMergePatch(at(0), { at: epoch })).toEqual({});
    expect(createMergePatch({ at: { a: 1 } }, at(0))).toEqual(at(0));
    expect(createMergePatch(at(0), { at: { a: 1 } })).toEqual({ at: { a: 1 } });
    expect(applyMergePatch(at(0), at(1))).toEqual(at(1));
  });

  it('refuse lists', () => {
    expect(() => createMergePatch([], {})).toThrow('expected two objects');
  });
});

describe('JSON patches', () => {
  it('turn the one value into the other', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(isSameJson(apply(before, createJsonPatch(before, after)), after)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('are empty for equal values, whatever the order of members', () => {
    expect(createJsonPatch({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })).toEqual([]);
  });

  it('insert and remove one item of a list by one operation', () => {
    const list = ['a', 'b', 'c', 'd'];
    expect(createJsonPatch({ list }, { list: ['a', 'x', 'b', 'c', 'd'] })).toEqual([
      { op: 'add', path: '/list/1', value: 'x' },
    ]);
    expect(createJsonPatch({ list }, { list: ['a', 'c', 'd'] })).toEqual([{ op: 'remove', path: '/list/1' }]);
  });

  it.each<[string, unknown]>([
    ['a Date', new Date(0)],
    ['an instance of a class', Object.create({ toJSON: () => '1970-01-01T00:00:00.000Z' })],
  ])('write %s as JSON.stringify does', (_what, value) => {
    const text = '1970-01-01T00:00:00.000Z';
    for (const [before, after, operation] of [
      [{}, { at: value }, { op: 'add', path: '/at', value: text }],
      [{ at: 'x' }, { at: value }, { op: 'replace', path: '/at', value: text }],
      [{ at: { a: 1 } }, { at: value }, { op: 'replace', path: '/at', value: text }],
      [{}, { list: [value] }, { op: 'add', path: '/list', value: [text] }],
    ])
      expect(createJsonPatch(before, after)).toEqual([operation]);
    expect(createJsonPatch({ at: text }, { at: value })).toEqual([]);
    expect(createJsonPatch({ at: value }, { at: text })).toEqual([]);
    expect(createJsonPatch({ list: [value] }, { list: [value] })).toEqual([]);
    expect(createJsonPatch({ list: [value] }, { list: [new Date(1)] })).toMatchObject([{ path: '/list/0' }]);
    expect(createJsonPatch({ at: value }, { at: { a: 1 } })).toEqual([{ op: 'replace', path: '/at', value: { a: 1 } }]);
  });

  it('refuse a Date without a time, which would become null', () => {
    expect(() => createJsonPatch({}, { at: new Date(Number.NaN) })).toThrow('an invalid Date is not a JSON value');
  });

  it('escape member names', () => {
    expect(createJsonPatch({ 'a/b~c': 1 }, { 'a/b~c': 2 })).toEqual([{ op: 'replace', path: '/a~1b~0c', value: 2 }]);
  });
});

/** A reference implementation of RFC 6902, as short as it can be. */
function apply(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  let root: unknown = structuredClone(document);
  for (const operation of operations) {
    const segments = operation.path
      .split('/')
      .slice(1)
      .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = segments.pop();
    if (last === undefined) {
      if ('value' in operation) root = operation.value;
      continue;
    }
    let parent = root as Record<string, unknown>;
    for (const segment of segments) parent = parent[segment] as Record<string, unknown>;
    const value = 'value' in operation ? operation.value : undefined;
    if (Array.isArray(parent)) {
      if (operation.op === 'add') parent.splice(Number(last), 0, value);
      else if (operation.op === 'remove') parent.splice(Number(last), 1);
      else parent[Number(last)] = value;
    } else if (operation.op === 'remove') delete parent[last];
    else Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true });
  }
  return root;
}
