import { clockOption, functionOption, signalOption, numberProblem, shownType, requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { backoffOption } from './backoff.js';
import type { Backoff } from './backoff.js';
import type { Clock } from './clock.js';
import { isConnectionFailure } from './connection-failure.js';
import { withDeadline } from './deadline.js';
import { DeadlineExceededError, isDeadlineExceeded } from './deadline-error.js';
import { sleep } from './sleep.js';
import { systemClock } from './system-clock.js';

/** Options of {@link poll} and {@link waitUntil}. */
export interface PollOptions {
  /** ms from the end of one attempt to the beginning of the next, or a backoff that sets it. */
  readonly interval: number | Backoff;
  /** How long to go on, in ms. @default unlimited */
  readonly timeoutMs?: number;
  /** Message of the error at the timeout. */
  readonly message?: string;
  /**
   * Whether the polling goes on after an error of `attempt`. The last one is the cause of the error at the timeout.
   *
   * @default isConnectionFailure, because a server that cannot be reached is not up yet; any other error ends the
   * polling
   */
  readonly isRetriable?: (error: unknown) => boolean;
  /** Whether the first attempt comes at once or after the first interval. @default true */
  readonly immediate?: boolean;
  /** Aborting it ends the waiting at once and rejects with its reason. */
  readonly signal?: AbortSignal;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<PollOptions> = {
  interval: true,
  timeoutMs: true,
  message: true,
  isRetriable: functionOption,
  immediate: true,
  signal: signalOption,
  clock: clockOption,
};

/**
 * Tries until there is a result. Resolves with the first value that `attempt` returns other than undefined. One attempt
 * at a time; its error ends the polling unless `isRetriable` accepts it. The attempt receives a signal that aborts at
 * the timeout. Mirrors `wait.PollUntilContextTimeout`.
 *
 * @throws DeadlineExceededError after `timeoutMs`; the signal's reason on abort; what `attempt` throws; RangeError when
 *   `interval` or `timeoutMs` is not valid; TypeError when `attempt` is not a function
 *
 * @example
 * ```ts
 * import { poll } from '@kctl/wait';
 *
 * const url = await poll(
 *   async (attemptSignal) => {
 *     const response = await fetch('https://ci.example.com/builds/7', { signal: attemptSignal });
 *     return response.ok ? response.url : undefined; // undefined: again
 *   },
 *   { interval: 1_000, timeoutMs: 60_000, signal },
 * );
 * ```
 */
export async function poll<T>(
  attempt: (signal: AbortSignal) => T | undefined | Promise<T | undefined>,
  options: PollOptions,
): Promise<T> {
  if (typeof attempt !== 'function')
    throw new TypeError(`poll: the attempt is ${shownType(attempt)}: expected a function`);
  requireOptions('poll', options, optionNames);
  const { interval, timeoutMs = Infinity, immediate = true, clock = systemClock } = options;
  const { isRetriable = isConnectionFailure } = options;
  const isBackoff = typeof interval === 'object' && interval !== null;
  const problem = isBackoff ? backoffOption('interval', interval) : numberProblem('interval', interval);
  if (problem !== undefined) throw new RangeError(`poll: ${problem}`);
  const delay = (): number => (typeof interval === 'number' ? interval : interval.next());
  let last: { readonly error: unknown } | undefined;
  const tryOnce = async (signal: AbortSignal): Promise<T | undefined> => {
    try {
      return await attempt(signal);
    } catch (error) {
      if (signal.aborted || !isRetriable(error)) throw error;
      last = { error };
      return undefined;
    }
  };
  const untilResult = async (signal: AbortSignal): Promise<T> => {
    if (!immediate) await sleep(delay(), { signal, clock });
    for (;;) {
      const result = await tryOnce(signal);
      if (result !== undefined) return result;
      await sleep(delay(), { signal, clock });
    }
  };
  try {
    return await withDeadline(untilResult, { ...options, timeoutMs, clock });
  } catch (error) {
    // Only its own deadline; one of the caller's signal, or of an attempt, is passed on as it is.
    if (last === undefined || !isDeadlineExceeded(error) || error.timeoutMs !== timeoutMs) throw error;
    throw new DeadlineExceededError(timeoutMs, options.message, { cause: last.error });
  }
}

/**
 * Tries until a condition holds.
 *
 * @throws as {@link poll} does
 */
export async function waitUntil(
  condition: (signal: AbortSignal) => boolean | Promise<boolean>,
  options: PollOptions,
): Promise<void> {
  await poll(async (signal) => ((await condition(signal)) ? true : undefined), options);
}
