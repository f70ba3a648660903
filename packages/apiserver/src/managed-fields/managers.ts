import type { ManagedFieldsEntry } from '@kctl/apimachinery';
import { compareText, isObject } from '@kctl/crd/internal/engine';
import { decodeSet, encodeSet, union, type FieldSet } from './field-set.js';

/** The fields of one manager. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly fields: FieldSet;
  /** Time at which the fields last changed, RFC 3339; absent if nothing was written but ownership shared. */
  readonly time: string | undefined;
}

/** Managers by identifier, with their name, their operation, and the version for updates. */
export type Managers = Map<string, Manager>;

/** Who a manager is, apart from what it owns. */
export type ManagerInfo = Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

/** The identifier of a manager, with which an applier is the same in all versions. */
export function managerId({ manager, operation, apiVersion, subresource }: ManagerInfo): string {
  return JSON.stringify({
    ...(manager !== '' && { manager }),
    operation,
    ...(operation === 'Update' && { apiVersion }),
    ...(subresource !== '' && { subresource }),
  });
}

const decoded = new WeakMap<readonly ManagedFieldsEntry[], Managers>();

/**
 * Reads `metadata.managedFields`; undefined if anything of it is malformed. Those of one stored state are read once.
 */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers | undefined {
  const known = entries && decoded.get(entries);
  if (known !== undefined) return new Map(known);
  const managers = readManagers(entries);
  // Only stored objects are frozen, in all their depth; others may change.
  if (entries !== undefined && managers !== undefined && Object.isFrozen(entries))
    decoded.set(entries, new Map(managers));
  return managers;
}

function readManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers | undefined {
  const managers: Managers = new Map();
  for (const entry of entries ?? []) {
    const { manager = '', operation, apiVersion = '', fieldsType, fieldsV1 = {}, subresource = '', time } = entry;
    if ((operation !== 'Apply' && operation !== 'Update') || apiVersion === '' || fieldsType !== 'FieldsV1') {
      return undefined;
    }
    try {
      const fields = decodeSet(isObject(fieldsV1) ? fieldsV1 : {});
      const info: ManagerInfo = { manager, operation, apiVersion, subresource };
      managers.set(managerId(info), { ...info, fields, time });
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
  return managers;
}

/** Error of `metadata.managedFields`, in upstream's words; undefined if it can be read. */
export function ownersProblem(entries: readonly ManagedFieldsEntry[] | undefined): string | undefined {
  for (const [index, entry] of (entries ?? []).entries()) {
    const { operation, apiVersion = '', fieldsType } = entry;
    if (operation !== 'Apply' && operation !== 'Update') return 'operation must be `Apply` or `Update`';
    if (apiVersion === '') return 'apiVersion must not be empty';
    if (fieldsType === undefined) return `missing fieldsType in managed fields entry ${index}`;
    if (fieldsType !== 'FieldsV1')
      return `invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`;
    if (decodeManagers([entry]) === undefined) return 'error decoding versioned set: fieldsV1 is malformed';
  }
  return undefined;
}

/** Appliers first, then the oldest. */
function compareManagers(a: Manager, b: Manager): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

/** Managers as `metadata.managedFields`; undefined without managers. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(compareManagers).map(encodeManager);
}

function encodeManager({ manager, operation, apiVersion, time, fields, subresource }: Manager): ManagedFieldsEntry {
  return {
    ...(manager !== '' && { manager }),
    operation,
    apiVersion,
    ...(time !== undefined && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: encodeSet(fields),
    ...(subresource !== '' && { subresource }),
  };
}

/** So many updaters an object keeps apart. */
const maxUpdaters = 10;

/** Folds the oldest updaters into one, `ancient-changes`, if there are too many; in place. */
export function capUpdaters(managers: Managers): void {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= maxUpdaters) return;
  updaters.sort(([a, left], [b, right]) => compareText(left.time ?? '', right.time ?? '') || compareText(a, b));
  const firsts = new Map<string, string>();
  let left = updaters.length;
  for (const [id, updater] of updaters) {
    if (left <= maxUpdaters) return;
    const { apiVersion } = updater;
    const first = firsts.get(apiVersion);
    if (first === undefined) {
      firsts.set(apiVersion, id);
      continue;
    }
    const info = { manager: 'ancient-changes', operation: 'Update', apiVersion, subresource: '' } as const;
    const bucket = managerId(info);
    const collected = managers.get(bucket) ?? managers.get(first);
    if (!managers.has(bucket)) managers.delete(first);
    managers.delete(id);
    const fields = collected === undefined ? updater.fields : union(updater.fields, collected.fields);
    managers.set(bucket, { ...info, fields, time: updater.time });
    left--;
  }
}
