import { numberProblem, sleep } from '@kctl/wait';
import type { Clock } from '@kctl/wait';

/** A limit on how fast requests are sent. */
export interface RateLimit {
  /** Requests per second in the long run. */
  readonly qps: number;
  /** Requests at once after a pause. @default 10 */
  readonly burst?: number;
}

/** A token bucket that hands out turns in order. */
export interface TurnLimiter {
  /** Resolves with the ms waited when it is our turn. @throws the signal's reason; the turn is given back then */
  wait(signal?: AbortSignal): Promise<number>;
}

/** Mirrors `flowcontrol.NewTokenBucketRateLimiter`. */
export function createTurnLimiter(limit: RateLimit, clock: Clock): TurnLimiter {
  const { qps, burst = 10 } = limit;
  const problem =
    numberProblem('rateLimit.qps', qps, { above: 0, remedy: 'leave rateLimit out for no limit' }) ??
    numberProblem('rateLimit.burst', burst, { least: 1 });
  if (problem !== undefined) throw new TypeError(problem);
  let tokens = burst;
  let countedAt = clock.monotonicNow();
  const refill = (): void => {
    const now = clock.monotonicNow();
    tokens = Math.min(burst, tokens + ((now - countedAt) / 1000) * qps);
    countedAt = now;
  };
  return {
    wait: async (signal) => {
      refill();
      tokens -= 1;
      if (tokens >= 0) return 0;
      const waitMs = (-tokens / qps) * 1000;
      try {
        await sleep(waitMs, { clock, ...(signal === undefined ? {} : { signal }) });
      } catch (error) {
        tokens += 1;
        throw error;
      }
      return waitMs;
    },
  };
}
