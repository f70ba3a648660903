import { describe, expect, it } from 'vitest';
import { hasFinalizer, isDeleting, setFinalizer, unsetFinalizer } from './finalizer.js';
import type { KubeObject } from './object.js';

describe('finalizers of a draft', () => {
  it('are added once, at the end', () => {
    const draft: KubeObject = { metadata: { finalizers: ['a'] } };
    expect(setFinalizer(draft, 'b')).toBe(true);
    expect(setFinalizer(draft, 'b')).toBe(false);
    expect(draft.metadata.finalizers).toEqual(['a', 'b']);
  });

  it('are added where there was no list', () => {
    const draft: KubeObject = { metadata: {} };
    expect(hasFinalizer(draft, 'a')).toBe(false);
    expect(setFinalizer(draft, 'a')).toBe(true);
    expect(hasFinalizer(draft, 'a')).toBe(true);
  });

  it('are removed wherever they stand, every copy of them', () => {
    const draft: KubeObject = { metadata: { finalizers: ['a', 'b', 'a'] } };
    expect(unsetFinalizer(draft, 'a')).toBe(true);
    expect(unsetFinalizer(draft, 'a')).toBe(false);
    expect(draft.metadata.finalizers).toEqual(['b']);
  });

  it('change a list of their own, not one that is shared', () => {
    const finalizers = Object.freeze(['a']) as string[];
    const draft: KubeObject = { metadata: { finalizers } };
    setFinalizer(draft, 'b');
    expect(finalizers).toEqual(['a']);
  });

  it('keep an object that is being deleted', () => {
    expect(isDeleting({ metadata: {} })).toBe(false);
    expect(isDeleting({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })).toBe(true);
  });
});
