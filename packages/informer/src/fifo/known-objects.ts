import { metaNamespaceKey } from '@kctl/cache-index';
import { requireThat } from '../required.js';

/** Objects that a consumer has already, by key (its store). Mirrors `cache.KeyListerGetter`. */
export interface KnownObjects<T> {
  keys(): Iterable<string>;
  get(key: string): T | undefined;
}

/**
 * Returns the key function of objects, by default `namespace/name`. The result throws a TypeError for an object without
 * a key.
 */
export function keyReader<T>(queue: string, key: (object: T) => string = metaNamespaceKey): (object: T) => string {
  return (object) => {
    const value: unknown = key(object);
    requireThat(typeof value === 'string' && value !== '', `${queue}: the key of an object`, {
      value,
      expected: 'a non-empty string, from the option key',
    });
    return String(value);
  };
}

/** The function that changes objects before they are queued. The result throws if the transform returns nothing. */
export function transformOf<T>(queue: string, transform: ((object: T) => T) | undefined): (object: T) => T {
  if (transform === undefined) return (object) => object;
  return (object) => {
    const changed = transform(object);
    const value: unknown = changed;
    requireThat(value !== undefined && value !== null, `${queue}: what transform returned`, {
      value,
      expected: 'the object to queue',
    });
    return changed;
  };
}

/** @throws TypeError before anything is taken from the queue, so that nothing is lost */
export function requireProcess(method: string, process: unknown): void {
  requireThat(typeof process === 'function', `${method}: process`, {
    value: process,
    expected: 'a function of deltas',
  });
}

/** @throws TypeError for a replacement that is not a list */
export function requireObjects(queue: string, objects: unknown): void {
  requireThat(Array.isArray(objects), `${queue}: replace`, { value: objects, expected: 'an array of all objects' });
}

/** @throws TypeError naming the first option that is there and not of its type */
export function requireTypes<O extends object>(
  factory: string,
  options: O,
  types: Readonly<Partial<Record<keyof O & string, 'function' | 'boolean' | 'object'>>>,
): void {
  for (const [name, expected] of Object.entries(types)) {
    const value: unknown = Reflect.get(options, name);
    requireThat(value === undefined || (typeof value === expected && value !== null), `${factory}: ${name}`, {
      value,
      expected: `a value of type ${String(expected)}`,
    });
  }
}
