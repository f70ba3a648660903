import { cloneJson, equalJson, isObject, setOwn, type JsonObject } from '../registry/json.js';
import { jsonText } from '../storage/json-text.js';
import { badRequest, entityTooLarge, unprocessablePatch } from '../registry/status.js';

const maxOperations = 10_000;
/** What `copy` may add in all, as upstream's `JSONPatchMaxCopyBytes`. */
const maxCopiedBytes = 3 * 1024 * 1024;
/** How many values the operations of one patch may move, copy or compare in all: about 50 ms. */
const maxTouched = 20_000_000;

/** What one patch has cost so far. */
interface Spent {
  copiedBytes: number;
  touched: number;
}

/** A place in a document: the container and the name or index in it. */
interface Slot {
  readonly parent: JsonObject | unknown[];
  readonly key: string;
}

function goType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** The types of an operation are checked before anything is applied. */
function requireOperation(source: unknown): JsonObject {
  const fail = (value: unknown, target: string): Error =>
    badRequest(`error decoding patch: json: cannot unmarshal ${goType(value)} into Go ${target}`);
  if (source === null) return {};
  if (!isObject(source)) throw fail(source, 'value of type handlers.jsonPatchOp');
  for (const name of ['op', 'path', 'from']) {
    const value = source[name];
    if (value === undefined || value === null || typeof value === 'string') continue;
    throw fail(value, `struct field jsonPatchOp.${name} of type string`);
  }
  return source;
}

/** The tokens of a pointer. What stands before the first slash is not looked at, as upstream does not. */
function parsePointer(pointer: unknown): string[] {
  if (typeof pointer !== 'string') throw unprocessablePatch();
  const [, ...tokens] = pointer.split('/');
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The index that a token names, below `end`; negative ones count from the end. */
function indexOf(token: string, end: number): number {
  if (!/^[+-]?\d+$/.test(token)) throw unprocessablePatch();
  const given = Number(token);
  const index = given < 0 ? end + given : given;
  if (index < 0 || index >= end) throw unprocessablePatch();
  return index;
}

/** Counts values that an operation touches. @throws StatusError 413 where one patch would hold up other requests */
function touch(spent: Spent, values: number): void {
  spent.touched += values;
  if (spent.touched <= maxTouched) return;
  throw entityTooLarge(
    `Request entity too large: the operations of the JSON patch touch more than ${maxTouched} values; send fewer operations, or a merge patch`,
  );
}

/** Copies a value within the limit of what one patch may add. @throws StatusError 422 above it */
function copyOf(value: unknown, spent: Spent): unknown {
  const bytes = Buffer.byteLength(jsonText(value));
  spent.copiedBytes += bytes;
  if (spent.copiedBytes > maxCopiedBytes) throw unprocessablePatch();
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

/** What is in a slot; undefined for a member that an object does not have. */
function read({ parent, key }: Slot): unknown {
  if (Array.isArray(parent)) return parent[indexOf(key, parent.length)];
  return Object.hasOwn(parent, key) ? parent[key] : undefined;
}

/** Finds the slot that a path names; `walked` takes the objects on the way. */
function locate(document: unknown, path: readonly string[], walked: Set<JsonObject>): Slot {
  let parent = document;
  for (const key of path.slice(0, -1)) {
    if (!Array.isArray(parent) && !isObject(parent)) throw unprocessablePatch();
    if (isObject(parent)) walked.add(parent);
    parent = read({ parent, key });
  }
  const key = path.at(-1);
  if (key === undefined || (!Array.isArray(parent) && !isObject(parent))) throw unprocessablePatch();
  if (isObject(parent)) walked.add(parent);
  return { parent, key };
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
    const index = indexOf(key, parent.length + 1);
    touch(spent, parent.length - index);
    parent.splice(index, 0, value);
  }
}

function remove(slot: Slot, spent: Spent): void {
  const { parent, key } = slot;
  if (Array.isArray(parent)) {
    const index = indexOf(key, parent.length);
    touch(spent, parent.length - index);
    parent.splice(index, 1);
  } else if (Object.hasOwn(parent, key)) delete parent[key];
  else throw unprocessablePatch();
}

function replace(slot: Slot, value: unknown): void {
  const { parent, key } = slot;
  if (Array.isArray(parent)) parent[indexOf(key, parent.length)] = value;
  else setOwn(parent, key, value);
}

/** The value of an operation; a missing one is null. */
function valueOf(operation: JsonObject): unknown {
  return operation['value'] === undefined ? null : cloneJson(operation['value']);
}

function applyToRoot(document: unknown, operation: JsonObject, spent: Spent): unknown {
  const value = valueOf(operation);
  if (operation['op'] === 'test' && equals(document, value, spent)) return document;
  if (operation['op'] === 'replace' && typeof value === 'object' && value !== null) return value;
  throw unprocessablePatch();
}

interface Progress {
  readonly walked: Set<JsonObject>;
  readonly spent: Spent;
}

function apply(document: unknown, operation: JsonObject, { walked, spent }: Progress): unknown {
  const path = parsePointer(operation['path']);
  if (operation['path'] === '') return applyToRoot(document, operation, spent);
  const from = (): string[] => parsePointer(operation['from']);
  switch (operation['op']) {
    case 'add':
      add(locate(document, path, walked), valueOf(operation), spent);
      break;
    case 'remove':
      remove(locate(document, path, walked), spent);
      break;
    case 'replace':
      replace(locate(document, path, walked), valueOf(operation));
      break;
    case 'move': {
      const source = locate(document, from(), walked);
      const value = read(source);
      remove(source, spent);
      add(locate(document, path, walked), value, spent);
      break;
    }
    case 'copy':
      add(locate(document, path, walked), copyOf(read(locate(document, from(), walked)) ?? null, spent), spent);
      break;
    case 'test':
      if (!equals(read(locate(document, path, walked)) ?? null, operation['value'] ?? null, spent))
        throw unprocessablePatch();
      break;
    default:
      throw unprocessablePatch();
  }
  return document;
}

/**
 * Applies a JSON patch to a copy of a document, all of it or nothing. As the API server's library (evanphx/json-patch
 * v4) does, and RFC 6902 does not: negative indexes count from the end, `replace` creates a missing member, a missing
 * value is null, and `test` for null passes where nothing is. Missing parents are not created. The members of objects
 * that a path leads through come back sorted by name: it decides which of several wrong fields is told first.
 *
 * @throws StatusError 400 for what is no patch, 413 for more than 10,000 operations or too
 *   much work, 422 where it does not apply or copies more than 3 MiB
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goType(patch)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  const operations = patch.map(requireOperation);
  if (operations.length > maxOperations) {
    throw entityTooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`,
    );
  }
  const walked = new Set<JsonObject>();
  const spent: Spent = { copiedBytes: 0, touched: 0 };
  const patched = operations.reduce<unknown>(
    (result, operation) => apply(result, operation, { walked, spent }),
    cloneJson(document),
  );
  walked.forEach(sortMembers);
  return patched;
}
