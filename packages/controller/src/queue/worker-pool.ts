import { AsyncLocalStorage } from 'node:async_hooks';
import { shownType } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import type { PrioritizedItem } from '@kctl/workqueue';
import type { ReconcileQueue } from './reconcile-queue.js';

/** How long workers that never wait may keep the event loop, in ms. */
const sliceMs = 10;

/** Options of {@link WorkerPool}. */
export interface WorkerPoolOptions<R> {
  readonly queue: ReconcileQueue<R>;
  readonly concurrency: number;
  readonly clock: Clock;
  /** Gets the pool's signal, too. Its errors and rejections end the pool. */
  readonly work: (item: PrioritizedItem<R>, signal: AbortSignal) => Promise<void>;
}

/**
 * Hands items of a queue to at most `concurrency` workers at once; the number may change at any time. Runs once. Uses
 * callbacks instead of a loop that awaits, because the promises of the loop would be the larger part of a quick
 * reconcile.
 */
export class WorkerPool<R> {
  readonly #options: WorkerPoolOptions<R>;
  readonly #ended = Promise.withResolvers<undefined>();
  #signal = new AbortController().signal;
  #active = 0;
  #concurrency: number;
  /** An item that the pool has waited for, on its way to a worker. */
  #held: PrioritizedItem<R> | undefined;
  /** Whether the start, the next item or the next turn of the event loop goes on. */
  #isWaiting = true;
  /** Whether nothing is taken from the queue any longer. */
  #isEnding = false;
  #failure: { readonly error: unknown } | undefined;
  #sliceStart = 0;
  /**
   * Runs a function in the async context of the run, which marks its work as the leader's, and fences its writes. A
   * caller that changes the limit is in another context.
   */
  #asRun: (step: () => void) => void = (step) => step();

  constructor(options: WorkerPoolOptions<R>) {
    this.#options = options;
    this.#concurrency = options.concurrency;
  }

  set concurrency(value: number) {
    this.#concurrency = value;
    this.#asRun(() => this.#fill());
  }

  /**
   * Takes items until the signal is aborted or the queue is shut down; resolves when the last worker is done. Rejects
   * then, if the queue has failed.
   */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#end();
    this.#signal = signal;
    this.#asRun = AsyncLocalStorage.snapshot();
    signal.addEventListener('abort', stop, { once: true });
    try {
      this.#isEnding = signal.aborted;
      this.#goOn();
      await this.#ended.promise;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Starts what there are workers for. */
  #fill(): void {
    if (this.#isWaiting) return;
    const { queue } = this.#options;
    try {
      while (!this.#isWaiting && !this.#isEnding && this.#active < this.#concurrency) {
        const item = this.#held ?? requireItem(queue.tryGetWithPriority());
        this.#held = undefined;
        if (item === undefined) this.#wait();
        else this.#start(item);
      }
      if (this.#isWaiting) return;
      this.#giveBack();
      if (this.#isEnding) this.#finish();
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * The limit was lowered while the pool waited. An item without a worker waits in the queue, in which it is counted.
   */
  #giveBack(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) putBack(this.#options.queue, held);
  }

  #start(item: PrioritizedItem<R>): void {
    this.#active++; // first: what the work does at once may change the limit
    try {
      this.#options.work(item, this.#signal).then(this.#onDone, this.#onBroken);
    } catch (error) {
      this.#active--;
      throw error;
    }
    if (this.#options.clock.monotonicNow() - this.#sliceStart >= sliceMs) this.#yield();
  }

  readonly #onDone = (): void => {
    this.#active--;
    this.#fill();
  };

  /** Nothing rejects but a queue that cannot release the item. */
  readonly #onBroken = (error: unknown): void => {
    this.#active--;
    this.#fail(error);
  };

  #wait(): void {
    const next = this.#options.queue.getWithPriority({ signal: this.#signal });
    this.#isWaiting = true;
    next.then(
      (item) => {
        this.#sliceStart = this.#options.clock.monotonicNow();
        try {
          this.#held = requireItem(item);
        } catch (error) {
          this.#isWaiting = false;
          this.#fail(error);
          return;
        }
        if (item === undefined) this.#isEnding = true;
        this.#goOn();
      },
      (error: unknown) => {
        this.#isWaiting = false;
        this.#fail(error);
      },
    );
  }

  /** Reconciles that answer without waiting would otherwise run back to back and starve sockets and timers. */
  #yield(): void {
    this.#isWaiting = true;
    setImmediate(() => {
      this.#sliceStart = this.#options.clock.monotonicNow();
      this.#goOn();
    });
  }

  #goOn(): void {
    this.#isWaiting = false;
    this.#fill();
  }

  #end(): void {
    this.#isEnding = true;
    this.#fill();
  }

  /** An error of the queue after the abort of the signal results from the abort. */
  #fail(error: unknown): void {
    if (!this.#signal.aborted) this.#failure ??= { error };
    this.#end();
  }

  #finish(): void {
    if (this.#active > 0) return;
    if (this.#failure === undefined) this.#ended.resolve(undefined);
    else this.#ended.reject(this.#failure.error);
  }
}

/**
 * Checks an item of a queue that a user has made: null in place of an item would be waited for again and again, and hold
 * the event loop.
 *
 * @throws TypeError
 */
function requireItem<R>(given: PrioritizedItem<R> | undefined): PrioritizedItem<R> | undefined {
  const item: unknown = given;
  if (item === undefined || (typeof item === 'object' && item !== null && 'item' in item)) return given;
  throw new TypeError(
    `the queue returned ${shownType(item)}: expected { item, priority }, or undefined if it is empty`,
  );
}

/** Queues a request again that was taken and not begun, as it was, after `afterMs`. */
export function putBack<R>(queue: ReconcileQueue<R>, taken: PrioritizedItem<R>, afterMs: number = 0): void {
  const { item, priority, reasons } = taken;
  for (const reason of reasons) queue.addWith({ afterMs, priority, reason }, item);
  if (reasons.length === 0) queue.addWith({ afterMs, priority }, item);
  queue.done(item);
}
