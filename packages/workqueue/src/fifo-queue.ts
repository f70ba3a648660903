import { CustomOrder, requireBackingQueue } from './backing-queue.js';
import { noGetOptions, QueueArgumentError } from './errors.js';
import type { FailurePolicy } from './pool.js';
import { QueueBase } from './queue-base.js';
import type { WorkQueueOptions } from './queue-options.js';
import { requireQueueOptions } from './queue-options.js';
import { delayed, dirty, processing, ready } from './slot-table.js';
import type { GetOptions } from './worker-pool.js';
import type { InspectableQueue, WorkQueue } from './work-queue.js';

/**
 * Makes a queue with client-go's base semantics.
 *
 * @throws QueueArgumentError for an option out of range; TypeError for one that is not known
 *
 * @example
 * ```ts
 * import { createWorkQueue } from '@kctl/workqueue';
 *
 * const queue = createWorkQueue<string>();
 * for (const key of ['shop/web', 'shop/cart', 'shop/web']) queue.add(key); // the second shop/web is merged
 * const pool = queue.run({ concurrency: 2 }, (key) => console.log(key));
 * queue.shutDown();
 * await pool.ended;
 * ```
 */
export function createWorkQueue<T = string>(options: WorkQueueOptions<T> = {}): WorkQueue<T> & InspectableQueue<T> {
  requireQueueOptions('createWorkQueue', options);
  return new FifoQueue<T>(options);
}

/** The base queue, first in, first out. */
export class FifoQueue<T> extends QueueBase<T, T> implements WorkQueue<T> {
  /** Ready slots are linked through the table's `next`. */
  #head = -1;
  #tail = -1;
  #length = 0;
  /** Decides the order in place of the links. */
  readonly #custom: CustomOrder<T> | undefined;

  override readonly failurePolicy: FailurePolicy<T> = {
    verdict: 'stop',
    attempt: () => 1,
    retry: (item) => this.add(item),
    forget: () => undefined,
  };

  constructor(options: WorkQueueOptions<T>) {
    super(options, false);
    if (options.queue === undefined) return;
    requireBackingQueue(options.queue);
    this.#custom = new CustomOrder(options.queue, this.table);
  }

  override get length(): number {
    return this.#length;
  }

  override add(item: T): void {
    if (this.isDown) return;
    const slot = this.slotFor(item);
    if (slot >= 0) this.enqueue(slot);
    this.reportDropped();
  }

  override get(options: GetOptions = noGetOptions): Promise<T | undefined> {
    return this.waitForNext(options);
  }

  override shutDown(): void {
    this.isDown = true;
    this.endDrain();
    this.checkEnd();
  }

  override shutDownWithDrain(): Promise<void> {
    this.isDown = true;
    this.checkEnd();
    // As in client-go, if there never was a worker, waiting items do not hold the drain up.
    return this.isUnattended ? Promise.resolve() : this.drained();
  }

  /** The slot of an item in use from now on; -1 if the bound refuses it. The caller sets a flag. */
  protected slotFor(item: T): number {
    if (!this.admits(item)) return -1;
    const { table } = this;
    const slot = table.slotOf(item);
    if (table.flags[slot] === 0) table.use();
    return slot;
  }

  /** Marks a slot as needing work. Corresponds to client-go's Add after the look-up. */
  protected enqueue(slot: number): void {
    const { flags } = this.table;
    const state = flags[slot] ?? 0;
    if ((state & (ready | dirty)) !== 0) {
      if ((state & processing) === 0) this.#custom?.touch(slot);
      return;
    }
    this.metrics?.added(slot, 0);
    if ((state & processing) !== 0) {
      flags[slot] = state | dirty;
      return;
    }
    flags[slot] = state | ready;
    this.#append(slot);
  }

  protected override takeReady(): number {
    const slot = this.#shift();
    if (slot < 0) return -1;
    const { flags } = this.table;
    flags[slot] = ((flags[slot] ?? 0) & ~ready) | processing;
    this.metrics?.taken(slot, 0);
    return slot;
  }

