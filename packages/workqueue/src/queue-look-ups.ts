import type { Clock } from '@kctl/wait';
import type { FailurePolicy } from './pool.js';
import { delayed, dirty, processing, ready } from './slot-table.js';
import type { SlotTable } from './slot-table.js';
import type { QueueEntry } from './work-queue.js';

/** Items not being worked on yet. */
const pending = ready | dirty | delayed;

/** The parts of a queue that look-ups read. */
export interface LookUpSource<T> {
  readonly clock: Clock;
  readonly table: SlotTable<T>;
  readonly failurePolicy: FailurePolicy<T>;
  /** The slots that are ready and not being processed, in the order of their hand-out. */
  readySlots(): readonly number[];
  /** When the delay of the slot ends, in ms of the monotonic clock; undefined if not delayed. */
  dueAt(slot: number): number | undefined;
  /** The priority that a pending slot is queued with. */
  priorityOf(slot: number): number;
}

/** What a queue contains, without a change of it. */
export class QueueLookUps<T> {
  readonly #source: LookUpSource<T>;

  constructor(source: LookUpSource<T>) {
    this.#source = source;
  }

  has(item: T): boolean {
    return (this.#stateOf(item) & pending) !== 0;
  }

  peek(item: T): QueueEntry<T> | undefined {
    const slot = this.#source.table.find(item);
    return slot < 0 || this.#source.table.flags[slot] === 0 ? undefined : this.#entry(slot);
  }

  entries(): QueueEntry<T>[] {
    const slots = this.#source.table.usedSlots();
    const { flags } = this.#source.table;
    const has = (slot: number, flag: number): boolean => ((flags[slot] ?? 0) & flag) !== 0;
    const isLater = (slot: number): boolean => has(slot, delayed) && !has(slot, processing | ready);
    const dueAt = (slot: number): number => this.#source.dueAt(slot) ?? Infinity;
    return [
      ...slots.filter((slot) => has(slot, processing)),
      ...this.#source.readySlots(),
      ...slots.filter(isLater).toSorted((a, b) => dueAt(a) - dueAt(b)),
    ].flatMap((slot) => this.#entry(slot) ?? []);
  }

  #stateOf(item: T): number {
    return this.#source.table.flags[this.#source.table.find(item)] ?? 0;
  }

  #entry(slot: number): QueueEntry<T> | undefined {
    const item = this.#source.table.items[slot];
    if (item === undefined) return undefined;
    const state = this.#source.table.flags[slot] ?? 0;
    const dueAt = this.#source.dueAt(slot);
    return {
      key: this.#source.table.keyOf(item),
      item,
      isReady: (state & (ready | dirty)) !== 0,
      isProcessing: (state & processing) !== 0,
      dueInMs: dueAt === undefined ? undefined : Math.max(0, dueAt - this.#source.clock.monotonicNow()),
      priority: (state & pending) === 0 ? 0 : this.#source.priorityOf(slot),
      numRequeues: this.#source.failurePolicy.attempt(item) - 1,
    };
  }
}
