import {
  isAlreadyExists,
  isConflict,
  isDeleting,
  isNotFound,
  isStatusError,
  keyOf,
  mutableCopy,
} from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { DeepReadonly, Kind, KubeObject, ObjectKey, Status } from '@kctl/apimachinery';
import { versionOf } from './own-write.js';
import type { Fact } from './own-write.js';

/**
 * Reports whether a failed write may nevertheless have been executed, because the connection broke, time ran out, the
 * caller gave up, or the server failed while it was at it. A refusal (4xx), or a failure before anything was sent, is
 * certain.
 */
export function mayHaveHappened(error: unknown): boolean {
  if (isStatusError(error)) return error.httpCode >= 500 || error.httpCode === 0;
  if (error instanceof TypeError) return false;
  const isUnsent = typeof error === 'object' && error !== null && 'maybeSent' in error && error.maybeSent === false;
  return !isUnsent;
}

/**
 * Reports whether a refused write shows that the object differs from the writer's view (changed, there already, or
 * gone). A 404 of something else (a path, a namespace) does not.
 */
export function saysOtherwise(error: unknown, { name }: ObjectKey): boolean {
  if (isAlreadyExists(error) || (isNotFound(error) && error.status.details?.name === name)) return true;
  return isConflict(error) && error.status.details?.causes?.some(isOfOwner) !== true;
}

/** An apply that conflicts with fields of another owner does not make the object unknown. */
function isOfOwner({ reason }: { readonly reason?: string }): boolean {
  return reason === 'FieldManagerConflict';
}

/** The outcome that an object returned by the server shows. */
export function outcomeOfObject(kind: Kind, object: DeepReadonly<KubeObject>): Fact {
  return {
    key: keyOf(object),
    // A separate copy, because the caller owns the object that the write returned.
    outcome: { type: 'present', object: mutableCopy(object), apiVersion: kind.apiVersion, shape: kind.shape },
    version: versionOf(object),
    observedVersion: '',
    uid: object.metadata.uid ?? '',
  };
}

/**
 * The outcome that the answer to a write shows. A write that removes the last finalizer from an object that is being
 * deleted ends it; the answer is then its previous state.
 */
export function outcomeOfWrite(kind: Kind, object: DeepReadonly<KubeObject>): Fact {
  return isDeleting(object) ? outcomeOfTerminating(kind, object) : outcomeOfObject(kind, object);
}

/** The state of an object that a write left with a deletionTimestamp. */
function outcomeOfTerminating(kind: Kind, object: DeepReadonly<KubeObject>): Fact {
  const { deletionGracePeriodSeconds, uid } = object.metadata;
  if (isHeld(object) || (deletionGracePeriodSeconds ?? 0) > 0) return outcomeOfObject(kind, object);
  // Some kinds answer with the deleted object, some with the object being deleted; without further information, it may
  // be either.
  if (typeof deletionGracePeriodSeconds !== 'number') return unread(keyOf(object));
  return gone(keyOf(object), { uid: uid ?? '', observedVersion: versionOf(object) });
}

/**
 * The outcome that the answer to a delete shows, which is gone, or still present until finalizers and grace period are
 * over.
 */
export function outcomeOfDelete(
  kind: Kind,
  answer: { readonly key: ObjectKey; readonly result: DeepReadonly<KubeObject> | Status; readonly known: Known },
): Fact {
  const { key, result, known } = answer;
  if (isObject(result)) {
    const terminating = outcomeOfTerminating(kind, result);
    if (terminating.outcome.type === 'present' || isDeleting(result)) return terminating;
    return gone(key, {
      uid: result.metadata.uid ?? known.uid,
      observedVersion: versionOf(result) || known.observedVersion,
    });
  }
  // A user's client may return nothing. Then the delete has happened, and nothing else is known.
  const given: unknown = result;
  if (!isJsonObject(given)) return unread(key);
  const uid = result.details?.uid ?? known.uid;
  return gone(key, { uid, observedVersion: uid === known.uid ? known.observedVersion : '' });
}

/** Whether finalizers keep an object. Namespaces have theirs in the spec. */
function isHeld(object: DeepReadonly<KubeObject>): boolean {
  if ((object.metadata.finalizers ?? []).length > 0) return true;
  const spec = 'spec' in object ? object.spec : undefined;
  const finalizers = typeof spec === 'object' && spec !== null && 'finalizers' in spec ? spec.finalizers : undefined;
  return Array.isArray(finalizers) && finalizers.length > 0;
}

/** The known state of an object before it was deleted. */
export interface Known {
  readonly uid: string;
  readonly observedVersion: string;
}

/** A write of which only the key is known. */
export function unread(key: ObjectKey, version = ''): Fact {
  return { key: plainKey(key), outcome: { type: 'unread' }, version, observedVersion: '', uid: '' };
}

function gone(key: ObjectKey, { uid, observedVersion }: Known): Fact {
  // Without a version at which it existed, the cache cannot show that it has seen the end. The server is read.
  if (observedVersion === '') return unread(key);
  return { key: plainKey(key), outcome: { type: 'absent' }, version: '', observedVersion, uid };
}

function plainKey({ namespace, name }: ObjectKey): ObjectKey {
  return namespace === undefined || namespace === '' ? { name } : { namespace, name };
}

/** A Status has no identity of an object, whatever else it has, and neither has the answer to a review. */
export function isObject(result: unknown): result is DeepReadonly<KubeObject> {
  if (typeof result !== 'object' || result === null || Reflect.get(result, 'kind') === 'Status') return false;
  const metadata: unknown = Reflect.get(result, 'metadata');
  const name: unknown = typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, 'name') : undefined;
  return typeof name === 'string' && name !== '';
}
