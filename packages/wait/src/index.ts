/**
 * Time and waiting, with an injectable clock and abort-aware waits.
 *
 * @packageDocumentation
 */
export { anySignal, timeoutSignal } from './abort-link.js';
export type { AbortLink } from './abort-link.js';
export { createBackoff } from './backoff.js';
export type { Backoff, BackoffOptions } from './backoff.js';
export { createItemBackoff } from './item-backoff.js';
export type { ItemBackoff, ItemBackoffOptions } from './item-backoff.js';
export type { Clock, ClockTimer, Random, SetTimerOptions } from './clock.js';
export { withDeadline } from './deadline.js';
export type { DeadlineOptions } from './deadline.js';
export { DeadlineExceededError, isDeadlineExceeded } from './deadline-error.js';
export { durationSchema, formatDuration, parseDuration } from './duration.js';
export type { Duration } from './duration.js';
export { keepAlive } from './keep-alive.js';
export { aborted, orAborted, untilAborted } from './or-aborted.js';
export { poll, waitUntil } from './poll.js';
export type { PollOptions } from './poll.js';
export { retry } from './retry.js';
export type { RetryOptions } from './retry.js';
export { retryAfterMs } from './retry-after.js';
export { isAbortError, sleep } from './sleep.js';
export type { SleepOptions } from './sleep.js';
export { systemClock, systemRandom } from './system-clock.js';
export { createTokenBucket } from './token-bucket.js';
export type { TokenBucket, TokenBucketOptions } from './token-bucket.js';
export { until } from './until.js';
export type { UntilOptions } from './until.js';
