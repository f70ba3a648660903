import { abortReason } from '@kctl/wait/internal';
import type { IdleOptions } from './work-queue.js';

/** The parts of a queue that tell whether it is idle. */
export interface IdleState {
  readonly processing: number;
  readonly length: number;
  /** How many keys there are, those that are delayed included. */
  readonly live: number;
}

/** Someone who waits for the queue to be idle. */
interface IdleWaiter {
  readonly includeDelayed: boolean;
  resolve(): void;
}

/** Those who wait for the queue to be idle. */
export class IdleWaiters {
  readonly #state: IdleState;
  readonly #waiters = new Set<IdleWaiter>();
  #isCheckDue = false;

  constructor(state: IdleState) {
    this.#state = state;
  }

  wait({ signal, includeDelayed = false }: IdleOptions): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(abortReason(signal));
    const { promise, resolve, reject }: PromiseWithResolvers<void> = Promise.withResolvers();
    const onAbort = (): void => {
      this.#waiters.delete(waiter);
      reject(signal === undefined ? new Error('aborted') : abortReason(signal));
    };
    const waiter: IdleWaiter = {
      includeDelayed,
      resolve: () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
    };
    this.#waiters.add(waiter);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.check();
    return promise;
  }

  /** At the end of the synchronous step, so that its adds count. */
  check(): void {
    if (this.#waiters.size === 0 || this.#isCheckDue) return;
    this.#isCheckDue = true;
    queueMicrotask(() => {
      this.#isCheckDue = false;
      const { processing, length, live } = this.#state;
      if (processing > 0 || length > 0) return;
      for (const waiter of this.#waiters) {
        if (waiter.includeDelayed && live > 0) continue;
        this.#waiters.delete(waiter);
        waiter.resolve();
      }
    });
  }
}
