import { cloneJson, equalJson, isObject, jsonText, setOwn, type JsonObject, goQuoted } from '@kctl/crd/internal/engine';
import { entityTooLarge } from '../protocol/status.js';

/** Limit of all bytes added by `copy`, as upstream's `JSONPatchMaxCopyBytes`. */
const maxCopiedBytes = 3 * 1024 * 1024;
/** Limit of values that the operations of one patch may move, copy or compare in all, about 50 ms. */
const maxTouched = 20_000_000;

/** An operation does not apply to a document. The message is that of upstream's library. */
export class JsonPatchError extends Error {
  override readonly name = 'JsonPatchError';
  readonly code = 'KCTL_JSON_PATCH';
}

/** Cost of one patch so far. */
interface Spent {
  copiedBytes: number;
  touched: number;
}

/** A place in a document, as the container and the name or index in it. */
interface Slot {
  readonly parent: JsonObject | unknown[];
  readonly key: string;
}

interface Progress {
  readonly walked: Set<JsonObject>;
  readonly spent: Spent;
}

/** The tokens of a pointer. Characters before the first slash are ignored, as upstream does. */
function tokensOf(pointer: string): string[] {
  const [, ...tokens] = pointer.split('/');
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function pointerOf(operation: JsonObject, name: 'from' | 'path'): string {
  const pointer = operation[name];
  if (typeof pointer === 'string') return pointer;
  const op = String(operation['op']);
  const hasDetail = name === 'from' || op === 'replace' || op === 'move' || op === 'test';
  const detail = name === 'from' ? 'operation, missing from field: ' : 'operation missing path field: ';
  throw new JsonPatchError(`${op} operation failed to decode ${name}: ${hasDetail ? detail : ''}missing value`);
}

/** The index that a token names, below `end`; negative ones count from the end. */
function indexOf(token: string, end: number): number {
  if (!/^[+-]?\d+$/.test(token)) throw new JsonPatchError(`strconv.Atoi: parsing ${goQuoted(token)}: invalid syntax`);
  const given = Number(token);
  const index = given < 0 ? end + given : given;
  if (index < 0 || index >= end)
    throw new JsonPatchError(`Unable to access invalid index: ${given}: invalid index referenced`);
  return index;
}

/** Counts values that an operation touches. @throws StatusError 413 if one patch would hold up other requests */
function touch(spent: Spent, values: number): void {
  spent.touched += values;
  if (spent.touched <= maxTouched) return;
  throw entityTooLarge(
    `Request entity too large: the operations of the JSON patch touch more than ${maxTouched} values; send fewer operations, or a merge patch`,
  );
}

/** Copies a value within the limit of what one patch may add. @throws JsonPatchError above it */
function copyOf(value: unknown, spent: Spent): unknown {
  const bytes = Buffer.byteLength(jsonText(value));
  spent.copiedBytes += bytes;
  if (spent.copiedBytes > maxCopiedBytes)
    throw new JsonPatchError(
      `Unable to complete the copy, the accumulated size increase of copy is ${spent.copiedBytes}, exceeding the limit ${maxCopiedBytes}`,
    );
  touch(spent, bytes / 8);
  return cloneJson(value);
}

/** Compares, and counts the smaller side. */
function equals(found: unknown, wanted: unknown, spent: Spent): boolean {
  touch(spent, Math.min(sizeOf(found), sizeOf(wanted)));
  return equalJson(found, wanted);
}

/** Number of values in a value, itself included. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + sizeOf(member), 1);
}

/** Content of a slot; undefined for a member that an object does not have. */
function read({ parent, key }: Slot): unknown {
  if (Array.isArray(parent)) return parent[indexOf(key, parent.length)];
  return Object.hasOwn(parent, key) ? parent[key] : undefined;
}

/** Finds the slot that a path names; `walked` takes the objects on the way. Undefined if its parent is missing. */
function locate(document: unknown, pointer: string, walked: Set<JsonObject>): Slot | undefined {
  const path = tokensOf(pointer);
  let parent = document;
  for (const key of path.slice(0, -1)) {
    if (!Array.isArray(parent) && !isObject(parent)) return undefined;
    if (isObject(parent)) walked.add(parent);
    if (Array.isArray(parent) && !isIndex(key, parent.length)) return undefined;
    parent = read({ parent, key });
  }
  const key = path.at(-1);
  if (key === undefined || (!Array.isArray(parent) && !isObject(parent))) return undefined;
  if (isObject(parent)) walked.add(parent);
  return { parent, key };
}

function isIndex(token: string, length: number): boolean {
  const index = Number(token);
  return /^[+-]?\d+$/.test(token) && index >= -length && index < length;
}

/** Brings the members of an object in the order of their names. */
function sortMembers(object: JsonObject): void {
  const members = Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [name] of members) Reflect.deleteProperty(object, name);
  for (const [name, value] of members) setOwn(object, name, value);
}

function add({ parent, key }: Slot, value: unknown, spent: Spent): void {
  if (!Array.isArray(parent)) setOwn(parent, key, value);
  else if (key === '-') parent.push(value);
  else {
    const index = within(`value was not a proper array index: '${key}': `, /^[+-]?\d+$/.test(key), () =>
      indexOf(key, parent.length + 1),
    );
    touch(spent, parent.length - index);
    parent.splice(index, 0, value);
  }
}

