import { isStatusError, type ManagedFieldsEntry, type UntypedObject } from '@kctl/apimachinery';
import { objectOf, stringOf, type JsonObject } from '@kctl/crd/internal/engine';
import { formatTime } from '../protocol/go-text.js';
import { messageOf } from '@kctl/telemetry/internal';
import {
  createConvertedObjects,
  MissingConversion,
  type ConvertedObjects,
} from '../managed-fields/converted-objects.js';
import type { Atom } from '../managed-fields/atom.js';
import { isOfType, liveTypeErrors, printErrors, typeErrors } from '../managed-fields/check.js';
import { ListItemError } from '../managed-fields/list-items.js';
import {
  decodeManagers,
  encodeManagers,
  type Manager,
  type ManagerInfo,
  type Managers,
} from '../managed-fields/managers.js';
import { isDeepEqual } from '../json/equality.js';
import { updateOwners, type OwnershipChange, type Versions } from '../managed-fields/updater.js';
import type { ObjectConversion, ResourceDefinition } from '../resource/resource.js';
import { unclassified } from '../protocol/status.js';
import type { WriteBackend } from './call.js';

/** A write to an object or a subresource, with its manager and version. */
export interface OwnedWrite {
  readonly definition: ResourceDefinition;
  /** The field manager. */
  readonly manager: string;
  /** '' for the object itself. */
  readonly subresource: string;
  /** Whether admission plugins see the object before it is validated. @default false */
  readonly isReviewed?: boolean;
  /** Called if an owner gets the time of this write. */
  readonly onStamp?: () => void;
  /** Conversions by the conversion webhook so far, if there is one. */
  readonly converted?: ConvertedObjects;
}

/**
 * Computes owners, as a promise if a conversion webhook has to be called for it. The computation runs again with each
 * conversion that it turns out to need, and so must not change its input.
 *
 * @throws StatusError 500 (by rejecting) if the webhook fails
 */
export function computeOwners<T>(write: OwnedWrite, compute: (write: OwnedWrite) => T): T | Promise<T> {
  const { conversion } = write.definition;
  return conversion === undefined ? compute(write) : computeConverted(write, conversion, compute);
}

async function computeConverted<T>(
  write: OwnedWrite,
  conversion: ObjectConversion,
  compute: (write: OwnedWrite) => T,
): Promise<T> {
  const converted = createConvertedObjects();
  for (;;) {
    try {
      return compute({ ...write, converted });
    } catch (error) {
      if (!(error instanceof MissingConversion)) throw error;
      converted.add(error, await convertOne(conversion, error));
    }
  }
}

async function convertOne(conversion: ObjectConversion, { object, to, what }: MissingConversion): Promise<JsonObject> {
  try {
    return await conversion.convert(object, to);
  } catch (error) {
    throw what === '' ? error : unclassified(`${what}: ${messageOf(error)}`);
  }
}

/** The served versions of a kind, as the ownership of fields sees them. */
export function versionsOf({ registry }: WriteBackend, { definition, subresource, converted }: OwnedWrite): Versions {
  const find = (apiVersion: string): ResourceDefinition | undefined => {
    if (apiVersion === definition.apiVersion) return definition;
    const all = [...registry.ofStorage(definition.storageKey), ...(definition.unserved ?? [])];
    const found = all.find((each) => each.apiVersion === apiVersion);
    if (found === undefined && definition.isCustom)
      throw unclassified(`request to convert CR to an invalid group/version: ${apiVersion}`);
    return found;
  };
  return {
    find(apiVersion) {
      const typing = find(apiVersion)?.fieldTyping;
      // As upstream, fields that a write of a custom resource leaves alone are known only for the written version, and
      // those that a write of its status leaves alone are known for each.
      const isIgnoring = !definition.isCustom || subresource === 'status' || apiVersion === definition.apiVersion;
      return typing && { atom: typing.atom, ignored: isIgnoring ? typing.ignored(subresource) : undefined };
    },
    convert(object, to, what = '') {
      const given = stringOf(object['apiVersion']);
      if (given === to) return object;
      if (converted !== undefined) {
        const result = converted.get(object, to, what);
        requireTyped(result, find(to), what);
        return result;
      }
      const from = find(given) ?? definition;
      const whole = { ...object, metadata: objectOf(object['metadata']) };
      const target = find(to);
      const result = target?.fromStorage(from.toStorage(whole)) ?? object;
      if (definition.isCustom) requireTyped(result, target, what);
      return result;
    },
  };
}

/** As upstream, an object changed by a webhook must match the type of its version. @throws StatusError 500 */
function requireTyped(object: JsonObject, definition: ResourceDefinition | undefined, what: string): void {
  const errors = definition === undefined ? [] : typeErrors(object, definition.fieldTyping.atom);
  if (errors.length > 0) throw unclassified(`${what === '' ? '' : `${what}: `}${printErrors(errors)}`);
}

/** Types that states of objects were found to match; states are immutable. */
const typed = new WeakMap<object, Atom>();

