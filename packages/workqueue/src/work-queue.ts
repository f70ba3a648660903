import type { GetOptions, RunOptions, WorkerPool, WorkFunction } from './worker-pool.js';

/** Identity of an item of a queue. */
export type QueueKey = string | number;

/** Returns the identity of an item. Two items with the same key are the same work. Must be pure and cheap. */
export type KeyFunction<T> = (item: T) => QueueKey;

/** State of a key in a queue. */
export interface QueueEntry<T> {
  readonly key: QueueKey;
  /** The item handed out for the key, which is the one added last. */
  readonly item: T;
  /** Whether it waits to be handed out; if it is being worked on, whether it is handed out again after `done`. */
  readonly isReady: boolean;
  /** Whether it is handed out and not yet done. */
  readonly isProcessing: boolean;
  /** When a delay of the key ends, in ms from now, ≥ 0; undefined if none is pending. */
  readonly dueInMs: number | undefined;
  /** The priority that it waits with; 0 if it does not wait, and on queues without priorities. */
  readonly priority: number;
  /** How often it was added rate limited since it was forgotten; 0 on queues without a rate limiter. */
  readonly numRequeues: number;
}

/** Options of {@link WorkQueue.waitUntilIdle}. */
export interface IdleOptions extends GetOptions {
  /** Whether keys that wait for their time, retries among them, count as work to be waited for. @default false */
  readonly includeDelayed?: boolean;
}

/**
 * Operations of the queues of this package besides their contracts, for programs that inspect or clean up a queue. Not
 * part of the contracts, so that a custom implementation need not have them.
 */
export interface InspectableQueue<T> {
  /**
   * Whether work on the key is pending, because it waits, is delayed, or was added again while it is being worked on. A
   * key that is only being worked on is not pending; see {@link peek}.
   */
  has(item: T): boolean;
  /** The state of the key in the queue, without taking it; undefined if it is neither pending nor worked on. O(1). */
  peek(item: T): QueueEntry<T> | undefined;
  /**
   * Takes back the pending work of a key, so that it is neither handed out nor due later, until it is added again. Work
   * in progress continues and has to be done; failures stay counted. O(1) on a priority queue; O(keys that wait) on the
   * others, if the key waits.
   *
   * @returns whether anything was pending
   */
  delete(item: T): boolean;
  /**
   * Everything in the queue, for debugging. First the items being worked on, then the waiting ones in the order in
   * which they would be handed out now, then the delayed ones by their time. A snapshot; O(n log n).
   */
  entries(): QueueEntry<T>[];
  /**
   * Resolves when no key waits and no key is being worked on, at the end of a synchronous step. Work that adds its
   * follow-up before its `done` never shows an idle queue between. The queue stays open.
   *
   * @throws the signal's reason when it is or becomes aborted
   */
  waitUntilIdle(options?: IdleOptions): Promise<void>;
}

/**
 * A queue that hands each key to one worker at a time and merges what is added again meanwhile. Mirrors
 * `workqueue.TypedInterface` of client-go.
 *
 * Guarantees:
 * - **Deduplication**: adding a key that waits already does nothing but refresh the item that will be handed out.
 * - **One worker per key**: a key that was handed out is not handed out again before {@link done}.
 * - **Nothing is lost**: a key added while it is being worked on is queued again by {@link done}.
 * - **Fairness**: first in, first out.
 *
 * All methods except {@link get}, {@link shutDownWithDrain} and {@link run} are synchronous, so that an event and the
 * keys that follow from it enter the queue in one step.
 */
export interface WorkQueue<T> extends AsyncIterable<T>, AsyncDisposable {
  /** Number of keys that wait to be handed out, without those being worked on or delayed. */
  readonly length: number;
  /** How many keys are handed out and not yet {@link done}. */
  readonly processing: number;
  /** Whether the queue refuses new work. */
  readonly shuttingDown: boolean;

