import type { UntypedObject } from '@kctl/apimachinery';
import { formatTime } from '../protocol/go-text.js';
import { withMetadata } from '../storage/long-object.js';

/** Options of a DELETE, after defaults. */
export interface DeletionWish {
  readonly policy: 'Foreground' | 'Background' | 'Orphan' | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly gracePeriodSeconds: number | undefined;
}

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

/** The finalizers of an object that is being deleted, with those that the garbage collector acts on. Mirrors `deletionFinalizersForGarbageCollection`. */
export function deletionFinalizers(present: readonly string[], wish: DeletionWish): string[] {
  const { policy, orphanDependents } = wish;
  const isSet = policy !== undefined || orphanDependents !== undefined;
  const wantsOrphan = isSet ? policy === 'Orphan' || orphanDependents === true : present.includes(orphan);
  const wantsForeground = isSet ? policy === 'Foreground' : present.includes(foreground);
  const others = present.filter((name) => name !== orphan && name !== foreground);
  return [...others, ...(wantsOrphan ? [orphan] : []), ...(wantsForeground ? [foreground] : [])];
}

function specFinalizers(object: UntypedObject): readonly unknown[] {
  const { spec } = object;
  if (typeof spec !== 'object' || spec === null || !('finalizers' in spec)) return [];
  return Array.isArray(spec.finalizers) ? spec.finalizers : [];
}

/** Whether nothing holds an object that is being deleted, so that this write removes it. */
export function isReadyToGo(object: UntypedObject, isNamespace: boolean): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers } = object.metadata;
  // A webhook may have left null of them.
  if (deletionTimestamp === undefined || (finalizers ?? []).length > 0) return false;
  return isNamespace ? specFinalizers(object).length === 0 : deletionGracePeriodSeconds === 0;
}

/** Whether a namespace still has something in `spec.finalizers`. */
export function hasSpecFinalizers(object: UntypedObject): boolean {
  return specFinalizers(object).length > 0;
}

/**
 * An object with its deletion begun (or hastened), including finalizers, timestamp, grace and generation. The same
 * object if the wish changes nothing, since repeated deletes are no-ops.
 */
export function beginDeletion(
  object: UntypedObject,
  terms: { readonly finalizers: readonly string[]; readonly graceSeconds: number; readonly now: number },
): UntypedObject {
  const { metadata } = object;
  const { finalizers, graceSeconds, now } = terms;
  const next = { ...metadata };
  if (finalizers.length > 0) next.finalizers = [...finalizers];
  else delete next.finalizers;
  const left = metadata.deletionGracePeriodSeconds ?? 0;
  if (metadata.deletionTimestamp === undefined) {
    if (metadata.generation !== undefined && metadata.generation > 0) next.generation = metadata.generation + 1;
    next.deletionTimestamp = formatTime(now + graceSeconds * 1000);
    next.deletionGracePeriodSeconds = graceSeconds;
  } else if (graceSeconds < left) {
    const requested = Date.parse(metadata.deletionTimestamp) - left * 1000;
    const isOver = graceSeconds > 0 && requested + graceSeconds * 1000 < now;
    // A grace that has run out already ends with the next second.
    next.deletionTimestamp = formatTime(isOver ? now + 1000 : requested + graceSeconds * 1000);
    next.deletionGracePeriodSeconds = isOver ? 1 : graceSeconds;
  } else if (metadata.deletionGracePeriodSeconds === undefined) {
    next.deletionGracePeriodSeconds = 0;
  } else if (sameList(metadata.finalizers ?? [], finalizers)) {
    return object;
  }
  return withMetadata(object, next);
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
