import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import type { StoredObject } from './stored-object.js';

/**
 * The place of one key in a store; what it holds changes with each version, its identity does not. Views that were
 * sorted before it left the store may still refer to it; it then holds nothing.
 */
export class Entry<T extends KubeObject> {
  #stored: StoredObject<T> | undefined;
  /** The object of the present version once it was read. Another step would make long lists wait for memory. */
  #object: DeepReadonly<T> | undefined;
  /**
   * The results of each index for the present version, cached so that an update does not evaluate the old object again.
   */
  values: readonly IndexValues[];

  constructor(stored: StoredObject<T>) {
    this.#stored = stored;
    this.#object = undefined;
    this.values = noValues;
  }

  get stored(): StoredObject<T> {
    if (this.#stored === undefined) throw new Error('the entry has left its store');
    return this.#stored;
  }

  set stored(stored: StoredObject<T>) {
    this.#stored = stored;
    this.#object = undefined;
  }

  /** @throws the error of reading the object, if its bytes are not a valid object */
  get object(): DeepReadonly<T> {
    if (this.#object !== undefined) return this.#object;
    const { stored } = this;
    const { object } = stored;
    // The holder of the bytes decides how long the object lives.
    if (stored.isParsed) this.#object = object;
    return object;
  }

  /** Whether it has left the store. */
  get isGone(): boolean {
    return this.#stored === undefined;
  }

  /** Drops what it holds, as it leaves the store. */
  leave(): void {
    this.#stored = undefined;
    this.#object = undefined;
    this.values = noValues;
  }
}

/** Of entries that no index has anything of. */
export const noValues: readonly IndexValues[] = [];

/** Values of one index. Mostly one, so the common case needs no array. */
export type IndexValues = string | readonly string[] | undefined;

/** By namespace, then by name, in code units, so the order is the same everywhere. */
export function compareEntries<T extends KubeObject>(a: Entry<T>, b: Entry<T>): number {
  const left = a.stored;
  const right = b.stored;
  if (left.namespace !== right.namespace) return left.namespace < right.namespace ? -1 : 1;
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}

/** The source of the entries of a {@link SortedView}. */
export interface EntrySource<T extends KubeObject> {
  readonly size: number;
  entries(): Iterable<Entry<T>>;
  has(entry: Entry<T>): boolean;
}

/**
 * Entries in order. Sorted at the first read, and from then on by merging the changes.
 *
 * Adding and removing cost O(1). A read costs O(1) without changes since the last one, O(n) with some, O(n log n) at
 * first and after most entries have left. It refers to at most twice as many entries as the source has.
 */
export class SortedView<T extends KubeObject> {
  readonly #source: EntrySource<T>;
  #sorted: Entry<T>[] | undefined;
  /** Entries that came since the last read and are still there. */
  readonly #added = new Set<Entry<T>>();
  /** How many of the sorted ones have left since. */
  #removed = 0;

  constructor(source: EntrySource<T>) {
    this.#source = source;
  }

  added(entry: Entry<T>): void {
    if (this.#sorted !== undefined) this.#added.add(entry);
  }

  /** To be called after the source has dropped the entry. */
  removed(entry: Entry<T>): void {
    if (this.#sorted === undefined || this.#added.delete(entry)) return;
    this.#removed++;
    if (this.#removed <= mostRemoved + this.#source.size) return;
    this.#sorted = undefined;
    this.#added.clear();
    this.#removed = 0;
  }

  /** The entries in order. Not to be changed; a later write may replace it. */
  read(): readonly Entry<T>[] {
    if (this.#sorted === undefined) return (this.#sorted = [...this.#source.entries()].sort(compareEntries));
    if (this.#removed > 0) {
      // One that left and came back is among those that were added.
      this.#sorted = this.#sorted.filter((entry) => this.#source.has(entry) && !this.#added.has(entry));
      this.#removed = 0;
    }
    if (this.#added.size > 0) {
      this.#sorted = merge(this.#sorted, [...this.#added].sort(compareEntries));
      this.#added.clear();
    }
    return this.#sorted;
  }
}

/** How many entries may have left a small view before it is dropped. */
const mostRemoved = 16;

/** The entries under one value of an index; they can be read in order. */
export class SortedEntries<T extends KubeObject> implements EntrySource<T> {
  readonly value: string;
  /** The results of all indexes for one of these entries, most often the same as for the others. */
  lastValues: readonly IndexValues[] | undefined;
  readonly #members = new Set<Entry<T>>();
  #view: SortedView<T> | undefined;

  constructor(value: string) {
    this.value = value;
  }

  get size(): number {
    return this.#members.size;
  }

  entries(): Iterable<Entry<T>> {
    return this.#members;
  }

  has(entry: Entry<T>): boolean {
    return this.#members.has(entry);
  }

  add(entry: Entry<T>): void {
    this.#members.add(entry);
    this.#view?.added(entry);
  }

  delete(entry: Entry<T>): void {
    this.#members.delete(entry);
    this.#view?.removed(entry);
  }

  read(): readonly Entry<T>[] {
    this.#view ??= new SortedView(this);
    return this.#view.read();
  }
}

function merge<T extends KubeObject>(left: readonly Entry<T>[], right: readonly Entry<T>[]): Entry<T>[] {
  const merged: Entry<T>[] = [];
  let next = 0;
  for (const entry of left) {
    for (let other = right[next]; other !== undefined && compareEntries(other, entry) < 0; other = right[++next])
      merged.push(other);
    merged.push(entry);
  }
  for (let other = right[next]; other !== undefined; other = right[++next]) merged.push(other);
  return merged;
}
