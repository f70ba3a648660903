import { ActiveLevels } from './ready-levels.js';
import type { ReadyLevels } from './ready-levels.js';
import { grown } from '../slot-table.js';

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
/** So many empty levels are kept for the next slot of their priority. */
const idleLevels = 64;

/**
 * Ready slots by priority, first in, first out. A doubly linked list per level and a short sorted list of the levels
 * that are not empty. A parked slot keeps its place and is passed over.
 */
export class PriorityLevels implements ReadyLevels {
  readonly #isParked: (slot: number) => boolean;
  #previous = new Int32Array(initialCapacity);
  #next = new Int32Array(initialCapacity);
  readonly #levels = new Map<number, Level>();
  readonly #active = new ActiveLevels<Level>();
  #size = 0;
  #parked = 0;

  constructor(isParked: (slot: number) => boolean) {
    this.#isParked = isParked;
  }

  get length(): number {
    return this.#size - this.#parked;
  }

  get lowest(): number {
    return this.#active.list.find((level) => level.size > level.parked)?.priority ?? Infinity;
  }

  push(slot: number, priority: number, isParked: boolean): void {
    if (slot >= this.#next.length) this.#grow(slot);
    const level = this.#levels.get(priority) ?? this.#open(priority);
    if (level.size === 0) this.#active.add(level);
    this.#previous[slot] = level.tail;
    this.#next[slot] = -1;
    if (level.tail < 0) level.head = slot;
    else this.#next[level.tail] = slot;
    level.tail = slot;
    level.size++;
    this.#size++;
    if (isParked) this.#park(level, 1);
  }

  raise(slot: number, from: number, to: number): void {
    this.remove(slot, from);
    this.push(slot, to, this.#isParked(slot));
  }

  remove(slot: number, priority: number): void {
    const level = this.#levels.get(priority);
    if (level === undefined) return;
    if (this.#isParked(slot)) this.#park(level, -1);
    this.#unlink(level, slot);
  }

  slots(): number[] {
    const slots: number[] = [];
    for (const { head } of this.#active.list.toReversed())
      for (let slot = head; slot >= 0; slot = this.#next[slot] ?? -1) if (!this.#isParked(slot)) slots.push(slot);
    return slots;
  }

  unpark(_slot: number, priority: number): void {
    const level = this.#levels.get(priority);
    if (level !== undefined) this.#park(level, -1);
  }

  take(): number {
    for (let index = this.#active.list.length - 1; index >= 0; index--) {
      const level = this.#active.list[index];
      if (level !== undefined && level.size > level.parked) return this.#takeFrom(level);
    }
    return -1;
  }

  takeLowest(): number {
    for (const level of this.#active.list) if (level.size > level.parked) return this.#takeFrom(level);
    return -1;
  }

  clear(onDrop: (slot: number, priority: number) => void): void {
    const levels = this.#active.list.splice(0);
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

  release(): void {
    this.#next = new Int32Array(initialCapacity);
    this.#previous = new Int32Array(initialCapacity);
  }

  #park(level: Level, by: 1 | -1): void {
    level.parked += by;
    this.#parked += by;
  }

  #takeFrom(level: Level): number {
    let slot = level.head;
    if (level.parked > 0) while (this.#isParked(slot)) slot = this.#next[slot] ?? -1;
    this.#unlink(level, slot);
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
    if (--level.size > 0) return;
    this.#active.remove(level);
    if (this.#levels.size > idleLevels) this.#levels.delete(level.priority);
  }

  #open(priority: number): Level {
    const level: Level = { priority, head: -1, tail: -1, size: 0, parked: 0 };
    this.#levels.set(priority, level);
    return level;
  }

  #grow(slot: number): void {
    const capacity = Math.max(slot + 1, this.#next.length * 2);
    this.#next = grown(this.#next, capacity);
    this.#previous = grown(this.#previous, capacity);
  }
}
