import type { Clock, ClockTimer, Random } from '@kctl/wait';
import { entrance } from './network/activity.js';
import { continuation } from './continuation.js';
import { cancel, type Scheduler } from './scheduler.js';
import type { Scope } from './scope.js';

/** Start of a world's wall clock, in ms since the Unix epoch. */
export const worldEpoch: number = Date.UTC(2026, 0, 1);

/** A timer is up to this much late, as on a real machine, in ms. Never early. */
const latenessMs = 1;

/** A scope in which nothing has run yet, and its clock. */
export function createScope(
  scheduler: Scheduler,
  { name, kind, random }: Pick<Scope, 'name' | 'kind'> & { readonly random: Random },
): { readonly scope: Scope; readonly clock: ScopeClock } {
  const clock: ScopeClock = new ScopeClock(scheduler, () => scope, random);
  let enter: Scope['enter'] | undefined;
  const scope: Scope = {
    name,
    kind,
    clock,
    isDead: false,
    stalledUntil: 0,
    timers: 0,
    enter: (work) => {
      enter ??= scheduler.outside(() => entrance({ scope }));
      enter(work);
    },
  };
  return { scope, clock };
}

/**
 * The clock of one scope. Its wall clock may be wrong and may jump; its monotonic clock begins anywhere and only goes
 * forward. Timers count on the scope, so that a stop can be seen to leave none.
 */
export class ScopeClock implements Clock {
  /** How far the wall clock is from the world's, in ms. */
  skewMs = 0;
  readonly #scheduler: Scheduler;
  readonly #scope: () => Scope;
  readonly #random: Random;
  readonly #originMs: number;

  constructor(scheduler: Scheduler, scope: () => Scope, random: Random) {
    this.#scheduler = scheduler;
    this.#scope = scope;
    this.#random = random;
    this.#originMs = Math.floor(random() * 1e7);
  }

  now(): number {
    return worldEpoch + Math.floor(this.#scheduler.now) + this.skewMs;
  }

  monotonicNow(): number {
    return this.#originMs + this.#scheduler.now;
  }

  setTimer(callback: () => void, delayMs: number): ClockTimer {
    if (typeof delayMs !== 'number' || Number.isNaN(delayMs))
      throw new RangeError(`setTimer: delayMs ${String(delayMs)} is not a number`);
    const scope = this.#scope();
    let isPending = Number.isFinite(delayMs);
    if (!isPending) return { cancel: () => undefined };
    scope.timers++;
    const run = continuation(callback);
    const task = this.#scheduler.after(scope, Math.max(0, delayMs) + this.#random() * latenessMs, () => {
      isPending = false;
      scope.timers--;
      run();
    });
    return {
      cancel: () => {
        if (!isPending) return;
        isPending = false;
        scope.timers--;
        cancel(task);
      },
    };
  }
}
