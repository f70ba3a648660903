/**
 * client-go's keyed work queue: deduplicating, delaying, rate-limiting, prioritised.
 *
 * @packageDocumentation
 */
export { lowPriority } from './priority-queue.js';
export type { AddOptions, PrioritizedItem, PriorityQueue } from './priority-queue.js';
export type {
  Ageing,
  DelayingQueueOptions,
  OverflowRule,
  PriorityQueueOptions,
  QueueBound,
  RateLimitingQueueOptions,
  WorkQueueOptions,
} from './queue-options.js';
export type { RateLimiter } from './rate-limiter.js';
export type {
  Debounce,
  DelayingQueue,
  KeyFunction,
  QueueKey,
  RateLimitingQueue,
  RequeueCause,
  WorkQueue,
} from './work-queue.js';
export type { FailureVerdict, GetOptions, RunOptions, WorkContext, WorkerPool, WorkFunction } from './worker-pool.js';
