import type { UntypedObject } from '@kctl/apimachinery';
import { at, objectsOf, stringOf } from '@kctl/crd/internal/engine';
import type { Backend } from '../handlers/call.js';
import { commitInternal } from '../handlers/commit.js';
import type { StoreEvent } from '../storage/table.js';
import type { InnerController } from './inner-controller.js';
import { createWorkSet } from './work-set.js';

const pods = '/pods';
const claims = '/persistentvolumeclaims';
const volumes = '/persistentvolumes';
const finalizers: Readonly<Record<string, string>> = {
  [claims]: 'kubernetes.io/pvc-protection',
  [volumes]: 'kubernetes.io/pv-protection',
};

/** Whether a pod holds a claim back. Mirrors `podUsesPVCForDeletion`: a kubelet starts no pod with a claim that goes. */
function usesClaim(pod: UntypedObject, claim: UntypedObject): boolean {
  if (stringOf(at(pod, 'spec', 'nodeName')) === '') return false;
  const { name = '', uid, deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  const isShutDown = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;
  const isOwner = (claim.metadata.ownerReferences ?? []).some(
    (owner) => owner.controller === true && owner.uid === uid,
  );
  return objectsOf(at(pod, 'spec', 'volumes')).some((volume) => {
    if (at(volume, 'persistentVolumeClaim', 'claimName') === claim.metadata.name) return true;
    const ownName = `${name}-${stringOf(volume['name'])}`;
    return !isShutDown && isOwner && volume['ephemeral'] !== undefined && ownName === claim.metadata.name;
  });
}

/** Lets claims and volumes that are being deleted go once nothing uses them, as kube-controller-manager does. */
export function createVolumeProtectionController(backend: Backend): InnerController {
  const { store } = backend;
  const work = createWorkSet<string>();
  const note = (table: string, key: string, object: UntypedObject): void => {
    const finalizer = finalizers[table];
    const { deletionTimestamp, finalizers: held = [] } = object.metadata;
    if (finalizer !== undefined && deletionTimestamp !== undefined && held.includes(finalizer))
      work.add(`${table} ${key}`);
  };
  const noteAll = (table: string, prefix = ''): void => {
    for (const [key, { object }] of store.table(table).scan({ prefix })) note(table, key, object);
  };
  const isUsed = (table: string, object: UntypedObject): boolean => {
    if (table === volumes) return at(object, 'status', 'phase') === 'Bound';
    const { namespace = '' } = object.metadata;
    for (const [, pod] of store.table(pods).scan({ prefix: `${namespace}/` }))
      if (usesClaim(pod.object, object)) return true;
    return false;
  };
  return {
    observe({ table, key, type }: StoreEvent) {
      if (table === pods) noteAll(claims, key.slice(0, key.indexOf('/') + 1));
      if (type === 'DELETED' || finalizers[table] === undefined) return;
      const present = store.table(table).get(key);
      if (present !== undefined) note(table, key, present.object);
    },
    resync() {
      noteAll(claims);
      noteAll(volumes);
    },
    step() {
      const queued = work.take();
      if (queued === undefined) return false;
      const [table = '', key = ''] = queued.split(' ');
      const present = store.table(table).get(key);
      if (present === undefined || isUsed(table, present.object)) return true;
      const { finalizers: held = [], ...metadata } = present.object.metadata;
      const left = held.filter((finalizer) => finalizer !== finalizers[table]);
      if (left.length === held.length) return true;
      const next = { ...present.object, metadata: { ...metadata, ...(left.length > 0 && { finalizers: left }) } };
      commitInternal(backend, { table, key }, { present, next });
      return true;
    },
  };
}
