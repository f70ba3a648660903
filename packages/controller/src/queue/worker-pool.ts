import { AsyncLocalStorage } from 'node:async_hooks';
import { isThenable, shownType } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { Slicer } from '@kctl/wait/internal';
import type { PrioritizedItem } from '@kctl/workqueue';
import { Workers } from '@kctl/workqueue/internal';
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

/** Hands items of a queue to at most `concurrency` workers at once; the number may change at any time. Runs once. */
export class WorkerPool<R> {
  readonly #options: WorkerPoolOptions<R>;
  readonly #workers: Workers;
  #signal = new AbortController().signal;
  /** An item that the pool has waited for, on its way to a worker. */
  #held: PrioritizedItem<R> | undefined;
  /** Whether the start or the next item has to come first. */
  #isWaiting = true;
  /**
   * Runs a function in the async context of the run, which marks its work as the leader's, and fences its writes. A
   * caller that changes the limit is in another context.
   */
  #asRun: (step: () => void) => void = (step) => step();

  constructor(options: WorkerPoolOptions<R>) {
    this.#options = options;
    this.#workers = new Workers({
      concurrency: options.concurrency,
      // Reconciles that answer without waiting would otherwise run back to back and starve sockets and timers.
      slicer: new Slicer(options.clock, sliceMs),
      startsPerLook: 1,
      startNext: () => this.#startNext(),
      mayEnd: () => this.#workers.isStopping && !this.#isWaiting,
    });
  }

  set concurrency(value: number) {
    this.#workers.concurrency = value;
    this.#asRun(() => this.#workers.pump());
  }

  /**
   * Takes items until the signal is aborted or the queue is shut down; resolves when the last worker is done. Rejects
   * then, if the queue has failed.
   */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#stop();
    this.#signal = signal;
    this.#asRun = AsyncLocalStorage.snapshot();
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) this.#workers.stop();
      this.#goOn(undefined);
      await this.#workers.ended;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #startNext(): boolean {
    if (this.#isWaiting) return false;
    try {
      const item = this.#held ?? requireItem(this.#options.queue.tryGetWithPriority());
      this.#held = undefined;
      if (item === undefined) this.#wait();
      else this.#start(item);
      return item !== undefined;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  #start(item: PrioritizedItem<R>): void {
    this.#workers.active++; // first: what the work does at once may change the limit
    try {
      this.#options.work(item, this.#signal).then(this.#onDone, this.#onBroken);
    } catch (error) {
      this.#workers.active--;
      throw error;
    }
  }

  readonly #onDone = (): void => {
    this.#workers.active--;
    this.#workers.next();
  };

  /** Nothing rejects but a queue that cannot release the item. */
  readonly #onBroken = (error: unknown): void => {
    this.#workers.active--;
    this.#fail(error);
  };

  #wait(): void {
    const next = this.#options.queue.getWithPriority({ signal: this.#signal });
    if (!isThenable(next))
      throw new TypeError(`getWithPriority of the queue returned ${shownType(next)}: expected a promise`);
    this.#isWaiting = true;
    // Of a promise that calls back at once, too, the item comes later.
    Promise.resolve(next).then(this.#onItem, (error: unknown) => {
      this.#isWaiting = false;
      this.#fail(error);
    });
  }

  readonly #onItem = (item: PrioritizedItem<R> | undefined): void => {
    try {
      requireItem(item);
    } catch (error) {
      this.#isWaiting = false;
      this.#fail(error);
      return;
    }
    if (item === undefined) this.#workers.stop();
    this.#goOn(item);
  };

  #goOn(item: PrioritizedItem<R> | undefined): void {
    this.#held = item;
    this.#isWaiting = false;
    this.#workers.pump();
    this.#giveBack();
  }

  /** If the limit was lowered while the pool waited, the item waits in the queue, in which it is counted. */
  #giveBack(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return;
    try {
      putBack(this.#options.queue, held);
    } catch (error) {
      this.#fail(error);
    }
  }

  #stop(): void {
    this.#workers.stop();
    this.#workers.checkEnd();
  }

  /** An error of the queue after the abort of the signal results from the abort. */
  #fail(error: unknown): void {
    if (this.#signal.aborted) this.#workers.stop();
    else this.#workers.fail(error);
    this.#workers.checkEnd();
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
