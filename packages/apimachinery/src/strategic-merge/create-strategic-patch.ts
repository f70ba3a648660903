import { definedKeys, isJsonObject, isSameJson, isSelfWriting, ownMember, setMember } from '../json-object.js';
import type { JsonObject } from '../json-object.js';
import { rulesOfKind } from './rules.js';
import type { FieldRules } from './rules.js';

/** Identifies a kind by its names, either as a `Kind` or as an object that contains them. */
export interface KindNames {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Reports whether API servers have merge keys for a kind, which holds for built-in kinds. */
export function hasStrategicMerge({ apiVersion, kind }: KindNames): boolean {
  return rulesOfKind(apiVersion, kind) !== undefined;
}

/** A field of an object, and how it is merged. */
interface Field {
  readonly name: string;
  readonly rules: FieldRules | undefined;
}

/**
 * The strategic merge patch that turns `original` into `modified`, both of a built-in kind. Items of lists with a merge
 * key are changed, added, deleted (`$patch: delete`) and ordered (`$setElementOrder/…`) one by one, so that items added
 * by others stay. `{}` if nothing differs. Pure. Mirrors `strategicpatch.CreateTwoWayMergePatch`.
 *
 * It differs from client-go in three places, so that the patch gives `modified` and is `{}` if nothing differs:
 * - If the merge key does not distinguish the items, as ports of a Service that differ by their protocol alone, the
 *   list is sent whole, with `$patch: replace`; client-go loses items.
 * - The order of a list of strings, such as `finalizers`, is sent if it differs. client-go sorts the original list
 *   first, so it loses a change to the sorted order and sends every other order, changed or not.
 * - A map that is replaced as a whole, such as the selector of a PodDisruptionBudget, is sent if it differs; client-go
 *   always sends it.
 *
 * @throws TypeError for a kind that is not built in: API servers have no merge keys for it
 *
 * @example
 * ```ts
 * import { createStrategicPatch } from '@kctl/apimachinery/strategic-merge';
 *
 * const pod = (...names: string[]) => ({ spec: { containers: names.map((name) => ({ name, image: name })) } });
 * createStrategicPatch({ apiVersion: 'v1', kind: 'Pod' }, pod('app', 'old'), pod('app'));
 * // { spec: { containers: [{ name: 'old', $patch: 'delete' }], '$setElementOrder/containers': [{ name: 'app' }] } }
 * ```
 */
export function createStrategicPatch({ apiVersion, kind }: KindNames, original: object, modified: object): JsonObject {
  const rules = rulesOfKind(apiVersion, kind);
  if (rules === undefined)
    throw new TypeError(
      `createStrategicPatch: ${kind} of ${apiVersion} is not a built-in kind: API servers merge custom resources by JSON merge patches alone: use createMergePatch`,
    );
  if (!isJsonObject(original) || !isJsonObject(modified))
    throw new TypeError('createStrategicPatch: a list has no strategic merge patch: expected two objects');
  return diffObjects(original, modified, { type: rules, retainsKeys: false });
}

function diffObjects(
  before: Readonly<JsonObject>,
  after: Readonly<JsonObject>,
  { type, retainsKeys }: Pick<FieldRules, 'type' | 'retainsKeys'>,
): JsonObject {
  const patch: JsonObject = {};
  for (const name of definedKeys(before)) if (ownMember(after, name) === undefined) setMember(patch, name, null);
  for (const name of definedKeys(after)) diffField(patch, { name, rules: type.rulesOf(name) }, { before, after });
  if (retainsKeys && Object.keys(patch).length > 0) {
    const retained = definedKeys(after).filter((name) => after[name] !== null);
    if (retained.length > 0) patch['$retainKeys'] = retained.toSorted();
  }
  return patch;
}

function diffField(
  patch: JsonObject,
  { name, rules }: Field,
  { before, after }: { readonly before: Readonly<JsonObject>; readonly after: Readonly<JsonObject> },
): void {
  const old = ownMember(before, name);
  const value = after[name];
  const isWhole = isSelfWriting(old) || isSelfWriting(value); // a Date is a text in JSON
  if (isJsonObject(old) && isJsonObject(value) && !isWhole && rules?.isReplaced !== true) {
    const nested = diffObjects(old, value, rules ?? { type: { rulesOf: () => undefined }, retainsKeys: false });
    if (Object.keys(nested).length > 0) setMember(patch, name, nested);
  } else if (Array.isArray(old) && Array.isArray(value) && old.length > 0 && rules?.mergeKey !== undefined) {
    if (rules.mergeKey === '') diffValues(patch, name, { before: old, after: value });
    else diffItems(patch, name, { before: old, after: value, rules, mergeKey: rules.mergeKey });
  } else if (old === undefined || !isSameJson(old, value)) {
    setMember(patch, name, value);
  }
}

interface Lists {
  readonly before: readonly unknown[];
  readonly after: readonly unknown[];
}

/** A list of strings or numbers. */
function diffValues(patch: JsonObject, name: string, { before, after }: Lists): void {
  if (isSameJson(before, after)) return;
  const without = (list: readonly unknown[], other: readonly unknown[]): unknown[] =>
    list.filter((value) => !other.some((each) => isSameJson(each, value)));
  const added = without(after, before);
  const deleted = without(before, after);
  if (added.length > 0) setMember(patch, name, added);
  if (deleted.length > 0) patch[`$deleteFromPrimitiveList/${name}`] = [...new Set(deleted)].toSorted(byText);
  if (after.length > 0) patch[`$setElementOrder/${name}`] = after;
}

interface KeyedLists extends Lists {
  readonly rules: FieldRules;
  readonly mergeKey: string;
}

/** A list of objects, by their merge key. */
function diffItems(patch: JsonObject, name: string, { before, after, rules, mergeKey }: KeyedLists): void {
  if (isSameJson(before, after)) return;
  const old = keyed(before, mergeKey);
  const now = keyed(after, mergeKey);
  if (old === undefined || now === undefined) {
    setMember(patch, name, [{ $patch: 'replace' }, ...after]);
    return;
  }
  const items: unknown[] = [];
  for (const [key, item] of now) {
    const present = old.get(key);
    const change = present === undefined ? item : diffObjects(present, item, rules);
    if (present === undefined) items.push(item);
    else if (Object.keys(change).length > 0) items.push({ ...change, [mergeKey]: key });
  }
  const deleted = [...old.keys()].filter((key) => !now.has(key)).toSorted(byText);
  items.push(...deleted.map((key) => ({ $patch: 'delete', [mergeKey]: key })));
  if (items.length > 0) setMember(patch, name, items);
  if (after.length > 0) patch[`$setElementOrder/${name}`] = Array.from(now.keys(), (key) => ({ [mergeKey]: key }));
}

/** As Go orders what is deleted. */
function byText(a: unknown, b: unknown): number {
  return String(a) < String(b) ? -1 : 1;
}

/** The items by their key; undefined if it does not distinguish them. */
function keyed(list: readonly unknown[], mergeKey: string): Map<unknown, Readonly<JsonObject>> | undefined {
  const items = new Map<unknown, Readonly<JsonObject>>();
  for (const item of list) {
    const key = isJsonObject(item) ? ownMember(item, mergeKey) : undefined;
    if (key === undefined || key === null || typeof key === 'object' || items.has(key) || !isJsonObject(item))
      return undefined;
    items.set(key, item);
  }
  return items;
}
