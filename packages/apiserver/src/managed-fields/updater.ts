import type { UntypedObject } from '@kctl/apimachinery';
import { objectOf, type JsonObject } from '@kctl/crd/internal/engine';
import { isDeepEqual } from '../json/equality.js';
import type { Atom } from './atom.js';
import { compareObjects, type Comparison } from './compare.js';
import { ApplyConflictError, type Conflict } from './conflicts.js';
import {
  difference,
  emptySet,
  intersection,
  isEmptySet,
  isSubset,
  pathsOf,
  recursiveDifference,
  union,
  type FieldSet,
} from './field-set.js';
import { capUpdaters, managerId, type ManagerInfo, type Managers } from './managers.js';
import { mergeObjects } from './merge.js';
import { reconcileSet } from './reconcile.js';
import { fieldPaths } from './typing.js';
import { fieldSetOf, removeFields, withNamedFields } from './walk.js';

/** A served version of the kind. */
export interface VersionType {
  readonly atom: Atom;
  /** Fields that this write does not change, whatever it contains. */
  readonly ignored: FieldSet | undefined;
}

/** The versions of the kind that is written. */
export interface Versions {
  /** Undefined if the kind no longer has the version. Its managers then own nothing. */
  find(apiVersion: string): VersionType | undefined;
  /**
   * `what` begins the message of a conversion that fails. @throws MissingConversion if a webhook has to be called first
   */
  convert(object: JsonObject, to: string, what?: string): JsonObject;
}

/** A write, with its manager, its time, and the state that it finds. */
export interface OwnershipChange {
  readonly versions: Versions;
  readonly writer: ManagerInfo;
  /** RFC 3339. */
  readonly now: string;
  /** Called if an owner gets the time of this write. */
  readonly onStamp?: (() => void) | undefined;
  readonly live: UntypedObject;
  readonly managers: Managers;
}

/** Fields without an owner. */
const unowned = fieldPaths([
  'apiVersion',
  'kind',
  'metadata',
  'metadata.name',
  'metadata.namespace',
  'metadata.creationTimestamp',
  'metadata.selfLink',
  'metadata.uid',
  'metadata.clusterName',
  'metadata.generation',
  'metadata.managedFields',
  'metadata.resourceVersion',
]);

function typeOf({ versions, writer }: OwnershipChange): VersionType {
  const type = versions.find(writer.apiVersion);
  if (type === undefined) throw new RangeError(`${writer.apiVersion} is not served`);
  return type;
}

/**
 * Owners whose types have changed since. Parts that became atomic are owned as a whole. Those of versions gone are
 * dropped. As upstream, the live object must exist in the version of each.
 *
 * @throws MissingConversion, StatusError 500
 */
function reconciled({ versions, managers, live }: OwnershipChange): Managers {
  const result: Managers = new Map();
  for (const [id, manager] of managers) {
    const type = versions.find(manager.apiVersion);
    if (type === undefined) continue;
    versions.convert(live, manager.apiVersion);
    const fields = reconcileOnce(manager.fields, type.atom);
    result.set(id, fields === manager.fields ? manager : { ...manager, fields });
  }
  return result;
}

const settled = new WeakMap<FieldSet, Atom>();

/** A set that matches its type stays so, because sets are not changed. */
function reconcileOnce(fields: FieldSet, atom: Atom): FieldSet {
  if (settled.get(fields) === atom) return fields;
  const result = reconcileSet(fields, atom);
  if (result === fields) settled.set(fields, atom);
  return result;
}

interface Reassignment {
  readonly next: UntypedObject;
  readonly managers: Managers;
  /** The manager who may do as he likes. */
  readonly self: string;
  readonly isForced: boolean;
}

