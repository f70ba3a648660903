import { systemClock } from '@kctl/wait';
import { Waiters, type InformerWaitOptions } from '../waiters.js';
import { FifoClosedError } from './errors.js';

/** State of a queue that waits for its first replacement depend on. */
export interface QueueState {
  readonly hasSynced: boolean;
  readonly isClosed: boolean;
  readonly length: number;
}

/** The waits for the first replacement of a queue to be processed. */
export class SyncWaiters {
  readonly #queue: QueueState;
  readonly #waiters = new Waiters(systemClock);
  #isProcessing = false;

  constructor(queue: QueueState) {
    this.#queue = queue;
  }

  wait(options: InformerWaitOptions = {}): Promise<void> {
    if (this.#isOver) return Promise.reject(closed());
    return this.#waiters.wait(
      () => this.#queue.hasSynced,
      options,
      () =>
        new Error(`the queue has not synced in ${options.timeoutMs ?? 0} ms: its first replacement is not processed`),
    );
  }

  /** Something has changed. `isProcessing`: an item is still processed. */
  check(isProcessing: boolean = this.#isProcessing): void {
    this.#isProcessing = isProcessing;
    this.#waiters.check();
    if (this.#isOver) this.#waiters.fail(closed);
  }

  /** Whether the queue ended without having synced. */
  get #isOver(): boolean {
    const { hasSynced, isClosed, length } = this.#queue;
    return !hasSynced && isClosed && length === 0 && !this.#isProcessing;
  }
}

function closed(): Error {
  return new FifoClosedError();
}
