/** A JSON object whose members are not known. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is a JSON object: not null, not a list. */
export function isJsonObject(value: unknown): value is Readonly<JsonObject> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether two JSON values are the same: the order of members does not matter, and a member that is `undefined` is one
 * that is not there, as in JSON text.
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
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => isSameJson(item, b[index]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = definedKeys(a);
  return (
    keys.length === definedKeys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
  );
}

/** The members that JSON text would have. */
export function definedKeys(value: Readonly<JsonObject>): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined);
}

/** A member of the object's own; what it inherits (`constructor`, `__proto__`) is not there. */
export function ownMember(value: Readonly<JsonObject>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Sets a member of the object's own: assigning to `__proto__` would change the prototype instead. */
export function setMember(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}
