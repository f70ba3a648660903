import { clockOption, functionOption, signalOption, numberProblem, shownType, requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { backoffOption } from './backoff.js';
import type { Backoff } from './backoff.js';
import type { Clock } from './clock.js';
import { orAborted } from './or-aborted.js';
import { abortReason, sleep } from './sleep.js';
import { nextTurn } from './slicer.js';
import { systemClock } from './system-clock.js';

/** Options of {@link retry}. */
export interface RetryOptions {
  /** The delays between attempts. @default none, so the next attempt follows in the next turn of the event loop */
  readonly backoff?: Backoff;
  /**
   * Called between two attempts, instead of the backoff, for a delay that depends on the error, or a log line. If it
   * returns nothing, the next attempt follows in the next turn of the event loop; its rejection ends the retry.
   */
  readonly pause?: (error: unknown, attempt: number) => Promise<void> | undefined;
  /** At most this many attempts, the first one included. @default no limit */
  readonly maxAttempts?: number;
  /** Whether an error is worth another attempt. @default every error is */
  readonly isRetriable?: (error: unknown) => boolean;
  /** Aborting it ends the waiting at once and rejects with its reason. */
  readonly signal?: AbortSignal;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<RetryOptions> = {
  backoff: backoffOption,
  pause: functionOption,
  maxAttempts: true,
  isRetriable: functionOption,
  signal: signalOption,
  clock: clockOption,
};

/**
 * Repeats work until it succeeds, one attempt at a time.
 *
 * @throws the last error, when it is not retriable or no attempt is left; the signal's reason on abort; before the first
 *   attempt RangeError when `maxAttempts` is not an integer ≥ 1, TypeError for another option that is not valid and for
 *   work that is not a function
 */
export async function retry<T>(work: (attempt: number) => T | Promise<T>, options: RetryOptions = {}): Promise<T> {
  if (typeof work !== 'function') throw new TypeError(`retry: the work is ${shownType(work)}: expected a function`);
  requireOptions('retry', options, optionNames);
  const { backoff, pause, maxAttempts = Infinity, isRetriable = () => true, signal, clock = systemClock } = options;
  const problem = numberProblem('maxAttempts', maxAttempts, { least: 1, integer: true, orInfinity: true });
  if (problem !== undefined) throw new RangeError(`retry: ${problem}`);
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted === true) throw abortReason(signal);
    let between: Promise<void> | undefined;
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= maxAttempts || !isRetriable(error)) throw error;
      between = pause?.(error, attempt);
    }
    if (between !== undefined) await orAborted(between, signal);
    else if (backoff !== undefined) await sleep(backoff.next(), { clock, ...(signal === undefined ? {} : { signal }) });
    // Work that fails at once must not hold the event loop, because neither a signal's timer nor anything else would
    // run.
    else await nextTurn();
  }
}