/** Takes changed and removed fields from all managers but the writer. @throws ApplyConflictError unless forced */
function reassign(change: OwnershipChange, { next, managers, self, isForced }: Reassignment): Comparison {
  const { versions, writer, live } = change;
  const own = compareObjects(live, next, typeOf(change));
  const comparisons = new Map([[writer.apiVersion, { written: union(own.modified, own.added), removed: own.removed }]]);
  const conflicts: Conflict[] = [];
  const kept = new Map<string, FieldSet>();
  for (const [id, manager] of managers) {
    if (id === self) continue;
    const { apiVersion, fields } = manager;
    let comparison = comparisons.get(apiVersion);
    if (comparison === undefined) {
      const type = versions.find(apiVersion);
      if (type === undefined) continue;
      const { modified, added, removed } = compareObjects(
        versions.convert(live, apiVersion),
        versions.convert(next, apiVersion, 'failed to convert new object'),
        type,
      );
      comparison = { written: union(modified, added), removed };
      comparisons.set(apiVersion, comparison);
    }
    const taken = intersection(fields, comparison.written);
    if (!isForced) for (const path of pathsOf(taken)) conflicts.push({ manager, path });
    if (isEmptySet(taken) && isEmptySet(comparison.removed)) continue;
    kept.set(id, difference(difference(fields, taken), comparison.removed));
  }
  if (conflicts.length > 0) throw new ApplyConflictError(conflicts);
  for (const [id, fields] of kept) setFields(managers, id, fields);
  for (const [id, { fields }] of managers) if (isEmptySet(fields)) managers.delete(id);
  return own;
}

function setFields(managers: Managers, id: string, fields: FieldSet): void {
  const manager = managers.get(id);
  if (manager === undefined) return;
  // A set that lost nothing keeps its identity, and with it its encoding.
  const isSame = isDeepEqualSet(manager.fields, fields);
  if (!isSame) managers.set(id, { ...manager, fields });
}

function isDeepEqualSet(a: FieldSet, b: FieldSet): boolean {
  return isSubset(a, b) && isSubset(b, a);
}

/** Owners after a create, update or patch; the writer gets the changed fields. @throws ListItemError */
export function updateOwners(change: OwnershipChange, next: UntypedObject): Managers {
  const { writer, now } = change;
  const managers = reconciled(change);
  const id = managerId(writer);
  const earlier = managers.get(id)?.fields;
  // The writer's earlier fields are treated like all others, so the writer loses fields that it removes.
  const { modified, added } = reassign(change, { next, managers, self: '', isForced: true });
  const { ignored } = typeOf(change);
  const written = union(modified, added);
  const fields = difference(ignored === undefined ? written : recursiveDifference(written, ignored), unowned);
  if (!isEmptySet(fields)) {
    const before = managers.get(id)?.fields ?? emptySet;
    const all = isSubset(fields, before) ? before : union(fields, before);
    // Fields that the writer writes again are owned again, so the same set keeps its encoding.
    const isSame = earlier !== undefined && isDeepEqualSet(earlier, all);
    managers.set(id, { ...writer, fields: isSame ? earlier : all, time: now });
    change.onStamp?.();
  }
  capUpdaters(managers);
  return managers;
}

/** A configuration, applied. */
export interface AppliedOwners {
  /** The new state; undefined if nothing changed. */
  readonly object: UntypedObject | undefined;
  readonly managers: Managers;
}

/** Merges a configuration into the live object, and takes from it what the applier no longer wants. @throws ApplyConflictError, ListItemError */
export function applyOwners(change: OwnershipChange, config: UntypedObject, isForced: boolean): AppliedOwners {
  const { writer, now, live } = change;
  const { atom, ignored } = typeOf(change);
  const managers = reconciled(change);
  const merged = mergeObjects(live, config, atom);
  const id = managerId(writer);
  const last = managers.get(id);
  const wanted = fieldSetOf(config, atom);
  const fields = ignored === undefined ? wanted : recursiveDifference(wanted, ignored);
  managers.set(id, { ...writer, fields, time: last?.time });
  const pruned = prune(change, { merged: asObject(merged), managers, last: last && { ...last } });
  reassign(change, { next: pruned, managers, self: id, isForced });
  const isChanged = !isDeepEqual(live, pruned);
  const mine = managers.get(id);
  if (mine !== undefined) {
    const left = difference(mine.fields, unowned);
    const same = last !== undefined && isDeepEqualSet(last.fields, left) ? last.fields : left;
    if (isEmptySet(left)) managers.delete(id);
    else managers.set(id, { ...mine, fields: same, time: isChanged ? now : mine.time });
    if (isChanged && !isEmptySet(left)) change.onStamp?.();
  }
  return { object: isChanged ? pruned : undefined, managers };
}

