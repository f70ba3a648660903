import { numberProblem, clockOption, shownType } from '@kctl/options';
import { anySignal } from './abort-link.js';
import type { Clock } from './clock.js';
import { DeadlineExceededError } from './deadline-error.js';
import { abortReason } from './sleep.js';
import { systemClock } from './system-clock.js';
import { startTimer } from './start-timer.js';

/** Options of {@link withDeadline}. */
export interface DeadlineOptions {
  /** Maximum duration of the work, in ms. Infinity disables the limit. */
  readonly timeoutMs: number;
  /** The message of the error, e.g. `cache for pods did not sync within 2 minutes`. @default names the time alone */
  readonly message?: string;
  /** Aborting it aborts the work and rejects with its reason. */
  readonly signal?: AbortSignal;
  /** @default systemClock */
  readonly clock?: Clock;
}

/**
 * Runs work that must end in time. The work receives a signal that aborts at the deadline or with `options.signal`; the
 * promise rejects at that moment, even if the work does not listen (its later outcome is ignored). Timer and listeners
 * are gone when the promise settles.
 *
 * @throws DeadlineExceededError at the deadline; the signal's reason on abort; what the work throws; RangeError when
 *   `timeoutMs` is not a number, TypeError for another option that is not valid
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  options: DeadlineOptions,
): Promise<T> {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`withDeadline: expected options, not ${shownType(given)}`);
  if (typeof work !== 'function')
    throw new TypeError(`withDeadline: the work is ${shownType(work)}: expected a function`);
  const { timeoutMs, message, clock = systemClock } = options;
  // One that has passed already is in order.
  const problem =
    typeof timeoutMs === 'number' && timeoutMs < 0
      ? undefined
      : numberProblem('timeoutMs', timeoutMs, { orInfinity: true });
  if (problem !== undefined) throw new RangeError(`withDeadline: ${problem}`);
  const misuse = clockOption('clock', clock);
  if (misuse !== undefined) throw new TypeError(`withDeadline: ${misuse}`);
  using link = anySignal([options.signal]);
  const { signal } = link;
  if (signal.aborted) throw abortReason(signal);
  const timer = Number.isFinite(timeoutMs)
    ? startTimer(clock, () => link.abort(new DeadlineExceededError(timeoutMs, message)), timeoutMs)
    : undefined;
  const aborted = Promise.withResolvers<never>();
  // Work that aborts and then throws never gets to the race, and the rejection of this promise is correct without it.
  aborted.promise.catch(() => undefined);
  const onAbort = (): void => aborted.reject(abortReason(signal));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(signal), aborted.promise]);
  } finally {
    timer?.cancel();
    signal.removeEventListener('abort', onAbort);
  }
}
