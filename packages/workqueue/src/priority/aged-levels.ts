import { ActiveLevels } from './ready-levels.js';
import type { ReadyLevels } from './ready-levels.js';
import { grown } from '../slot-table.js';

/** Slots of one priority, in a binary heap by age. Parked slots are not in it. */
interface Level {
  readonly priority: number;
  readonly heap: number[];
}

/** Options of {@link AgedLevels}. */
export interface AgedLevelsOptions {
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** A slot gains 1 of priority for each `stepMs` ms that it is ready. */
  readonly stepMs: number;
}

const initialCapacity = 64;

/**
 * Ready slots by priority and age. The age of a slot counts from the moment it became ready and is kept when its
 * priority is raised, so a raise never makes a slot less urgent. Inside a priority the oldest is first, so that a slot
 * can enter a level anywhere. O(log n) for each change, and O(levels in use) to find the most urgent one.
 */
export class AgedLevels implements ReadyLevels {
  readonly #options: AgedLevelsOptions;
  readonly #levels = new Map<number, Level>();
  readonly #active = new ActiveLevels<Level>();
  /** Parked slots with their priority; as many as there are workers at most. */
  readonly #parked = new Map<number, number>();
  /** By slot. When it became ready. */
  #readyAt = new Float64Array(initialCapacity);
  /** By slot. Orders slots that became ready at the same time. */
  #sequences = new Float64Array(initialCapacity);
  /** By slot. Its place in the heap of its level. */
  #places = new Int32Array(initialCapacity);
  #sequence = 0;
  #size = 0;

  constructor(options: AgedLevelsOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#size;
  }

  get lowest(): number {
    return this.#active.list[0]?.priority ?? Infinity;
  }

  push(slot: number, priority: number, isParked: boolean): void {
    if (slot >= this.#places.length) this.#grow(slot);
    this.#readyAt[slot] = this.#options.now();
    this.#sequences[slot] = this.#sequence++;
    if (isParked) this.#parked.set(slot, priority);
    else this.#insert(slot, priority);
  }

  raise(slot: number, from: number, to: number): void {
    this.#sequences[slot] = this.#sequence++;
    if (this.#parked.has(slot)) {
      this.#parked.set(slot, to);
      return;
    }
    const level = this.#levels.get(from);
    if (level !== undefined) this.#remove(level, this.#places[slot] ?? 0);
    this.#insert(slot, to);
  }

  remove(slot: number, priority: number): void {
    if (this.#parked.delete(slot)) return;
    const level = this.#levels.get(priority);
    if (level !== undefined) this.#remove(level, this.#places[slot] ?? 0);
  }

  slots(): number[] {
    const now = this.#options.now();
    const urgency = ({ priority, heap }: Level): { priority: number; slot: number; aged: number }[] =>
      heap.map((slot) => ({ priority, slot, aged: this.#aged(priority, slot, now) }));
    return [...this.#levels.values()]
      .flatMap(urgency)
      .toSorted((a, b) => b.aged - a.aged || b.priority - a.priority || (this.#isOlder(a.slot, b.slot) ? -1 : 1))
      .map(({ slot }) => slot);
  }

  unpark(slot: number, priority: number): void {
    if (this.#parked.delete(slot)) this.#insert(slot, priority);
  }

  take(): number {
    const now = this.#options.now();
    let best: Level | undefined;
    let bestPriority = -Infinity;
    // From the highest. Of equally urgent slots the one with the higher unaged priority goes first.
    for (let index = this.#active.list.length - 1; index >= 0; index--) {
      const level = this.#active.list[index];
      if (level === undefined) continue;
      const priority = this.#aged(level.priority, level.heap[0] ?? 0, now);
      if (priority > bestPriority) {
        best = level;
        bestPriority = priority;
      }
    }
    return best === undefined ? -1 : this.#remove(best, 0);
  }

  takeLowest(): number {
    const [level] = this.#active.list;
    return level === undefined ? -1 : this.#remove(level, 0);
  }

  clear(onDrop: (slot: number, priority: number) => void): void {
    const levels = this.#active.list.splice(0);
    const parked = [...this.#parked];
    this.#levels.clear();
    this.#parked.clear();
    this.#size = 0;
    for (const { heap, priority } of levels) for (const slot of heap) onDrop(slot, priority);
    for (const [slot, priority] of parked) onDrop(slot, priority);
  }

  release(): void {
    this.#readyAt = new Float64Array(initialCapacity);
    this.#sequences = new Float64Array(initialCapacity);
    this.#places = new Int32Array(initialCapacity);
  }

  /** The priority of a slot with what its age adds. */
  #aged(priority: number, slot: number, now: number): number {
    return priority + Math.floor((now - (this.#readyAt[slot] ?? now)) / this.#options.stepMs);
  }

  #insert(slot: number, priority: number): void {
    let level = this.#levels.get(priority);
    if (level === undefined) {
      level = { priority, heap: [] };
      this.#levels.set(priority, level);
      this.#active.add(level);
    }
    level.heap.push(slot);
    this.#size++;
    this.#up(level.heap, level.heap.length - 1, slot);
  }

  #remove(level: Level, place: number): number {
    const { heap } = level;
    const slot = heap[place] ?? -1;
    const last = heap.pop() ?? -1;
    this.#size--;
    if (heap.length === 0) {
      this.#levels.delete(level.priority);
      this.#active.remove(level);
    } else if (last !== slot) {
      const parent = heap[(place - 1) >> 1];
      if (place > 0 && parent !== undefined && this.#isOlder(last, parent)) this.#up(heap, place, last);
      else this.#down(heap, place, last);
    }
    return slot;
  }

  #up(heap: number[], from: number, slot: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above] ?? -1;
      if (!this.#isOlder(slot, parent)) break;
      this.#put(heap, place, parent);
      place = above;
    }
    this.#put(heap, place, slot);
  }

  #down(heap: number[], from: number, slot: number): void {
    let place = from;
    for (;;) {
      let below = place * 2 + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && this.#isOlder(heap[below + 1] ?? -1, heap[below] ?? -1)) below++;
      const child = heap[below] ?? -1;
      if (!this.#isOlder(child, slot)) break;
      this.#put(heap, place, child);
      place = below;
    }
    this.#put(heap, place, slot);
  }

  #put(heap: number[], place: number, slot: number): void {
    heap[place] = slot;
    this.#places[slot] = place;
  }

  #isOlder(slot: number, other: number): boolean {
    const [time, otherTime] = [this.#readyAt[slot] ?? 0, this.#readyAt[other] ?? 0];
    return time < otherTime || (time === otherTime && (this.#sequences[slot] ?? 0) < (this.#sequences[other] ?? 0));
  }

  #grow(slot: number): void {
    const capacity = Math.max(slot + 1, this.#places.length * 2);
    this.#places = grown(this.#places, capacity);
    this.#readyAt = grownFloats(this.#readyAt, capacity);
    this.#sequences = grownFloats(this.#sequences, capacity);
  }
}

function grownFloats(array: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const copy = new Float64Array(capacity);
  copy.set(array);
  return copy;
}
