import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { clockOption, requireOptions } from '@kctl/options';
import { bucketRateLimiter } from './bucket-rate-limiter.js';
import type { KeyedLimiterOptions } from './failure-counts.js';
import { exponentialRateLimiter, maxOfRateLimiter } from './item-rate-limiters.js';
import type { RateLimiter } from './rate-limiter.js';

/** Options of {@link defaultControllerRateLimiter}. */
export interface DefaultRateLimiterOptions<T> extends KeyedLimiterOptions<T> {
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<DefaultRateLimiterOptions<never>> = {
  clock: clockOption,
  key: true,
};

/**
 * Exponential from 5 ms to 1000 s per item, and 10 per second with a burst of 100 over all; the longer delay counts.
 * Mirrors `DefaultTypedControllerRateLimiter`.
 */
export function defaultControllerRateLimiter<T = string>(options: DefaultRateLimiterOptions<T> = {}): RateLimiter<T> {
  requireOptions('defaultControllerRateLimiter', options, optionNames);
  const { clock: _clock, ...keyed } = options;
  return maxOfRateLimiter(exponentialRateLimiter<T>(keyed), bucketRateLimiter<T>(options));
}

/** Exponential from 1 ms to 1000 s per item. Mirrors `DefaultTypedItemBasedRateLimiter`. */
export function defaultItemRateLimiter<T = string>(options: KeyedLimiterOptions<T> = {}): RateLimiter<T> {
  return exponentialRateLimiter<T>({ ...options, baseMs: 1 });
}
