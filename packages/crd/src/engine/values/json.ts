/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; an empty one (detached) if it is another type. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value as an array; an empty one if it is another type. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of an array. */
export function objectsOf(value: unknown): JsonObject[] {
  return arrayOf(value).filter(isObject);
}

/** The value as a string; '' if it is another type. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value as a number; undefined if it is another type. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined;
}

/** The string entries of a JSON object. */
export function stringMapOf(value: unknown): Record<string, string> {
  const map: Record<string, string> = {};
  for (const [key, entry] of Object.entries(objectOf(value))) if (typeof entry === 'string') setOwn(map, key, entry);
  return map;
}

/** The string items of an array. */
export function stringsOf(value: unknown): string[] {
  return arrayOf(value).filter((item) => typeof item === 'string');
}

/** The value at a path of property names; undefined if any step is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const step of path) {
    if (!isObject(current) || !Object.hasOwn(current, step)) return undefined;
    current = current[step];
  }
  return current;
}

/** The object at a property, created there when it is absent. */
export function ensureObject(parent: JsonObject, name: string): JsonObject {
  const present = parent[name];
  if (isObject(present)) return present;
  const created: JsonObject = {};
  parent[name] = created;
  return created;
}

/** Sets a property if absent. */
export function setDefault(target: JsonObject, name: string, value: unknown): void {
  if (target[name] === undefined || target[name] === null) target[name] = value;
}

/** Sets an own property whatever its name: `__proto__` included. */
export function setOwn(target: object, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (target as JsonObject)[name] = value; // not by Reflect.set, which takes several times as long
  }
}

/** A deep copy of a JSON value. */
export function cloneJson<T>(value: T): T;
export function cloneJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => cloneJson(item));
  const copy: JsonObject = {};
  for (const [key, entry] of Object.entries(value)) setOwn(copy, key, cloneJson(entry));
  return copy;
}

/** Whether two JSON values are equal; the order of properties does not matter. */
export function equalJson(a: unknown, b: unknown): boolean {
  return a === b || areSame(a, b);
}

function areSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => areSame(item, b[index]));
  }
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  // Not by node:util, which looks for cycles and takes several times as long.
  return names.every((name) => Object.hasOwn(b, name) && areSame(Reflect.get(a, name), Reflect.get(b, name)));
}

/** As {@link equalJson}, but absent, null, empty object and empty array count as the same: Go's `Semantic.DeepEqual`. */
export function equalSemantic(a: unknown, b: unknown): boolean {
  if (isEmpty(a) && isEmpty(b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equalSemantic(item, b[index]));
  }
  if (isObject(a) && isObject(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      if (!equalSemantic(a[key], b[key])) return false;
    }
    return true;
  }
  return a === b;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** String order by code unit, which is the order of Go's sorted strings for everything but astral characters. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Whether an object has `managedFields: []`, which differs from an unset field because it removes all field ownership.
 */
export function hasEmptyOwners(object: JsonObject): boolean {
  const owners = at(object, 'metadata', 'managedFields');
  return Array.isArray(owners) && owners.length === 0;
}
