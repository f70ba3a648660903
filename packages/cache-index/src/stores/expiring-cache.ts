import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { clockOption, numberProblem, requireOptions } from '@kctl/options';
import { systemClock } from '@kctl/wait';

/** Options of {@link createExpiringCache}. */
export interface ExpiringCacheOptions {
  /** The one that was used longest ago leaves for each beyond so many. Mirrors `LRUExpireCache`. @default Infinity */
  readonly maxEntries?: number;
  /** Measures by monotonic time. @default systemClock */
  readonly clock?: Clock;
}

/**
 * Values that each have their own expiry. A value is never returned after its expiry. There is no timer; calls drop
 * expired values at an amortized constant cost, so at most about as many expired values are held as live ones. Mirrors
 * `k8s.io/apimachinery/pkg/util/cache.Expiring`.
 */
export interface ExpiringCache<K, V> {
  /** How many values are held; ones that have expired may be among them. */
  readonly size: number;
  get(key: K): V | undefined;
  /** @throws RangeError if `ttlMs` is not a number of ms. Infinity never expires; 0 has expired */
  set(key: K, value: V, ttlMs: number): void;
  /** Whether there was one that had not expired. */
  delete(key: K): boolean;
  clear(): void;
  /** Those that have not expired. */
  entries(): [K, V][];
}

interface Entry<V> {
  readonly value: V;
  readonly expiresAt: number;
}

const optionNames: OptionNames<ExpiringCacheOptions> = { maxEntries: true, clock: clockOption };
/** Below this many entries nothing is swept. */
const leastSweep = 32;

/**
 * An empty cache.
 *
 * @throws TypeError naming the option that is not valid
 *
 * @example
 * ```ts
 * import { createExpiringCache } from '@kctl/cache-index';
 *
 * const answers = createExpiringCache<string, boolean>({ maxEntries: 1000 });
 * answers.set('system:admin', true, 60_000);
 * console.log(answers.get('system:admin')); // true, for a minute
 * ```
 */
export function createExpiringCache<K, V>(options: ExpiringCacheOptions = {}): ExpiringCache<K, V> {
  requireOptions('createExpiringCache', options, optionNames);
  const { maxEntries = Infinity, clock = systemClock } = options;
  const problem = numberProblem('maxEntries', maxEntries, { least: 1, integer: true, orInfinity: true });
  if (problem !== undefined) throw new TypeError(`createExpiringCache: ${problem}`);
  return new SweptCache<K, V>(maxEntries, clock);
}

class SweptCache<K, V> implements ExpiringCache<K, V> {
  readonly #maxEntries: number;
  readonly #clock: Clock;
  /** The one that was used longest ago first. */
  readonly #entries = new Map<K, Entry<V>>();
  #sweepAt = leastSweep;

  constructor(maxEntries: number, clock: Clock) {
    this.#maxEntries = maxEntries;
    this.#clock = clock;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt <= this.#clock.monotonicNow()) {
      this.#entries.delete(key);
      return undefined;
    }
    if (this.#maxEntries !== Infinity) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.value;
  }

  set(key: K, value: V, ttlMs: number): void {
    const problem = numberProblem('ttlMs', ttlMs, { orInfinity: true });
    if (problem !== undefined) throw new RangeError(`ExpiringCache.set: ${problem}`);
    this.#entries.delete(key);
    this.#entries.set(key, { value, expiresAt: this.#clock.monotonicNow() + ttlMs });
    if (this.#entries.size > this.#sweepAt) this.#sweep();
    if (this.#entries.size > this.#maxEntries) this.#dropOldest();
  }

  delete(key: K): boolean {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    return entry !== undefined && entry.expiresAt > this.#clock.monotonicNow();
  }

  clear(): void {
    this.#entries.clear();
    this.#sweepAt = leastSweep;
  }

  entries(): [K, V][] {
    this.#sweep();
    return [...this.#entries].map(([key, { value }]) => [key, value]);
  }

  /**
   * The next cleanup comes after twice the remaining number of values, so its cost is paid by the calls since the last
   * one.
   */
  #sweep(): void {
    const now = this.#clock.monotonicNow();
    for (const [key, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#entries.delete(key);
    this.#sweepAt = Math.max(leastSweep, 2 * this.#entries.size);
  }

  #dropOldest(): void {
    const oldest = this.#entries.keys().next();
    if (oldest.done !== true) this.#entries.delete(oldest.value);
  }
}
