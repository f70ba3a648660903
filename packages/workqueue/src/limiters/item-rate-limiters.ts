import type { OptionNames } from '@kctl/options';
import { functionOption, requireOptions } from '@kctl/options';
import { QueueArgumentError, requireInteger, requireNumber } from '../errors.js';
import type { KeyedLimiterOptions } from './failure-counts.js';
import { FailureCounts } from './failure-counts.js';
import { numberFrom, requireRateLimiter } from './rate-limiter.js';
import type { RateLimiter } from './rate-limiter.js';

/** Options of {@link exponentialRateLimiter}. */
export interface ExponentialRateLimiterOptions<T> extends KeyedLimiterOptions<T> {
  /** The delay after the first failure, in ms. @default 5 */
  readonly baseMs?: number;
  /** No delay is longer, in ms. @default 1000000 */
  readonly maxMs?: number;
  /**
   * Randomness for jitter. It turns a delay d into one between d/2 and d, so that keys that failed together do not
   * return together.
   *
   * @default no jitter, as in client-go
   */
  readonly random?: () => number;
}

const exponentialNames: OptionNames<ExponentialRateLimiterOptions<never>> = {
  baseMs: true,
  maxMs: true,
  random: functionOption,
  key: true,
};

/** 2¹⁰²³ is the largest power that is a number: 0 times the next one, Infinity, would not be one. */
const maxExponent = 1023;

/**
 * base·2ⁿ with n = failures of the item so far. Mirrors `NewTypedItemExponentialFailureRateLimiter`.
 *
 * @example
 * ```ts
 * import { createRateLimitingQueue, exponentialRateLimiter } from '@kctl/workqueue';
 *
 * const queue = createRateLimitingQueue({ rateLimiter: exponentialRateLimiter({ baseMs: 100, maxMs: 60_000 }) });
 * ```
 */
export function exponentialRateLimiter<T = string>(options: ExponentialRateLimiterOptions<T> = {}): RateLimiter<T> {
  requireOptions('exponentialRateLimiter', options, exponentialNames);
  const { baseMs = 5, maxMs = 1_000_000, random } = options;
  requireNumber('baseMs', baseMs, 0);
  requireNumber('maxMs', maxMs, 0);
  const failures = new FailureCounts<T>(options);
  return {
    when(item) {
      const delay = Math.min(baseMs * 2 ** Math.min(failures.increment(item), maxExponent), maxMs);
      return random === undefined ? delay : delay / 2 + (random() * delay) / 2;
    },
    forget: (item) => failures.delete(item),
    numRequeues: (item) => failures.get(item),
    adoptKey: (key) => failures.adoptKey(key),
  };
}

/** Options of {@link fastSlowRateLimiter}. */
export interface FastSlowRateLimiterOptions<T> extends KeyedLimiterOptions<T> {
  /** The delay after each of the first failures, in ms. */
  readonly fastMs: number;
  /** The delay after each later one, in ms. */
  readonly slowMs: number;
  /** How many failures are followed by the fast delay. */
  readonly maxFastAttempts: number;
}

const fastSlowNames: OptionNames<FastSlowRateLimiterOptions<never>> = {
  fastMs: true,
  slowMs: true,
  maxFastAttempts: true,
  key: true,
};

/** A few quick retries, then slow ones. Mirrors `NewTypedItemFastSlowRateLimiter`. */
export function fastSlowRateLimiter<T = string>(options: FastSlowRateLimiterOptions<T>): RateLimiter<T> {
  requireOptions('fastSlowRateLimiter', options, fastSlowNames);
  const { fastMs, slowMs, maxFastAttempts } = options;
  requireNumber('fastMs', fastMs, 0);
  requireNumber('slowMs', slowMs, 0);
  requireInteger('maxFastAttempts', maxFastAttempts, 0);
  const failures = new FailureCounts<T>(options);
  return {
    when: (item) => (failures.increment(item) < maxFastAttempts ? fastMs : slowMs),
    forget: (item) => failures.delete(item),
    numRequeues: (item) => failures.get(item),
    adoptKey: (key) => failures.adoptKey(key),
  };
}

/** The longest delay of several limiters; each of them counts the failure. Mirrors `NewTypedMaxOfRateLimiter`. */
export function maxOfRateLimiter<T = string>(...limiters: readonly RateLimiter<T>[]): RateLimiter<T> {
  if (limiters.length === 0) throw new QueueArgumentError('limiters', 'empty', 'give at least one limiter');
  for (const [index, limiter] of limiters.entries()) requireRateLimiter(limiter, `limiters[${index}]`);
  return {
    when: (item, cause) => Math.max(...limiters.map((limiter) => numberFrom('when', limiter.when(item, cause)))),
    forget(item) {
      for (const limiter of limiters) limiter.forget(item);
    },
    numRequeues: (item) => Math.max(...limiters.map((limiter) => numberFrom('numRequeues', limiter.numRequeues(item)))),
    adoptKey(key) {
      for (const limiter of limiters) limiter.adoptKey?.(key);
    },
  };
}

/** A limiter whose delays are cut to `maxMs`; its state is not changed. Mirrors `NewTypedWithMaxWaitRateLimiter`. */
export function maxWaitRateLimiter<T = string>(limiter: RateLimiter<T>, maxMs: number): RateLimiter<T> {
  requireRateLimiter(limiter, 'limiter');
  requireNumber('maxMs', maxMs, 0);
  return {
    when: (item, cause) => Math.min(limiter.when(item, cause), maxMs),
    forget: (item) => limiter.forget(item),
    numRequeues: (item) => limiter.numRequeues(item),
    adoptKey: (key) => limiter.adoptKey?.(key),
  };
}
