import { defineKind } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import type { NamespaceScopes, ScopeOptions, WholeKindOptions } from '../cache-options.js';
import { resolveScopes } from './resolve-scopes.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });

function scopes(
  byKind?: Omit<WholeKindOptions, 'kind' | 'transform'>,
  defaultNamespaces?: NamespaceScopes,
  defaults?: ScopeOptions,
): object[] {
  return resolveScopes(Thing, {
    byKind: byKind === undefined ? undefined : { kind: Thing, ...byKind },
    defaultNamespaces,
    defaults,
  }).map(({ listScope }) => listScope);
}

describe('resolveScopes', () => {
  it('covers all namespaces by default', () => {
    expect(scopes()).toEqual([{}]);
  });

  it('inherits the default namespaces, which {} turns off and named ones replace', () => {
    expect(scopes(undefined, { a: {}, b: {} })).toEqual([{ namespace: 'a' }, { namespace: 'b' }]);
    expect(scopes({ namespaces: {} }, { a: {} })).toEqual([{}]);
    expect(scopes(undefined, {})).toEqual([]);
    expect(scopes({ namespaces: { c: {} } }, { a: {} })).toEqual([{ namespace: 'c' }]);
  });

  it('takes each field from the namespace, the kind, the default namespace, the defaults, in this order', () => {
    const label = (labelSelector: string): ScopeOptions => ({ labelSelector });
    const resolved = (namespaceEntry: ScopeOptions, kindEntry: ScopeOptions, defaultEntry: ScopeOptions): unknown =>
      scopes({ namespaces: { a: namespaceEntry }, ...kindEntry }, { a: defaultEntry }, label('d=4'))[0];
    expect(resolved(label('a=1'), label('b=2'), label('c=3'))).toEqual({ namespace: 'a', labelSelector: 'a=1' });
    expect(resolved({}, label('b=2'), label('c=3'))).toEqual({ namespace: 'a', labelSelector: 'b=2' });
    expect(resolved({}, {}, label('c=3'))).toEqual({ namespace: 'a', labelSelector: 'c=3' });
    expect(resolved({}, {}, {})).toEqual({ namespace: 'a', labelSelector: 'd=4' });
  });

  it('lets the key "" mean all namespaces that are not named', () => {
    expect(scopes({ namespaces: { b: {}, '': { fieldSelector: 'spec.x=1' }, a: {} } })).toEqual([
      { fieldSelector: 'metadata.namespace!=a,metadata.namespace!=b,spec.x=1' },
      { namespace: 'a' },
      { namespace: 'b' },
    ]);
  });

  it('lists within the namespace that a field selector pins', () => {
    expect(scopes({ fieldSelector: 'metadata.namespace=shop,spec.x=1' })).toEqual([
      { namespace: 'shop', fieldSelector: 'spec.x=1' },
    ]);
  });

  it('does not widen a namespace by a selector of another one', () => {
    const elsewhere = { fieldSelector: 'metadata.namespace=shop,spec.x=1' };
    expect(scopes({ namespaces: { a: {}, shop: {} }, ...elsewhere })).toEqual([
      { namespace: 'a', fieldSelector: 'metadata.namespace=shop,spec.x=1' },
      { namespace: 'shop', fieldSelector: 'spec.x=1' },
    ]);
  });

  it('gives cluster-scoped kinds one scope, whatever the default namespaces, and refuses namespaces of their own', () => {
    expect(resolveScopes(Node, { byKind: undefined, defaultNamespaces: { a: {} }, defaults: undefined })).toMatchObject(
      [{ listScope: {} }],
    );
    expect(() =>
      resolveScopes(Node, {
        byKind: { kind: Node, namespaces: { a: {} } },
        defaultNamespaces: undefined,
        defaults: undefined,
      }),
    ).toThrow('is not namespaced, but its byObject.namespaces');
  });

  it('does not touch what it is given', () => {
    const namespaces = Object.freeze({ a: Object.freeze({}), '': Object.freeze({}) });
    expect(() => scopes({ namespaces }, namespaces)).not.toThrow();
  });
});
