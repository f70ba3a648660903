import { orAborted } from '@kctl/wait';
import { abortReason } from '@kctl/wait/internal';
import { FifoClosedError } from './errors.js';

/** The pops of a queue, one at a time in the order of their calls. Each waits until an item exists. */
export class Pops {
  /** The end of the last pop that was called. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Resolves when something may be there to pop. */
  #wake: PromiseWithResolvers<void> | undefined;
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Something was queued. */
  wakeUp(): void {
    this.#wake?.resolve();
    this.#wake = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.wakeUp();
  }

  /**
   * Takes a turn: `next` returns undefined as long as nothing is there.
   *
   * @throws FifoClosedError if the queue is empty and closed; the signal's reason; the error of `next`
   */
  take<R>(next: () => Promise<R> | undefined, signal: AbortSignal | undefined): Promise<R> {
    const before = this.#turn;
    const turn = this.#afterThat(before, next, signal);
    // Without their results, which would hold everything popped before.
    this.#turn = Promise.allSettled([before, turn]).then(() => undefined);
    return turn;
  }

  async #afterThat<R>(
    before: Promise<unknown>,
    next: () => Promise<R> | undefined,
    signal: AbortSignal | undefined,
  ): Promise<R> {
    await orAborted(before, signal);
    for (;;) {
      if (signal?.aborted === true) throw abortReason(signal);
      const result = next();
      if (result !== undefined) return await result;
      if (this.#isClosed) throw new FifoClosedError();
      this.#wake ??= Promise.withResolvers();
      await orAborted(this.#wake.promise, signal);
    }
  }
}
