import { isAbortError } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { requireInteger } from './errors.js';
import { sliceMs } from './slice.js';
import type { FailureVerdict, RunOptions, WorkContext, WorkerPool, WorkFunction } from './worker-pool.js';

/** So many items are worked on synchronously between two looks at the clock. */
const groupSize = 16;

/** What a pool needs of a queue: items by slot. */
export interface PoolSource<T> {
  readonly clock: Clock;
  readonly isFinished: boolean;
  take(): number;
  itemAt(slot: number): T | undefined;
  finish(slot: number): void;
}

/** What the kind of queue says about success and failure. */
export interface FailurePolicy<T> {
  /** The verdict where `onError` is not given. */
  readonly verdict: FailureVerdict;
  /** How often the work on the item has failed, this time included. */
  attempt(item: T): number;
  retry(item: T, error: unknown, slot: number): void;
  forget(item: T): void;
  /** Adds an item again whose work was interrupted by the end of the pool. */
  readd(item: T, slot: number): void;
}

/** Options of {@link Pool}. */
export interface PoolOptions<T> extends RunOptions<T> {
  readonly work: WorkFunction<T>;
  readonly onEnd: () => unknown;
}

/** See {@link WorkerPool}. Takes by slot: neither a look-up nor, for synchronous work, a promise per item. */
export class Pool<T> implements WorkerPool {
  readonly #source: PoolSource<T>;
  readonly #policy: FailurePolicy<T>;
  readonly #options: PoolOptions<T>;
  readonly #abort = new AbortController();
  readonly #context: WorkContext = { signal: this.#abort.signal };
  readonly #ended: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #onAbort: () => void;
  #concurrency: number;
  #active = 0;
  #isStopping = false;
  #isEnded = false;
  #isPumping = false;
  #failure: { readonly error: unknown } | undefined;
  /** End of the current slice of the event loop. */
  #sliceEnd = 0;
  #pause: NodeJS.Immediate | undefined;

  constructor(source: PoolSource<T>, policy: FailurePolicy<T>, options: PoolOptions<T>) {
    const { concurrency = 1, signal } = options;
    requireInteger('concurrency', concurrency, 0);
    this.#source = source;
    this.#policy = policy;
    this.#options = options;
    this.#concurrency = concurrency;
    this.#onAbort = () => this.#halt(signal?.reason);
    if (signal?.aborted === true) queueMicrotask(this.#onAbort);
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get concurrency(): number {
    return this.#concurrency;
  }

  set concurrency(value: number) {
    requireInteger('concurrency', value, 0);
    this.#concurrency = value;
    queueMicrotask(() => this.pump());
  }

  get active(): number {
    return this.#active;
  }

  stop(): Promise<void> {
    this.#isStopping = true;
    this.#checkEnd();
    return this.#ended.promise;
  }

  then<R1, R2 = never>(
    onFulfilled?: (() => R1 | PromiseLike<R1>) | null,
    onRejected?: ((reason: unknown) => R2 | PromiseLike<R2>) | null,
  ): Promise<R1 | R2> {
    return this.#ended.promise.then(onFulfilled, onRejected);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Takes items while there are any and workers are free. Called by the queue when items became ready. */
  pump(): void {
    if (this.#isPumping || this.#pause !== undefined) return;
    this.#isPumping = true;
    let left = groupSize;
    while (this.#active < this.#concurrency && !this.#isStopping) {
      if (left-- === 0) {
        left = groupSize;
        if (this.#isSliceOver()) break;
      }
      const slot = this.#source.take();
      if (slot < 0) break;
      this.#start(slot);
    }
    this.#isPumping = false;
    this.#checkEnd();
  }

  #isSliceOver(): boolean {
    const now = this.#source.clock.monotonicNow();
    if (this.#sliceEnd === 0) this.#sliceEnd = now + sliceMs;
    if (now < this.#sliceEnd) return false;
    this.#sliceEnd = 0;
    this.#pause = setImmediate(() => {
      this.#pause = undefined;
      this.pump();
    });
    return true;
  }

  #start(slot: number): void {
    const item = this.#source.itemAt(slot);
    // take() hands out slots that hold an item; this only tells the compiler so.
    if (item === undefined) return;
    let result: unknown;
    try {
      result = this.#options.work(item, this.#context);
    } catch (error) {
      this.#failed(slot, item, error);
      return;
    }
    if (isPromiseLike(result)) this.#follow(result, slot, item);
    else this.#succeeded(slot, item);
  }

  #follow(result: PromiseLike<unknown>, slot: number, item: T): void {
    this.#active++;
    result.then(
      () => {
        this.#active--;
        this.#succeeded(slot, item);
        this.#next();
      },
      (error: unknown) => {
        this.#active--;
        this.#failed(slot, item, error);
        this.#next();
      },
    );
  }

  /** Goes on after asynchronous work; promises that are settled already must not keep the event loop for ever. */
  #next(): void {
    if (this.#pause === undefined && this.#isSliceOver()) return;
    this.pump();
  }

  #succeeded(slot: number, item: T): void {
    try {
      this.#policy.forget(item);
    } catch (thrown) {
      this.#fail(thrown);
    }
    this.#source.finish(slot);
  }

  #failed(slot: number, item: T, error: unknown): void {
    const { signal } = this.#abort;
    try {
      if (signal.aborted && (error === signal.reason || isAbortError(error))) this.#policy.readd(item, slot);
      else this.#judge(slot, item, error);
    } catch (thrown) {
      // onError or a rate limiter of the user's is broken: nobody could say what to do with this item.
      this.#fail(thrown);
    }
    this.#source.finish(slot);
  }

  #judge(slot: number, item: T, error: unknown): void {
    const verdict = this.#options.onError?.(error, item, this.#policy.attempt(item)) ?? this.#policy.verdict;
    switch (verdict) {
      case 'retry':
        this.#policy.retry(item, error, slot);
        break;
      case 'drop':
        this.#policy.forget(item);
        break;
      case 'stop':
        this.#fail(error);
        break;
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#halt(error);
  }

  /** Takes nothing more and tells the work in progress. */
  #halt(reason: unknown): void {
    this.#isStopping = true;
    this.#abort.abort(reason);
    queueMicrotask(() => this.#checkEnd());
  }

  #checkEnd(): void {
    if (this.#isEnded || this.#active > 0 || !(this.#isStopping || this.#source.isFinished)) return;
    this.#isEnded = true;
    clearImmediate(this.#pause);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#options.onEnd();
    if (this.#failure === undefined) this.#ended.resolve();
    else this.#ended.reject(this.#failure.error);
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
