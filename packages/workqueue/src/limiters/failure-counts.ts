import { defaultKey, keyBy } from '../default-key.js';
import { requireFunction } from '../errors.js';
import type { KeyFunction, QueueKey } from '../work-queue.js';

/** Options of limiters that count per item. */
export interface KeyedLimiterOptions<T> {
  /** Identity of items. @default that of the queue that the limiter is given to */
  readonly key?: KeyFunction<T>;
}

/** The identity of items in a limiter, by its own key function, else that of the first queue it is given to. */
export class LimiterKey<T> {
  #key: KeyFunction<T> | undefined;

  constructor(options: KeyedLimiterOptions<T>) {
    if (options.key !== undefined) requireFunction('key', options.key);
    this.#key = options.key;
  }

  adopt(key: KeyFunction<T>): void {
    this.#key ??= key;
  }

  of(item: T): QueueKey {
    return this.#key === undefined ? defaultKey(item) : keyBy(this.#key, item);
  }
}

/** Counts failures by key. */
export class FailureCounts<T> {
  readonly #key: LimiterKey<T>;
  readonly #counts = new Map<QueueKey, number>();

  constructor(options: KeyedLimiterOptions<T>) {
    this.#key = new LimiterKey(options);
  }

  adoptKey(key: KeyFunction<T>): void {
    this.#key.adopt(key);
  }

  /** Counts one more and returns how many there were before. */
  increment(item: T): number {
    const key = this.#key.of(item);
    const before = this.#counts.get(key) ?? 0;
    this.#counts.set(key, before + 1);
    return before;
  }

  get(item: T): number {
    return this.#counts.size === 0 ? 0 : (this.#counts.get(this.#key.of(item)) ?? 0);
  }

  delete(item: T): void {
    if (this.#counts.size > 0) this.#counts.delete(this.#key.of(item));
  }
}
