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

/** Members beyond which an object is not frozen: it would take 2 µs for each, and the engine forgets its shape anyway. */
const maxFrozenMembers = 4_096;

/**
 * Freezes a JSON tree, so that no holder of a stored version can change history. Objects and lists of thousands of
 * members stay as they are; what is in them is frozen.
 */
export function deepFreeze<T>(value: T): T {
  // By a list and not by recursion: a tree may be 10,000 levels deep.
  const left: unknown[] = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    const members: unknown[] = Object.values(next);
    if (members.length <= maxFrozenMembers) Object.freeze(next);
    for (const member of members) if (typeof member === 'object' && member !== null) left.push(member);
  }
  return value;
}