  /** Marks an item as needing work. Ignored after shutdown. */
  add(item: T): void;
  /**
   * Hands out the next item, waiting for one if the queue is empty. Waiters are served in the order of their calls.
   * Items added within one synchronous step are merged and ordered before a waiter gets one.
   *
   * @returns undefined when the queue shuts down and nothing is left. As in client-go that is a snapshot, because a key
   * that another worker holds can still come back by its {@link done}
   * @throws the signal's reason when it is or becomes aborted; no item is lost by that; TypeError for an option that is not
   * known
   */
  get(options?: GetOptions): Promise<T | undefined>;
  /** Like {@link get} but never waits; undefined if nothing is ready. The cheap way to take many items. */
  tryGet(): T | undefined;
  /**
   * Ends the work on an item; call it for each item that was handed out, whether the work succeeded or not. A key
   * that was added meanwhile is queued again. Calling it for an item that was not handed out does nothing.
   */
  done(item: T): void;

  /**
   * Starts a pool of workers; see {@link WorkerPool}. The pool calls {@link done} itself, and takes waiting items
   * without a promise per item when `work` returns synchronously. It yields to the event loop every few ms.
   */
  run(options: RunOptions<T>, work: WorkFunction<T>): WorkerPool;
  /**
   * Iterates over the items until the queue is shut down and empty. An item counts as done when the loop requests the
   * next one, or is left by `break`, `return` or an error, so do not call {@link done} in the loop. Leaving it while it
   * waits takes no key with it.
   *
   * @throws (from `next`) the signal's reason when it is or becomes aborted while the loop waits
   */
  items(options?: GetOptions): AsyncIterableIterator<T>;
  /** Same as {@link items}: `for await (const item of queue)`. */
  [Symbol.asyncIterator](options?: GetOptions): AsyncIterableIterator<T>;

  /** Refuses new work at once. Waiting items are still handed out. Idempotent; it ends a drain that is in progress. */
  shutDown(): void;
  /**
   * Refuses new work at once, drops items that are not due, and resolves when everything that was added is handled and
   * done, or when {@link shutDown} is called. Several drains resolve together. Keys that have no worker do not hold it
   * up. It resolves when for 500 ms no key is being worked on and neither a pool nor a `get` exists; at once if no key
   * was ever taken.
   */
  shutDownWithDrain(): Promise<void>;
  /** Same as {@link shutDownWithDrain}: `await using queue = …` ends when everything is handled. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Bounds of a debounced add. */
export interface Debounce {
  /** The key becomes ready when it was not added for this long, in ms. */
  readonly quietMs: number;
  /** … but at the latest this long after the first of the adds, in ms; a busy key cannot starve. */
  readonly maxMs: number;
}

/** A queue to which work can be added for later. Mirrors `workqueue.TypedDelayingInterface`. */
export interface DelayingQueue<T> extends WorkQueue<T> {
  /** How many keys wait for their time. */
  readonly delayed: number;
  /**
   * Adds an item when `delayMs` has passed; at once for a delay ≤ 0. Of several delays of one key the earliest takes
   * precedence. A plain {@link WorkQueue.add} meanwhile does not cancel the delay, so both fire. Ignored after
   * shutdown, which also drops items that are not due yet. Any finite delay is kept exactly, also one beyond 2^31-1 ms.
   *
   * @throws InvalidArgumentError for a delay that is not a number
   */
  addAfter(item: T, delayMs: number): void;
  /**
   * Adds an item when its key was quiet for `quietMs`, at the latest `maxMs` after the first of these calls. Unlike
   * {@link addAfter} it can move a key to a later time, but never past an {@link addAfter} of the same key.
   */
  addDebounced(item: T, debounce: Debounce): void;
}

/** Why an item is queued again. */
export interface RequeueCause {
  /** The failure of the work; limiters may look at it (`Retry-After`, class of the failure). */
  readonly error?: unknown;
}

/** A queue that spaces out retries. Mirrors `workqueue.TypedRateLimitingInterface`. */
export interface RateLimitingQueue<T> extends DelayingQueue<T> {
  /** Adds an item after the delay that the rate limiter returns. It still has to be {@link WorkQueue.done}. */
  addRateLimited(item: T, cause?: RequeueCause): void;
  /** Ends the tracking of retries for a key, so the next failure counts as the first. Not a replacement for `done`. */
  forget(item: T): void;
  /** How often the key was added rate limited since it was last forgotten. */
  numRequeues(item: T): number;
}
