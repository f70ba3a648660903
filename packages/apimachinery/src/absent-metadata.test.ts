// JSON can carry null where the types have undefined: what reads metadata takes the one for the other.
import { expect, it } from 'vitest';
import {
  controllerOf,
  createScheme,
  defineKind,
  formatKey,
  hasFinalizer,
  hasOwnerReference,
  isDeleting,
  keyOf,
  labelSelectorFrom,
  setControllerReference,
  setFinalizer,
  setOwnerReference,
  unsetFinalizer,
} from './index.js';
import { AlreadyOwnedError } from './internal/index.js';
import type { KubeObject } from './index.js';

const Site = defineKind({ group: 'example.com', version: 'v1', kind: 'Site', scope: 'Cluster' });
const owner: KubeObject = { metadata: { name: 'owner', uid: 'o' } };
const identity = { name: 'a', uid: 'u' };
const nulls = {
  generateName: null,
  namespace: null,
  deletionTimestamp: null,
  deletionGracePeriodSeconds: null,
  labels: null,
  annotations: null,
  ownerReferences: null,
  finalizers: null,
  managedFields: null,
};
const without = (): KubeObject => ({ metadata: { ...identity } });
const withNulls = (): KubeObject => JSON.parse(JSON.stringify({ metadata: { ...identity, ...nulls } })) as KubeObject;

it.each<[string, (object: KubeObject) => unknown]>([
  ['isDeleting', (object) => isDeleting(object)],
  ['hasFinalizer', (object) => hasFinalizer(object, 'f')],
  ['setFinalizer', (object) => [setFinalizer(object, 'f'), object.metadata.finalizers]],
  ['unsetFinalizer', (object) => unsetFinalizer(object, 'f')],
  ['keyOf', (object) => keyOf(object)],
  ['formatKey', (object) => formatKey({ name: 'a', ...object.metadata })],
  ['controllerOf', (object) => controllerOf(object)],
  ['hasOwnerReference', (object) => hasOwnerReference(owner, Site, object)],
  ['setOwnerReference', (object) => setOwnerReference(owner, Site, object)],
  ['setControllerReference, of an owner', (object) => setControllerReference(object, Site, { metadata: {} })],
  ['a selector of labels', (object) => labelSelectorFrom('app=web').matches(object.metadata.labels)],
  ['a selector of no label', (object) => labelSelectorFrom('!app').matches(object.metadata.labels)],
  [
    'AlreadyOwnedError',
    (object) => new AlreadyOwnedError(object, { apiVersion: 'v1', kind: 'K', name: 'n', uid: 'x' }).message,
  ],
])('%s takes null for what is not there', (_what, call) => {
  expect(call(withNulls())).toEqual(call(without()));
});

it('a name or a kind that is null is one that is not said', () => {
  expect(() => keyOf({ metadata: { name: null as never } })).toThrow('keyOf: metadata.name is not set');
  expect(() => setOwnerReference({ metadata: { name: 'a', uid: null as never } }, Site, without())).toThrow(
    'owner reference: the owner has no uid',
  );
  const scheme = createScheme([Site]);
  expect(() => scheme.kindOf({ apiVersion: null as never, kind: 'Site' })).toThrow('lacks its apiVersion');
  expect(() => scheme.kindOf({ apiVersion: 'example.com/v1', kind: null as never })).toThrow('lacks its kind');
});
