import type { GetOptions } from '../worker-pool.js';
import type { Debounce, RateLimitingQueue } from '../work-queue.js';

/** Options of {@link PriorityQueue.addWith}. Mirrors `priorityqueue.AddOpts`. */
export interface AddOptions {
  /** Becomes ready after this many ms; ≤ 0 counts as none. */
  readonly afterMs?: number;
  /** Becomes ready after the delay of the rate limiter. Together with `afterMs` the smaller delay counts. */
  readonly rateLimited?: boolean;
  /** Higher goes first; any finite number. @default 0 */
  readonly priority?: number;
  /** Becomes ready when the key was quiet for a while. Only these adds can move a key to a later time. */
  readonly debounce?: Debounce;
  /** The failure that leads to this add, for `rateLimited`. */
  readonly error?: unknown;
  /**
   * Why the key is added, for telemetry. The reasons of merged adds are collected (the first 16 distinct ones) and
   * handed out with the item.
   */
  readonly reason?: string;
}

/** An item as it is handed out by a {@link PriorityQueue}. */
export interface PrioritizedItem<T> {
  readonly item: T;
  /** The priority that it was queued with. */
  readonly priority: number;
  /** The distinct reasons of the adds that led to it, oldest first; at most 16. */
  readonly reasons: readonly string[];
}

/**
 * A rate-limiting queue ordered by priority. Higher first, first in first out inside a priority, by the time of
 * becoming ready. Mirrors `priorityqueue.PriorityQueue` of controller-runtime.
 *
 * A key has one slot. Adding it again while it waits takes the higher priority and the earlier time; raising the
 * priority moves it behind those that have that priority already. A key that is being worked on can be added, starts
 * with a fresh priority, keeps its place, and is handed out after `done`.
 */
export interface PriorityQueue<T> extends RateLimitingQueue<T> {
  /**
   * Adds items with the given options, in this order. Ignored after shutdown.
   *
   * @throws TypeError for an option that is not known or not valid
   */
  addWith(options: AddOptions, ...items: readonly T[]): void;
  /** Like `get`, with the priority, so that a retry can keep it. */
  getWithPriority(options?: GetOptions): Promise<PrioritizedItem<T> | undefined>;
  /** Like `tryGet`, with the priority. */
  tryGetWithPriority(): PrioritizedItem<T> | undefined;
  /** Refuses new work and hands out nothing more; waiting items are abandoned, as in controller-runtime. Idempotent. */
  shutDown(): void;
  /**
   * As that of every queue, except that it also waits 500 ms for a first worker. (controller-runtime does not drain.)
   */
  shutDownWithDrain(): Promise<void>;
}

/** The priority of what can wait, e.g. objects of the initial list. Mirrors `handler.LowPriority`. */
export const lowPriority = -100;
