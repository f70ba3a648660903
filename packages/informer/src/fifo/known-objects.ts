import { metaNamespaceKey } from '@kctl/cache-index';
import { requireThat } from '../required.js';

/** What a consumer has already, by key: its store. Mirrors `cache.KeyListerGetter`. */
export interface KnownObjects<T> {
  keys(): Iterable<string>;
  get(key: string): T | undefined;
}

/** Reads keys of objects: by default `namespace/name`. What it returns throws a TypeError for an object without a key. */
export function keyReader<T>(queue: string, key: (object: T) => string = metaNamespaceKey): (object: T) => string {
  return (object) => {
    const value: unknown = key(object);
    requireThat(typeof value === 'string' && value !== '', `${queue}: the key of an object`, {
      value,
      expected: 'a text that is not empty, from the option key',
    });
    return String(value);
  };
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
