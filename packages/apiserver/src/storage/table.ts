import { createDeque, type Deque } from './deque.js';
import type { ObjectVersion } from './version.js';

/** One committed change of one object. */
export interface StoreEvent {
  readonly revision: number;
  /** Name of the table, which is the storage key of the resource. */
  readonly table: string;
  /** `namespace/name`, or `name` for cluster-scoped objects. */
  readonly key: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The new state; of a deletion the last state, under the deletion's revision. */
  readonly current: ObjectVersion;
  readonly previous: ObjectVersion | undefined;
  /** When it was committed, on the monotonic clock, in ms. */
  readonly at: number;
}

interface Entry {
  readonly revision: number;
  /** If absent, deleted at this revision. */
  readonly version: ObjectVersion | undefined;
}

/** All versions of all objects of one resource. Only the store writes to it. */
export interface Table {
  readonly name: string;
  /** Nothing before this revision is kept, so reads and watches from before it are expired. */
  readonly floor: number;
  /** How many objects live now. */
  readonly size: number;
  get(key: string): ObjectVersion | undefined;
  getAt(key: string, revision: number): ObjectVersion | undefined;
  /** Live objects at a revision, in key order, from the first key ≥ `start`; `prefix` bounds them. */
  scan(options: ScanOptions): Iterable<readonly [string, ObjectVersion]>;
  /** How many objects lived at a revision among keys ≥ `start` with the prefix. */
  count(options: ScanOptions): number;
  /** The first event after `revision`: an index into {@link eventAt}. */
  eventsAfter(revision: number): number;
  eventAt(index: number): StoreEvent | undefined;
}

/** Range of a scan. */
export interface ScanOptions {
  /** Only keys that begin with it. @default '' */
  readonly prefix?: string;
  /** Begin at this key. @default the first one */
  readonly start?: string;
  /** The state at this revision. @default now */
  readonly revision?: number;
}

/** The table with its writing side. */
export interface WritableTable extends Table {
  append(event: StoreEvent): void;
  /** Drops what no reader at or after `revision` needs of one key. */
  trim(key: string, revision: number): void;
  /** Forgets the oldest event. */
  dropEvent(): StoreEvent | undefined;
  raiseFloor(revision: number): void;
}

/** Index of the first element for which `isBefore` is false. */
function lowerBound(length: number, isBefore: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function entryAt(chain: readonly Entry[], revision: number): Entry | undefined {
  return chain[lowerBound(chain.length, (index) => (chain[index]?.revision ?? 0) <= revision) - 1];
}

class MemoryTable implements WritableTable {
  readonly name: string;
  #floor: number;
  #size = 0;
  /** Sorted; a key stays as long as its chain has any entry. */
  readonly #keys: string[] = [];
  readonly #chains = new Map<string, Entry[]>();
  readonly #events: Deque<StoreEvent> = createDeque();

  constructor(name: string, floor: number) {
    this.name = name;
    this.#floor = floor;
  }

  get floor(): number {
    return this.#floor;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): ObjectVersion | undefined {
    return this.#chains.get(key)?.at(-1)?.version;
  }

  getAt(key: string, revision: number): ObjectVersion | undefined {
    const chain = this.#chains.get(key);
    return chain === undefined ? undefined : entryAt(chain, revision)?.version;
  }

  *scan({ prefix = '', start = '', revision }: ScanOptions): Iterable<readonly [string, ObjectVersion]> {
    let index = this.#indexOf(start > prefix ? start : prefix);
    for (let key = this.#keys[index]; key?.startsWith(prefix) === true; key = this.#keys[++index]) {
      const version = revision === undefined ? this.get(key) : this.getAt(key, revision);
      if (version !== undefined) yield [key, version];
    }
  }

  count(options: ScanOptions): number {
    const { prefix = '', start = '', revision } = options;
    if (prefix === '' && start === '' && revision === undefined) return this.#size;
    let found = 0;
    for (const _ of this.scan(options)) found++;
    return found;
  }

  eventsAfter(revision: number): number {
    return lowerBound(this.#events.length, (index) => (this.#events.at(index)?.revision ?? 0) <= revision);
  }

  eventAt(index: number): StoreEvent | undefined {
    return this.#events.at(index);
  }

  append(event: StoreEvent): void {
    const { key, revision, type, current } = event;
    let chain = this.#chains.get(key);
    if (chain === undefined) {
      chain = [];
      this.#chains.set(key, chain);
      this.#insertKey(key);
    }
    if (type === 'ADDED') this.#size++;
    if (type === 'DELETED') this.#size--;
    chain.push({ revision, version: type === 'DELETED' ? undefined : current });
    this.#events.push(event);
  }

  trim(key: string, revision: number): void {
    const chain = this.#chains.get(key);
    if (chain === undefined) return;
    const needed = lowerBound(chain.length, (index) => (chain[index]?.revision ?? 0) <= revision) - 1;
    if (needed < 0) return;
    const drop = chain[needed]?.version === undefined ? needed + 1 : needed;
    chain.splice(0, drop);
    if (chain.length > 0) return;
    this.#chains.delete(key);
    this.#keys.splice(this.#indexOf(key), 1);
  }

  dropEvent(): StoreEvent | undefined {
    const event = this.#events.shift();
    if (event !== undefined) this.raiseFloor(event.revision);
    return event;
  }

  raiseFloor(revision: number): void {
    this.#floor = Math.max(this.#floor, revision);
  }

  #indexOf(key: string): number {
    return lowerBound(this.#keys.length, (index) => (this.#keys[index] ?? '') < key);
  }

  #insertKey(key: string): void {
    const last = this.#keys.at(-1);
    if (last === undefined || last < key) this.#keys.push(key);
    else this.#keys.splice(this.#indexOf(key), 0, key);
  }
}

/** An empty table whose history begins at `floor`. */
export function createTable(name: string, floor: number): WritableTable {
  return new MemoryTable(name, floor);
}
