import { clockOption, functionOption, numberProblem, requireOptions, shownType, signalOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { Clock, Random } from './clock.js';
import { isAbortError, sleep } from './sleep.js';
import { checkedRandom } from './checked-random.js';
import { systemClock, systemRandom } from './system-clock.js';

/** Options of {@link until}. */
export interface UntilOptions {
  /** Its abort ends the repetition. */
  readonly signal: AbortSignal;
  /** The largest part of the period that is added at random, so that replicas do not work at the same time. @default 0 */
  readonly jitter?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

const optionNames: OptionNames<UntilOptions> = {
  signal: signalOption,
  jitter: true,
  clock: clockOption,
  random: functionOption,
};

/**
 * Calls a function at once and then again and again, `periodMs` after it has ended each time, until the signal is
 * aborted. Resolves when the call that runs then has ended. Mirrors `wait.JitterUntil` with a sliding period.
 *
 * @param periodMs time from the end of one call to the beginning of the next, in ms
 * @throws what the function throws, which ends the repetition; RangeError when a number is not valid; TypeError for
 *   another option that is not valid and for work that is not a function
 *
 * @example
 * ```ts
 * import { until } from '@kctl/wait';
 *
 * await until(async (callSignal) => console.log(await fetch('https://example.com/', { signal: callSignal })), 60_000, {
 *   signal,
 *   jitter: 0.1,
 * });
 * ```
 */
export async function until(
  work: (signal: AbortSignal) => unknown,
  periodMs: number,
  options: UntilOptions,
): Promise<void> {
  if (typeof work !== 'function') throw new TypeError(`until: the work is ${shownType(work)}: expected a function`);
  requireOptions('until', options, optionNames);
  const { signal, jitter = 0, clock = systemClock } = options;
  const random = checkedRandom(options.random ?? systemRandom);
  if (!(signal instanceof AbortSignal))
    throw new TypeError('until: signal is not set: without it, the work never ends');
  const problem = numberProblem('periodMs', periodMs) ?? numberProblem('jitter', jitter);
  if (problem !== undefined) throw new RangeError(`until: ${problem}`);
  while (!signal.aborted) {
    await work(signal);
    try {
      await sleep(periodMs * (1 + jitter * random()), { signal, clock });
    } catch (error) {
      if (!signal.aborted || !(isAbortError(error) || error === signal.reason)) throw error;
    }
  }
}
