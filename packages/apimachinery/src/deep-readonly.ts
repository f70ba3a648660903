import { setMember } from './json-object.js';
import type { DeepReadonly, Primitive } from './object.js';

/** `T` with every property writable, at every depth. The inverse of {@link DeepReadonly}. */
export type DeepMutable<T> = T extends Primitive
  ? T
  : T extends readonly (infer E)[]
    ? DeepMutable<E>[]
    : T extends object
      ? { -readonly [K in keyof T]: DeepMutable<T[K]> }
      : T;

/**
 * Returns a mutable copy of anything that came from a cache. Plain objects and arrays are copied at every depth; other
 * values (strings, numbers, anything with a custom prototype) are shared.
 *
 * @example
 * ```ts
 * import { mutableCopy } from '@kctl/apimachinery';
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 *
 * const draft = mutableCopy(pod);
 * draft.metadata.labels = { ...draft.metadata.labels, checked: 'true' };
 * await client.update(Pod, draft);
 * ```
 */
export function mutableCopy<T>(value: T): DeepMutable<T>;
export function mutableCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => mutableCopy(item));
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setMember(copy, key, mutableCopy(value[key]));
  return copy;
}

/**
 * Makes a value unmodifiable at every depth, in place, and returns it. Frozen values are not visited again, so freezing
 * costs once; freeze whole objects, not their outermost level alone.
 */
export function deepFreeze<T>(value: T): DeepReadonly<T>;
export function deepFreeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) deepFreeze(child);
  return value;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
