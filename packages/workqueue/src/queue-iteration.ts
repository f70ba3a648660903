import { abortReason } from '@kctl/wait/internal';
import { getProblem } from './errors.js';
import type { Waiter } from './waiter-list.js';
import type { GetOptions } from './worker-pool.js';

/** Requirements of an iteration on a queue (items by slot). */
export interface IterationSource<T> {
  /**
   * Takes the next slot and returns it; -1 if the queue is at its end; else waits and returns a function to stop the
   * wait.
   */
  takeOrWait(waiter: Waiter): number | (() => void);
  itemAt(slot: number): T | undefined;
  /** The holder is to be called for each slot that is finished by `done`, until {@link letGo}. */
  hold(holder: SlotHolder): void;
  letGo(holder: SlotHolder): void;
  finish(slot: number): void;
  /** Queues a slot again as if it had not been handed out. */
  giveBack(slot: number): void;
}

/** Holder of a slot. */
export interface SlotHolder {
  /** The slot has been finished by a call of `done`: if it is held, it is not from now on. */
  letGo(slot: number): void;
}

type Result<T> = IteratorResult<T, undefined>;

/**
 * The items of a queue as an async iterator. Not an async generator, which answers `return()` only after the `next()`
 * that waits, so that leaving while nothing is ready would hang, and would take one more key.
 */
export class QueueIteration<T> implements AsyncIterableIterator<T, undefined>, SlotHolder {
  readonly #source: IterationSource<T>;
  readonly #signal: AbortSignal | undefined;
  /** Calls of `next` without an answer, in their order. */
  readonly #calls: PromiseWithResolvers<Result<T>>[] = [];
  /** The slot that the consumer works on; -1 if idle, or if the consumer has called `done` itself. */
  #held = -1;
  /** The answer that the consumer has not seen yet. */
  #unseen: { done?: boolean; value: T | undefined } | undefined;
  #stopWaiting: (() => void) | undefined;
  #isOver = false;

  constructor(source: IterationSource<T>, options: GetOptions) {
    const problem = getProblem('items', options);
    if (problem !== undefined) throw problem;
    this.#source = source;
    this.#signal = options.signal;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result<T>> {
    const call = Promise.withResolvers<Result<T>>();
    this.#calls.push(call);
    if (this.#calls.length === 1) this.#advance();
    return call.promise;
  }

  return(): Promise<Result<T>> {
    return new Promise((resolve) => {
      this.#leave();
      resolve(end());
    });
  }

  throw(error: unknown): Promise<Result<T>> {
    return new Promise((_resolve, reject) => {
      this.#leave();
      reject(error instanceof Error ? error : new Error(String(error), { cause: error }));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** Answers the calls of `next` for which there is something. */
  #advance(): void {
    while (this.#calls.length > 0 && this.#stopWaiting === undefined) {
      try {
        this.#release();
        if (this.#isOver) {
          this.#calls.shift()?.resolve(end());
          continue;
        }
        if (this.#signal?.aborted === true) {
          this.#isOver = true;
          this.#calls.shift()?.reject(abortReason(this.#signal));
          continue;
        }
        const taken = this.#source.takeOrWait((slot, failure) => this.#onServed(slot, failure));
        if (typeof taken === 'number') this.#answer(taken);
        else this.#wait(taken);
      } catch (error) {
        // A custom backing queue failed.
        this.#fail(error);
      }
    }
  }

  #wait(removeWaiter: () => void): void {
    const signal = this.#signal;
    const onAbort = (): void => {
      this.#endWait();
      this.#advance();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#stopWaiting = () => {
      signal?.removeEventListener('abort', onAbort);
      removeWaiter();
    };
  }

  #endWait(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
  }

  #onServed(slot: number, failure: Error | undefined): void {
    this.#endWait();
    if (failure === undefined) this.#answer(slot);
    else this.#fail(failure);
    this.#advance();
  }

  #fail(error: unknown): void {
    this.#isOver = true;
    this.#calls.shift()?.reject(error);
  }

  #answer(slot: number): void {
    const item = this.#source.itemAt(slot);
    const call = this.#calls.shift();
    if (item === undefined) {
      this.#isOver = true;
      call?.resolve(end());
      return;
    }
    const answer: Result<T> = { done: false, value: item };
    this.#held = slot;
    this.#source.hold(this);
    this.#unseen = answer;
    // Runs before what the consumer attached to the promise.
    queueMicrotask(() => {
      if (this.#unseen === answer) this.#unseen = undefined;
    });
    call?.resolve(answer);
  }

  letGo(slot: number): void {
    if (this.#held === slot) this.#drop();
  }

  /** The consumer is done with the item that it holds. */
  #release(): void {
    const slot = this.#drop();
    this.#unseen = undefined;
    if (slot >= 0) this.#source.finish(slot);
  }

  /** Holds nothing from now on; returns what it held. */
  #drop(): number {
    const slot = this.#held;
    this.#held = -1;
    if (slot >= 0) this.#source.letGo(this);
    return slot;
  }

  #leave(): void {
    this.#isOver = true;
    this.#endWait();
    try {
      if (this.#unseen !== undefined) {
        // Answered in this very step, because the consumer leaves without having seen the item, and never will.
        Object.assign(this.#unseen, end());
        this.#unseen = undefined;
        const slot = this.#drop();
        if (slot >= 0) this.#source.giveBack(slot);
      }
      this.#release();
    } finally {
      // Even if a custom backing queue does not take back an item added again meanwhile.
      for (const call of this.#calls.splice(0)) call.resolve(end());
    }
  }
}

function end(): { done: true; value: undefined } {
  return { done: true, value: undefined };
}
