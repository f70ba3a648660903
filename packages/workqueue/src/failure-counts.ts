import { defaultKey } from './default-key.js';
import type { KeyFunction, QueueKey } from './work-queue.js';

/** Options of limiters that count per item. */
export interface KeyedLimiterOptions<T> {
  /** Identity of items; give the same function as to the queue. @default as that of a queue */
  readonly key?: KeyFunction<T>;
}

/** Counts failures by key. */
export class FailureCounts<T> {
  readonly #key: KeyFunction<T>;
  readonly #counts = new Map<QueueKey, number>();

  constructor(options: KeyedLimiterOptions<T>) {
    this.#key = options.key ?? defaultKey;
  }

  /** Counts one more and returns how many there were before. */
  increment(item: T): number {
    const key = this.#key(item);
    const before = this.#counts.get(key) ?? 0;
    this.#counts.set(key, before + 1);
    return before;
  }

  get(item: T): number {
    return this.#counts.size === 0 ? 0 : (this.#counts.get(this.#key(item)) ?? 0);
  }

  delete(item: T): void {
    if (this.#counts.size > 0) this.#counts.delete(this.#key(item));
  }
}
