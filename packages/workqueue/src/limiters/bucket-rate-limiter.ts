import { clockOption, requireOptions, booleanOption } from '@kctl/options';
import { createTokenBucket, systemClock } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { requireNumber } from '../errors.js';
import { LimiterKey } from './failure-counts.js';
import type { KeyedLimiterOptions } from './failure-counts.js';
import type { RateLimiter } from './rate-limiter.js';
import type { QueueKey } from '../work-queue.js';

/** Options of {@link bucketRateLimiter}. */
export interface BucketRateLimiterOptions<T> extends KeyedLimiterOptions<T> {
  /** Tokens that flow in per second, > 0. @default 10 */
  readonly perSecond?: number;
  /** How many tokens the bucket holds; it is full at the start. @default 100 */
  readonly burst?: number;
  /**
   * Whether a key with a pending token gets that same token again. client-go takes a new one on each call, even if the
   * queue merges the adds, so that a hot key pushes the delays of all others far into the future (controller-runtime
   * #1594).
   *
   * @default true
   */
  readonly coalesce?: boolean;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<BucketRateLimiterOptions<never>> = {
  perSecond: true,
  burst: true,
  coalesce: booleanOption,
  clock: clockOption,
  key: true,
};

/** Reservations whose time has passed are cleared when the map has doubled since the last time. */
const leastSweep = 256;

/**
 * A token bucket shared by all items. Each call takes a token and returns the wait for it. It counts no failures.
 * Mirrors `TypedBucketRateLimiter` over `golang.org/x/time/rate`.
 */
export function bucketRateLimiter<T = string>(options: BucketRateLimiterOptions<T> = {}): RateLimiter<T> {
  requireOptions('bucketRateLimiter', options, optionNames);
  const { perSecond = 10, burst = 100, coalesce = true, clock = systemClock } = options;
  requireNumber('perSecond', perSecond, Number.MIN_VALUE);
  requireNumber('burst', burst, 1);
  const identity = new LimiterKey(options);
  /** Of keys whose token is still to come, when it comes. */
  const reservations = new Map<QueueKey, number>();
  /** When the last of them comes. */
  let latest = -Infinity;
  let sweepAt = leastSweep;
  const bucket = createTokenBucket({ perSecond, burst, clock });

  const sweep = (now: number): void => {
    for (const [known, time] of reservations) if (time <= now) reservations.delete(known);
    sweepAt = Math.max(leastSweep, reservations.size * 2);
  };

  return {
    when(item) {
      if (!coalesce) return bucket.reserve();
      const now = clock.monotonicNow();
      const itemKey = identity.of(item);
      if (latest <= now) reservations.clear();
      const reserved = reservations.get(itemKey);
      if (reserved !== undefined && reserved > now) return reserved - now;
      const delay = bucket.reserve();
      if (delay > 0) {
        latest = now + delay;
        reservations.set(itemKey, latest);
      }
      if (reservations.size >= sweepAt) sweep(now);
      return delay;
    },
    forget(item) {
      if (reservations.size > 0) reservations.delete(identity.of(item));
    },
    numRequeues: () => 0,
    adoptKey: (key) => identity.adopt(key),
  };
}
