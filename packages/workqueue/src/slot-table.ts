import { defaultKey, keyBy } from './default-key.js';
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
/** This many idle keys are always remembered, because finding a returning key costs a third of creating it. */
const idleKeys = 1024;
/** Arrays of this size are kept when nothing is in use; larger ones are given up. */
const roomyCapacity = 4096;
/**
 * While more keys are in use, only new keys make room for themselves, because a drain need not move keys that will be
 * done soon.
 */
const movableKeys = 16_384;
/** At least so many known keys are looked at per new or released one while idle keys are being forgotten. */
const leastStride = 64;

/** Keys in use move to a new Map, so that the others are forgotten. */
interface Move {
  /** The Map before; it no longer changes. */
  readonly former: ReadonlyMap<QueueKey, number>;
  /** The slots of `former` that were not looked at yet. */
  readonly unmoved: Iterator<number, undefined>;
  /** So many slots are looked at in one step. */
  readonly stride: number;
}

/**
 * Maps keys to slots (small integers) and holds the state of each slot in parallel arrays. A key takes one Map entry
 * and a few bytes, and no object for the garbage collector to move. Everything else in a queue works on slots.
 *
 * A key whose flags fall to 0 is idle. It stays mapped for a while, because most keys come back, and because forgetting
 * many keys at once, by starting a new Map, is far cheaper than deleting each. Idle keys are too many when there are
 * more than 1,024 and more than twice those in use. Then the others move to a new Map, some with each key that comes or
 * goes, so that no single call takes long.
 */
export class SlotTable<T> {
  /** State bits by slot. */
  flags: Uint8Array<ArrayBuffer> = new Uint8Array(initialCapacity);
  /** Link by slot, for the one list that a slot is in. */
  next: Int32Array<ArrayBuffer> = new Int32Array(initialCapacity);
  /** The item handed out for a slot, which is the one added last. */
  items: (T | undefined)[] = [];
  /** How many slots have flags. */
  live = 0;
  /** How often in a row the work on a slot in use failed in a pool; only for failed slots. */
  readonly failures: Map<number, number> = new Map();

  readonly #key: KeyFunction<T> | undefined;
  readonly #onReset: () => void;
  #slots = new Map<QueueKey, number>();
  #moving: Move | undefined;
  /** By slot; undefined while each item is its own key. */
  #keys: (QueueKey | undefined)[] | undefined;
  #used = 0;
  #free = -1;
  #idle = 0;
  /** The slot found last. */
  #last = -1;
  /** Keys come in the same order as before, as in a resync, so the next slot is checked before the Map. */
  #isInOrder = false;

  constructor(key: KeyFunction<T> | undefined, onReset: () => void) {
    this.#key = key;
    this.#onReset = onReset;
    if (key !== undefined) this.#keys = [];
  }

  /** How many idle keys are remembered. */
  get idle(): number {
    return this.#idle;
  }

  /** The slot of a known key, else -1. */
  find(item: T): number {
    return this.#lookUp(this.keyOf(item));
  }

  /** Whether the key has flags. */
  isInUse(item: T): boolean {
    const slot = this.find(item);
    return slot >= 0 && this.flags[slot] !== 0;
  }

  /** The slot of a key, idle if the key is new. Keeps `item` as the one to hand out. */
  slotOf(item: T): number {
    const key = this.keyOf(item);
    const slot = this.#lookUp(key);
    if (slot < 0) return this.#insert(key, item);
    if (this.#keys !== undefined) this.items[slot] = item;
    return slot;
  }

  /** To be called when the flags of an idle slot are set. */
  use(): void {
    this.#idle--;
    this.live++;
  }

  /** To be called when the flags of a slot fell to 0. Slots may be renumbered by it when none is in use. */
  release(slot: number): void {
    this.live--;
    this.#idle++;
    if (this.failures.size > 0) this.failures.delete(slot);
    if (this.#keys !== undefined) this.items[slot] = undefined;
    if (this.live === 0) {
      if (this.#idle > idleKeys || this.#used > roomyCapacity) this.#reset();
    } else if (this.#moving !== undefined) {
      this.#move(this.#moving);
    } else if (this.live <= movableKeys && this.#hasExcess()) {
      this.#startMoving();
    }
  }

  /** The slot of a known key, else -1. A slot that is in the Map remembers its key, and no other does. */
  #lookUp(key: QueueKey): number {
    const next = this.#last + 1;
    if (this.#isInOrder && next < this.#used && this.#remembered(next) === key) {
      this.#last = next;
      return next;
    }
    const slot = this.#slots.get(key) ?? this.#unmovedSlot(key);
    if (slot >= 0) {
      this.#isInOrder = slot === next;
      this.#last = slot;
    }
    return slot;
  }

  /** The former Map also contains slots that were released meanwhile and have no key, or another. */
  #unmovedSlot(key: QueueKey): number {
    const slot = this.#moving?.former.get(key) ?? -1;
    return slot >= 0 && this.#remembered(slot) === key ? slot : -1;
  }

  #remembered(slot: number): unknown {
    return this.#keys === undefined ? this.items[slot] : this.#keys[slot];
  }

  /** The slots that have flags. O(known keys). */
  usedSlots(): number[] {
    const slots: number[] = [];
    for (let slot = 0; slot < this.#used; slot++) {
      const state = this.flags[slot] ?? 0;
      if (state !== 0 && state !== unused) slots.push(slot);
    }
    return slots;
  }

  /** The key of an item. @throws QueueArgumentError if it has none */
  keyOf(item: T): QueueKey {
    if (this.#key !== undefined) return keyBy(this.#key, item);
    if (typeof item === 'string') return item;
    const key = defaultKey(item);
    if (this.#keys === undefined && typeof item === 'object')
      this.#keys = this.items.map((known) => (known === undefined ? undefined : defaultKey(known)));
    return key;
  }

  #insert(key: QueueKey, item: T): number {
    if (this.#moving !== undefined) this.#move(this.#moving);
    else if (this.#hasExcess()) this.#startMoving();
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

  /** Begins to forget all idle keys; it ends before half of the keys in use are released. */
  #startMoving(): void {
    const former = this.#slots;
    const stride = Math.max(leastStride, Math.ceil((2 * former.size) / this.live));
    this.#moving = { former, unmoved: former.values(), stride };
    this.#slots = new Map();
    this.#move(this.#moving);
  }

  #move({ unmoved, stride }: Move): void {
    for (let left = stride; left > 0; left--) {
      const { value: slot } = unmoved.next();
      if (slot === undefined) {
        this.#moving = undefined;
        return;
      }
      if (this.flags[slot] === 0) this.#drop(slot);
      else this.#slots.set(this.#keyAt(slot), slot);
    }
  }

  /** The key of a slot that is in use. */
  #keyAt(slot: number): QueueKey {
    const key = this.#remembered(slot);
    return typeof key === 'number' ? key : String(key);
  }

  /** Frees a slot that is no longer mapped. */
  #drop(slot: number): void {
    this.items[slot] = undefined;
    if (this.#keys !== undefined) this.#keys[slot] = undefined;
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
    this.#moving = undefined;
    this.#idle = 0;
    this.#last = -1;
    this.#onReset();
  }
}

/** A copy with room for `capacity` elements. */
export function grown(array: Int32Array, capacity: number): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(capacity);
  copy.set(array);
  return copy;
}
