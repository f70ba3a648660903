import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { clockOption, numberProblem, requireOptions } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import { keyFunction } from './key.js';
import type { Store, StoreOptions } from './store.js';

/** Options of {@link createTtlStore}. */
export interface TtlStoreOptions<T> extends StoreOptions<T> {
  /** How long an object stays after it was put last, in ms. */
  readonly ttlMs: number;
  /** Measures by monotonic time. @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<TtlStoreOptions<never>> = { key: true, ttlMs: true, clock: clockOption };

/**
 * A store whose objects expire `ttlMs` after they were last put. An expired object is neither returned nor counted.
 * There is no timer; each call drops expired objects. Mirrors `cache.NewTTLStore`; unlike there, `keys` leaves out
 * expired objects, too.
 *
 * @throws TypeError naming the option that is not valid
 *
 * @example
 * ```ts
 * import type { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createTtlStore } from '@kctl/cache-index';
 *
 * const seen = createTtlStore<Pod>({ ttlMs: 60_000 });
 * seen.add({ metadata: { namespace: 'shop', name: 'web-0' } });
 * console.log(seen.keys()); // [ 'shop/web-0' ], for a minute
 * ```
 */
export function createTtlStore<T>(options: TtlStoreOptions<T>): Store<T> {
  requireOptions<TtlStoreOptions<T>>('createTtlStore', options, optionNames);
  const { ttlMs, key, clock = systemClock } = options;
  const problem = numberProblem('ttlMs', ttlMs, { above: 0 });
  if (problem !== undefined) throw new TypeError(`createTtlStore: ${problem}`);
  return new TtlStore(keyFunction('createTtlStore', key), ttlMs, clock);
}

interface Entry<T> {
  readonly object: T;
  readonly expiresAt: number;
}

class TtlStore<T> implements Store<T> {
  readonly #keyOf: (object: T) => string;
  readonly #ttlMs: number;
  readonly #clock: Clock;
  /** The last put is at the end, so the next to expire is the first. */
  #entries = new Map<string, Entry<T>>();

  constructor(keyOf: (object: T) => string, ttlMs: number, clock: Clock) {
    this.#keyOf = keyOf;
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  get size(): number {
    return this.#live().size;
  }

  add(object: T): void {
    const key = this.#keyOf(object);
    const entries = this.#live();
    entries.delete(key);
    entries.set(key, this.#entry(object));
  }

  update(object: T): void {
    this.add(object);
  }

  delete(object: T): void {
    this.#live().delete(this.#keyOf(object));
  }

  replace(objects: readonly T[]): void {
    this.#entries = new Map(objects.map((object) => [this.#keyOf(object), this.#entry(object)]));
  }

  get(key: string): T | undefined {
    return this.#live().get(key)?.object;
  }

  list(): T[] {
    return [...this.#live().values()].map(({ object }) => object);
  }

  keys(): string[] {
    return [...this.#live().keys()];
  }

  #entry(object: T): Entry<T> {
    return { object, expiresAt: this.#clock.monotonicNow() + this.#ttlMs };
  }

  /** Each entry is dropped once, so that a call costs no more than the puts before it. */
  #live(): Map<string, Entry<T>> {
    const now = this.#clock.monotonicNow();
    for (const [key, { expiresAt }] of this.#entries) {
      if (expiresAt > now) break;
      this.#entries.delete(key);
    }
    return this.#entries;
  }
}
