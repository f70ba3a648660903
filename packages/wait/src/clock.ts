/** A timer that was set by a {@link Clock}. */
export interface ClockTimer {
  /** Stops the timer. Calling it again, or after it fired, does nothing. */
  cancel(): void;
}

/** Options of {@link Clock.setTimer}. */
export interface SetTimerOptions {
  /**
   * Whether the timer keeps the process alive while it is pending.
   *
   * @default true
   */
  readonly keepAlive?: boolean;
}

/**
 * Source of time. Everything in @kctl that waits or measures takes a `Clock`, so that a test can move time instead of
 * sleeping. Mirrors the role of `k8s.io/utils/clock`.
 *
 * @example
 * ```ts
 * import { sleep, systemClock, type Clock } from '@kctl/wait';
 *
 * async function warmUp({ clock = systemClock }: { clock?: Clock } = {}): Promise<number> {
 *   const began = clock.monotonicNow();
 *   await sleep(1_000, { clock });
 *   return clock.monotonicNow() - began; // ms
 * }
 * ```
 */
export interface Clock {
  /** Wall-clock time in ms since the Unix epoch. It may jump; use it only for values that leave the process. */
  now(): number;
  /** Monotonic time in ms from an arbitrary origin. It never goes back; use it for deadlines and durations. */
  monotonicNow(): number;
  /**
   * Calls `callback` once, at the earliest after `delayMs` ms. Any finite delay is allowed, because one beyond 2^31−1
   * ms is re-armed instead of firing at once, as a bare `setTimeout` would. A negative delay counts as 0; at Infinity
   * the timer never fires.
   *
   * @throws RangeError for a delay that is NaN or not a number
   */
  setTimer(callback: () => void, delayMs: number, options?: SetTimerOptions): ClockTimer;
}

/** Source of randomness. A number in [0, 1), like `Math.random`. */
export type Random = () => number;
