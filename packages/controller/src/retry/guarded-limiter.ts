import type { RateLimiter } from '@kctl/workqueue';
import { shownType, shownValue } from '@kctl/options';

/** Options of {@link guardedLimiter}. */
export interface GuardedLimiterOptions<R> {
  /** Used if the limiter does not answer. */
  readonly fallback: RateLimiter<R>;
  /** Called with what the limiter did wrong. */
  readonly report: (error: unknown) => void;
}

/**
 * A rate limiter that cannot lose a key. If the user's limiter throws, or returns an invalid delay, another one is
 * used.
 */
export function guardedLimiter<R>(limiter: RateLimiter<R>, options: GuardedLimiterOptions<R>): RateLimiter<R> {
  const { fallback, report } = options;
  let hasFallenBack = false;
  return {
    when: (item, cause) => {
      try {
        const delay: unknown = limiter.when(item, cause);
        if (typeof delay === 'number' && Number.isFinite(delay) && delay >= 0) return delay;
        const shown = typeof delay === 'number' ? shownValue(delay) : shownType(delay);
        throw new TypeError(`rateLimiter.when returned ${shown}, which is not valid: expected a number of ms ≥ 0`);
      } catch (error) {
        report(error);
        hasFallenBack = true;
        return fallback.when(item, cause);
      }
    },
    forget: (item) => {
      if (hasFallenBack) fallback.forget(item);
      try {
        limiter.forget(item);
      } catch (error) {
        report(error);
      }
    },
    numRequeues: (item) => {
      try {
        return limiter.numRequeues(item);
      } catch (error) {
        report(error);
        return fallback.numRequeues(item);
      }
    },
    adoptKey: (key) => {
      fallback.adoptKey?.(key);
      try {
        limiter.adoptKey?.(key);
      } catch (error) {
        report(error);
      }
    },
  };
}
