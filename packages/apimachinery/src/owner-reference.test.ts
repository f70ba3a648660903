// Cases after sigs.k8s.io/controller-runtime/pkg/controller/controllerutil/controllerutil_test.go.
import { describe, expect, it } from 'vitest';
import { defineKind } from './kind.js';
import type { KubeObject } from './object.js';
import {
  controllerOf,
  hasControllerReference,
  hasOwnerReference,
  isAlreadyOwned,
  removeControllerReference,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './owner-reference.js';

const Foo = defineKind({ group: 'example.com', version: 'v1', kind: 'Foo', scope: 'Namespaced' });
const FooBeta = defineKind({ group: 'example.com', version: 'v1beta1', kind: 'Foo', scope: 'Namespaced' });
const owner = (name = 'foo', uid = 'foo-uid'): KubeObject => ({ metadata: { namespace: 'ns', name, uid } });
const draft = (): KubeObject => ({ metadata: { namespace: 'ns', name: 'child' } });

describe('setControllerReference', () => {
  it('sets the controller and blocks the deletion of the owner', () => {
    const child = draft();
    setControllerReference(owner(), Foo, child);
    expect(child.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'example.com/v1',
        kind: 'Foo',
        name: 'foo',
        uid: 'foo-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect(controllerOf(child)?.uid).toBe('foo-uid');
  });

  it('can leave the deletion of the owner unblocked', () => {
    const child = draft();
    setControllerReference(owner(), Foo, child, { blockOwnerDeletion: false });
    expect(controllerOf(child)?.blockOwnerDeletion).toBe(false);
  });

  it.each([setControllerReference, setOwnerReference])('refuses an option that is not known: %s', (set) => {
    const child = draft();
    expect(() => set(owner('a', 'a'), Foo, child, { blockOwnerDelete: false } as never)).toThrow(
      'unknown option "blockOwnerDelete": did you mean "blockOwnerDeletion"?',
    );
    expect(() => set(owner('a', 'a'), Foo, child, { blockownerdeletion: false } as never)).toThrow(
      'unknown option "blockownerdeletion": did you mean "blockOwnerDeletion"?',
    );
    expect(child.metadata.ownerReferences).toBeUndefined();
  });

  it('replaces an entry for the same owner in another version or with another uid', () => {
    const child = draft();
    setControllerReference(owner('foo', 'old'), FooBeta, child);
    setControllerReference(owner('foo', 'new'), Foo, child);
    expect(child.metadata.ownerReferences).toMatchObject([{ apiVersion: 'example.com/v1', uid: 'new' }]);
  });

  it('keeps the place and the other owners', () => {
    const child = draft();
    setOwnerReference(owner('a', 'a'), Foo, child);
    setOwnerReference(owner('b', 'b'), Foo, child);
    setControllerReference(owner('a', 'a'), Foo, child);
    expect(child.metadata.ownerReferences?.map(({ name, controller }) => [name, controller])).toEqual([
      ['a', true],
      ['b', undefined],
    ]);
  });

  it('refuses a second controller and leaves the draft alone', () => {
    const child = draft();
    setControllerReference(owner('a', 'a'), Foo, child);
    const before = structuredClone(child);
    expect(() => setControllerReference(owner('b', 'b'), Foo, child)).toThrow(
      'ns/child is already controlled by Foo a',
    );
    expect(() => setControllerReference(owner('b', 'b'), Foo, child)).toThrow(expect.toSatisfy(isAlreadyOwned));
    expect(child).toEqual(before);
  });

  it('does not change the list that another object may share', () => {
    const shared = [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }];
    const child: KubeObject = { metadata: { namespace: 'ns', name: 'child', ownerReferences: shared } };
    setControllerReference(owner(), Foo, child);
    expect(shared).toHaveLength(1);
    expect(child.metadata.ownerReferences).toHaveLength(2);
  });

  it.each([
    [{ metadata: { namespace: 'ns', name: 'foo' } }, draft(), 'no uid'],
    [{ metadata: { namespace: 'ns', uid: 'u' } }, draft(), 'no name'],
    [{ metadata: { namespace: 'other', name: 'foo', uid: 'u' } }, draft(), 'another namespace'],
    [
      { metadata: { namespace: 'ns', name: 'foo', uid: 'u' } },
      { metadata: { name: 'node' } },
      'cluster-scoped object node',
    ],
  ])('refuses owner %j of %j', (bad, child, message) => {
    expect(() => setControllerReference(bad, Foo, child)).toThrow(message);
    expect(() => setOwnerReference(bad, Foo, child)).toThrow(message);
  });

  it.each([
    [undefined, draft(), 'the owner is undefined: expected an object with metadata'],
    [{ name: 'foo' }, draft(), 'the owner is an object without metadata'],
    [owner(), undefined, 'the draft is undefined'],
  ])('refuses owner %j of %j, which are not objects of Kubernetes', (bad, child, message) => {
    expect(() => setControllerReference(bad as never, Foo, child as never)).toThrow(message);
    expect(() => setOwnerReference(bad as never, Foo, child as never)).toThrow(message);
  });

  it('lets a cluster-scoped owner own in any namespace', () => {
    const child = draft();
    setControllerReference({ metadata: { name: 'node', uid: 'u' } }, Foo, child);
    expect(hasControllerReference(child)).toBe(true);
  });
});

describe('removing owners', () => {
  it('removes by group, kind and name, and says whether it did', () => {
    const child = draft();
    setOwnerReference(owner('a', 'a'), Foo, child);
    setOwnerReference(owner('b', 'b'), Foo, child);
    expect(hasOwnerReference(owner('a'), FooBeta, child)).toBe(true);
    expect(removeOwnerReference(owner('a', 'whatever'), FooBeta, child)).toBe(true);
    expect(removeOwnerReference(owner('a'), Foo, child)).toBe(false);
    expect(child.metadata.ownerReferences?.map(({ name }) => name)).toEqual(['b']);
  });

  it('removes a controller only where the owner is one', () => {
    const child = draft();
    setOwnerReference(owner(), Foo, child);
    expect(removeControllerReference(owner(), Foo, child)).toBe(false);
    setControllerReference(owner(), Foo, child);
    expect(removeControllerReference(owner('other'), Foo, child)).toBe(false);
    expect(removeControllerReference(owner(), Foo, child)).toBe(true);
    expect(hasControllerReference(child)).toBe(false);
  });

  it('finds no owner on an object without any', () => {
    expect(hasOwnerReference(owner(), Foo, draft())).toBe(false);
    expect(removeOwnerReference(owner(), Foo, draft())).toBe(false);
    expect(controllerOf(draft())).toBeUndefined();
  });
});

describe('an apiVersion that is not well-formed', () => {
  const malformed = ['example.com/v1/extra', '/v1', 'example.com/', '', undefined] as string[];

  it('matches no owner: such an entry is neither replaced nor removed nor found', () => {
    for (const apiVersion of malformed) {
      const entry = { apiVersion, kind: 'Foo', name: 'foo', uid: 'foo-uid' };
      const child = { metadata: { namespace: 'ns', name: 'child', ownerReferences: [entry] } };
      expect(hasOwnerReference(owner(), Foo, child)).toBe(false);
      expect(removeOwnerReference(owner(), Foo, child)).toBe(false);
      setOwnerReference(owner(), Foo, child);
      expect(child.metadata.ownerReferences).toMatchObject([entry, { apiVersion: 'example.com/v1', name: 'foo' }]);
    }
  });

  it('is refused in a kind, with its value', () => {
    for (const apiVersion of malformed) {
      const kind = { ...Foo, apiVersion };
      for (const set of [setOwnerReference, setControllerReference])
        expect(() => set(owner(), kind, draft())).toThrow(
          `apiVersion ${JSON.stringify(apiVersion)}, kind "Foo" is not valid`,
        );
    }
    expect(() => setOwnerReference(owner(), { ...Foo, kind: '' }, draft())).toThrow('kind "" is not valid');
  });
});
