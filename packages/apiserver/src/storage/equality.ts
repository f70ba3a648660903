/** Whether two JSON trees are equal; the order of object keys does not matter. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isDeepEqual(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  const left = Object.entries(a);
  if (left.length !== Object.keys(b).length) return false;
  const right: Readonly<Record<string, unknown>> = { ...b };
  return left.every(([key, value]) => Object.hasOwn(right, key) && isDeepEqual(value, right[key]));
}

/** Freezes a JSON tree, so that no holder of a stored version can change history. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
