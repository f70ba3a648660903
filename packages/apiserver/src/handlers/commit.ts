import type { ObjectMeta, UntypedObject } from '@kctl/apimachinery';
import type { ResourceDefinition } from '../resource/resource.js';
import { isDeepEqual } from '../json/equality.js';
import { isLostRaceError } from '../storage/errors.js';
import type { Commit } from '../storage/store.js';
import { haveSameContent } from '../storage/long-object.js';
import { renderObject, type ObjectVersion, type Rendering } from '../storage/version.js';
import { storageKeyOf, type WriteBackend } from './call.js';
import { shownIn, showStored, storedForm } from './conversions.js';
import { isReadyToGo } from './lifecycle.js';
import { sizeProblem, TooLargeError } from './size-limit.js';

/** More than a request can try within its deadline. */
const maxAttempts = 10_000;

function comparableMetadata({
  metadata: { resourceVersion: _, managedFields, ...metadata },
}: UntypedObject): ObjectMeta {
  const owners = managedFields?.map(({ time: _time, ...entry }) => entry);
  return owners === undefined ? metadata : { ...metadata, managedFields: owners };
}

/** Whether a write changes nothing, and so makes no new revision and no event. */
export function isNoop(next: UntypedObject, present: UntypedObject): boolean {
  if (!isDeepEqual(comparableMetadata(next), comparableMetadata(present))) return false;
  if (haveSameContent(next, present)) return true;
  const { metadata: _next, ...content } = next;
  const { metadata: _present, ...before } = present;
  return isDeepEqual(content, before);
}

/** Whether the version of the storage shows a state as it is stored. */
function isShownAsStored(definition: ResourceDefinition, present: ObjectVersion): boolean {
  const { isCustom, apiVersion, storageApiVersion } = definition;
  return !isCustom || apiVersion !== storageApiVersion || present.in(definition).object === present.object;
}

/** Table and key of an object. */
export function placeOf(definition: ResourceDefinition, object: UntypedObject): { table: string; key: string } {
  const { namespace = '', name = '' } = object.metadata;
  return { table: definition.storageKey, key: storageKeyOf(definition.namespaced ? namespace : '', name) };
}

/** A write that has been prepared and validated. */
export interface PreparedUpdate {
  readonly definition: ResourceDefinition;
  /** The new state in the version of the URL. */
  readonly object: UntypedObject;
  readonly present: ObjectVersion;
  readonly dryRun: boolean;
  /** Whether its managedFields are left out if etcd would not take the object with them. @default true */
  readonly mayDropOwners?: boolean;
}

/**
 * Commits an object of a client. One that etcd would not take is tried once more without its managedFields, as upstream.
 *
 * @throws LostRaceError; StatusError 500 if it is too large
 */
export function commitObject(
  { store }: Pick<WriteBackend, 'store'>,
  definition: ResourceDefinition,
  {
    mayDropOwners = true,
    object,
    ...place
  }: Required<Pick<Commit, 'table' | 'key' | 'expected' | 'object'>> & { readonly mayDropOwners?: boolean | undefined },
): ObjectVersion {
  const check = (version: ObjectVersion): void => {
    const problem = sizeProblem(definition, version, place.key);
    if (problem !== undefined) throw new TooLargeError(problem);
  };
  try {
    return store.commit({ ...place, object, check }).current;
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error;
    if (!mayDropOwners || object.metadata.managedFields === undefined) throw error.toStatus();
    const { managedFields: _, ...metadata } = object.metadata;
    return commitObject({ store }, definition, { ...place, object: { ...object, metadata } });
  }
}

/**
 * Commits an update. Commits nothing if nothing changed, and a removal if the last finalizer went.
 *
 * Without a conversion webhook it runs to its commit without waiting.
 *
 * @throws LostRaceError when the object changed meanwhile; StatusError 500 if a conversion webhook fails
 */
export async function commitUpdate(backend: WriteBackend, update: PreparedUpdate): Promise<Rendering> {
  const { definition, object, present, dryRun } = update;
  const form = storedForm(definition, object);
  const stored = form instanceof Promise ? await form : form;
  // As upstream, a state that is not read as it is stored is written anew, also by what leaves it as it is.
  if (isNoop(stored, present.object) && isShownAsStored(definition, present)) return shownIn(definition, present);
  const place = placeOf(definition, present.object);
  const { store } = backend;
  if (isReadyToGo(stored, definition.storageKey === '/namespaces')) {
    if (!dryRun) store.commit({ ...place, expected: present.revision });
    // As upstream, a removed object is shown as it was written, including parts that storing and reading it would have
    // lost.
    if (definition.isCustom) return renderObject(withVersionOf(object, present));
    return showStored(definition, withVersionOf(stored, present));
  }
  if (dryRun) return showStored(definition, withVersionOf(stored, present));
  const { mayDropOwners } = update;
  const commit = { ...place, expected: present.revision, object: stored, mayDropOwners };
  return shownIn(definition, commitObject(backend, definition, commit));
}

function withVersionOf(object: UntypedObject, present: ObjectVersion): UntypedObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(present.revision) } };
}

/**
 * Retries a read-modify-write if another writer was faster, until the request's deadline, as `GuaranteedUpdate` does.
 * Only a write that waits between its read and its commit can lose a race.
 *
 * @throws the reason of the signal once it is aborted
 */
export async function retryOnLostRace<T>(attempt: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let left = maxAttempts; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLostRaceError(error) || left === 0) throw error;
      signal?.throwIfAborted();
    }
  }
}

/** A write by the server itself, bypassing strategies. Removes the object if nothing holds it. */
export function commitInternal(
  { store }: WriteBackend,
  place: { readonly table: string; readonly key: string },
  { present, next }: { readonly present: ObjectVersion; readonly next: UntypedObject },
): void {
  if (isNoop(next, present.object)) return;
  const isGone = isReadyToGo(next, place.table === '/namespaces');
  store.commit({ ...place, expected: present.revision, ...(!isGone && { object: next }) });
}
