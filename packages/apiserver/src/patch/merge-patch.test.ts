import { describe, expect, it } from 'vitest';
import { applyMergePatch } from './merge-patch.js';

describe('applyMergePatch §2.8-48', () => {
  // The examples of RFC 7386, appendix A, whose patch is an object.
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j patched by %j is %j', (document, patch, result) => {
    const before = structuredClone(document);
    expect(applyMergePatch(document, patch)).toEqual(result);
    expect(document).toEqual(before);
  });
  it('refuses what is no object', () => {
    expect(() => applyMergePatch({}, [])).toThrow(
      'cannot unmarshal array into Go value of type map[string]interface {}',
    );
  });
});
