import type { Clock } from '@kctl/wait';

/** How many answers of each kind are remembered. */
const defaultMaxEntries = 1024;

/** An answer of a review, and for how long it holds. */
export interface Verdict<V> {
  readonly value: V;
  /** Whether it lets the request pass. Refusals are remembered separately. */
  readonly isPositive: boolean;
  readonly ttlMs: number;
}

interface Entry<V> {
  readonly value: V;
  /** Monotonic time. */
  readonly expiresAt: number;
}

/**
 * Remembers the results of reviews for a while. Of many callers that require the same missing one, only one calls the
 * server. Refusals have a separate space, so that guessed tokens evict no valid one.
 */
export class ReviewMemory<V> {
  readonly #clock: Clock;
  readonly #maxEntries: number;
  readonly #asking = new Map<string, Promise<V>>();
  /** Least recently used first. */
  readonly #positive = new Map<string, Entry<V>>();
  readonly #negative = new Map<string, Entry<V>>();

  constructor(clock: Clock, maxEntries: number = defaultMaxEntries) {
    this.#clock = clock;
    this.#maxEntries = maxEntries;
  }

  /** The result, requested if missing or too old. A failure to get one is not remembered. */
  async getOrAsk(key: string, ask: () => Promise<Verdict<V>>): Promise<V> {
    const known = this.#find(this.#positive, key) ?? this.#find(this.#negative, key);
    if (known !== undefined) return known.value;
    const asking = this.#asking.get(key) ?? this.#ask(key, ask);
    return await asking;
  }

  #ask(key: string, ask: () => Promise<Verdict<V>>): Promise<V> {
    const asking = ask()
      .then(({ value, isPositive, ttlMs }) => {
        const entries = isPositive ? this.#positive : this.#negative;
        entries.set(key, { value, expiresAt: this.#clock.monotonicNow() + ttlMs });
        for (const oldest of entries.keys()) {
          if (entries.size <= this.#maxEntries) break;
          entries.delete(oldest);
        }
        return value;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  #find(entries: Map<string, Entry<V>>, key: string): Entry<V> | undefined {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    entries.delete(key);
    if (this.#clock.monotonicNow() >= entry.expiresAt) return undefined;
    entries.set(key, entry);
    return entry;
  }
}
