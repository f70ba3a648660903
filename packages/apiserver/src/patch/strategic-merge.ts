import {
  cloneJson,
  compareText,
  equalJson,
  invalidValue,
  isObject,
  setOwn,
  type GoStruct,
  type GoType,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import { badRequest, invalid, unclassified, unprocessablePatch } from '../protocol/status.js';
import { restoreProblem } from '../schema/go-restore.js';
import { inOrder, partition } from './list-order.js';

const directive = '$patch';
const retainKeys = '$retainKeys';
const orderPrefix = '$setElementOrder/';
const deletePrefix = '$deleteFromPrimitiveList/';

/** How a field is merged. */
interface PatchMeta {
  /** `merge`, `replace` or nothing. */
  readonly strategy: string | undefined;
  readonly mergeKey: string | undefined;
  /** Type of the value, which is a struct, a map, or the items of a list. */
  readonly type: GoType | undefined;
}

const noMeta: PatchMeta = { strategy: undefined, mergeKey: undefined, type: undefined };

function badFormat(what: string): Error {
  return badRequest(`incorrect argument type for ${what} in a strategic merge patch`);
}

function metaOf(type: GoType | undefined, name: string): PatchMeta {
  if (type === undefined) return noMeta;
  if (type.form === 'map') return { ...noMeta, type: type.of };
  if (type.form !== 'struct' && type.form !== 'union') return noMeta;
  const field = type.struct.fields.get(name);
  if (field === undefined) return noMeta;
  return {
    strategy: field.patchStrategy?.find((each) => each !== 'retainKeys'),
    mergeKey: field.patchMergeKey,
    type: field.type,
  };
}

function itemType(type: GoType | undefined): GoType | undefined {
  return type?.form === 'list' ? type.of : undefined;
}

function isPrefixed(name: string): boolean {
  return name.startsWith(orderPrefix) || name.startsWith(deletePrefix);
}

/** A patch value as it is put in a place without a value, without directives, and with nulls in maps dropped. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !isObject(item) || item[directive] === undefined).map(plain);
  }
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const [name, entry] of Object.entries(value)) {
    if (entry === null || name === directive || name === retainKeys || isPrefixed(name)) continue;
    setOwn(result, name, plain(entry));
  }
  return result;
}

function applyRetainKeys(original: JsonObject, patch: JsonObject): void {
  const keys = patch[retainKeys];
  if (keys === undefined) return;
  delete patch[retainKeys];
  if (!Array.isArray(keys)) throw badFormat(retainKeys);
  const kept = new Set<unknown>(keys);
  for (const [name, value] of Object.entries(patch)) {
    if (value !== null && !isPrefixed(name) && !kept.has(name)) throw unprocessablePatch();
  }
  for (const name of Object.keys(original)) if (!kept.has(name)) delete original[name];
}

function listOrUndefined(value: unknown, name: string): unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw badFormat(name);
  const list: unknown[] = value;
  return list;
}

/** The order list must name every item of the patch list, in the same relative order. */
function checkOrderList(items: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  let from = 0;
  for (const item of items) {
    if (isObject(item) && item[directive] === 'delete') continue;
    const identity = (value: unknown): unknown => (mergeKey !== undefined && isObject(value) ? value[mergeKey] : value);
    const index = order.findIndex((each, at) => at >= from && equalJson(identity(each), identity(item)));
    if (index < 0)
      throw badRequest(
        "invalid patch format of setElementOrder list: the order list doesn't contain or contradicts the items of the patch",
      );
    from = index + 1;
  }
}

/** Deals with every `$setElementOrder/…` and the list it orders; both leave the patch. */
function mergeOrdered(original: JsonObject, patch: JsonObject, type: GoType | undefined): void {
  for (const name of Object.keys(patch)) {
    if (!name.startsWith(orderPrefix)) continue;
    const order = listOrUndefined(patch[name], name) ?? [];
    delete patch[name];
    const key = name.slice(orderPrefix.length);
    const before = listOrUndefined(original[key], key);
    const isReplaced = key in patch && patch[key] === null;
    if (isReplaced) continue;
    const items = listOrUndefined(patch[key], key);
    delete patch[key];
    const meta = metaOf(type, key);
    if (items !== undefined) checkOrderList(items, order, meta.mergeKey);
    if (before === undefined && items === undefined) continue;
    let merged: unknown[];
    if (items === undefined) merged = before ?? [];
    else if (before === undefined)
      merged = items.filter((item) => !isObject(item) || item[directive] === undefined).map(plain);
    else merged = mergeList(before, items, meta, false);
    const [listed, others] = partition(merged, order, meta.mergeKey);
    original[key] = inOrder({ listed, others, order, before: before ?? [], mergeKey: meta.mergeKey });
  }
}

function mergeSpecialItems(original: unknown[], patch: readonly unknown[], mergeKey: string): [unknown[], unknown[]] {
  let kept = original;
  const rest: unknown[] = [];
  let isReplaced = false;
  for (const item of patch) {
    if (!isObject(item)) throw badFormat('a list of objects');
    const action = item[directive];
    if (action === undefined) rest.push(item);
    else if (action === 'replace') isReplaced = true;
    else if (action === 'delete') {
      if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
      kept = kept.filter((each) => !isObject(each) || !equalJson(each[mergeKey], item[mergeKey]));
    } else if (action === 'merge') {
      throw unclassified('merging lists cannot yet be specified in the patch');
    } else {
      throw unknownDirective(item);
    }
  }
  return isReplaced ? [rest, []] : [kept, rest];
}

/** How Go prints a JSON value: `map[a:1 b:[x y]]`. */
function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isObject(value)) return value === null ? '<nil>' : typeof value === 'string' ? value : JSON.stringify(value);
  const names = Object.keys(value).sort(compareText);
  return `map[${names.map((name) => `${name}:${goText(value[name])}`).join(' ')}]`;
}

