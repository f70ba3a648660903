/** Whether two JSON trees are equal; the order of object keys does not matter. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isDeepEqual(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isDeepEqual(Reflect.get(a, key), Reflect.get(b, key)));
}

/**
 * Members beyond which an object is not frozen, because that would take 2 µs for each, and the engine forgets its shape
 * anyway.
 */
const maxFrozenMembers = 4_096;

/**
 * Freezes a JSON tree, so that no holder of a stored version can change history. Objects and lists of thousands of
 * members stay as they are; what is in them is frozen. `max` ends the work after so many objects and lists.
 */
export function deepFreeze<T>(value: T, max: number = Number.POSITIVE_INFINITY): T {
  // Uses a list and not recursion, because a tree may be 10,000 levels deep.
  const left: unknown[] = [value];
  let frozen = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    const members: unknown[] = Object.values(next);
    if (members.length <= maxFrozenMembers) Object.freeze(next);
    if (++frozen >= max) break;
    for (const member of members) if (typeof member === 'object' && member !== null) left.push(member);
  }
  return value;
}
