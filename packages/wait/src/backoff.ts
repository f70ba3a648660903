import { clockOption, functionOption, optionWithMethods, numberProblem, requireOptions } from '@kctl/options';
import type { OptionCheck, OptionNames } from '@kctl/options';
import type { Clock, Random } from './clock.js';
import { checkedRandom } from './checked-random.js';
import { systemClock, systemRandom } from './system-clock.js';

/** Options of {@link createBackoff}. */
export interface BackoffOptions {
  /** The first delay, in ms. */
  readonly initialMs: number;
  /** By how much each delay exceeds the one before. @default 2 */
  readonly factor?: number;
  /**
   * Up to this share of the delay is added at random: 0.5 makes 100 ms anything from 100 to 150. Finite: Infinity would
   * make every delay infinite, whatever the cap.
   *
   * @default 0
   */
  readonly jitter?: number;
  /** No delay exceeds this many ms, jitter left aside. @default no limit */
  readonly capMs?: number;
  /**
   * Starts over when the last delay ended at least this many ms ago, because the failure has recovered since.
   *
   * @default never
   */
  readonly resetAfterMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

const optionNames: OptionNames<BackoffOptions> = {
  initialMs: true,
  factor: true,
  jitter: true,
  capMs: true,
  resetAfterMs: true,
  clock: clockOption,
  random: functionOption,
};

/** A check that an option is a {@link Backoff}: found late, it would take the place of the failure that is retried. */
export const backoffOption: OptionCheck = optionWithMethods(['next'], 'a Backoff, such as that of createBackoff');

/** Delays that grow from failure to failure. */
export interface Backoff {
  /** The delay before the next attempt, in ms; the one after it will be longer. */
  next(): number;
  /** How many delays were handed out since the start or the last reset. */
  readonly attempts: number;
  /** Starts over at the first delay. */
  reset(): void;
}

/**
 * Exponential backoff with jitter. Mirrors `wait.Backoff` and its manager, except that the quiet period is counted from
 * the end of the last delay. The Go manager counts from its last reset, so that a long outage starts over at the first
 * delay every two minutes.
 *
 * @throws RangeError naming the option that is out of range
 *
 * @example
 * ```ts
 * import { createBackoff, sleep } from '@kctl/wait';
 *
 * const backoff = createBackoff({ initialMs: 800, factor: 2, jitter: 0.5, capMs: 30_000, resetAfterMs: 120_000 });
 * while (!signal.aborted) {
 *   const response = await fetch('https://ci.example.com/health', { signal });
 *   if (response.ok) break;
 *   await sleep(backoff.next(), { signal });
 * }
 * ```
 */
export function createBackoff(options: BackoffOptions): Backoff {
  requireOptions('createBackoff', options, optionNames);
  const { initialMs, factor = 2, jitter = 0, capMs = Infinity, resetAfterMs = Infinity } = options;
  const { clock = systemClock } = options;
  const random = checkedRandom(options.random ?? systemRandom);
  const problem =
    numberProblem('initialMs', initialMs, { orInfinity: true }) ??
    numberProblem('factor', factor, { least: 1, orInfinity: true }) ??
    numberProblem('jitter', jitter) ??
    numberProblem('capMs', capMs, { orInfinity: true }) ??
    numberProblem('resetAfterMs', resetAfterMs, { orInfinity: true });
  if (problem !== undefined) throw new RangeError(`createBackoff: ${problem}`);
  let attempts = 0;
  let base = initialMs;
  let endOfLast = clock.monotonicNow();
  const reset = (): void => {
    attempts = 0;
    base = initialMs;
  };
  return {
    next: () => {
      const now = clock.monotonicNow();
      if (attempts > 0 && now - endOfLast >= resetAfterMs) reset();
      const current = Math.min(base, capMs);
      base = Math.min(times(current, factor), capMs);
      attempts++;
      const delay = current + times(times(current, jitter), random());
      endOfLast = now + delay;
      return delay;
    },
    get attempts() {
      return attempts;
    },
    reset,
  };
}

/** A product in which 0 takes precedence over Infinity, because zero times any factor is zero. */
function times(ms: number, factor: number): number {
  return ms === 0 || factor === 0 ? 0 : ms * factor;
}
