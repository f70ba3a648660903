import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { expect, it } from 'vitest';
import { emptyObject, finalizersOf } from './kube-object.js';

it.each([
  [ConfigMap, { namespace: 'a', name: 'b' }, { namespace: 'a', name: 'b' }],
  [ConfigMap, { namespace: '', name: 'b' }, { name: 'b' }],
  [ConfigMap, { name: 'b' }, { name: 'b' }],
  [Namespace, { namespace: 'a', name: 'b' }, { name: 'b' }],
])('makes an object of %o with the metadata of %j', ({ kind }, key, metadata) => {
  const of = kind === 'ConfigMap' ? ConfigMap : Namespace;
  expect(emptyObject(of, key as never)).toStrictEqual({ apiVersion: 'v1', kind, metadata });
});

it.each([undefined, null, 'a', {}])('finds no finalizers in %j', (finalizers) => {
  expect(finalizersOf({ metadata: { finalizers } })).toEqual([]);
});
