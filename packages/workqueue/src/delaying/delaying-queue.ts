import { DelayLine, requireDebounce } from './delay-line.js';
import { requireNumber } from '../errors.js';
import { FifoQueue } from '../fifo-queue.js';
import type { DelayingQueueOptions } from '../queue-options.js';
import { requireQueueOptions } from '../queue-options.js';
import { delayed } from '../slot-table.js';
import type { Debounce, DelayingQueue, InspectableQueue } from '../work-queue.js';

/**
 * Makes a queue to which work can be added for later.
 *
 * @throws QueueArgumentError for an option out of range; TypeError for one that is not known
 *
 * @example
 * ```ts
 * import { createDelayingQueue } from '@kctl/workqueue';
 *
 * const queue = createDelayingQueue();
 * queue.addAfter('shop/web-0', 5_000);
 * const key = await queue.get({ signal });
 * ```
 */
export function createDelayingQueue<T = string>(
  options: DelayingQueueOptions<T> = {},
): DelayingQueue<T> & InspectableQueue<T> {
  requireQueueOptions('createDelayingQueue', options);
  return new DelayingFifoQueue<T>(options);
}

/** The base queue with a line of delayed slots, which enter it as if they were added when their time comes. */
export class DelayingFifoQueue<T> extends FifoQueue<T> implements DelayingQueue<T> {
  readonly #line: DelayLine;

  constructor(options: DelayingQueueOptions<T>) {
    super(options);
    this.#line = new DelayLine({
      clock: this.clock,
      keepAlive: options.keepAlive ?? true,
      onDue: (slot) => {
        this.#leaveLine(slot);
        this.enqueue(slot);
      },
    });
  }

  get delayed(): number {
    return this.#line.size;
  }

  addAfter(item: T, delayMs: number): void {
    requireNumber('delayMs', delayMs);
    if (this.isDown) return;
    // client-go counts a retry even if there is no delay.
    this.metrics?.retried();
    if (delayMs <= 0) {
      this.add(item);
      return;
    }
    const slot = this.slotFor(item);
    if (slot >= 0) {
      if (this.#isInLine(slot)) this.#line.advance(slot, delayMs);
      else this.#line.push(this.#joinLine(slot), delayMs);
    }
    this.reportDropped();
  }

  addDebounced(item: T, debounce: Debounce): void {
    requireDebounce(debounce);
    if (this.isDown) return;
    const slot = this.slotFor(item);
    if (slot >= 0) {
      const isWaiting = this.#isInLine(slot);
      this.#line.debounce(this.#joinLine(slot), isWaiting, debounce);
    }
    this.reportDropped();
  }

  /**
   * A key that is given up is also removed from the delayed ones, because otherwise it would come back although it was
   * reported dropped.
   */
  override dropReady(): number {
    const slot = super.dropReady();
    if (slot >= 0 && this.#isInLine(slot)) {
      this.#line.remove(slot);
      this.#leaveLine(slot);
    }
    return slot;
  }

  protected override withdraw(slot: number): void {
    const isInLine = this.#isInLine(slot);
    super.withdraw(slot);
    if (isInLine) this.#line.remove(slot);
  }

  override dueAt(slot: number): number | undefined {
    return this.#isInLine(slot) ? this.#line.dueAt(slot) : undefined;
  }

  override shutDown(): void {
    this.#dropDelayed();
    super.shutDown();
  }

  override shutDownWithDrain(): Promise<void> {
    this.#dropDelayed();
    return super.shutDownWithDrain();
  }

  /** client-go's loop notices a shutdown within 10 s only; here what is not due goes at once. */
  #dropDelayed(): void {
    this.#line.clear((slot) => {
      this.#leaveLine(slot);
      if (this.table.flags[slot] === 0) this.table.release(slot);
    });
  }

  #isInLine(slot: number): boolean {
    return ((this.table.flags[slot] ?? 0) & delayed) !== 0;
  }

  #joinLine(slot: number): number {
    this.table.flags[slot] = (this.table.flags[slot] ?? 0) | delayed;
    return slot;
  }

  #leaveLine(slot: number): void {
    this.table.flags[slot] = (this.table.flags[slot] ?? 0) & ~delayed;
  }
}
