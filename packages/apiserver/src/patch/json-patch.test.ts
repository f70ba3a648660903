import { isStatusError } from '@kctl/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyJsonPatch } from './json-patch.js';

const document = { spec: { size: 1, parts: [{ name: 'a' }, { name: 'b' }] }, metadata: { labels: { a: '1' } } };

function codeOf(action: () => unknown): number | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return isStatusError(error) ? error.httpCode : -1;
  }
}

describe('applyJsonPatch §2.8-47', () => {
  it.each([
    [
      'removes from the end by a negative index',
      [{ op: 'remove', path: '/spec/parts/-1' }],
      { spec: { size: 1, parts: [{ name: 'a' }] } },
    ],
    ['passes a test for null where nothing is', [{ op: 'test', path: '/spec/color', value: null }], {}],
    ['passes a test without a value where nothing is', [{ op: 'test', path: '/spec/color' }], {}],
    [
      'moves',
      [{ op: 'move', from: '/metadata/labels', path: '/metadata/annotations' }],
      { metadata: { annotations: { a: '1' } } },
    ],
    [
      'copies',
      [{ op: 'copy', from: '/metadata/labels', path: '/metadata/annotations' }],
      { metadata: { labels: { a: '1' }, annotations: { a: '1' } } },
    ],
    [
      'copies null from where nothing is',
      [{ op: 'copy', from: '/spec/none', path: '/spec/none2' }],
      { spec: { ...document.spec, none2: null } },
    ],
    [
      'creates a member by replace',
      [{ op: 'replace', path: '/metadata/x', value: 1 }],
      { metadata: { labels: { a: '1' }, x: 1 } },
    ],
    [
      'adds null where a value is missing',
      [{ op: 'add', path: '/metadata/x' }],
      { metadata: { labels: { a: '1' }, x: null } },
    ],
    [
      'reads escapes',
      [{ op: 'add', path: '/metadata/labels/a~1b~0c', value: 'x' }],
      { metadata: { labels: { a: '1', 'a/b~c': 'x' } } },
    ],
    ['does nothing for no operations', [], {}],
  ])('%s', (_name, patch, changes) => {
    expect(applyJsonPatch(document, patch)).toEqual({ ...document, ...changes });
  });
  it.each([
    ['a failed test', [{ op: 'test', path: '/spec/size', value: 2 }], 422],
    ['a missing target of remove', [{ op: 'remove', path: '/metadata/labels/zzz' }], 422],
    ['a missing parent', [{ op: 'add', path: '/spec/none/deep', value: 1 }], 422],
    ['a missing parent of a test for null', [{ op: 'test', path: '/nope/deep', value: null }], 422],
    ['an index out of range', [{ op: 'add', path: '/spec/parts/3', value: {} }], 422],
    ['a path without a slash', [{ op: 'replace', path: 'spec', value: 1 }], 422],
    ['an unknown operation', [{ op: 'zap', path: '/spec/size' }], 422],
    ['no operation', [{ path: '/spec/size' }], 422],
    ['a patch that is no array', { op: 'add' }, 400],
    ['an element that is no object', [1], 400],
    ['a path that is no text', [{ op: 'add', path: 1 }], 400],
    ['too many operations', Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/spec/none' })), 413],
  ])('refuses %s', (_name, patch, code) => {
    expect(codeOf(() => applyJsonPatch(document, patch))).toBe(code);
  });
  it('leaves the document as it was, also when it fails half-way', () => {
    const before = structuredClone(document);
    const patch = [
      { op: 'remove', path: '/spec/parts/0' },
      { op: 'remove', path: '/nope' },
    ];
    expect(codeOf(() => applyJsonPatch(document, patch))).toBe(422);
    expect(document).toEqual(before);
  });
  it('never touches prototypes', () => {
    const result = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]);
    expect(Object.hasOwn(result as object, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
  it('undoes an addition by a removal, for any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const added = applyJsonPatch(document, [{ op: 'add', path: '/spec/parts/1', value }]);
        expect(applyJsonPatch(added, [{ op: 'remove', path: '/spec/parts/1' }])).toEqual(document);
      }),
    );
  });

  it('sorts the members of the objects that a path leads through, and of no others', () => {
    const patched = applyJsonPatch({ b: { d: 1, c: { z: 1, y: 2 } }, a: { k: 1, j: 2 } }, [
      { op: 'add', path: '/b/new', value: true },
    ]);
    expect(JSON.stringify(patched)).toBe('{"a":{"k":1,"j":2},"b":{"c":{"z":1,"y":2},"d":1,"new":true}}');
  });
});
