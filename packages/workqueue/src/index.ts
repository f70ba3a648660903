/**
 * client-go's keyed work queue, which is deduplicating, delaying, rate-limiting, prioritised.
 *
 * @packageDocumentation
 */
export type { BackingQueue } from './backing-queue.js';
export { bucketRateLimiter } from './limiters/bucket-rate-limiter.js';
export type { BucketRateLimiterOptions } from './limiters/bucket-rate-limiter.js';
export { defaultKey } from './default-key.js';
export { defaultControllerRateLimiter, defaultItemRateLimiter } from './limiters/default-rate-limiters.js';
export type { DefaultRateLimiterOptions } from './limiters/default-rate-limiters.js';
export { createDelayingQueue } from './delaying/delaying-queue.js';
export { retryAfterMs } from '@kctl/wait';
export { errorAwareRateLimiter } from './limiters/error-aware-rate-limiter.js';
export type { ErrorAwareRateLimiterOptions, ErrorRule } from './limiters/error-aware-rate-limiter.js';
export {
  isQueueArgumentError,
  isQueueFullError,
  isWorkFailedError,
  QueueArgumentError,
  QueueFullError,
  WorkFailedError,
} from './errors.js';
export type { KeyedLimiterOptions } from './limiters/failure-counts.js';
export { createWorkQueue } from './fifo-queue.js';
export {
  exponentialRateLimiter,
  fastSlowRateLimiter,
  maxOfRateLimiter,
  maxWaitRateLimiter,
} from './limiters/item-rate-limiters.js';
export type { ExponentialRateLimiterOptions, FastSlowRateLimiterOptions } from './limiters/item-rate-limiters.js';
export { parallelizeUntil } from './parallelize-until.js';
export type { ParallelizeOptions } from './parallelize-until.js';
export { createPriorityQueue } from './priority/keyed-priority-queue.js';
export { lowPriority } from './priority/priority-queue.js';
export type { AddOptions, PrioritizedItem, PriorityQueue } from './priority/priority-queue.js';
export type {
  Ageing,
  DelayingQueueOptions,
  OverflowRule,
  PriorityQueueOptions,
  QueueBound,
  RateLimitingQueueOptions,
  WorkQueueOptions,
} from './queue-options.js';
export type { RateLimiter } from './limiters/rate-limiter.js';
export { createRateLimitingQueue } from './rate-limiting-queue.js';
export type {
  Debounce,
  DelayingQueue,
  IdleOptions,
  InspectableQueue,
  KeyFunction,
  QueueEntry,
  QueueKey,
  RateLimitingQueue,
  RequeueCause,
  WorkQueue,
} from './work-queue.js';
export type {
  FailureVerdict,
  GetOptions,
  RunOptions,
  StartRate,
  StopOptions,
  WorkContext,
  WorkerPool,
  WorkFunction,
} from './worker-pool.js';
