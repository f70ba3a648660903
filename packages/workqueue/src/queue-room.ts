import { QueueFullError } from './errors.js';
import type { QueueBound } from './queue-options.js';
import type { SlotTable } from './slot-table.js';

/** So often what the adds of `onDrop` drop is handed to it again, for one add. */
const mostDropRounds = 1000;
const addsForEver = `bound.onDrop was called ${mostDropRounds} times in a row for what its own adds have dropped: let it stop adding`;

/** The parts of a queue that its bound needs. */
export interface RoomSource<T> {
  readonly table: SlotTable<T>;
  readonly processing: number;
  /** Removes the slot that a full queue gives up first; -1 if none is ready. */
  dropReady(): number;
}

/** The room of a queue with a bound. Drops items, or refuses them, if there is none. */
export class QueueRoom<T> {
  readonly #bound: QueueBound<T>;
  readonly #source: RoomSource<T>;
  /** Items dropped by the add in progress. */
  #dropped: T[] | undefined;
  #isReporting = false;

  constructor(bound: QueueBound<T>, source: RoomSource<T>) {
    this.#bound = bound;
    this.#source = source;
  }

  /** Whether an item may be added. True if its key is pending already; otherwise applies the bound. */
  admits(item: T): boolean {
    return this.#source.table.isInUse(item) || this.#make(item);
  }

  /**
   * Calls `onDrop` for the items dropped by the bound, when the add is complete. A hook may add, and its errors cost no
   * key. Items dropped by its adds follow when it has returned, so that a hook which always adds needs no stack.
   *
   * @throws the first error of the hook, after all calls
   * @throws RangeError if the hook keeps adding
   */
  report(): void {
    if (this.#dropped === undefined || this.#isReporting) return;
    let failure: { readonly error: unknown } | undefined;
    this.#isReporting = true;
    for (let round = 0; this.#dropped !== undefined; round++) {
      const dropped: readonly T[] = this.#dropped;
      this.#dropped = undefined;
      if (round === mostDropRounds) {
        failure ??= { error: new RangeError(addsForEver) };
        break;
      }
      for (const item of dropped)
        try {
          this.#bound.onDrop?.(item);
        } catch (error) {
          failure ??= { error };
        }
    }
    this.#isReporting = false;
    if (failure !== undefined) throw failure.error;
  }

  #make(item: T): boolean {
    if (this.#hasRoom()) return true;
    const { maxPending, overflow = 'throw' } = this.#bound;
    const { table } = this.#source;
    if (overflow === 'throw') throw new QueueFullError(maxPending, item);
    while (overflow === 'dropOldest' && !this.#hasRoom()) {
      const slot = this.#source.dropReady();
      if (slot < 0) break;
      const dropped = table.items[slot];
      if (table.flags[slot] === 0) table.release(slot);
      if (dropped !== undefined) this.#noteDropped(dropped);
    }
    if (this.#hasRoom()) return true;
    this.#noteDropped(item);
    return false;
  }

  #noteDropped(item: T): void {
    if (this.#dropped === undefined) this.#dropped = [item];
    else this.#dropped.push(item);
  }

  #hasRoom(): boolean {
    return this.#source.table.live - this.#source.processing < this.#bound.maxPending;
  }
}