  override dropReady(): number {
    const slot = this.#shift();
    if (slot < 0) return -1;
    const { flags } = this.table;
    flags[slot] = (flags[slot] ?? 0) & ~ready;
    this.metrics?.dropped(slot, 0);
    return slot;
  }

  protected override settle(slot: number): void {
    const { flags } = this.table;
    const state = (flags[slot] ?? 0) & ~processing;
    if ((state & dirty) !== 0) {
      flags[slot] = (state & ~dirty) | ready;
      this.#append(slot);
      return;
    }
    flags[slot] = state;
    if (state === 0) this.table.release(slot);
  }

  protected override requeue(slot: number): void {
    const { flags } = this.table;
    const state = flags[slot] ?? 0;
    if ((state & dirty) !== 0) return;
    flags[slot] = state | dirty;
    this.metrics?.requeued(slot, 0);
  }

  protected override withdraw(slot: number): void {
    const { flags } = this.table;
    const state = flags[slot] ?? 0;
    if ((state & ready) !== 0 && this.#custom?.canRemove === false)
      throw new QueueArgumentError('queue.delete', undefined, 'give the custom queue a method delete(item)');
    const failure = (state & ready) === 0 ? undefined : this.#unlink(slot);
    if ((state & (ready | dirty)) !== 0) this.metrics?.dropped(slot, 0);
    flags[slot] = state & ~(ready | dirty | delayed);
    if (failure !== undefined) throw failure.error;
  }

  override readySlots(): readonly number[] {
    if (this.#custom !== undefined) return this.#custom.slots();
    const slots: number[] = [];
    for (let slot = this.#head; slot >= 0; slot = this.table.next[slot] ?? -1) slots.push(slot);
    return slots;
  }

  override dueAt(_slot: number): number | undefined {
    return undefined;
  }

  override priorityOf(_slot: number): number {
    return 0;
  }

  protected override handedOut(slot: number): T | undefined {
    return this.table.items[slot];
  }

  #append(slot: number): void {
    if (this.#custom !== undefined) {
      this.#pushCustom(slot, this.#custom);
      return;
    }
    const { next } = this.table;
    next[slot] = -1;
    if (this.#tail < 0) this.#head = slot;
    else next[this.#tail] = slot;
    this.#tail = slot;
    this.#length++;
    this.wake();
  }

  /**
   * If the custom queue does not take a key, it does not wait, because otherwise each later add of it would be merged
   * into nothing.
   */
  #pushCustom(slot: number, custom: CustomOrder<T>): void {
    try {
      custom.push(slot);
    } catch (error) {
      const { flags } = this.table;
      this.metrics?.dropped(slot, 0);
      flags[slot] = (flags[slot] ?? 0) & ~ready;
      if (flags[slot] === 0) this.table.release(slot);
      throw error;
    }
    this.#length++;
    this.wake();
  }

  /**
   * Takes a slot out of the order. Returns what a custom queue threw that has removed the item all the same.
   *
   * @throws the error of a custom queue that still has the item, which then continues to wait
   */
  #unlink(slot: number): { readonly error: unknown } | undefined {
    if (this.#custom !== undefined) {
      const failure = this.#custom.remove(slot);
      this.#length--;
      return failure;
    }
    this.#length--;
    const { next } = this.table;
    let before = -1;
    for (let other = this.#head; other !== slot; other = next[other] ?? -1) before = other;
    const after = next[slot] ?? -1;
    if (before < 0) this.#head = after;
    else next[before] = after;
    if (after < 0) this.#tail = before;
    return undefined;
  }

  #shift(): number {
    if (this.#custom !== undefined) {
      if (this.#length === 0) return -1;
      const popped = this.#custom.pop();
      this.#length--;
      return popped;
    }
    const slot = this.#head;
    if (slot < 0) return -1;
    this.#head = this.table.next[slot] ?? -1;
    if (this.#head < 0) this.#tail = -1;
    this.#length--;
    return slot;
  }
}
