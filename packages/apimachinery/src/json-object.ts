/** A JSON object whose members are not known. */
export type JsonObject = Record<string, unknown>;

/** Whether a value is a JSON object: not null, not a list. */
export function isJsonObject(value: unknown): value is Readonly<JsonObject> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether two JSON values are the same: the order of members does not matter, and a member that is `undefined` is one
 * that is not there, as in JSON text.
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
