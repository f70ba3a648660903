import { isConflict, isInvalid, isNotFound, isStatusError, StatusError } from '@kctl/apimachinery';
import { formatGroupResource } from '@kctl/apimachinery/internal';
import type { JsonPatchOperation, Kind } from '@kctl/apimachinery';
import { requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { retry } from '@kctl/wait';
import type { Reader, ReadObject, Writer } from './client.js';
import { finalizersOf, isSet, keyOfKind, metadataOf } from './kube-object.js';
import type { AbortOptions } from './options.js';
import { jsonPatch } from './patch.js';
import { requireClient, requireName, requireOptionsObject } from './checks/require-arguments.js';
import { requireKind } from './checks/require-kind.js';

/** How often a guarded patch is tried against an object that changes meanwhile. */
const maxAttempts = 10;

const code = 'KCTL_OBJECT_DELETING';

/** Thrown when a finalizer is to be added to an object that is being deleted, which the server would refuse. */
export class ObjectDeletingError extends Error {
  override readonly name = 'ObjectDeletingError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_OBJECT_DELETING' = code;

  constructor(kind: Kind, name: string) {
    super(`${kind.kind} ${name} is being deleted: finalizers can only be removed`);
  }
}

/** Whether an error is an {@link ObjectDeletingError}, also one of another copy of this package. */
export function isObjectDeleting(error: unknown): error is ObjectDeletingError {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Adds a finalizer to the server's object, if it is missing. It sends a JSON patch that is guarded by the uid and by
 * the list of finalizers as it was read, so that no other finalizer is lost, nothing else is written, and another
 * object of the same name is not changed. If the list has changed meanwhile, the object is read again.
 *
 * Add it, and return from the reconcile, before anything is created outside of the cluster.
 *
 * @returns the object with the finalizer; the object that was passed, if it already has it
 * @throws ObjectDeletingError when the object is being deleted; NotFound when it is gone
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { addFinalizer } from '@kctl/client';
 *
 * const held = await addFinalizer(client, Pod, pod, 'example.com/bucket');
 * console.log(held.metadata.finalizers);
 * ```
 */
export async function addFinalizer<K extends Kind>(
  client: Pick<Reader, 'get'> & Pick<Writer, 'patch'>,
  kind: K,
  object: ReadObject<K>,
  options: string | FinalizerOptions,
): Promise<ReadObject<K>> {
  const { finalizer, signal } = resolve('addFinalizer', options);
  requireWrite('addFinalizer', client, kind);
  return await guarded(client, kind, object, {
    signal,
    operations: (present) => {
      const { deletionTimestamp, name = '', resourceVersion = '' } = metadataOf(present);
      const finalizers = finalizersOf(present);
      if (finalizers.includes(finalizer)) return undefined;
      if (isSet(deletionTimestamp)) throw new ObjectDeletingError(kind, name);
      if (finalizers.length === 0)
        // There is no list to test for, and a test for its absence is read differently by different servers.
        return [
          { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
          { op: 'add', path: '/metadata/finalizers', value: [finalizer] },
        ];
      return [
        { op: 'test', path: '/metadata/finalizers', value: [...finalizers] },
        { op: 'add', path: '/metadata/finalizers/-', value: finalizer },
      ];
    },
  });
}

/**
 * Removes a finalizer from the server's object, if it is present. It sends a JSON patch that is guarded by the uid and
 * by the value at its place in the list. If the list has changed meanwhile, the object is read again.
 *
 * @returns the object without the finalizer; undefined when it is gone
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { removeFinalizer } from '@kctl/client';
 *
 * await removeFinalizer(client, Pod, pod, 'example.com/bucket');
 * ```
 */
export async function removeFinalizer<K extends Kind>(
  client: Pick<Reader, 'get'> & Pick<Writer, 'patch'>,
  kind: K,
  object: ReadObject<K>,
  options: string | FinalizerOptions,
): Promise<ReadObject<K> | undefined> {
  const { finalizer, signal } = resolve('removeFinalizer', options);
  requireWrite('removeFinalizer', client, kind);
  try {
    return await guarded(client, kind, object, {
      signal,
      operations: (present) => {
        const index = finalizersOf(present).indexOf(finalizer);
        if (index < 0) return undefined;
        const path = `/metadata/finalizers/${index}`;
        return [
          { op: 'test', path, value: finalizer },
          { op: 'remove', path },
        ];
      },
    });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Options of {@link addFinalizer} and {@link removeFinalizer}; a string stands for the finalizer alone. */
export interface FinalizerOptions extends AbortOptions {
  /** Its name, which is a domain of yours and a path, e.g. `example.com/release-bucket`. */
  readonly finalizer: string;
}

const finalizerOptionNames: OptionNames<FinalizerOptions> = { finalizer: true, signal: true };

function resolve(what: string, options: string | FinalizerOptions): FinalizerOptions {
  const given = typeof options === 'string' ? { finalizer: options } : options;
  requireOptionsObject(what, given, 'the name of a finalizer, or { finalizer }');
  requireOptions(what, given, finalizerOptionNames);
  requireName(what, 'finalizer', given.finalizer);
  return given;
}

function requireWrite(what: string, client: unknown, kind: Kind): void {
  requireClient(what, client, ['get', 'patch']);
  requireKind(what, kind);
}

interface GuardedPatch {
  readonly signal: AbortSignal | undefined;
  /** Returns the patch for an object; undefined if there is nothing to do. */
  readonly operations: (present: unknown) => JsonPatchOperation[] | undefined;
}

/** Patches the object as it was passed, and on a failed guard the object as it is. */
async function guarded<K extends Kind>(
  client: Pick<Reader, 'get'> & Pick<Writer, 'patch'>,
  kind: K,
  object: ReadObject<K>,
  { signal, operations }: GuardedPatch,
): Promise<ReadObject<K>> {
  const key = keyOfKind(kind, object);
  const { uid = '' } = metadataOf(object);
  const options = signal === undefined ? {} : { signal };
  const isGuarded: JsonPatchOperation = { op: 'test', path: '/metadata/uid', value: uid };
  let failure: unknown;
  const patch = async (attempt: number): Promise<ReadObject<K>> => {
    const present = attempt === 1 ? object : readonly<K>(await client.get(kind, key, { ...options, live: true }));
    // Another object of the same name, so the requested change is as gone as its object.
    if (metadataOf(present).uid !== uid) throw goneError(kind, key.name, failure);
    const changes = operations(present);
    return changes === undefined
      ? present
      : readonly<K>(await client.patch(kind, key, jsonPatch(isGuarded, ...changes), options));
  };
  const isRetriable = (error: unknown): boolean => {
    failure = error;
    return isFailedGuard(error);
  };
  return await retry(patch, { maxAttempts, isRetriable, ...options });
}

function goneError(kind: Kind, name: string, cause: unknown): StatusError {
  const message = `${formatGroupResource(kind)} ${JSON.stringify(name)} was replaced by another object of that name`;
  return new StatusError({ status: 'Failure', code: 404, reason: 'NotFound', message }, { cause });
}

/** API servers answer a failed test of a JSON patch with 422, some with 409 or 400. */
function isFailedGuard(error: unknown): boolean {
  return isConflict(error) || isInvalid(error) || (isStatusError(error) && error.status.code === 400);
}

function readonly<K extends Kind>(object: unknown): ReadObject<K>;
function readonly(object: unknown): unknown {
  return object;
}
