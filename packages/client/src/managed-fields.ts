import { isJsonObject } from '@kctl/apimachinery/internal';
import type { DeepReadonly, Kind, ManagedFieldsEntry } from '@kctl/apimachinery';
import { managedFieldsOf } from './kube-object.js';

/**
 * A set of fields in the form of `fieldsV1`: `f:name` is a member, `k:{…}` a list item by its keys, `v:…` a value of
 * a set, `i:n` an item by its place, `.` the thing itself. A node without members owns all that is below it.
 */
export type FieldSet = Readonly<Record<string, unknown>>;

/** The fields that an owner has applied to an object, or why they are not known. */
export type AppliedFields =
  | { readonly fields: FieldSet }
  | { readonly missing: 'noManagedFields' | 'neverApplied' | 'otherVersion' };

/** The fields that an owner holds by server-side apply, of the object itself (not of its subresources). */
export function ownedFields(object: unknown, kind: Kind, fieldOwner: string): AppliedFields {
  const managedFields = managedFieldsOf(object);
  if (managedFields.length === 0) return { missing: 'noManagedFields' };
  const own = managedFields.filter((entry) => isApplyOf(entry, fieldOwner));
  if (own.length === 0) return { missing: 'neverApplied' };
  // One entry for each applied version. Fields of another version cannot be compared, since they may have moved.
  const entry = own.find(({ apiVersion }) => apiVersion === kind.apiVersion);
  if (entry === undefined || own.length > 1) return { missing: 'otherVersion' };
  return { fields: isJsonObject(entry.fieldsV1) ? entry.fieldsV1 : {} };
}

function isApplyOf(entry: DeepReadonly<ManagedFieldsEntry>, fieldOwner: string): boolean {
  return entry.manager === fieldOwner && entry.operation === 'Apply' && (entry.subresource ?? '') === '';
}

/** The member `f:name` of a set of fields. */
export function memberField(fields: FieldSet, name: string): FieldSet | undefined {
  return asFieldSet(fields[`f:${name}`]);
}

/** The names of all members. */
export function memberNames(fields: FieldSet): string[] {
  return Object.keys(fields).flatMap((key) => (key.startsWith('f:') ? [key.slice(2)] : []));
}

/** A list item that is identified by its keys. */
export interface KeyedItem {
  readonly keys: Readonly<Record<string, unknown>>;
  readonly fields: FieldSet;
}

/** The items `k:{…}`. */
export function keyedItems(fields: FieldSet): KeyedItem[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    if (!key.startsWith('k:')) return [];
    const keys: unknown = JSON.parse(key.slice(2));
    return isJsonObject(keys) ? [{ keys, fields: asFieldSet(value) ?? {} }] : [];
  });
}

/** The values `v:…` of a set; undefined if the node is not a set. */
export function setValues(fields: FieldSet): unknown[] | undefined {
  const keys = Object.keys(fields).filter((key) => key.startsWith('v:'));
  return keys.length === 0 ? undefined : keys.map((key): unknown => JSON.parse(key.slice(2)));
}

/** Whether everything below is owned as a whole. */
export function isWhole(fields: FieldSet): boolean {
  return Object.keys(fields).every((key) => key.startsWith('i:'));
}

function asFieldSet(value: unknown): FieldSet | undefined {
  return isJsonObject(value) ? value : undefined;
}