function remove({ parent, key }: Slot, spent: Spent): void {
  if (Array.isArray(parent)) {
    const index = indexOf(key, parent.length);
    touch(spent, parent.length - index);
    parent.splice(index, 1);
  } else if (Object.hasOwn(parent, key)) delete parent[key];
  else throw new JsonPatchError(`Unable to remove nonexistent key: ${key}: missing value`);
}

function replace({ parent, key }: Slot, value: unknown): void {
  if (Array.isArray(parent)) parent[indexOf(key, parent.length)] = value;
  else setOwn(parent, key, value);
}

/** Runs an action; what it complains about gets a prefix, unless `isPlain`. */
function within<T>(prefix: string, isPlain: boolean, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (isPlain || !(error instanceof JsonPatchError)) throw error;
    throw new JsonPatchError(`${prefix}${error.message}`);
  }
}

/** The value of an operation; a missing one is null. */
function valueOf(operation: JsonObject): unknown {
  return operation['value'] === undefined ? null : cloneJson(operation['value']);
}

function replaceRoot(operation: JsonObject): unknown {
  const value = valueOf(operation);
  if (typeof value === 'object' && value !== null) return value;
  throw new JsonPatchError('replace operation value must be object or array: %!w(<nil>)');
}

function apply(document: unknown, operation: JsonObject, { walked, spent }: Progress): unknown {
  const { op } = operation;
  const slotOf = (pointer: string, missing: string): Slot => {
    const slot = locate(document, pointer, walked);
    if (slot !== undefined) return slot;
    throw new JsonPatchError(`${String(op)} operation does not apply: ${missing}: missing value`);
  };
  switch (op) {
    case 'add': {
      const path = pointerOf(operation, 'path');
      const slot = slotOf(path, `doc is missing path: ${JSON.stringify(path)}`);
      within(`error in add for path: '${path}': `, false, () => add(slot, valueOf(operation), spent));
      return document;
    }
    case 'remove': {
      const path = pointerOf(operation, 'path');
      const slot = slotOf(path, `doc is missing path: ${JSON.stringify(path)}`);
      within(`error in remove for path: '${path}': `, false, () => remove(slot, spent));
      return document;
    }
    case 'replace': {
      const path = pointerOf(operation, 'path');
      if (path === '') return replaceRoot(operation);
      const slot = slotOf(path, `doc is missing path: ${path}`);
      if (Array.isArray(slot.parent) && !isIndex(slot.key, slot.parent.length))
        throw new JsonPatchError(`replace operation does not apply: doc is missing key: ${path}: missing value`);
      replace(slot, valueOf(operation));
      return document;
    }
    case 'move': {
      const from = pointerOf(operation, 'from');
      const source = slotOf(from, `doc is missing from path: ${from}`);
      const value = within(`error in move for path: '${source.key}': `, false, () => {
        const found = read(source);
        remove(source, spent);
        return found;
      });
      const path = pointerOf(operation, 'path');
      const target = slotOf(path, `doc is missing destination path: ${path}`);
      within(`error in move for path: '${path}': `, false, () => add(target, value, spent));
      return document;
    }
    case 'copy': {
      const from = pointerOf(operation, 'from');
      const source = slotOf(from, `doc is missing from path: ${from}`);
      const value = within(`error in copy for from: '${from}': `, false, () => read(source));
      const path = pointerOf(operation, 'path');
      const target = slotOf(path, `doc is missing destination path: ${path}`);
      const copied = copyOf(value ?? null, spent);
      within('error while adding value during copy: ', false, () => add(target, copied, spent));
      return document;
    }
    case 'test': {
      const path = pointerOf(operation, 'path');
      const slot = path === '' ? undefined : slotOf(path, `is missing path: ${path}`);
      const found =
        slot === undefined ? document : within(`error in test for path: '${path}': `, false, () => read(slot));
      if (!equals(found ?? null, operation['value'] ?? null, spent))
        throw new JsonPatchError(`testing value ${path} failed: test failed`);
      return document;
    }
    default:
      throw new JsonPatchError(`Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`);
  }
}

/**
 * Applies the operations of a JSON patch to a copy of a document, all of them or none. Unlike RFC 6902, it follows the
 * API server's library (evanphx/json-patch v4), so negative indexes count from the end, `replace` creates a missing
 * member, a missing value is null, and `test` for null passes for a missing value. Missing parents are not created. The
 * members of objects that a path leads through come back sorted by name, which decides the one of several wrong fields
 * that is reported first.
 *
 * @throws JsonPatchError if one does not apply, StatusError 413 for too much work
 */
export function applyOperations(document: unknown, operations: readonly JsonObject[]): unknown {
  const walked = new Set<JsonObject>();
  const spent: Spent = { copiedBytes: 0, touched: 0 };
  const patched = operations.reduce<unknown>(
    (result, operation) => apply(result, operation, { walked, spent }),
    cloneJson(document),
  );
  walked.forEach(sortMembers);
  return patched;
}
