import { cloneJson, equalJson, isObject, setOwn, type JsonObject } from '../registry/json.js';
import { badRequest, entityTooLarge, unprocessablePatch } from '../registry/status.js';

const maxOperations = 10_000;

interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: readonly string[];
  readonly from: readonly string[];
  readonly value: unknown;
}

/** A place in a document: the container and the name or index in it. */
interface Slot {
  readonly parent: JsonObject | unknown[];
  readonly key: string;
}

const names: ReadonlySet<unknown> = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

function isName(value: unknown): value is Operation['op'] {
  return names.has(value);
}

function goType(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function parsePointer(pointer: unknown): string[] {
  if (pointer === '') return [];
  if (typeof pointer !== 'string' || !pointer.startsWith('/')) throw unprocessablePatch();
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function readOperation(source: unknown): Operation {
  const fail = (why: string): Error => badRequest(`invalid operation ${JSON.stringify(source)}: ${why}`);
  if (!isObject(source)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goType(source)} into Go value of type handlers.jsonPatchOp`,
    );
  }
  const { op, value } = source;
  if (!isName(op)) throw fail('unsupported operation');
  if (typeof source['path'] !== 'string')
    throw fail("failed to decode 'path': operation missing path field: missing value");
  if (op === 'add' && value === undefined) {
    throw fail("failed to decode 'value': operation, missing value field: missing value");
  }
  const needsFrom = op === 'move' || op === 'copy';
  if (needsFrom && typeof source['from'] !== 'string') {
    throw fail("failed to decode 'from': operation, missing from field: missing value");
  }
  return { op, path: parsePointer(source['path']), from: needsFrom ? parsePointer(source['from']) : [], value };
}

/** The index that a token names; `end` is the first one that does not exist. Negative ones count from the end. */
function indexOf(token: string, end: number): number {
  if (!/^-?(0|[1-9]\d*)$/.test(token)) throw unprocessablePatch();
  const given = Number(token);
  const index = given < 0 ? end + given : given;
  if (index < 0 || index >= end) throw unprocessablePatch();
  return index;
}

function child(container: unknown, token: string): unknown {
  if (Array.isArray(container)) return container[indexOf(token, container.length)];
  if (isObject(container) && Object.hasOwn(container, token)) return container[token];
  throw unprocessablePatch();
}

function locate(document: unknown, path: readonly string[]): Slot {
  const parents = path.slice(0, -1);
  const parent = parents.reduce<unknown>(child, document);
  if (!Array.isArray(parent) && !isObject(parent)) throw unprocessablePatch();
  return { parent, key: path.at(-1) ?? '' };
}

function add({ parent, key }: Slot, value: unknown): void {
  if (!Array.isArray(parent)) setOwn(parent, key, value);
  else if (key === '-') parent.push(value);
  else parent.splice(indexOf(key, parent.length + 1), 0, value);
}

function remove({ parent, key }: Slot): unknown {
  const value = child(parent, key);
  if (Array.isArray(parent)) parent.splice(indexOf(key, parent.length), 1);
  else delete parent[key];
  return value;
}

function replace({ parent, key }: Slot, value: unknown): void {
  child(parent, key);
  if (Array.isArray(parent)) parent[indexOf(key, parent.length)] = value;
  else setOwn(parent, key, value);
}

/** Whether a path holds the value; null equals absent, below a parent that exists. */
function holds(document: unknown, path: readonly string[], value: unknown): boolean {
  if (path.length === 0) return equalJson(document, value);
  const { parent, key } = locate(document, path);
  const isAbsent = !Array.isArray(parent) && !Object.hasOwn(parent, key);
  const actual = isAbsent ? null : child(parent, key);
  return equalJson(actual ?? null, value ?? null);
}

function apply(document: unknown, { op, path, from, value }: Operation): unknown {
  if (op === 'test') {
    if (!holds(document, path, value)) throw unprocessablePatch();
    return document;
  }
  if (path.length === 0) {
    if (op !== 'replace' && op !== 'add') throw unprocessablePatch();
    if (typeof value !== 'object' || value === null) throw unprocessablePatch();
    return cloneJson(value);
  }
  switch (op) {
    case 'add':
      add(locate(document, path), cloneJson(value));
      break;
    case 'remove':
      remove(locate(document, path));
      break;
    case 'replace':
      replace(locate(document, path), value === undefined ? null : cloneJson(value));
      break;
    case 'move':
      add(locate(document, path), remove(locate(document, from)));
      break;
    case 'copy': {
      const { parent, key } = locate(document, from);
      add(locate(document, path), cloneJson(child(parent, key)));
      break;
    }
  }
  return document;
}

/**
 * Applies a JSON patch to a copy of a document, all of it or nothing. As the API server does: negative indexes count
 * from the end, `test` for null passes where nothing is, indexes have no leading zeros, parents are not created.
 *
 * @throws StatusError 400 for what is no patch, 413 for more than 10,000 operations, 422 where it does not apply
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goType(patch)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  if (patch.length > maxOperations) {
    throw entityTooLarge(`The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`);
  }
  const operations = patch.map(readOperation);
  return operations.reduce<unknown>(apply, cloneJson(document));
}
