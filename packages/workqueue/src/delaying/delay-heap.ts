import { grown } from '../slot-table.js';

const initialCapacity = 64;
const branching = 4;

/**
 * Slots ordered by time, then by the order of their pushes. A 4-ary heap on typed arrays, with the place of each slot
 * known, so that a slot can be moved or removed.
 */
export class DelayHeap {
  #times = new Float64Array(initialCapacity);
  #slots = new Int32Array(initialCapacity);
  #orders = new Uint32Array(initialCapacity);
  /** By slot. */
  #places = new Int32Array(initialCapacity);
  #order = 0;
  size = 0;

  /** The earliest time; Infinity if the heap is empty. */
  get headTime(): number {
    return this.size === 0 ? Infinity : (this.#times[0] ?? Infinity);
  }

  /** The time of a slot that is in the heap. */
  timeOf(slot: number): number {
    return this.#times[this.#places[slot] ?? 0] ?? Infinity;
  }

  push(slot: number, time: number): void {
    const place = this.size++;
    if (place >= this.#times.length) this.#grow();
    if (slot >= this.#places.length) this.#places = grown(this.#places, Math.max(slot + 1, this.#places.length * 2));
    this.#order = (this.#order + 1) >>> 0;
    this.#up(place, slot, time, this.#order);
  }

  /** Gives a slot that is in the heap another time; among equal times it comes last. */
  move(slot: number, time: number): void {
    const place = this.#places[slot] ?? 0;
    this.#order = (this.#order + 1) >>> 0;
    this.#settle(place, slot, time, this.#order);
  }

  /** Removes a slot that is in the heap. */
  remove(slot: number): void {
    const place = this.#places[slot] ?? 0;
    const last = --this.size;
    if (place !== last) this.#settle(place, this.#slots[last] ?? 0, this.#times[last] ?? 0, this.#orders[last] ?? 0);
    if (last === 0) this.#shrink();
  }

  /** Removes and returns the earliest slot; call it only if `size` > 0. */
  pop(): number {
    const slot = this.#slots[0] ?? 0;
    const last = --this.size;
    if (last > 0) this.#down(0, this.#slots[last] ?? 0, this.#times[last] ?? 0, this.#orders[last] ?? 0);
    else this.#shrink();
    return slot;
  }

  #settle(place: number, slot: number, time: number, order: number): void {
    const parent = (place - 1) >> 2;
    if (place > 0 && this.#isBefore(time, order, parent)) this.#up(place, slot, time, order);
    else this.#down(place, slot, time, order);
  }

  #isBefore(time: number, order: number, place: number): boolean {
    const other = this.#times[place] ?? 0;
    return time < other || (time === other && order < (this.#orders[place] ?? 0));
  }

  #up(from: number, slot: number, time: number, order: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 2;
      if (!this.#isBefore(time, order, parent)) break;
      this.#copy(parent, place);
      place = parent;
    }
    this.#put(place, slot, time, order);
  }

  #down(from: number, slot: number, time: number, order: number): void {
    const times = this.#times;
    const orders = this.#orders;
    const size = this.size;
    let place = from;
    for (;;) {
      const first = place * branching + 1;
      if (first >= size) break;
      const end = first + branching < size ? first + branching : size;
      let least = first;
      let leastTime = times[first] ?? 0;
      for (let child = first + 1; child < end; child++) {
        const childTime = times[child] ?? 0;
        if (childTime < leastTime || (childTime === leastTime && (orders[child] ?? 0) < (orders[least] ?? 0))) {
          least = child;
          leastTime = childTime;
        }
      }
      if (leastTime > time || (leastTime === time && (orders[least] ?? 0) >= order)) break;
      this.#copy(least, place);
      place = least;
    }
    this.#put(place, slot, time, order);
  }

  #copy(from: number, to: number): void {
    this.#put(to, this.#slots[from] ?? 0, this.#times[from] ?? 0, this.#orders[from] ?? 0);
  }

  #put(place: number, slot: number, time: number, order: number): void {
    this.#times[place] = time;
    this.#slots[place] = slot;
    this.#orders[place] = order;
    this.#places[slot] = place;
  }

  #grow(): void {
    const capacity = this.#times.length * 2;
    const times = new Float64Array(capacity);
    times.set(this.#times);
    this.#times = times;
    const orders = new Uint32Array(capacity);
    orders.set(this.#orders);
    this.#orders = orders;
    this.#slots = grown(this.#slots, capacity);
  }

  #shrink(): void {
    if (this.#times.length <= initialCapacity * 64) return;
    this.#times = new Float64Array(initialCapacity);
    this.#slots = new Int32Array(initialCapacity);
    this.#orders = new Uint32Array(initialCapacity);
    this.#places = new Int32Array(initialCapacity);
  }
}
