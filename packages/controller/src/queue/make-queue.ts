import type { Clock } from '@kctl/wait';
import type { RateLimiter } from '@kctl/workqueue';
import {
  createPriorityQueue,
  createRateLimitingQueue,
  defaultControllerRateLimiter,
  exponentialRateLimiter,
} from '@kctl/workqueue';
import type { QueueFactory } from './reconcile-queue.js';

/** The queue that `usePriorityQueue` selects. */
export function defaultQueueFactory<R>(usePriorityQueue: boolean): QueueFactory<R> {
  return usePriorityQueue ? (options) => createPriorityQueue(options) : (options) => createRateLimitingQueue(options);
}

/** The back-off that goes with it. */
export function defaultRateLimiter<R>(
  usePriorityQueue: boolean,
  options: { readonly key: (request: R) => string; readonly clock: Clock },
): RateLimiter<R> {
  return usePriorityQueue
    ? exponentialRateLimiter({ baseMs: 5, maxMs: 1_000_000, key: options.key })
    : defaultControllerRateLimiter(options);
}
