import { requireOptions } from '@kctl/options';
import { keyFunction } from './key.js';
import type { Store, StoreOptions } from './store.js';

/**
 * An empty store without indexes. Mirrors `cache.NewStore`. For one whose objects cannot be changed, with indexes:
 * `createIndexer`.
 *
 * @throws TypeError naming the option that is not valid
 *
 * @example
 * ```ts
 * import type { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createStore } from '@kctl/cache-index';
 *
 * const store = createStore<Pod>();
 * store.add({ metadata: { namespace: 'shop', name: 'web-0' } });
 * console.log(store.get('shop/web-0')?.metadata?.name); // web-0
 * ```
 */
export function createStore<T>(options: StoreOptions<T> = {}): Store<T> {
  requireOptions('createStore', options, { key: true });
  return new PlainStore(keyFunction('createStore', options.key));
}

class PlainStore<T> implements Store<T> {
  readonly #keyOf: (object: T) => string;
  #objects = new Map<string, T>();

  constructor(keyOf: (object: T) => string) {
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#objects.size;
  }

  add(object: T): void {
    this.#objects.set(this.#keyOf(object), object);
  }

  update(object: T): void {
    this.add(object);
  }

  delete(object: T): void {
    this.#objects.delete(this.#keyOf(object));
  }

  replace(objects: readonly T[]): void {
    this.#objects = new Map(objects.map((object) => [this.#keyOf(object), object]));
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  keys(): string[] {
    return [...this.#objects.keys()];
  }
}