/** An object whose metadata are there. */
function asObject(value: unknown): UntypedObject {
  const { metadata, ...rest } = objectOf(value);
  return { ...rest, metadata: objectOf(metadata) };
}

interface Pruning {
  readonly merged: UntypedObject;
  readonly managers: Managers;
  /** Configuration of the applier's last apply. */
  readonly last: { readonly fields: FieldSet; readonly apiVersion: string } | undefined;
}

/**
 * Whether the applier wants all fields of the last time, and no manager writes another version. Then nothing goes, and
 * the object need not be walked to find out. Members of a list that the applier keeps are themselves among the
 * applier's fields.
 */
function isAllWanted({ writer }: OwnershipChange, managers: Managers, last: NonNullable<Pruning['last']>): boolean {
  const { apiVersion } = writer;
  if (last.apiVersion !== apiVersion) return false;
  for (const manager of managers.values()) if (manager.apiVersion !== apiVersion) return false;
  const wanted = managers.get(managerId(writer));
  return wanted !== undefined && isSubset(last.fields, wanted.fields);
}

/** Removes what the applier had last time and no manager has now. */
function prune(change: OwnershipChange, { merged, managers, last }: Pruning): UntypedObject {
  if (last === undefined || isEmptySet(last.fields)) return merged;
  const { versions, writer } = change;
  const type = versions.find(last.apiVersion);
  if (type === undefined) return merged;
  if (isAllWanted(change, managers, last)) return merged;
  const converted = versions.convert(
    merged,
    last.apiVersion,
    'failed to prune fields: failed to convert merged object to last applied version',
  );
  const wantedLast = withNamedFields(last.fields, type.atom);
  // On the way its metadata may go, and a conversion webhook is called without them.
  let pruned = objectOf(removeFields(converted, wantedLast, type.atom));
  pruned = addBackOwned(change, { merged: converted, pruned, managers, version: last.apiVersion });
  pruned = versions.convert(
    pruned,
    last.apiVersion,
    'failed to prune fields: failed add back dangling items: failed to convert pruned object to last applied version',
  );
  // Nothing goes that was not the applier's.
  const kept = withNamedFields(fieldSetOf(pruned, type.atom), type.atom);
  const all = withNamedFields(fieldSetOf(converted, type.atom), type.atom);
  const removed = intersection(difference(all, kept), wantedLast);
  return asObject(
    versions.convert(
      objectOf(removeFields(converted, removed, type.atom)),
      writer.apiVersion,
      'failed to prune fields',
    ),
  );
}

/** Puts back owned fields, version by version, that of the last configuration first. */
function addBackOwned(
  { versions }: OwnershipChange,
  step: {
    readonly merged: JsonObject;
    readonly pruned: JsonObject;
    readonly managers: Managers;
    readonly version: string;
  },
): JsonObject {
  const owned = new Map<string, FieldSet>();
  const managers = [...step.managers.values()];
  const isFirst = ({ apiVersion }: ManagerInfo): boolean => apiVersion === step.version;
  for (const { apiVersion, fields } of [...managers.filter(isFirst), ...managers.filter((one) => !isFirst(one))])
    owned.set(apiVersion, union(owned.get(apiVersion) ?? emptySet, fields));
  let { merged, pruned } = step;
  for (const [version, fields] of owned) {
    const type = versions.find(version);
    if (type === undefined) continue;
    const { atom } = type;
    const failed = (which: string): string =>
      `failed to prune fields: failed add back owned items: failed to convert ${which} object at version ${version}`;
    merged = versions.convert(merged, version, failed('merged'));
    pruned = versions.convert(pruned, version, failed('pruned'));
    const all = withNamedFields(fieldSetOf(merged, atom), atom);
    const kept = union(withNamedFields(fieldSetOf(pruned, atom), atom), withNamedFields(fields, atom));
    pruned = objectOf(removeFields(merged, difference(all, kept), atom));
  }
  return pruned;
}
