import type { Clock, ClockTimer, Random, SetTimerOptions } from './clock.js';
import { timerDelay } from './timer-delay.js';

/** The longest delay that `setTimeout` honours; anything longer fires at once. */
const maxTimeoutMs = 2 ** 31 - 1;

/**
 * The real time of this machine.
 *
 * @example
 * ```ts
 * import { systemClock } from '@kctl/wait';
 *
 * const began = systemClock.monotonicNow(); // for durations
 * console.log(new Date(systemClock.now()), systemClock.monotonicNow() - began);
 * ```
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimer: (callback, delayMs, options) => new SystemTimer(callback, delayMs, options),
};

/** The randomness of this machine; not for secrets. */
export const systemRandom: Random = () => Math.random();

class SystemTimer implements ClockTimer {
  readonly #callback: () => void;
  readonly #dueAt: number;
  readonly #keepAlive: boolean;
  #handle: NodeJS.Timeout | undefined;

  constructor(callback: () => void, delayMs: number, options: SetTimerOptions = {}) {
    const given: unknown = callback;
    // At once, because in the timer there is no caller to blame.
    if (typeof given !== 'function')
      throw new TypeError(`setTimer: the callback is of type ${typeof given}: expected a function`);
    const delay = timerDelay(delayMs);
    this.#callback = callback;
    this.#dueAt = performance.now() + delay;
    this.#keepAlive = options.keepAlive ?? true;
    this.#arm(delay);
  }

  cancel(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  #arm(delayMs: number): void {
    // Node truncates fractions, and counts whole ms on a separate clock, so a timer can be up to 2 ms early.
    this.#handle = setTimeout(() => this.#onTimeout(), Math.min(Math.ceil(delayMs), maxTimeoutMs));
    if (!this.#keepAlive) this.#handle.unref();
  }

  #onTimeout(): void {
    const left = this.#dueAt - performance.now();
    if (left > 0) this.#arm(left);
    else this.#callback();
  }
}
