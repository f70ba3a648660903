import {
  createExponentialRateLimiter,
  createPriorityQueue,
  createRateLimitingQueue,
  defaultControllerRateLimiter,
} from '@kctl/workqueue';
import type { RateLimiter } from '@kctl/workqueue';
import type { QueueFactory } from './reconcile-queue.js';
import type { Clock } from '@kctl/wait';

/** The queue that `usePriorityQueue` asks for. */
export function defaultQueueFactory<R>(usePriorityQueue: boolean): QueueFactory<R> {
  return usePriorityQueue
    ? (options) => createPriorityQueue(options)
    : (options) => createRateLimitingQueue(options);
}

/** The back-off that goes with it. */
export function defaultRateLimiter<R>(
  usePriorityQueue: boolean,
  { key, clock }: { readonly key: (request: R) => string; readonly clock: Clock },
): RateLimiter<R> {
  return usePriorityQueue
    ? createExponentialRateLimiter({ baseDelayMs: 5, maxDelayMs: 1_000_000, key })
    : defaultControllerRateLimiter({ key, clock });
}
