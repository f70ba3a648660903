import { systemClock } from '@kctl/wait';
import type { ClockTimer } from '@kctl/wait';

/**
 * How long a consumer may pause between its `done` and its next `get`, in ms of real time whatever the clock of the
 * queue, because the pause belongs to the program. A pool, a waiting `get` and an iteration are known and need no such
 * time.
 */
const pauseMs = 500;

/** The parts of a queue that a drain checks. */
export interface DrainState {
  /** How many keys are handed out. */
  readonly processing: number;
  /** How many keys wait to be handed out. */
  readonly length: number;
  /** Whether a pool or a waiting `get` is there to take what waits. */
  readonly hasConsumers: boolean;
}

/**
 * The end of a queue. Pending until everything that was added is handled and done. Keys that have no consumer do not
 * hold it up forever. All callers share one promise.
 */
export class Drain {
  readonly #state: DrainState;
  #waiting: PromiseWithResolvers<void> | undefined;
  #pause: ClockTimer | undefined;

  constructor(state: DrainState) {
    this.#state = state;
  }

  wait(): Promise<void> {
    this.#waiting ??= Promise.withResolvers();
    const { promise } = this.#waiting;
    this.check();
    return promise;
  }

  /** To be called when a key is done and when a consumer leaves. */
  check(): void {
    if (this.#waiting === undefined) return;
    this.#pause?.cancel();
    const { processing, length, hasConsumers } = this.#state;
    if (processing > 0) return;
    if (length === 0) this.end();
    else if (!hasConsumers) this.#pause = systemClock.setTimer(() => this.#endPause(), pauseMs);
  }

  end(): void {
    this.#pause?.cancel();
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  #endPause(): void {
    if (this.#state.processing === 0 && !this.#state.hasConsumers) this.end();
  }
}
