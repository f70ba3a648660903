import type { DeepReadonly } from '@kctl/apimachinery';

/** Freezes a JSON value at every depth. It walks unconditionally: asking `isFrozen` first costs four times as much. */
export function deepFreeze<T>(value: T): DeepReadonly<T> {
  freezeTree(value);
  return value as DeepReadonly<T>;
}

function freezeTree(value: unknown): void {
  if (isTree(value)) freezeBranch(value);
}

/** Leaves are told apart before the call: most values are leaves. */
function freezeBranch(value: object): void {
  if (Array.isArray(value)) {
    for (const element of value) if (isTree(element)) freezeBranch(element);
  } else
    for (const key in value) {
      const part: unknown = (value as Record<string, unknown>)[key];
      if (isTree(part)) freezeBranch(part);
    }
  Object.freeze(value);
}

function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Freezes `next` and replaces each of its sub-trees that equals the one of `previous` (which is frozen) by that one: an
 * update then costs the memory of what changed, and `next.spec === previous.spec` is a valid test for "not changed".
 * Where everything is equal it returns `previous` itself.
 */
export function shareFreeze<T>(next: T, previous: DeepReadonly<T> | undefined): DeepReadonly<T> {
  if (previous === undefined) return deepFreeze(next);
  return shareTree(next, previous) as DeepReadonly<T>;
}

function shareTree(next: unknown, previous: unknown): unknown {
  if (next === previous) return previous;
  if (typeof next !== 'object' || next === null) return next;
  if (typeof previous !== 'object' || previous === null || Array.isArray(next) !== Array.isArray(previous)) {
    freezeTree(next);
    return next;
  }
  return Array.isArray(next) && Array.isArray(previous)
    ? shareArray(next, previous)
    : shareRecord(next as Record<string, unknown>, previous as Record<string, unknown>);
}

function shareArray(next: unknown[], previous: readonly unknown[]): unknown {
  let isEqual = next.length === previous.length;
  for (let index = 0; index < next.length; index++) {
    const shared = shareTree(next[index], previous[index]);
    if (shared !== previous[index]) isEqual = false;
    next[index] = shared;
  }
  return isEqual ? previous : Object.freeze(next);
}

function shareRecord(next: Record<string, unknown>, previous: Readonly<Record<string, unknown>>): unknown {
  let isEqual = true;
  let count = 0;
  for (const key in next) {
    count++;
    const before = Object.hasOwn(previous, key) ? previous[key] : undefined;
    const shared = shareTree(next[key], before);
    if (shared !== before || before === undefined) isEqual = false;
    if (shared !== next[key]) next[key] = shared;
  }
  if (isEqual) for (const _ in previous) count--;
  return isEqual && count === 0 ? previous : Object.freeze(next);
}

/** A mutable copy of a cached object, or of any part of one: about four times faster than `structuredClone`. */
export function mutableCopy<T>(value: DeepReadonly<T>): T;
export function mutableCopy<T>(value: T): T;
export function mutableCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element: unknown) => mutableCopy(element));
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    const part = (value as Record<string, unknown>)[key];
    if (key === '__proto__')
      Object.defineProperty(copy, key, {
        value: mutableCopy(part),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else copy[key] = typeof part === 'object' && part !== null ? mutableCopy(part) : part;
  }
  return copy;
}
