import { NotLeaderError } from './errors.js';

/**
 * Answers, at any moment and without waiting for a timer, whether this process may do protected work. It looks at the
 * monotonic clock on each call, so it is right also straight after the event loop was stalled or the process stopped.
 */
export interface Fence {
  /** Whether the lease is held and its renewal deadline has not passed. */
  readonly isOpen: boolean;
  /** Aborted when the current term of leadership ends; undefined while not leading. */
  readonly signal: AbortSignal | undefined;
  /** @throws NotLeaderError when the fence is closed */
  check(): void;
}

/** A fence from a question and a term's signal. */
export function createFence(lock: string, state: { isOpen(): boolean; signal(): AbortSignal | undefined }): Fence {
  return {
    get isOpen(): boolean {
      return state.isOpen();
    },
    get signal(): AbortSignal | undefined {
      return state.signal();
    },
    check(): void {
      if (!state.isOpen()) throw new NotLeaderError(lock);
    },
  };
}
