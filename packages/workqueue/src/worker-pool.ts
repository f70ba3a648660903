import type { Logger } from '@kctl/telemetry';

/** Options of `WorkQueue.get`. */
export interface GetOptions {
  /** Aborting it ends the wait and rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** Context of a {@link WorkFunction} besides the item. */
export interface WorkContext {
  /**
   * Aborted when the `signal` of the pool is, when a failure stops the pool, when the grace period of `stop` is over (until
   * then `stop` lets work come to its end), and when the work has taken longer than `timeoutMs`.
   */
  readonly signal: AbortSignal;
}

/** The work on one item. Asynchronous if it returns a promise; otherwise no promise is made for it. */
export type WorkFunction<T> = (item: T, context: WorkContext) => unknown;

/**
 * Decision for an item whose work failed. `retry` adds it again rate limited (at once on a queue without rate limiter),
 * `drop` forgets it, `stop` puts it back and stops the pool, which then rejects with the error.
 */
export type FailureVerdict = 'retry' | 'drop' | 'stop';

/** How fast a pool starts work. */
export interface StartRate {
  /** Starts per second in the long run, > 0. */
  readonly perSecond: number;
  /** Starts at once after a pause, ≥ 1. @default 1 */
  readonly burst?: number;
}

/** Options of `WorkQueue.run`. */
export interface RunOptions<T> {
  /** Maximum number of items worked on at once, an integer ≥ 0; 0 pauses. @default 1 */
  readonly concurrency?: number;
  /**
   * Aborting it stops the pool. Nothing more is taken, and work in progress has its signal aborted and is waited for.
   */
  readonly signal?: AbortSignal;
  /**
   * Maximum duration of the work on one item, in ms, after which its signal is aborted with a DeadlineExceededError.
   * Work that rejects after that has failed with that error; work that ignores its signal continues and keeps its
   * worker.
   *
   * @default Infinity
   */
  readonly timeoutMs?: number;
  /** Limits how often work is started, whatever it is on; what has to wait stays in the queue. @default no limit */
  readonly startRate?: StartRate;
  /**
   * Decides on a failed item, synchronously. `attempt` is how often in a row the work on it failed (1 for the first
   * time). If `onError` throws, or returns anything else (nothing included), the item is put back and the pool stops
   * with that error.
   *
   * @default `retry` on a rate-limiting queue; elsewhere `stop` with a WorkFailedError, so that no failure is swallowed
   */
  readonly onError?: (error: unknown, item: T, attempt: number) => FailureVerdict;
  /**
   * Destination of failures that are retried or dropped, with the fields `key`, `attempt` and `error`.
   *
   * @default none with `onError`; otherwise standard error, sampled if there are many (`noopLogger` silences them)
   */
  readonly logger?: Logger;
}

/** Options of `WorkerPool.stop`. */
export interface StopOptions {
  /**
   * How long work in progress may go on, in ms; then its signal is aborted. 0 aborts it at once. Of several calls the
   * shortest period counts.
   *
   * @default Infinity, so work is completed, unless the pool's `signal` is aborted
   */
  readonly graceMs?: number;
}

/** Workers that take items from a queue. Not a promise itself, so that an async function can return it. */
export interface WorkerPool extends AsyncDisposable {
  /**
   * Resolves when the pool has ended, because the queue is shut down and empty, or the pool was stopped, and no item is
   * being worked on. Rejects with the error that stopped it.
   */
  readonly ended: Promise<void>;
  /** How many items are worked on at once. May be set at any time; workers above a lowered limit finish their item. */
  concurrency: number;
  /** How many items are being worked on now, one whose work has not returned yet included. */
  readonly active: number;
  /**
   * Takes no more items and resolves when those being worked on have ended, also those that continue after the grace
   * period; rejects as {@link ended} does. Work that awaits the end of its own pool waits for itself, so call it there
   * without `await`. Idempotent.
   *
   * @throws QueueArgumentError when `graceMs` is not a number ≥ 0
   */
  stop(options?: StopOptions): Promise<void>;
  /** Same as {@link stop} without a grace period; waits for work in progress. */
  [Symbol.asyncDispose](): Promise<void>;
}
