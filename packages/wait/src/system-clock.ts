import type { Clock, ClockTimer, Random, SetTimerOptions } from './clock.js';

/** The longest delay that `setTimeout` honours; anything longer fires at once. */
const maxTimeoutMs = 2 ** 31 - 1;

/** The real time of this machine. */
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
    this.#callback = callback;
    this.#dueAt = performance.now() + delayMs;
    this.#keepAlive = options.keepAlive ?? true;
    this.#arm(delayMs);
  }

  cancel(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  #arm(delayMs: number): void {
    const wait = Math.min(Math.max(delayMs, 0), maxTimeoutMs);
    this.#handle = setTimeout(wait === maxTimeoutMs ? () => this.#rearm() : this.#callback, wait);
    if (!this.#keepAlive) this.#handle.unref();
  }

  #rearm(): void {
    const left = this.#dueAt - performance.now();
    if (left <= 0) this.#callback();
    else this.#arm(left);
  }
}
