import { QueueArgumentError, requireFunction } from './errors.js';
import { ready } from './slot-table.js';
import type { SlotTable } from './slot-table.js';

/**
 * Decides the order in which waiting items are handed out. The work queue around it merges, and hands each key to one
 * worker at a time, so a backing queue never gets a key twice. Mirrors `workqueue.Queue` of client-go.
 */
export interface BackingQueue<T> {
  /** How many items it holds. */
  readonly length: number;
  /** An item begins to wait. */
  push(item: T): void;
  /** Removes and returns the next item to hand out. Called only if there is one. */
  pop(): T | undefined;
  /** A waiting item was added again. The queue may move it, or replace it by its newest form. */
  touch?(item: T): void;
  /** Removes an item that waits. Without it `delete` of the work queue refuses keys that wait. */
  delete?(item: T): void;
  /** The items in the order of their hand-out, for `entries` of the work queue. @default in the order of first use */
  [Symbol.iterator]?(): Iterator<T>;
}

/** @throws QueueArgumentError for what lacks the methods of a {@link BackingQueue} */
export function requireBackingQueue(queue: unknown): void {
  if (typeof queue !== 'object' || queue === null)
    throw new QueueArgumentError('queue', queue, 'give an object with push, pop and length');
  requireFunction('queue.push', 'push' in queue ? queue.push : undefined);
  requireFunction('queue.pop', 'pop' in queue ? queue.pop : undefined);
}

/** A {@link BackingQueue}, by slots. */
export class CustomOrder<T> {
  readonly #queue: BackingQueue<T>;
  readonly #table: SlotTable<T>;

  constructor(queue: BackingQueue<T>, table: SlotTable<T>) {
    this.#queue = queue;
    this.#table = table;
  }

  push(slot: number): void {
    const item = this.#table.items[slot];
    if (item !== undefined) this.#queue.push(item);
  }

  touch(slot: number): void {
    const item = this.#table.items[slot];
    if (item !== undefined) this.#queue.touch?.(item);
  }

  /** @throws QueueArgumentError if the queue returns an item that was not pushed, or that it returned before */
  pop(): number {
    const item = this.#queue.pop();
    const slot = item === undefined ? -1 : this.#table.find(item);
    if (slot < 0 || ((this.#table.flags[slot] ?? 0) & ready) === 0)
      throw new QueueArgumentError(
        'the result of queue.pop',
        item,
        'return an item that was pushed and not yet returned',
      );
    return slot;
  }

  /**
   * Returns the error of the queue although it is shorter by then, so it has removed the item.
   *
   * @throws what the queue throws otherwise
   */
  remove(slot: number): { readonly error: unknown } | undefined {
    const item = this.#table.items[slot];
    if (item === undefined) return undefined;
    const before = this.#queue.length;
    try {
      this.#queue.delete?.(item);
      return undefined;
    } catch (error) {
      if (this.#queue.length < before) return { error };
      throw error;
    }
  }

  get canRemove(): boolean {
    return this.#queue.delete !== undefined;
  }

  slots(): number[] {
    const { flags } = this.#table;
    const isReady = (slot: number): boolean => slot >= 0 && ((flags[slot] ?? 0) & ready) !== 0;
    const items = this.#queue[Symbol.iterator]?.call(this.#queue);
    if (items === undefined) return this.#table.usedSlots().filter(isReady);
    return [...Iterator.from(items)].map((item) => this.#table.find(item)).filter(isReady);
  }
}
