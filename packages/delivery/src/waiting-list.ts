import type { Checkpoints, Epoch } from './checkpoints.js';
import { mergeEvent } from './coalesce.js';
import type { CoalesceOptions } from './coalesce.js';
import { KeyMap } from './key-map.js';

/** The events of one object that wait for a handler, or are being delivered to it. */
export interface Unit<E> {
  readonly key: string | undefined;
  readonly events: E[];
  /** Which of the events is next. */
  next: number;
  /** The epoch that the unit counts for; undefined if another unit counts for it. */
  readonly epoch: Epoch | undefined;
  before: Unit<E> | undefined;
  after: Unit<E> | undefined;
}

export function createUnit<E>(key: string | undefined, event: E, epoch: Epoch | undefined): Unit<E> {
  return { key, events: [event], next: 0, epoch, before: undefined, after: undefined };
}

/**
 * Events waiting for a handler, in the order of the first event of each object. A linked list, so adding, taking and
 * removing cost O(1), and no removed entry is retained (an iterator over a Map that stays open retains each table that
 * the Map had).
 */
export class WaitingList<E> {
  readonly #options: CoalesceOptions<E>;
  readonly #checkpoints: Checkpoints;
  #byKey = new KeyMap<Unit<E>>();
  #unkeyed = 0;
  #first: Unit<E> | undefined;
  #last: Unit<E> | undefined;

  constructor(options: CoalesceOptions<E>, checkpoints: Checkpoints) {
    this.#options = options;
    this.#checkpoints = checkpoints;
  }

  /** How many objects have something that waits; of events without identity, how many wait. */
  get size(): number {
    return this.#byKey.size + this.#unkeyed;
  }

  /** Whether there is something to take. */
  get isReady(): boolean {
    return this.#first !== undefined;
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Adds an event; `isParked`: its object is not to be taken before {@link unpark}. */
  add(event: E, isParked: (key: string) => boolean): void {
    const key = this.#options.traits.keyOf(event);
    const present = key === undefined ? undefined : this.#byKey.get(key);
    if (present !== undefined) {
      mergeEvent(present.events, event, this.#options);
      if (present.events.length === 0) this.#remove(present);
      return;
    }
    const unit = createUnit(key, event, this.#checkpoints.begin());
    if (key === undefined) this.#unkeyed++;
    else this.#byKey.set(key, unit);
    if (key === undefined || !isParked(key)) this.#append(unit);
  }

  take(): Unit<E> | undefined {
    const unit = this.#first;
    if (unit === undefined) return undefined;
    this.#unlink(unit);
    if (unit.key === undefined) this.#unkeyed--;
    else this.#byKey.delete(unit.key);
    return unit;
  }

  /** Waiting events of an object may be taken from now on. */
  unpark(key: string): void {
    const unit = this.#byKey.get(key);
    if (unit !== undefined && !this.#isLinked(unit)) this.#append(unit);
  }

  clear(): void {
    this.#byKey = new KeyMap();
    this.#unkeyed = 0;
    this.#first = undefined;
    this.#last = undefined;
  }

  #remove(unit: Unit<E>): void {
    if (unit.key !== undefined) this.#byKey.delete(unit.key);
    if (this.#isLinked(unit)) this.#unlink(unit);
    if (unit.epoch !== undefined) this.#checkpoints.end(unit.epoch);
  }

  #isLinked(unit: Unit<E>): boolean {
    return unit.before !== undefined || this.#first === unit;
  }

  #append(unit: Unit<E>): void {
    unit.before = this.#last;
    if (this.#last === undefined) this.#first = unit;
    else this.#last.after = unit;
    this.#last = unit;
  }

  #unlink(unit: Unit<E>): void {
    const { before, after } = unit;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    unit.before = undefined;
    unit.after = undefined;
  }
}
