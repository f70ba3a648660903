/** A JSON object whose members are not known. */
export type JsonObject = Record<string, unknown>;

/** Reports whether a value is a JSON object, that is, neither null nor a list. */
export function isJsonObject(value: unknown): value is Readonly<JsonObject> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reports whether a value defines its own JSON form, which `JSON.stringify` uses (a Date, or an instance of a class).
 */
export function isSelfWriting(value: unknown): value is { toJSON(): unknown } {
  return typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function';
}

/**
 * Reports whether two values have the same JSON form. The order of members does not matter, a member that is
 * `undefined` counts as absent, and a value that has `toJSON` and no members, such as a Date, counts as the result of
 * `toJSON`.
 *
 * @example
 * ```ts
 * import { isSameJson } from '@kctl/apimachinery';
 *
 * isSameJson({ a: 1, b: [2] }, { b: [2], a: 1 }); // true: the order of fields does not count
 * ```
 */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]));
  if (!isJsonObject(a) || !isJsonObject(b)) return isSameWritten(a, b);
  const keys = definedKeys(a);
  // Checked last, because checking each object for toJSON would cost half as much again.
  if (keys.length === 0) return isSameWritten(a, b);
  return (
    keys.length === definedKeys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
  );
}

/** The same for values of two types, or if one has no members, such as a Date, which only has toJSON. */
function isSameWritten(a: unknown, b: unknown): boolean {
  const left = isSelfWriting(a) ? a.toJSON() : a;
  const right = isSelfWriting(b) ? b.toJSON() : b;
  if (left !== a || right !== b) return isSameJson(left, right);
  return isJsonObject(a) && isJsonObject(b) && definedKeys(a).length === definedKeys(b).length;
}

/** The members that the JSON form would have. */
export function definedKeys(value: Readonly<JsonObject>): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined);
}

/** A member of the object's own; what it inherits (`constructor`, `__proto__`) is not there. */
export function ownMember(value: Readonly<JsonObject>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Sets an own member of the object. Assigning to `__proto__` would change the prototype instead. */
export function setMember(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}
