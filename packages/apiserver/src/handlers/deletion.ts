import type { UntypedObject } from '@kctl/apimachinery';
import { at, objectOf, objectsOf } from '@kctl/crd/internal/engine';
import { formatTime } from '../protocol/go-text.js';
import { crdFinalizer } from '../registry/crd-finalizer.js';
import { withoutUnread } from '../registry/unread-metadata.js';
import type { ResourceDefinition } from '../resource/resource.js';
import { conflict, forbiddenObject } from '../protocol/status.js';
import { createVersion, type ObjectVersion } from '../storage/version.js';
import { crdTable, type Backend } from './call.js';
import { placeOf } from './commit.js';
import type { DeleteOptions } from './delete-options.js';
import { beginDeletion, deletionFinalizers, hasSpecFinalizers, isReadyToGo } from './lifecycle.js';

/** Result of a deletion. */
export interface DeletionResult {
  /** The last state that is known. */
  readonly last: UntypedObject;
  /** The object, if the answer shows it because it stays for a while, or is a Pod. */
  readonly shown: ObjectVersion | undefined;
  /** Whether the object is no longer there, or would be but for a dry run. */
  readonly isGone: boolean;
}

const namespaces = '/namespaces';
const pods = '/pods';
/** Kinds whose deletion answers the object and not a Status. */
const deletedObjectsShown: ReadonlySet<string> = new Set([
  pods,
  '/services',
  '/serviceaccounts',
  '/podtemplates',
  '/persistentvolumes',
  '/persistentvolumeclaims',
  '/resourcequotas',
]);

/** An object that is to be deleted. */
export interface PendingDeletion {
  readonly present: ObjectVersion;
  readonly options: DeleteOptions;
}

/** Steps that a deletion is going to take. */
export type DeletionPlan =
  /** Does nothing, because the deletion is under way already, with a grace that this one does not shorten. */
  | { readonly type: 'pending' }
  /** The object is marked, or its finalizers or its grace change, and stays. */
  | { readonly type: 'stays'; readonly next: UntypedObject }
  /**
   * The object goes. `steps` is 2 if upstream needs two, to mark an object with a grace first, or to take finalizers
   * off first.
   */
  | { readonly type: 'goes'; readonly next: UntypedObject; readonly isMarked: boolean; readonly steps: 1 | 2 };

/** The object to delete as it is read, in the version of the storage, which is also the form written if it stays. */
function asRead(definition: ResourceDefinition, present: ObjectVersion): UntypedObject {
  const { object } = present;
  const { apiVersion, storageApiVersion, isCustom } = definition;
  if (apiVersion === storageApiVersion && (!isCustom || object.apiVersion === apiVersion))
    return present.has(definition) ? present.in(definition).object : definition.fromStorage(object);
  return isCustom ? withoutUnread(object) : object;
}

/** Plans a deletion. Mirrors `BeforeDelete` and the first half of `Store.Delete`. @throws StatusError 403, 409 */
export function planDeletion(
  { clock }: Backend,
  definition: ResourceDefinition,
  { present, options }: PendingDeletion,
): DeletionPlan {
  const object = asRead(definition, present);
  checkPreconditions(definition, present, options);
  const isNamespace = definition.storageKey === namespaces;
  const why = definition.deletionForbidden(object);
  if (why !== undefined) throw forbiddenObject(definition, object.metadata.name ?? '', why);
  const isPod = definition.storageKey === pods;
  const isPending =
    isPod &&
    object.metadata.deletionTimestamp !== undefined &&
    (object.metadata.deletionGracePeriodSeconds ?? 0) > 0 &&
    (options.gracePeriodSeconds ?? Infinity) >= (object.metadata.deletionGracePeriodSeconds ?? 0);
  // The deletion of a pod that is under way is not changed but by a shorter grace.
  if (isPending) return { type: 'pending' };
  const finalizers = deletionFinalizers(object.metadata.finalizers ?? [], options);
  const graceSeconds = graceOf(definition, object, options);
  if (definition.storageKey === crdTable && object.metadata.deletionTimestamp === undefined)
    return { type: 'stays', next: markDefinition(object, formatTime(clock.now())) };
  const begun = beginDeletion(object, { finalizers, graceSeconds, now: clock.now() });
  const next = isNamespace ? withPhase(begun, 'Terminating') : begun;
  const stays = isNamespace ? hasSpecFinalizers(next) || finalizers.length > 0 : !isReadyToGo(next, false);
  if (stays && isNamespace && object.metadata.deletionTimestamp !== undefined && hasSpecFinalizers(object))
    throw namespaceIsGoing(definition, object);
  if (stays) return { type: 'stays', next };
  const isGraceful =
    object.metadata.deletionTimestamp === undefined || object.metadata.deletionGracePeriodSeconds !== 0;
  // Upstream marks an object with a grace before it deletes it, so that watchers of pods see MODIFIED, then DELETED.
  const isMarked = isPod && isGraceful;
  const hadFinalizers = (object.metadata.finalizers ?? []).length > 0;
  return { type: 'goes', next, isMarked, steps: isMarked || hadFinalizers ? 2 : 1 };
}

/** Marks an object that is about to go. @throws LostRaceError */
export function markDeletion(
  { store }: Backend,
  definition: ResourceDefinition,
  { present, next }: { readonly present: ObjectVersion; readonly next: UntypedObject },
): ObjectVersion {
  return store.commit({ ...placeOf(definition, present.object), expected: present.revision, object: next }).current;
}

