import type { Clock, ClockTimer } from '@kctl/wait';
import { Slicer, startTimer } from '@kctl/wait/internal';
import { DelayHeap } from './delay-heap.js';
import { QueueArgumentError, requireNumber } from '../errors.js';
import { sliceMs } from '../slice.js';
import type { Debounce } from '../work-queue.js';

/** Slots are handed over in groups of this size between two looks at the clock. */
const groupSize = 256;

/** Options of {@link DelayLine}. */
export interface DelayLineOptions {
  readonly clock: Clock;
  readonly keepAlive: boolean;
  /** Called for each slot whose time has come; it is no longer in the line. */
  readonly onDue: (slot: number) => void;
}

/**
 * Slots that wait for their time. Uses one heap and one armed timer, which is set anew only when the head moves
 * forward. Many slots that fall due together are handed over in slices of a few ms, with a turn of the event loop
 * between.
 */
export class DelayLine {
  readonly #clock: Clock;
  readonly #keepAlive: boolean;
  readonly #onDue: (slot: number) => void;
  readonly #heap = new DelayHeap();
  /** The latest time of slots that are debounced. */
  readonly #latest = new Map<number, number>();
  #timer: ClockTimer | undefined;
  #armedFor = Infinity;
  readonly #slicer: Slicer;
  /** The next slice of slots that are due; undefined if none is scheduled. */
  #slice: object | undefined;

  constructor(options: DelayLineOptions) {
    this.#clock = options.clock;
    this.#keepAlive = options.keepAlive;
    this.#onDue = options.onDue;
    this.#slicer = new Slicer(options.clock, sliceMs);
  }

  get size(): number {
    return this.#heap.size;
  }

  /** When a slot of the line is due, in ms of the monotonic clock. */
  dueAt(slot: number): number {
    return this.#heap.timeOf(slot);
  }

  /** Puts a slot into the line. */
  push(slot: number, delayMs: number): void {
    this.#heap.push(slot, this.#clock.monotonicNow() + delayMs);
    this.#arm();
  }

  /** Lets a slot of the line be due in `delayMs` if that is earlier than it is now. */
  advance(slot: number, delayMs: number): void {
    const time = this.#clock.monotonicNow() + delayMs;
    if (time < this.#heap.timeOf(slot)) this.#heap.move(slot, time);
    const latest = this.#latest.get(slot);
    if (latest !== undefined && time < latest) this.#latest.set(slot, time);
    this.#arm();
  }

  /** Puts a slot into the line, or postpones it there, for a debounced add. */
  debounce(slot: number, isWaiting: boolean, debounce: Debounce): void {
    const now = this.#clock.monotonicNow();
    const known = this.#latest.get(slot) ?? now + debounce.maxMs;
    const latest = isWaiting && !this.#latest.has(slot) ? Math.min(known, this.#heap.timeOf(slot)) : known;
    this.#latest.set(slot, latest);
    const time = Math.min(now + debounce.quietMs, latest);
    if (isWaiting) this.#heap.move(slot, time);
    else this.#heap.push(slot, time);
    this.#arm();
  }

  /** Takes a slot out of the line. */
  remove(slot: number): void {
    this.#heap.remove(slot);
    this.#forget(slot);
    if (this.#heap.size === 0) this.#disarm();
  }

  /** Empties the line at once, without handing anything over; `onDrop` gets each slot. */
  clear(onDrop: (slot: number) => void): void {
    this.#disarm();
    this.#latest.clear();
    while (this.#heap.size > 0) onDrop(this.#heap.pop());
  }

  #arm(): void {
    const head = this.#heap.headTime;
    if (head >= this.#armedFor || this.#slice !== undefined) return;
    this.#timer?.cancel();
    this.#armedFor = head;
    const onTimer = (): void => this.#onTimer();
    this.#timer = startTimer(this.#clock, onTimer, head - this.#clock.monotonicNow(), { keepAlive: this.#keepAlive });
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#armedFor = Infinity;
    this.#slice = undefined;
  }

  #onTimer(): void {
    this.#timer = undefined;
    this.#armedFor = Infinity;
    this.#slice = undefined;
    const start = this.#clock.monotonicNow();
    this.#slicer.begin();
    try {
      while (this.#heap.headTime <= start) {
        for (let left = groupSize; left > 0 && this.#heap.headTime <= start; left--) {
          const slot = this.#heap.pop();
          this.#forget(slot);
          this.#onDue(slot);
        }
        if (!this.#slicer.isOver) continue;
        if (this.#heap.headTime <= start) this.#continue();
        break;
      }
    } finally {
      // Even if a custom backing queue has thrown, because the other slots still fall due.
      this.#arm();
    }
  }

  #continue(): void {
    const slice = (this.#slice = {});
    this.#slicer.schedule(() => {
      if (this.#slice === slice) this.#onTimer();
    });
  }

  #forget(slot: number): void {
    if (this.#latest.size > 0) this.#latest.delete(slot);
  }
}

/** @throws QueueArgumentError for bounds that make no sense */
export function requireDebounce(debounce: Debounce): void {
  if (typeof debounce !== 'object' || debounce === null)
    throw new QueueArgumentError('debounce', debounce, 'give { quietMs, maxMs }');
  requireNumber('debounce.quietMs', debounce.quietMs, 0);
  requireNumber('debounce.maxMs', debounce.maxMs, debounce.quietMs);
}
