import { cloneJson, equalJson, isObject, setOwn, type JsonObject } from '../registry/json.js';
import { badRequest, entityTooLarge, unprocessablePatch } from '../registry/status.js';

const maxOperations = 10_000;

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

function add({ parent, key }: Slot, value: unknown): void {
  if (!Array.isArray(parent)) setOwn(parent, key, value);
  else if (key === '-') parent.push(value);
  else parent.splice(indexOf(key, parent.length + 1), 0, value);
}

function remove(slot: Slot): void {
  const { parent, key } = slot;
  if (Array.isArray(parent)) parent.splice(indexOf(key, parent.length), 1);
  else if (Object.hasOwn(parent, key)) delete parent[key];
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

function applyToRoot(document: unknown, operation: JsonObject): unknown {
  const value = valueOf(operation);
  if (operation['op'] === 'test' && equalJson(document, value)) return document;
  if (operation['op'] === 'replace' && typeof value === 'object' && value !== null) return value;
  throw unprocessablePatch();
}

function apply(document: unknown, operation: JsonObject, walked: Set<JsonObject>): unknown {
  const path = parsePointer(operation['path']);
  if (operation['path'] === '') return applyToRoot(document, operation);
  const from = (): string[] => parsePointer(operation['from']);
  switch (operation['op']) {
    case 'add':
      add(locate(document, path, walked), valueOf(operation));
      break;
    case 'remove':
      remove(locate(document, path, walked));
      break;
    case 'replace':
      replace(locate(document, path, walked), valueOf(operation));
      break;
    case 'move': {
      const source = locate(document, from(), walked);
      const value = read(source);
      remove(source);
      add(locate(document, path, walked), value);
      break;
    }
    case 'copy':
      add(locate(document, path, walked), cloneJson(read(locate(document, from(), walked)) ?? null));
      break;
    case 'test':
      if (!equalJson(read(locate(document, path, walked)) ?? null, valueOf(operation))) throw unprocessablePatch();
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
 * @throws StatusError 400 for what is no patch, 413 for more than 10,000 operations, 422 where it does not apply
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
  const patched = operations.reduce<unknown>(
    (result, operation) => apply(result, operation, walked),
    cloneJson(document),
  );
  walked.forEach(sortMembers);
  return patched;
}
