import { grown } from './slot-table.js';

/** Slots of one priority, in the order of becoming ready. */
interface Level {
  readonly priority: number;
  head: number;
  tail: number;
  size: number;
  /** How many of them are being processed, and therefore not to be taken. */
  parked: number;
}

const initialCapacity = 64;

/**
 * Ready slots by priority: a doubly linked list per level and a short sorted list of the levels that are not empty.
 * A slot that is being processed keeps its place, parked, and is passed over.
 */
export class PriorityLevels {
  #previous = new Int32Array(initialCapacity);
  #next = new Int32Array(initialCapacity);
  /** When a slot became ready; kept for ageing only. */
  readonly #readyAt: number[] | undefined;
  readonly #levels = new Map<number, Level>();
  /** Not empty, ascending. */
  readonly #active: Level[] = [];
  #size = 0;
  #parked = 0;

  constructor(keepsTime: boolean) {
    this.#readyAt = keepsTime ? [] : undefined;
  }

  /** How many slots can be taken. */
  get length(): number {
    return this.#size - this.#parked;
  }

  /** How many wait for the end of their processing. */
  get parked(): number {
    return this.#parked;
  }

  push(slot: number, priority: number, now: number): void {
    if (slot >= this.#next.length) this.#grow(slot);
    const level = this.#levels.get(priority) ?? this.#open(priority);
    if (level.size === 0) this.#activate(level);
    this.#previous[slot] = level.tail;
    this.#next[slot] = -1;
    if (level.tail < 0) level.head = slot;
    else this.#next[level.tail] = slot;
    level.tail = slot;
    level.size++;
    this.#size++;
    if (this.#readyAt !== undefined) this.#readyAt[slot] = now;
  }

  /** Removes a slot that is in the level of this priority. */
  remove(slot: number, priority: number): void {
    const level = this.#levels.get(priority);
    if (level !== undefined) this.#unlink(level, slot);
  }

  /** The slot is being processed from now on (`by` = 1), or not any more (−1). */
  park(priority: number, by: 1 | -1): void {
    const level = this.#levels.get(priority);
    if (level === undefined) return;
    level.parked += by;
    this.#parked += by;
  }

  /** Removes and returns the first slot of the highest priority that `isParked` does not pass over; −1 if none. */
  take(isParked: (slot: number) => boolean): number {
    for (let index = this.#active.length - 1; index >= 0; index--) {
      const level = this.#active[index];
      if (level !== undefined && level.size > level.parked) return this.#takeFrom(level, isParked);
    }
    return -1;
  }

  /** Like {@link take} with the priority of each slot raised by 1 for each `stepMs` ms that it is ready. */
  takeAged(isParked: (slot: number) => boolean, now: number, stepMs: number): number {
    let best: Level | undefined;
    let bestPriority = -Infinity;
    for (let index = this.#active.length - 1; index >= 0; index--) {
      const level = this.#active[index];
      if (level === undefined || level.size === level.parked) continue;
      const oldest = this.#firstOf(level, isParked);
      const age = now - (this.#readyAt?.[oldest] ?? now);
      const priority = level.priority + Math.floor(age / stepMs);
      if (priority > bestPriority) {
        best = level;
        bestPriority = priority;
      }
    }
    return best === undefined ? -1 : this.#takeFrom(best, isParked);
  }

  /** Removes and returns the oldest slot of the lowest priority; −1 if none can be taken. */
  takeLowest(isParked: (slot: number) => boolean): number {
    for (const level of this.#active) if (level.size > level.parked) return this.#takeFrom(level, isParked);
    return -1;
  }

  /** The lowest priority of the slots that can be taken. */
  get lowest(): number {
    return this.#active.find((level) => level.size > level.parked)?.priority ?? Infinity;
  }

  #takeFrom(level: Level, isParked: (slot: number) => boolean): number {
    const slot = this.#firstOf(level, isParked);
    this.#unlink(level, slot);
    return slot;
  }

  #firstOf(level: Level, isParked: (slot: number) => boolean): number {
    let slot = level.head;
    if (level.parked > 0) while (isParked(slot)) slot = this.#next[slot] ?? -1;
    return slot;
  }

  #unlink(level: Level, slot: number): void {
    const previous = this.#previous[slot] ?? -1;
    const next = this.#next[slot] ?? -1;
    if (previous < 0) level.head = next;
    else this.#next[previous] = next;
    if (next < 0) level.tail = previous;
    else this.#previous[next] = previous;
    this.#size--;
    if (--level.size === 0) this.#deactivate(level);
  }

  #open(priority: number): Level {
    const level: Level = { priority, head: -1, tail: -1, size: 0, parked: 0 };
    this.#levels.set(priority, level);
    return level;
  }

  #activate(level: Level): void {
    this.#active.splice(this.#indexOf(level.priority), 0, level);
  }

  #deactivate(level: Level): void {
    this.#active.splice(this.#indexOf(level.priority), 1);
    if (this.#levels.size > 64) this.#levels.delete(level.priority);
  }

  /** Where a priority is, or would be, among the active levels. */
  #indexOf(priority: number): number {
    let low = 0;
    let high = this.#active.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#active[middle]?.priority ?? Infinity) < priority) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #grow(slot: number): void {
    const capacity = Math.max(slot + 1, this.#next.length * 2);
    this.#next = grown(this.#next, capacity);
    this.#previous = grown(this.#previous, capacity);
  }

  /** Removes all slots, parked ones too; `onDrop` gets each with its priority. */
  clear(onDrop: (slot: number, priority: number) => void): void {
    const levels = this.#active.splice(0);
    this.#size = 0;
    this.#parked = 0;
    for (const level of levels) {
      let slot = level.head;
      Object.assign(level, { head: -1, tail: -1, size: 0, parked: 0 });
      while (slot >= 0) {
        const next = this.#next[slot] ?? -1;
        onDrop(slot, level.priority);
        slot = next;
      }
    }
  }

  /** Gives up memory; call it only when no slot is in a level. */
  release(): void {
    this.#next = new Int32Array(initialCapacity);
    this.#previous = new Int32Array(initialCapacity);
    if (this.#readyAt !== undefined) this.#readyAt.length = 0;
  }
}