/**
 * Problem of a state of an object according to the type of a version. A field whose type differs between versions, or
 * was changed since, may have a value of the other type.
 */
export function stateErrors({ isCustom, fieldTyping: { atom } }: ResourceDefinition, state: UntypedObject): string[] {
  if (!isCustom || typed.get(state) === atom) return [];
  const errors = liveTypeErrors(state, atom);
  if (errors.length === 0) typed.set(state, atom);
  return errors;
}

/** A change of owners, as {@link updateOwners} and `applyOwners` take it. */
export function ownershipChange(
  backend: WriteBackend,
  write: OwnedWrite,
  { operation, live, managers }: Pick<OwnershipChange, 'live' | 'managers'> & Pick<ManagerInfo, 'operation'>,
): OwnershipChange {
  const { definition, manager, subresource } = write;
  return {
    versions: versionsOf(backend, write),
    writer: { manager, operation, apiVersion: definition.apiVersion, subresource },
    now: formatTime(backend.clock.now()),
    onStamp: write.onStamp,
    live: withoutOwners({ ...live, kind: definition.kind, apiVersion: definition.apiVersion }),
    managers,
  };
}

/** The object without its managedFields; reads only. */
export function withoutOwners(object: UntypedObject): UntypedObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Writes managers into an object, in place. */
export function setOwners(object: UntypedObject, managers: Managers): void {
  const entries = encodeManagers(managers);
  if (entries === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = entries;
}

/**
 * Records the owners of the fields of an object about to be created. Owners sent by the client count if they are sound.
 * A promise if a conversion webhook is called for it.
 */
export function trackCreate(backend: WriteBackend, write: OwnedWrite, object: UntypedObject): void | Promise<void> {
  const given = object.metadata.managedFields;
  const managers: Managers = (isReset(given) ? undefined : decodeManagers(given)) ?? new Map<string, Manager>();
  return track(backend, write, { object, live: write.definition.fieldTyping.empty(), managers });
}

/**
 * Records the owners of the fields of an object about to be updated. Owners that the client leaves out are kept; `[{}]`
 * (or an empty list) forgets them all, and then they are not tracked until the next apply. Through subresources no
 * manager changes owners by hand. A promise if a conversion webhook is called for it.
 */
export function trackUpdate(
  backend: WriteBackend,
  write: OwnedWrite,
  { object, old }: { readonly object: UntypedObject; readonly old: UntypedObject },
): void | Promise<void> {
  const given = write.subresource === '' ? object.metadata.managedFields : undefined;
  const managers = isReset(given) ? undefined : ownersOf(given, old);
  if (managers !== undefined && managers.size > 0) return track(backend, write, { object, live: old, managers });
  delete object.metadata.managedFields;
}

function isReset(given: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (given === undefined) return false;
  return given.length === 0 || (given.length === 1 && Object.keys(given[0] ?? {}).length === 0);
}

function ownersOf(given: readonly ManagedFieldsEntry[] | undefined, old: UntypedObject): Managers | undefined {
  // If a client sends back the owners that it has read, the sets of the stored object serve, with their encodings.
  if (isDeepEqual(given, old.metadata.managedFields)) return decodeManagers(old.metadata.managedFields);
  const managers = decodeManagers(given);
  return managers === undefined || managers.size === 0 ? decodeManagers(old.metadata.managedFields) : managers;
}

interface Tracked {
  readonly object: UntypedObject;
  readonly live: UntypedObject;
  readonly managers: Managers;
}

function track(backend: WriteBackend, write: OwnedWrite, tracked: Tracked): void | Promise<void> {
  // As upstream, an object whose owners cannot be determined because a conversion failed has no owners.
  const forget = (error: unknown): void => {
    if (!isStatusError(error)) throw error;
    delete tracked.object.metadata.managedFields;
  };
  try {
    const done = computeOwners(write, (converting) => setTracked(backend, converting, tracked));
    return done instanceof Promise ? done.catch(forget) : done;
  } catch (error) {
    forget(error);
  }
}

function setTracked(backend: WriteBackend, write: OwnedWrite, { object, live, managers }: Tracked): void {
  const change = ownershipChange(backend, write, { operation: 'Update', live, managers });
  const next = withoutOwners(object);
  // As upstream, an object that does not match its type has no owners. Webhooks see that, and may mend it; or its
  // errors are restored as they were, as a write of the status does with the rest. All other validation refuses it.
  const mayBecomeValid = write.subresource !== '' || write.isReviewed === true;
  const { kind, fieldTyping } = write.definition;
  const isForeign = mayBecomeValid && (object.kind !== kind || !isOfType(next, fieldTyping.atom));
  if (isForeign || stateErrors(write.definition, live).length > 0) {
    delete object.metadata.managedFields;
    return;
  }
  try {
    setOwners(object, updateOwners(change, next));
  } catch (error) {
    // Neither has one whose list items cannot be distinguished.
    if (!(error instanceof ListItemError)) throw error;
    delete object.metadata.managedFields;
  }
}
