import { systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { defaultKey } from './default-key.js';
import { requireNumber } from './errors.js';
import type { KeyedLimiterOptions } from './failure-counts.js';
import type { RateLimiter } from './rate-limiter.js';
import type { QueueKey } from './work-queue.js';

/** Options of {@link bucketRateLimiter}. */
export interface BucketRateLimiterOptions<T> extends KeyedLimiterOptions<T> {
  /** Tokens that flow in per second, > 0. @default 10 */
  readonly perSecond?: number;
  /** How many tokens the bucket holds; it is full at the start. @default 100 */
  readonly burst?: number;
  /**
   * Whether a key whose token is still to come gets that same token again. client-go takes a new one on each call,
   * also where the queue merges the adds: a hot key then pushes the delays of all others far into the future
   * (controller-runtime #1594).
   *
   * @default true
   */
  readonly coalesce?: boolean;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** Reservations whose time has passed are cleared when the map has doubled since the last time. */
const leastSweep = 256;

/**
 * A token bucket shared by all items: each call takes a token and returns how long it has to be waited for. It counts
 * no failures. Mirrors `TypedBucketRateLimiter` over `golang.org/x/time/rate`.
 */
export function bucketRateLimiter<T = string>(options: BucketRateLimiterOptions<T> = {}): RateLimiter<T> {
  const { perSecond = 10, burst = 100, coalesce = true, clock = systemClock, key = defaultKey } = options;
  requireNumber('perSecond', perSecond, Number.MIN_VALUE);
  requireNumber('burst', burst, 1);
  const reservations = new Map<QueueKey, number>();
  let sweepAt = leastSweep;
  let tokens = burst;
  let updatedAt = clock.monotonicNow();

  const take = (now: number): number => {
    tokens = Math.min(burst, tokens + ((now - updatedAt) / 1000) * perSecond) - 1;
    updatedAt = now;
    return tokens >= 0 ? 0 : (-tokens / perSecond) * 1000;
  };
  const sweep = (now: number): void => {
    for (const [known, time] of reservations) if (time <= now) reservations.delete(known);
    sweepAt = Math.max(leastSweep, reservations.size * 2);
  };

  return {
    when(item) {
      const now = clock.monotonicNow();
      if (!coalesce) return take(now);
      const itemKey = key(item);
      const reserved = reservations.get(itemKey);
      if (reserved !== undefined && reserved > now) return reserved - now;
      const delay = take(now);
      if (delay > 0) reservations.set(itemKey, now + delay);
      if (reservations.size >= sweepAt) sweep(now);
      return delay;
    },
    forget: () => undefined,
    numRequeues: () => 0,
  };
}
