import { defaultKey } from './default-key.js';
import type { KeyFunction, QueueKey } from './work-queue.js';

/** Waits to be handed out. */
export const ready = 1;
/** Handed out and not done. */
export const processing = 2;
/** Added again while it was handed out. */
export const dirty = 4;
/** Waits for its time. */
export const delayed = 8;
/** Belongs to no key. */
const unused = 128;

const initialCapacity = 64;
/** So many keys that nothing waits for are always remembered: to find a returning key costs a third of making it. */
const idleKeys = 1024;
/** Arrays of this size are kept when nothing is in use; larger ones are given up. */
const roomyCapacity = 4096;
/** Up to so many keys in use are moved to a new Map in one step; it takes a few ms. */
const movableKeys = 16_384;
/** Slots looked at per new key while there are too many idle ones: two of three are idle then. */
const sweepSteps = 4;

/**
 * Maps keys to slots (small integers) and holds the state of each slot in parallel arrays: per key one Map entry and
 * a few bytes, and no object for the garbage collector to move. Everything else in a queue works on slots.
 *
 * A key whose flags fall to 0 is idle: it stays mapped for a while, since most keys come back, and since forgetting
 * many keys at once, by starting a new Map, is far cheaper than deleting each. Idle keys are too many when there are
 * more than 1,024 and more than twice those in use. They go at once when few keys are in use, else as new keys come.
 */
export class SlotTable<T> {
  /** State bits by slot. */
  flags: Uint8Array<ArrayBuffer> = new Uint8Array(initialCapacity);
  /** Link by slot, for the one list that a slot is in. */
  next: Int32Array<ArrayBuffer> = new Int32Array(initialCapacity);
  /** What is handed out for a slot: the item that was added last. */
  items: (T | undefined)[] = [];
  /** How many slots have flags. */
  live = 0;

  readonly #key: KeyFunction<T> | undefined;
  readonly #onReset: () => void;
  #slots = new Map<QueueKey, number>();
  /** By slot; undefined while each item is its own key. */
  #keys: QueueKey[] | undefined;
  #used = 0;
  #free = -1;
  #idle = 0;
  #hand = 0;

  constructor(key: KeyFunction<T> | undefined, onReset: () => void) {
    this.#key = key;
    this.#onReset = onReset;
    if (key !== undefined) this.#keys = [];
  }

  /** How many keys are remembered that nothing waits for. */
  get idle(): number {
    return this.#idle;
  }

  /** The slot of a known key, else −1. */
  find(item: T): number {
    return this.#slots.get(this.#keyOf(item)) ?? -1;
  }

  /** Keeps `item` as the one to hand out for the slot of its key. */
  refresh(slot: number, item: T): void {
    if (this.#keys !== undefined) this.items[slot] = item;
  }

  /** Whether the key has flags. */
  isInUse(item: T): boolean {
    const slot = this.find(item);
    return slot >= 0 && this.flags[slot] !== 0;
  }

  /** The slot of a key, idle if the key is new. Keeps `item` as the one to hand out. */
  slotOf(item: T): number {
    const key = this.#keyOf(item);
    const slot = this.#slots.get(key);
    if (slot === undefined) return this.#insert(key, item);
    if (this.#keys !== undefined) this.items[slot] = item;
    return slot;
  }

  /** To be called when the flags of an idle slot are set. */
  use(): void {
    this.#idle--;
    this.live++;
  }

  /** To be called when the flags of a slot fell to 0. Slots may be renumbered by it when none is in use any more. */
  release(slot: number): void {
    this.live--;
    this.#idle++;
    if (this.#keys !== undefined) this.items[slot] = undefined;
    if (this.live === 0) {
      if (this.#idle > idleKeys || this.#used > roomyCapacity) this.#reset();
    } else if (this.live <= movableKeys && this.#hasExcess()) {
      this.#compact();
    }
  }

  #keyOf(item: T): QueueKey {
    if (this.#key !== undefined) return this.#key(item);
    if (typeof item === 'string') return item;
    const key = defaultKey(item);
    if (this.#keys === undefined && typeof item === 'object')
      this.#keys = this.items.map((known) => (known === undefined ? '' : defaultKey(known)));
    return key;
  }

  #insert(key: QueueKey, item: T): number {
    if (this.live > movableKeys && this.#hasExcess()) this.#sweep();
    let slot = this.#free;
    if (slot >= 0) {
      this.#free = this.next[slot] ?? -1;
    } else {
      slot = this.#used++;
      if (slot >= this.flags.length) this.#grow();
    }
    this.flags[slot] = 0;
    this.items[slot] = item;
    if (this.#keys !== undefined) this.#keys[slot] = key;
    this.#slots.set(key, slot);
    this.#idle++;
    return slot;
  }

  #grow(): void {
    const flags = new Uint8Array(this.flags.length * 2);
    flags.set(this.flags);
    this.flags = flags;
    this.next = grown(this.next, flags.length);
  }

  #hasExcess(): boolean {
    return this.#idle > idleKeys && this.#idle > 2 * this.live;
  }

  #sweep(): void {
    for (let step = 0; step < sweepSteps; step++) {
      this.#hand = this.#hand + 1 < this.#used ? this.#hand + 1 : 0;
      if (this.flags[this.#hand] !== 0) continue;
      this.#slots.delete(this.#keyAt(this.#hand));
      this.#drop(this.#hand);
    }
  }

  /** Forgets all idle keys by moving the others to a new Map. */
  #compact(): void {
    const known = this.#slots;
    this.#slots = new Map();
    if (known.size * 8 > this.#used) {
      for (let slot = 0; slot < this.#used; slot++) if (this.flags[slot] !== unused) this.#keepOrDrop(slot);
    } else {
      for (const slot of known.values()) this.#keepOrDrop(slot);
    }
  }

  #keepOrDrop(slot: number): void {
    if (this.flags[slot] === 0) this.#drop(slot);
    else this.#slots.set(this.#keyAt(slot), slot);
  }

  #keyAt(slot: number): QueueKey {
    const key: unknown = this.#keys === undefined ? this.items[slot] : this.#keys[slot];
    return typeof key === 'number' ? key : String(key);
  }

  /** Makes a slot free that is not mapped any more. */
  #drop(slot: number): void {
    this.items[slot] = undefined;
    if (this.#keys !== undefined) this.#keys[slot] = '';
    this.flags[slot] = unused;
    this.next[slot] = this.#free;
    this.#free = slot;
    this.#idle--;
  }

  #reset(): void {
    this.#slots = new Map();
    this.items = [];
    if (this.#keys !== undefined) this.#keys = [];
    this.flags = new Uint8Array(initialCapacity);
    this.next = new Int32Array(initialCapacity);
    this.#used = 0;
    this.#free = -1;
    this.#idle = 0;
    this.#hand = 0;
    this.#onReset();
  }
}

/** A copy with room for `capacity` elements. */
export function grown(array: Int32Array, capacity: number): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(capacity);
  copy.set(array);
  return copy;
}
