/** Options of `WorkQueue.get`. */
export interface GetOptions {
  /** Aborting it ends the wait and rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** What a {@link WorkFunction} is told besides the item. */
export interface WorkContext {
  /** Aborted when the pool is told to stop. */
  readonly signal: AbortSignal;
}

/** The work on one item: asynchronous if it returns a promise; otherwise no promise is made for it. */
export type WorkFunction<T> = (item: T, context: WorkContext) => unknown;

/**
 * What to do with an item whose work failed. `retry` adds it again rate limited (on a queue without rate limiter: at
 * once), `drop` forgets it, `stop` stops the pool, which then rejects with the error.
 */
export type FailureVerdict = 'retry' | 'drop' | 'stop';

/** Options of `WorkQueue.run`. */
export interface RunOptions<T> {
  /** How many items are worked on at once: an integer ≥ 0; 0 pauses. @default 1 */
  readonly concurrency?: number;
  /** Aborting it stops the pool: nothing more is taken, what is being worked on is waited for. */
  readonly signal?: AbortSignal;
  /**
   * Judges a failed item. `attempt` counts from 1 on a rate-limiting queue, where the default is `retry`; elsewhere
   * it is 1, and the default is `stop`, so that no failure is swallowed.
   */
  readonly onError?: (error: unknown, item: T, attempt: number) => FailureVerdict;
}

/**
 * Workers that take items from a queue. Awaiting the pool waits until it has ended: the queue is shut down and
 * empty, or the pool was stopped, and no item is being worked on. It rejects with the error that stopped it.
 */
export interface WorkerPool extends PromiseLike<void>, AsyncDisposable {
  /** How many items are worked on at once. May be set at any time; workers above a lowered limit finish their item. */
  concurrency: number;
  /** How many items are being worked on now. */
  readonly active: number;
  /** Takes no more items and resolves when those being worked on have ended. Idempotent. */
  stop(): Promise<void>;
  /** Same as {@link stop}. */
  [Symbol.asyncDispose](): Promise<void>;
}
