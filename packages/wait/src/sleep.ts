import {
  numberProblem,
  clockOption,
  isSignal,
  signalOption,
  shownType,
  shownValue,
  unknownOptions,
} from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { Clock } from './clock.js';
import { systemClock } from './system-clock.js';
import { startTimer } from './start-timer.js';

/** Options of {@link sleep}. */
export interface SleepOptions {
  /** Aborting it ends the sleep at once and rejects with its reason. */
  readonly signal?: AbortSignal;
  /** @default systemClock */
  readonly clock?: Clock;
  /** Whether the sleep keeps the process alive. @default true */
  readonly keepAlive?: boolean;
}

const optionNames: OptionNames<SleepOptions> = { signal: true, clock: true, keepAlive: true };

/**
 * Resolves after `ms` ms of monotonic time, never earlier. A negative or zero delay still yields once; Infinity sleeps
 * until the abort.
 *
 * @throws the signal's reason, when it is or becomes aborted; timer and listener are gone by then. RangeError when `ms`
 *   is NaN or not a number, TypeError when `signal` is not one
 *
 * @example
 * ```ts
 * import { sleep } from '@kctl/wait';
 *
 * await sleep(250, { signal }); // rejects with the signal's reason when it is aborted
 * ```
 */
export function sleep(ms: number, options: SleepOptions = {}): Promise<void> {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null)
    return Promise.reject(new TypeError(`sleep: expected options, not ${shownType(given)}`));
  if (Object.keys(options).some((name) => !Object.hasOwn(optionNames, name))) {
    const unknown = unknownOptions(options, Object.keys(optionNames));
    if (unknown.length > 0) return Promise.reject(new TypeError(`sleep: ${unknown.join('; ')}`));
  }
  const { signal, clock = systemClock, keepAlive = true } = options;
  // A time that has passed is in order.
  const problem = typeof ms === 'number' && ms < 0 ? undefined : numberProblem('ms', ms, { orInfinity: true });
  if (problem !== undefined) return Promise.reject(new RangeError(`sleep: ${problem}`));
  const misuse = (signal === undefined ? undefined : signalOption('signal', signal)) ?? clockOption('clock', clock);
  if (misuse !== undefined) return Promise.reject(new TypeError(`sleep: ${misuse}`));
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal === undefined ? new Error('aborted') : abortReason(signal));
    };
    const timer = startTimer(
      clock,
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
      ms,
      { keepAlive },
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The reason of an aborted signal as an Error; a reason of another type becomes the cause. */
export function abortReason(signal: AbortSignal): Error {
  if (!isSignal(signal)) throw new TypeError(`abortReason: expected an AbortSignal, not ${shownType(signal)}`);
  const reason: unknown = signal.reason;
  if (isError(reason)) return reason;
  const error = new DOMException(`aborted: ${typeof reason === 'string' ? reason : shownValue(reason)}`, 'AbortError');
  return Object.defineProperty(error, 'cause', { value: reason, writable: true, configurable: true });
}

/**
 * Whether a value is an Error, also of another realm, because under some test runners the DOMException of a timeout is.
 */
function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || /^\[object (?:Error|DOMException)\]$/.test(Object.prototype.toString.call(value));
  } catch {
    return false; // a proxy that was revoked
  }
}

/** Whether an error is what an abort rejects with (`AbortError` by name), from any copy of any library. */
export function isAbortError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError';
}
