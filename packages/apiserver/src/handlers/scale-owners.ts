import type { ManagedFieldsEntry, UntypedObject } from '@kctl/apimachinery';
import { formatTime } from '../protocol/go-text.js';
import { buildSet, difference, hasPath, isEmptySet, type FieldSet } from '../managed-fields/field-set.js';
import { structAtom } from '../managed-fields/go-atom.js';
import { decodeManagers, encodeManagers, type Manager, type Managers } from '../managed-fields/managers.js';
import { fieldElement, type PathElement } from '../managed-fields/path-element.js';
import { updateOwners, type OwnershipChange, type Versions } from '../managed-fields/updater.js';
import { bodyStruct } from '../resource/builtin-table.js';
import type { ObjectView, ResourceDefinition } from '../resource/resource.js';
import type { WriteBackend } from './call.js';
import { withoutOwners } from './managed-fields.js';

const apiVersion = 'autoscaling/v1';
const replicasInScale = ['spec', 'replicas'].map(fieldElement);

const scaleVersions: Versions = {
  find: (version) =>
    version === apiVersion ? { atom: structAtom(bodyStruct('Scale')), ignored: undefined } : undefined,
  convert: (object) => object,
};

/** A write of the view of an object, by its owners. */
export interface ScaleWrite {
  readonly definition: ResourceDefinition;
  readonly view: ObjectView;
  /** The object behind the view. */
  readonly object: UntypedObject;
  readonly manager: string;
  /** Called if an owner gets the time of this write. */
  readonly onStamp?: () => void;
}

/** Paths of the replicas by version of a kind; undefined for versions that are not served. */
function replicasPaths(
  { registry }: WriteBackend,
  { definition, view }: ScaleWrite,
): (version: string) => readonly PathElement[] | undefined {
  return (version) => {
    if (version === definition.apiVersion) return view.replicasPath.map(fieldElement);
    const other = registry.ofStorage(definition.storageKey).find((each) => each.apiVersion === version);
    const scale = other?.subresources.get('scale');
    return scale?.type === 'view' ? scale.view.replicasPath.map(fieldElement) : undefined;
  };
}

/**
 * The owners of the object as those of its Scale, which are the owners of the replicas. Mirrors
 * `ScaleHandler.ToSubresource`.
 */
export function scaleOwners(backend: WriteBackend, write: ScaleWrite): Managers {
  const pathIn = replicasPaths(backend, write);
  const owners: Managers = new Map();
  for (const [id, manager] of ownersOf(write.object)) {
    const path = pathIn(manager.apiVersion);
    if (path === undefined || !hasPath(manager.fields, path)) continue;
    owners.set(id, { ...manager, apiVersion, fields: buildSet(replicasInScale) });
  }
  // Goes through the wire form, as upstream does, because it gives updaters other identifiers.
  return decodeManagers(encodeManagers(owners)) ?? new Map<string, Manager>();
}

function ownersOf(object: UntypedObject): Managers {
  return decodeManagers(object.metadata.managedFields) ?? new Map<string, Manager>();
}

/** A change of the owners of a Scale. */
export function scaleChange(backend: WriteBackend, write: ScaleWrite, operation: 'Apply' | 'Update'): OwnershipChange {
  return {
    versions: scaleVersions,
    writer: { manager: write.manager, operation, apiVersion, subresource: 'scale' },
    now: formatTime(backend.clock.now()),
    onStamp: write.onStamp,
    live: withoutOwners(write.view.show(write.object, true)),
    managers: scaleOwners(backend, write),
  };
}

/** The owners of a Scale before and after a write of it. */
export interface ScaleOwners {
  readonly before: Managers;
  readonly after: Managers;
}

/** The owners of a Scale that is written by PUT or patch. */
export function trackScale(backend: WriteBackend, write: ScaleWrite, wanted: UntypedObject): ScaleOwners {
  const change = scaleChange(backend, write, 'Update');
  const before = new Map(change.managers);
  return { before, after: before.size === 0 ? before : updateOwners(change, withoutOwners(wanted)) };
}

/** A Scale as admission shows it, with the owners of its one field. */
export function withScaleOwners(view: UntypedObject, managers: Managers): UntypedObject {
  const entries = encodeManagers(managers);
  return entries === undefined ? view : { ...view, metadata: { ...view.metadata, managedFields: entries } };
}

/** The owners of a Scale as owners of the object. Mirrors `ScaleHandler.ToParent`, times that get lost included. */
export function objectOwners(
  backend: WriteBackend,
  write: ScaleWrite,
  scale: Managers,
): ManagedFieldsEntry[] | undefined {
  const pathIn = replicasPaths(backend, write);
  const before = ownersOf(write.object);
  const left = new Map(decodeManagers(encodeManagers(scale)));
  const owners: Managers = new Map();
  for (const [id, manager] of before) {
    const path = pathIn(manager.apiVersion);
    if (path === undefined) continue;
    if (!hasPath(manager.fields, path) || left.delete(id)) {
      owners.set(id, manager);
      continue;
    }
    const fields: FieldSet = difference(manager.fields, buildSet(path));
    if (!isEmptySet(fields)) owners.set(id, { ...manager, fields });
  }
  for (const [id, manager] of left) {
    if (!hasPath(manager.fields, replicasInScale)) continue;
    const fields = buildSet(write.view.replicasPath.map(fieldElement));
    owners.set(id, { ...manager, apiVersion: write.definition.apiVersion, fields, time: before.get(id)?.time });
  }
  return encodeManagers(owners);
}
