import { definedKeys, isJsonObject, isSameJson, isSelfWriting, ownMember } from '../json-object.js';
import type { JsonValue } from '../object.js';

/** One operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/**
 * The JSON patch (RFC 6902) that turns `original` into `modified`. Lists are compared item by item after their common
 * beginning and end, so that one inserted or removed item is one operation. Empty if nothing differs. Pure.
 *
 * @example
 * ```ts
 * import { createJsonPatch } from '@kctl/apimachinery';
 *
 * createJsonPatch({ a: 1 }, { a: 2, b: 3 });
 * // [{ op: 'replace', path: '/a', value: 2 }, { op: 'add', path: '/b', value: 3 }]
 * ```
 */
export function createJsonPatch(original: unknown, modified: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare(operations, '', original, modified);
  return operations;
}

/** A member name or list index as it stands in a JSON pointer (RFC 6901): `a/b` → `a~1b`. */
export function escapePointer(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

function compare(operations: JsonPatchOperation[], path: string, given: unknown, wanted: unknown): void {
  const before = isSelfWriting(given) ? given.toJSON() : given;
  const after = isSelfWriting(wanted) ? written(wanted) : wanted;
  if (Array.isArray(before) && Array.isArray(after)) compareLists(operations, path, before, after);
  else if (isJsonObject(before) && isJsonObject(after)) {
    for (const key of definedKeys(before))
      if (ownMember(after, key) === undefined) operations.push({ op: 'remove', path: `${path}/${escapePointer(key)}` });
    for (const key of definedKeys(after)) {
      const member = `${path}/${escapePointer(key)}`;
      const old = ownMember(before, key);
      if (old !== undefined) compare(operations, member, old, after[key]);
      else operations.push({ op: 'add', path: member, value: toJson(after[key]) });
    }
  } else if (!isSameJson(before, after)) operations.push({ op: 'replace', path, value: toJson(after) });
}

function compareLists(
  operations: JsonPatchOperation[],
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSameJson(before[start], after[start])) start++;
  let tail = 0;
  while (tail < shorter - start && isSameJson(before.at(-1 - tail), after.at(-1 - tail))) tail++;
  const oldEnd = before.length - tail;
  const newEnd = after.length - tail;
  const common = Math.min(oldEnd, newEnd);
  for (let i = start; i < common; i++) compare(operations, `${path}/${i}`, before[i], after[i]);
  // From the end, so that the indices of the others stay as they are.
  for (let i = oldEnd - 1; i >= common; i--) operations.push({ op: 'remove', path: `${path}/${i}` });
  for (let i = common; i < newEnd; i++) operations.push({ op: 'add', path: `${path}/${i}`, value: toJson(after[i]) });
}

/** @throws TypeError for a Date without a time, which would become null */
function written(value: { toJSON(): unknown }): unknown {
  if (value instanceof Date && Number.isNaN(value.getTime()))
    throw new TypeError('createJsonPatch: an invalid Date is not a JSON value');
  return value.toJSON();
}

/** Drops members that are undefined, which JSON cannot express. A bigint (an integer beyond 2^53) is kept. */
function toJson(value: unknown): JsonValue;
function toJson(value: unknown): unknown {
  if (isSelfWriting(value)) return toJson(written(value));
  if (Array.isArray(value)) return value.map(toJson);
  if (isJsonObject(value)) return Object.fromEntries(definedKeys(value).map((key) => [key, toJson(value[key])]));
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`createJsonPatch: ${typeof value} is not a JSON value`);
  return value;
}
