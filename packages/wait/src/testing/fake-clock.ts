import { numberOption, numberProblem, requireOptions, type OptionNames } from '@kctl/options';
import type { Clock, ClockTimer } from '../clock.js';
import { timerDelay } from '../timer-delay.js';

interface Pending extends ClockTimer {
  readonly dueAt: number;
  readonly sequence: number;
  readonly callback: () => void;
}

/** Options of {@link FakeClock}. */
export interface FakeClockOptions {
  /** Wall-clock time at the start, in ms since the Unix epoch. @default 2026-01-01T00:00:00Z */
  readonly now?: number;
}

const optionNames: OptionNames<FakeClockOptions> = { now: numberOption({ least: -8.64e15 }) };

/**
 * A clock that stands still until a test moves it. Timers fire in the order of their due time, then of their creation.
 *
 * @example
 * ```ts
 * import { sleep } from '@kctl/wait';
 * import { FakeClock } from '@kctl/wait/testing';
 *
 * const clock = new FakeClock();
 * const slept = sleep(60_000, { clock });
 * await clock.advance(60_000);
 * await slept; // no time has passed
 * ```
 */
export class FakeClock implements Clock {
  #wall: number;
  #monotonic = 0;
  #sequence = 0;
  readonly #timers = new Set<Pending>();

  constructor(options: FakeClockOptions = {}) {
    requireOptions('FakeClock', options, optionNames);
    this.#wall = options.now ?? Date.UTC(2026, 0, 1);
  }

  now(): number {
    return this.#wall;
  }

  monotonicNow(): number {
    return this.#monotonic;
  }

  setTimer(callback: () => void, delayMs: number): ClockTimer {
    const timer: Pending = {
      dueAt: this.#monotonic + timerDelay(delayMs),
      sequence: this.#sequence++,
      callback,
      cancel: () => {
        this.#timers.delete(timer);
      },
    };
    this.#timers.add(timer);
    return timer;
  }

  /** How many timers are pending: 0 proves that nothing was left behind. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** ms until the next timer is due; undefined if no timer is pending. */
  get nextTimerInMs(): number | undefined {
    const next = this.#next();
    return next === undefined ? undefined : next.dueAt - this.#monotonic;
  }

  /** Moves both clocks by `ms`, firing what falls due on the way, each at its own time, without yielding. */
  advanceSync(ms: number): void {
    const target = this.#target(ms);
    for (let next = this.#next(); next !== undefined && next.dueAt <= target; next = this.#next()) this.#fire(next);
    this.#move(target);
  }

  /** Like {@link advanceSync}, but lets promise callbacks run after each timer, so that chains of waits move on. */
  async advance(ms: number): Promise<void> {
    const target = this.#target(ms);
    await settle();
    for (let next = this.#next(); next !== undefined && next.dueAt <= target; next = this.#next()) {
      this.#fire(next);
      await settle();
    }
    this.#move(target);
    await settle();
  }

  /** Makes the wall clock jump, as an administrator or NTP would; monotonic time and timers do not notice. */
  setWallTime(now: number): void {
    this.#wall = now;
  }

  #target(ms: number): number {
    const problem = numberProblem('ms', ms);
    if (problem !== undefined) throw new RangeError(`FakeClock: ${problem}`);
    return this.#monotonic + ms;
  }

  #fire(timer: Pending): void {
    this.#timers.delete(timer);
    this.#move(timer.dueAt);
    timer.callback();
  }

  /** Never back, because a callback may have advanced the clock beyond the target of the call that fired it. */
  #move(to: number): void {
    if (to <= this.#monotonic) return;
    this.#wall += to - this.#monotonic;
    this.#monotonic = to;
  }

  #next(): Pending | undefined {
    let first: Pending | undefined;
    for (const timer of this.#timers) {
      if (
        first === undefined ||
        timer.dueAt < first.dueAt ||
        (timer.dueAt === first.dueAt && timer.sequence < first.sequence)
      )
        first = timer;
    }
    return first;
  }
}

/** Runs everything that is ready (microtasks, and the work they schedule for the next turn of the event loop). */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