/** Carries a plan out, in one synchronous step. @throws LostRaceError when the object has changed since */
export function commitDeletion(
  backend: Backend,
  definition: ResourceDefinition,
  { present, options, plan }: PendingDeletion & { readonly plan: DeletionPlan },
): DeletionResult {
  const { store } = backend;
  const { object } = present;
  if (plan.type === 'pending') return { last: object, shown: present, isGone: false };
  const { next } = plan;
  const place = placeOf(definition, object);
  if (plan.type === 'stays') {
    if (next === object) return { last: object, shown: present, isGone: false };
    const shown = options.dryRun
      ? createVersion(present.revision, next)
      : store.commit({ ...place, expected: present.revision, object: next }).current;
    return { last: shown.object, shown, isGone: false };
  }
  const isShown = deletedObjectsShown.has(definition.storageKey);
  if (options.dryRun)
    return {
      last: object,
      isGone: true,
      shown: isShown ? createVersion(present.revision, definition.storageKey === pods ? next : object) : undefined,
    };
  const expected = plan.isMarked ? markDeletion(backend, definition, { present, next }).revision : present.revision;
  return removeMarked(backend, definition, { present, expected });
}

/** Removes an object. @throws LostRaceError when it is at another revision */
export function removeMarked(
  { store }: Backend,
  definition: ResourceDefinition,
  { present, expected }: { readonly present: ObjectVersion; readonly expected: number },
): DeletionResult {
  const { object } = present;
  const { current } = store.commit({ ...placeOf(definition, object), expected });
  const isShown = deletedObjectsShown.has(definition.storageKey);
  return { last: object, shown: isShown ? current : undefined, isGone: true };
}

/**
 * Deletes one object or begins its deletion, in one synchronous step and past admission. Mirrors `Store.Delete` of the
 * generic registry.
 *
 * @throws StatusError 403, 409; LostRaceError
 */
export function deleteStored(
  backend: Backend,
  definition: ResourceDefinition,
  deletion: PendingDeletion,
): DeletionResult {
  return commitDeletion(backend, definition, { ...deletion, plan: planDeletion(backend, definition, deletion) });
}

/** The grace that upstream writes into the options of a pod's deletion, for admission to see. */
export function graceGiven(
  definition: ResourceDefinition,
  object: UntypedObject,
  options: DeleteOptions,
): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  // Nothing is filled in if the deletion has begun and no grace is left.
  const isDue = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;
  return definition.storageKey === pods && !isDue ? graceOf(definition, object, options) : options.gracePeriodSeconds;
}

function namespaceIsGoing(definition: ResourceDefinition, object: UntypedObject): Error {
  return conflict(
    definition,
    object.metadata.name ?? '',
    'The system is ensuring all content is removed from this namespace.  Upon completion, this namespace will automatically be purged by the system.',
  );
}

/**
 * Marks a CustomResourceDefinition at the start of its deletion with a condition; it then waits for its objects. As
 * upstream, which treats it separately, it gets no grace and no generation.
 */
function markDefinition(object: UntypedObject, now: string): UntypedObject {
  const { metadata, status } = object;
  const { finalizers = [] } = metadata;
  const conditions = objectsOf(at(status, 'conditions')).filter(({ type }) => type !== 'Terminating');
  const terminating = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: now,
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  return {
    ...object,
    metadata: {
      ...metadata,
      deletionTimestamp: now,
      finalizers: finalizers.includes(crdFinalizer) ? finalizers : [...finalizers, crdFinalizer],
    },
    status: { ...objectOf(status), conditions: [...conditions, terminating] },
  };
}

function withPhase(object: UntypedObject, phase: string): UntypedObject {
  const { status } = object;
  return { ...object, status: { ...(typeof status === 'object' ? status : {}), phase } };
}

/** A pod that runs nowhere, or has ended, goes at once. */
function hasGrace({ storageKey }: ResourceDefinition, object: UntypedObject): boolean {
  const phase = at(object['status'], 'phase');
  return storageKey === pods && Boolean(at(object['spec'], 'nodeName')) && phase !== 'Failed' && phase !== 'Succeeded';
}

/** Grace applies to kinds that have it at all; a client may shorten or lengthen it. */
function graceOf(definition: ResourceDefinition, object: UntypedObject, options: DeleteOptions): number {
  const given = options.gracePeriodSeconds;
  const asked = given !== undefined && given < 0 ? 1 : given;
  const pending = object.metadata.deletionGracePeriodSeconds;
  // Once a deletion has begun only its grace counts, which a client may shorten.
  if (object.metadata.deletionTimestamp !== undefined && pending !== undefined) return asked ?? pending;
  if (!hasGrace(definition, object)) return 0;
  return asked ?? definition.gracePeriodSeconds(object);
}

function checkPreconditions(definition: ResourceDefinition, present: ObjectVersion, options: DeleteOptions): void {
  const { metadata } = present.object;
  const { group, kind } = definition;
  const refuse = (why: string): Error => conflict({ group, plural: kind }, metadata.name ?? '', why);
  if (options.uid !== undefined && options.uid !== metadata.uid)
    throw refuse(
      `the UID in the precondition (${options.uid}) does not match the UID in record (${metadata.uid ?? ''}). The object might have been deleted and then recreated`,
    );
  if (options.resourceVersion !== undefined && options.resourceVersion !== String(present.revision))
    throw refuse(
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${present.revision}). The object might have been modified`,
    );
}
