import { QueueArgumentError, requireFunction } from '../errors.js';
import type { KeyFunction, RequeueCause } from '../work-queue.js';

/**
 * Decides how long an item has to wait before it is worked on again. Mirrors `workqueue.TypedRateLimiter`, plus the
 * failure, so that a limiter can honour the delay requested by the server.
 */
export interface RateLimiter<T> {
  /** The delay in ms (finite, ≥ 0) for this item. Each call also counts as a failure of it. */
  when(item: T, cause?: RequeueCause): number;
  /** The item succeeded or is given up, so its failures are no longer counted. */
  forget(item: T): void;
  /** How many failures of the item are counted. */
  numRequeues(item: T): number;
  /**
   * Called by a queue that has a key function when the limiter is given to it. A limiter without a key function of its
   * own goes by that identity; of several queues the first decides. A limiter that wraps others passes it on.
   *
   * @default the limiter takes care of the identity itself
   */
  adoptKey?(key: KeyFunction<T>): void;
}

/**
 * @throws QueueArgumentError unless it has the methods of a limiter, because without them the first failure would end a
 * pool
 */
export function requireRateLimiter(limiter: unknown, field = 'rateLimiter'): void {
  const methods = typeof limiter === 'object' && limiter !== null ? limiter : {};
  for (const method of ['when', 'forget', 'numRequeues'])
    requireFunction(`${field}.${method}`, Reflect.get(methods, method));
}

/** What a limiter that others wrap returned: the largest or the sum of what is not a number is none. @throws QueueArgumentError */
export function numberFrom(method: 'when' | 'numRequeues', value: unknown): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw new QueueArgumentError(`the result of rateLimiter.${method}`, value, 'return a number ≥ 0');
}
