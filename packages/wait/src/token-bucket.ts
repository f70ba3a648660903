import { clockOption, numberProblem, requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { throwIfAborted } from './throw-if-aborted.js';
import type { Clock } from './clock.js';
import { sleep } from './sleep.js';
import { systemClock } from './system-clock.js';

/** Options of {@link createTokenBucket}. */
export interface TokenBucketOptions {
  /** Tokens that flow in per second, > 0. */
  readonly perSecond: number;
  /** How many tokens the bucket holds, ≥ 1; it is full at the start. @default 1 */
  readonly burst?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

/**
 * Limits how often an operation happens, at most `burst` times at once, `perSecond` times per second in the long run.
 * Tokens are counted when the bucket is called, on the monotonic clock; no timer runs. Mirrors
 * `golang.org/x/time/rate.Limiter`.
 */
export interface TokenBucket {
  /** How many tokens there are now; negative while reserved ones are still to come. */
  readonly available: number;
  /** Takes a token if there is one now; never waits. */
  tryTake(): boolean;
  /** Takes a token, also one that is still to come. @returns the ms after which it is there; 0 when it is there now */
  reserve(): number;
  /** Puts a token back that was taken and not used. The bucket never holds more than `burst`. */
  cancel(): void;
  /**
   * Takes a token and waits for it. Tokens are handed out in the order of the calls.
   *
   * @returns the ms that were waited
   * @throws the signal's reason when it is or becomes aborted; the token is put back then
   */
  take(options?: { readonly signal?: AbortSignal }): Promise<number>;
}

const takeOptionNames: OptionNames<{ readonly signal?: AbortSignal }> = { signal: true };
const optionNames: OptionNames<TokenBucketOptions> = { perSecond: true, burst: true, clock: clockOption };

/**
 * Makes a token bucket.
 *
 * @throws TypeError for an option out of range, or one that is not known
 */
export function createTokenBucket(options: TokenBucketOptions): TokenBucket {
  requireOptions('createTokenBucket', options, optionNames);
  const { perSecond, burst = 1, clock = systemClock } = options;
  const problem = numberProblem('perSecond', perSecond, { above: 0 }) ?? numberProblem('burst', burst, { least: 1 });
  if (problem !== undefined) throw new TypeError(`createTokenBucket: ${problem}`);
  let tokens = burst;
  let countedAt = clock.monotonicNow();
  const count = (): number => {
    const now = clock.monotonicNow();
    tokens = Math.min(burst, tokens + ((now - countedAt) / 1000) * perSecond);
    countedAt = now;
    return tokens;
  };
  const reserve = (): number => {
    tokens = count() - 1;
    return tokens >= 0 ? 0 : (-tokens / perSecond) * 1000;
  };
  const cancel = (): void => {
    tokens = Math.min(burst, count() + 1);
  };
  return {
    get available() {
      return count();
    },
    tryTake: () => {
      if (count() < 1) return false;
      tokens -= 1;
      return true;
    },
    reserve,
    cancel,
    take: async (given = {}) => {
      requireOptions('take', given, takeOptionNames);
      const { signal } = given;
      throwIfAborted(signal);
      const waitMs = reserve();
      if (waitMs === 0) return 0;
      try {
        await sleep(waitMs, { clock, ...(signal === undefined ? {} : { signal }) });
      } catch (error) {
        cancel();
        throw error;
      }
      return waitMs;
    },
  };
}
