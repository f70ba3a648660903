import { numberProblem, optionProblems } from '@kctl/options';
import { createTokenBucket } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
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

const optionNames: OptionNames<RateLimit> = { qps: true, burst: true };

/** Mirrors `flowcontrol.NewTokenBucketRateLimiter`. */
export function createTurnLimiter(limit: RateLimit, clock: Clock): TurnLimiter {
  const { qps, burst = 10 } = limit;
  const problem =
    optionProblems(limit, optionNames, 'rateLimit')[0] ??
    numberProblem('rateLimit.qps', qps, { above: 0, remedy: 'leave rateLimit out for no limit' }) ??
    numberProblem('rateLimit.burst', burst, { least: 1 });
  if (problem !== undefined) throw new TypeError(problem);
  const bucket = createTokenBucket({ perSecond: qps, burst, clock });
  return { wait: (signal) => bucket.take(signal === undefined ? {} : { signal }) };
}
