import type { Clock } from '@kctl/wait';
import { abortReason } from '@kctl/wait';
import type { PrioritizedItem } from '@kctl/workqueue';
import type { ReconcileQueue } from './reconcile-queue.js';

/** How long workers that never wait may keep the event loop, in ms. */
const sliceMs = 10;

/** Options of {@link WorkerPool}. */
export interface WorkerPoolOptions<R> {
  readonly queue: ReconcileQueue<R>;
  readonly concurrency: number;
  readonly clock: Clock;
  /** Gets the pool's signal, too. Must not reject. */
  readonly work: (item: PrioritizedItem<R>, signal: AbortSignal) => Promise<void>;
}

/** Hands items of a queue to at most `concurrency` workers at once; the number may change at any time. */
export class WorkerPool<R> {
  readonly #options: WorkerPoolOptions<R>;
  #active = 0;
  #concurrency: number;
  #wake: (() => void) | undefined;
  #sliceStart = 0;

  constructor(options: WorkerPoolOptions<R>) {
    this.#options = options;
    this.#concurrency = options.concurrency;
  }

  set concurrency(value: number) {
    this.#concurrency = value;
    this.#wake?.();
  }

  /** Takes items until the signal is aborted or the queue is shut down; resolves when the last worker is done. */
  async run(signal: AbortSignal): Promise<void> {
    const { queue } = this.#options;
    const wake = (): void => this.#wake?.();
    signal.addEventListener('abort', wake, { once: true });
    try {
      while (this.#mayStart(signal) || (await this.#hasFreeWorker(signal))) {
        const item = queue.tryGetWithPriority() ?? (await this.#wait(signal));
        if (item === undefined) break;
        // The limit may have been lowered while this loop waited; the item is ours already, so it waits for a worker.
        if (!this.#mayStart(signal) && !(await this.#hasFreeWorker(signal))) {
          putBack(queue, item);
          break;
        }
        this.#start(item, signal);
        if (this.#mustYield()) await this.#yield();
      }
    } finally {
      signal.removeEventListener('abort', wake);
      while (this.#active > 0) await this.#woken();
    }
  }

  /** The same as {@link #hasFreeWorker} without a promise, which would be the larger part of a reconcile that is quick. */
  #mayStart(signal: AbortSignal): boolean {
    return !signal.aborted && this.#active < this.#concurrency;
  }

  /** Waits for a free worker; false when the pool stops. */
  async #hasFreeWorker(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && this.#active >= this.#concurrency) await this.#woken();
    return !signal.aborted;
  }

  /** Resolves when a worker is done, the limit changes or the pool stops. */
  #woken(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  async #wait(signal: AbortSignal): Promise<PrioritizedItem<R> | undefined> {
    try {
      const item = await this.#options.queue.getWithPriority({ signal });
      this.#sliceStart = this.#options.clock.monotonicNow();
      return item;
    } catch (error) {
      if (signal.aborted && error === abortReason(signal)) return undefined;
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  #start(item: PrioritizedItem<R>, signal: AbortSignal): void {
    this.#active++;
    void this.#options.work(item, signal).then(this.#onDone);
  }

  readonly #onDone = (): void => {
    this.#active--;
    this.#wake?.();
  };

  /** Reconciles that answer without waiting would otherwise run back to back and starve sockets and timers. */
  #mustYield(): boolean {
    return this.#options.clock.monotonicNow() - this.#sliceStart >= sliceMs;
  }

  async #yield(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#sliceStart = this.#options.clock.monotonicNow();
  }
}

/** Queues a request again that was taken and not begun, as it was, after `afterMs`. */
export function putBack<R>(queue: ReconcileQueue<R>, taken: PrioritizedItem<R>, afterMs: number = 0): void {
  const { item, priority, reasons } = taken;
  for (const reason of reasons) queue.addWith({ afterMs, priority, reason }, item);
  if (reasons.length === 0) queue.addWith({ afterMs, priority }, item);
  queue.done(item);
}
