import type { Clock } from '@kctl/wait';

const defaultMaxEntries = 1024;

interface Entry<V> {
  readonly value: Promise<V>;
  /** Monotonic time; Infinity while the value is being made. */
  expiresAt: number;
}

/** Remembers values for a while; of many callers that ask for the same missing value, one makes it. */
export class ExpiringMap<V> {
  readonly #clock: Clock;
  readonly #maxEntries: number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry<V>>();

  constructor(clock: Clock, maxEntries: number = defaultMaxEntries) {
    this.#clock = clock;
    this.#maxEntries = maxEntries;
  }

  /** The value, made where it is not there or too old. A failure to make it is not remembered. */
  getOrMake(key: string, make: () => Promise<{ readonly value: V; readonly ttlMs: number }>): Promise<V> {
    const known = this.#entries.get(key);
    if (known !== undefined && this.#clock.monotonicNow() < known.expiresAt) return known.value;
    const making = make();
    const entry: Entry<V> = { value: making.then(({ value }) => value), expiresAt: Infinity };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
    making.then(
      ({ ttlMs }) => {
        entry.expiresAt = this.#clock.monotonicNow() + ttlMs;
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    );
    return entry.value;
  }
}