function unknownDirective(map: JsonObject): Error {
  return unclassified(`unknown patch type: ${goText(map[directive])} in map: ${goText(map)}`);
}

function noMergeKey(item: JsonObject, mergeKey: string): Error {
  return unclassified(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
}

function mergeObjects(original: unknown[], patch: readonly unknown[], meta: PatchMeta, mergeKey: string): unknown[] {
  const [kept, rest] = mergeSpecialItems(original, patch, mergeKey);
  const merged = [...kept];
  for (const item of rest) {
    if (!isObject(item)) continue;
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    const index = merged.findIndex((each) => isObject(each) && equalJson(each[mergeKey], item[mergeKey]));
    const present = merged[index];
    if (isObject(present)) merged[index] = mergeMap(present, item, itemType(meta.type));
    else merged.push(plain(item));
  }
  const order = rest.length === 0 && kept !== original ? kept : rest;
  const [listed, others] = partition(merged, order, mergeKey);
  return inOrder({ listed, others, order, before: kept, mergeKey });
}

function mergeList(original: unknown[], patch: unknown[], meta: PatchMeta, isDeletion: boolean): unknown[] {
  if (meta.strategy !== 'merge' && !isDeletion) return patch;
  const sample = original[0] ?? patch[0];
  if (Array.isArray(sample)) throw unprocessablePatch();
  if (isObject(sample)) {
    if (meta.mergeKey === undefined) {
      throw unclassified(`cannot merge lists without merge key for ${meta.type?.goName ?? 'this field'}`);
    }
    return mergeObjects(original, patch, meta, meta.mergeKey);
  }
  if (isDeletion) return original.filter((item) => !patch.some((each) => equalJson(each, item)));
  const merged = [...new Set([...original, ...patch])];
  const [listed, others] = partition(merged, patch, undefined);
  return inOrder({ listed, others, order: patch, before: original, mergeKey: undefined });
}

function mergeField(original: JsonObject, name: string, value: unknown, type: GoType | undefined): void {
  const isDeletion = name.startsWith(deletePrefix);
  const key = isDeletion ? name.slice(deletePrefix.length) : name;
  if (value === null) {
    delete original[key];
    return;
  }
  const present = Object.hasOwn(original, key) ? original[key] : undefined;
  const meta = metaOf(type, key);
  if (Array.isArray(present) && Array.isArray(value)) {
    setOwn(original, key, mergeList(present, value, meta, isDeletion));
  } else if (isDeletion) {
    return;
  } else if (isObject(present) && isObject(value) && meta.strategy !== 'replace') {
    setOwn(original, key, mergeMap(present, value, meta.type));
  } else {
    setOwn(original, key, plain(value));
  }
}

function mergeMap(original: JsonObject, patch: JsonObject, type: GoType | undefined): JsonObject {
  const action = patch[directive];
  if (action !== undefined) {
    const { [directive]: _action, ...rest } = patch;
    if (action === 'replace') return rest;
    if (action === 'delete') return {};
    if (action !== 'merge') throw unknownDirective(patch);
    return mergeMap(original, rest, type);
  }
  applyRetainKeys(original, patch);
  mergeOrdered(original, patch, type);
  for (const [name, value] of Object.entries(patch)) mergeField(original, name, value, type);
  return original;
}

/**
 * Applies a strategic merge patch to a copy of an object. Lists with a merge key are merged item by item; items that
 * are new go before those that only the server has, as the API server places them; `$patch`, `$retainKeys`,
 * `$setElementOrder/…` and `$deleteFromPrimitiveList/…` are obeyed.
 *
 * @throws StatusError 400, 422 or 500, as the API server does
 */
export function strategicMergePatch(object: JsonObject, patch: JsonObject, struct: GoStruct): JsonObject {
  const type: GoType = { pointer: false, form: 'struct', struct, goName: struct.goName };
  const merged = mergeMap(cloneJson(object), cloneJson(patch), type);
  const problem = restoreProblem(merged, type);
  if (problem === undefined) return merged;
  throw invalid({ group: '', kind: '' }, '', [invalidValue('patch', goText(patch), problem)]);
}
