import type { DeepReadonly } from '@kctl/apimachinery';
import { mutableCopy } from '@kctl/apimachinery';

/**
 * Freezes a JSON value at every depth. It walks unconditionally, because checking `isFrozen` first costs four times as
 * much.
 */
export function deepFreeze<T>(value: T): DeepReadonly<T> {
  if (isTree(value)) namingDates(value, () => freezeBranch(value));
  return value as DeepReadonly<T>;
}

/** Runs a function that freezes a value; an error about a Date in it gets the path. */
function namingDates<R>(value: object, freeze: () => R): R {
  try {
    return freeze();
  } catch (error) {
    const path = error instanceof DateFound ? datePath(value, '') : undefined;
    if (path === undefined) throw error;
    throw new TypeError(`${path} is a Date, which cannot be frozen: expected a string, such as that of toISOString()`);
  }
}

/** A freeze that has met a Date, whose time could be set all the same, and whose equality members do not show. */
class DateFound extends TypeError {}

function datePath(value: unknown, path: string): string | undefined {
  if (!isTree(value)) return undefined;
  if (value instanceof Date) return path === '' ? 'the value' : path;
  for (const [key, member] of Object.entries(value)) {
    const found = datePath(member, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Leaves are recognized before the call, because most values are leaves. */
function freezeBranch(value: object): void {
  if (Array.isArray(value)) {
    for (const element of value) if (isTree(element)) freezeBranch(element);
  } else {
    let isEmpty = true;
    for (const key in value) {
      isEmpty = false;
      const part: unknown = (value as Record<string, unknown>)[key];
      if (isTree(part)) freezeBranch(part);
    }
    if (isEmpty) refuseDate(value);
  }
  Object.freeze(value);
}

/** A Date has no members, so that other objects need not be tested. */
function refuseDate(value: object): void {
  if (value instanceof Date) throw new DateFound();
}

function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Freezes `next` and replaces each of its sub-trees that equals the one of `previous` (which is frozen) with that one,
 * so an update costs only the memory of the changes, and `next.spec === previous.spec` is a valid test for "not
 * changed". Returns `previous` itself if everything is equal. `previous` may also be another object that looks alike.
 * If `next` or a part of it is already frozen (for example because it was read from another store), a copy replaces it.
 */
export function shareFreeze<T>(next: T, previous: DeepReadonly<T> | undefined): DeepReadonly<T> {
  if (!isTree(next)) return next as DeepReadonly<T>;
  return namingDates(next, () => shareWhole(next, previous));
}

function shareWhole<T>(next: T & object, previous: DeepReadonly<T> | undefined): DeepReadonly<T> {
  if (Object.isFrozen(next)) return shareTree(copyOf(next), previous) as DeepReadonly<T>;
  try {
    return shareTree(next, previous) as DeepReadonly<T>;
  } catch (error) {
    if (error instanceof DateFound) throw error;
    // A part of it is frozen. Asking each part costs more than the rest of the work.
    return shareTree(copyOf(next), previous) as DeepReadonly<T>;
  }
}

function copyOf(value: object): object {
  return mutableCopy(value);
}

/** Equal leaves need no call. Most values are leaves, and most of them are equal. */
function shareTree(next: object, previous: unknown): unknown {
  if (next === previous) return previous;
  // An inherited `__proto__` value is not a part of an object that has no member of that name.
  if (!isTree(previous) || previous === Object.prototype || Array.isArray(next) !== Array.isArray(previous)) {
    freezeBranch(next);
    return next;
  }
  const isEqual =
    Array.isArray(next) && Array.isArray(previous)
      ? shareElements(next, previous)
      : shareMembers(next as Record<string, unknown>, previous as Record<string, unknown>);
  return isEqual ? previous : Object.freeze(next);
}

function shareElements(next: unknown[], previous: readonly unknown[]): boolean {
  let isEqual = next.length === previous.length;
  for (let index = 0; index < next.length; index++) {
    const element = next[index];
    const before = previous[index];
    if (element === before) continue;
    if (isTree(element)) {
      const shared = shareTree(element, before);
      if (shared === before) next[index] = shared;
      else isEqual = false;
    } else isEqual = false;
  }
  return isEqual;
}

function shareMembers(next: Record<string, unknown>, previous: Readonly<Record<string, unknown>>): boolean {
  let isEqual = true;
  let count = 0;
  for (const key in next) {
    count++;
    const member = next[key];
    const before = previous[key];
    // Undefined may be what is not there.
    if (member === before) isEqual &&= member !== undefined;
    else if (isTree(member)) {
      const shared = shareTree(member, before);
      if (shared === before) next[key] = shared;
      else isEqual = false;
    } else isEqual = false;
  }
  if (count === 0) refuseDate(next);
  if (isEqual) for (const _ in previous) count--;
  return isEqual && count === 0;
}
