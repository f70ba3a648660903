import type { DeepReadonly, KubeObject } from './object.js';
import { metadataOf, requireText } from './arguments/require-arguments.js';

/**
 * Adds a finalizer to the draft's metadata and reports whether it was missing. The draft is **mutated**; to change the
 * server's object, send a guarded patch (`addFinalizer` of `@kctl/client`). Mirrors `controllerutil.AddFinalizer`.
 */
export function setFinalizer(draft: KubeObject, finalizer: string): boolean {
  if (hasIn('setFinalizer', draft, finalizer)) return false;
  draft.metadata.finalizers = [...presentIn(draft.metadata.finalizers), finalizer];
  return true;
}

/**
 * Removes a finalizer from the draft's metadata and reports whether it was present. The draft is **mutated**. Mirrors
 * `controllerutil.RemoveFinalizer`.
 */
export function unsetFinalizer(draft: KubeObject, finalizer: string): boolean {
  if (!hasIn('unsetFinalizer', draft, finalizer)) return false;
  draft.metadata.finalizers = presentIn(draft.metadata.finalizers).filter((present) => present !== finalizer);
  return true;
}

/** Whether an object has a finalizer. Mirrors `controllerutil.ContainsFinalizer`. */
export function hasFinalizer(object: DeepReadonly<KubeObject>, finalizer: string): boolean {
  return hasIn('hasFinalizer', object, finalizer);
}

/** Reports whether an object is being deleted, in which case finalizers keep it and none may be added. */
export function isDeleting(object: DeepReadonly<KubeObject>): boolean {
  // JSON may have null for an absent value.
  return (metadataOf('isDeleting', 'object', object).deletionTimestamp ?? undefined) !== undefined;
}

function hasIn(what: string, object: DeepReadonly<KubeObject>, finalizer: string): boolean {
  const { finalizers } = metadataOf(what, 'object', object);
  requireText(what, 'finalizer', finalizer);
  return presentIn(finalizers).includes(finalizer);
}

/** JSON may have anything in the place of the list. */
function presentIn(finalizers: readonly string[] | undefined): readonly string[] {
  const isList: boolean = Array.isArray(finalizers);
  return isList ? (finalizers ?? []) : [];
}
