import type { KubeObject } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import type { FieldPaths } from '@kctl/apimachinery/internal/wire';
import { IndexFunctionError } from './errors.js';
import type { CompiledIndex, ReadableIndex } from './index-table.js';
import { compactValues, IndexTable } from './index-table.js';
import type { StoredWrite } from './indexer.js';
import { Shelf } from './shelf.js';
import type { IndexValues } from './sorted-entries.js';
import { Entry, noValues } from './sorted-entries.js';
import type { StoredObject } from './stored-object.js';

/** The indexes of a store, as they are at one time. */
export interface IndexSet<T extends KubeObject> {
  readonly indexes: readonly CompiledIndex<T>[];
  readonly paths: FieldPaths | undefined;
  /** Whether an update that changes no field that a path leads to changes no value either. */
  readonly followsFields: boolean;
  /**
   * Receives the errors of index functions; the object is then stored without values for it. If unset, the write fails.
   */
  readonly onIndexError: ((error: IndexFunctionError) => void) | undefined;
}

/** The content of a store between two replacements (objects and indexes). */
export class Generation<T extends KubeObject> {
  readonly set: IndexSet<T>;
  readonly tables: readonly ReadableIndex<T>[];
  /** The tables that entries have values for. Excludes the namespace index, whose buckets are the shelves. */
  readonly #kept: readonly IndexTable<T>[];
  readonly #shelves = new Map<string, Shelf<T>>();
  #namespaces: readonly string[] | undefined;
  #size = 0;

  /** Shared by the generations that hold the same objects under different indexes. */
  readonly origin: symbol;

  constructor(set: IndexSet<T>, origin: symbol = Symbol('generation')) {
    this.set = set;
    this.origin = origin;
    const kept: IndexTable<T>[] = [];
    this.tables = set.indexes.map((index) => {
      if (index.isNamespace) return this.#namespaceTable(index);
      const table = new IndexTable(index);
      kept.push(table);
      return table;
    });
    this.#kept = kept;
  }

  get size(): number {
    return this.#size;
  }

  find(namespace: string, name: string): Entry<T> | undefined {
    return this.#shelves.get(namespace)?.get(name);
  }

  /**
   * Stores a version; all index values are known before anything changes.
   *
   * @throws IndexFunctionError if no handler receives the errors of index functions
   */
  put(stored: StoredObject<T>, write: StoredWrite = {}): StoredObject<T> | undefined {
    const { namespace } = stored;
    let shelf = this.#shelves.get(namespace);
    const present = shelf?.get(stored.name);
    const values = this.#valuesOf(stored, write, present);
    const before = present?.stored;
    const entry = present ?? new Entry(stored);
    if (present === undefined) {
      if (shelf === undefined) {
        this.#shelves.set(namespace, (shelf = new Shelf()));
        this.#namespaces = undefined;
      }
      shelf?.add(entry);
      this.#size++;
    } else present.stored = stored;
    if (values !== entry.values) entry.values = this.#move(entry, values);
    return before;
  }

  remove(namespace: string, name: string): StoredObject<T> | undefined {
    const shelf = this.#shelves.get(namespace);
    const entry = shelf?.get(name);
    if (shelf === undefined || entry === undefined) return undefined;
    shelf.delete(entry);
    if (shelf.size === 0) {
      this.#shelves.delete(namespace);
      this.#namespaces = undefined;
    }
    this.#size--;
    for (let index = 0; index < this.#kept.length; index++)
      this.#kept[index]?.update(entry, entry.values[index], undefined);
    const { stored } = entry;
    entry.leave();
    return stored;
  }

  /** Entries in order, of one namespace or of all. */
  read(namespace?: string): readonly Entry<T>[] {
    if (namespace !== undefined) return this.#shelves.get(namespace)?.read() ?? [];
    const all: Entry<T>[] = [];
    for (const name of this.#sortedNamespaces())
      for (const entry of this.#shelves.get(name)?.read() ?? []) all.push(entry);
    return all;
  }

  /** All versions, in no order, one by one. Versions added meanwhile are included, removed ones are left out. */
  *versions(): Generator<StoredObject<T>, undefined> {
    for (const shelf of this.#shelves.values()) for (const entry of shelf.entries()) yield entry.stored;
    return undefined;
  }

  /** All versions, in no order. The fastest iteration. */
  collect(): StoredObject<T>[] {
    const all: StoredObject<T>[] = [];
    for (const shelf of this.#shelves.values()) for (const entry of shelf.entries()) all.push(entry.stored);
    return all;
  }

  #namespaceTable(index: CompiledIndex<T>): ReadableIndex<T> {
    return {
      index,
      read: (value, namespace) => (namespace === undefined || namespace === value ? this.read(value) : []),
      values: () => [...this.#sortedNamespaces()],
    };
  }

  #sortedNamespaces(): readonly string[] {
    this.#namespaces ??= [...this.#shelves.keys()].sort();
    return this.#namespaces;
  }

  #valuesOf(stored: StoredObject<T>, write: StoredWrite, present: Entry<T> | undefined): readonly IndexValues[] {
    // Without paths there are no fields that could differ.
    const same = write.hasPresentFields === true || this.set.paths === undefined ? present : undefined;
    return same !== undefined && this.set.followsFields ? same.values : this.#findValues(stored, write.fields, same);
  }

  /** `same` has the values of all fields. A separate method, because its closures would add a cost to each update. */
  #findValues(
    stored: StoredObject<T>,
    known: StoredWrite['fields'],
    same: Entry<T> | undefined,
  ): readonly IndexValues[] {
    if (this.#kept.length === 0) return noValues;
    const { paths } = this.set;
    const fields = paths === undefined || same !== undefined ? [] : (known ?? stored.fields(paths));
    return this.#kept.map(({ index }, place) => {
      if (index.field < 0) return this.#compute(index, stored);
      return same === undefined ? fields[index.field] : same.values[place];
    });
  }

  #move(entry: Entry<T>, values: readonly IndexValues[]): readonly IndexValues[] {
    const moved = this.#kept.map((table, index) => table.update(entry, entry.values[index], values[index]));
    return this.#shared(moved);
  }

  /** The same values, as an array shared by entries with the same values if they were found one after the other. */
  #shared(values: readonly IndexValues[]): readonly IndexValues[] {
    const value = values[0];
    const bucket = typeof value === 'string' ? this.#kept[0]?.bucket(value) : undefined;
    if (bucket === undefined) return values;
    const { lastValues } = bucket;
    if (lastValues?.every((each, index) => each === values[index]) === true) return lastValues;
    bucket.lastValues = values;
    return values;
  }

  #compute(index: CompiledIndex<T>, stored: StoredObject<T>): IndexValues {
    const { onIndexError } = this.set;
    try {
      return compactValues(index.compute(stored));
    } catch (cause) {
      const error = new IndexFunctionError(index.name, formatKey(stored), { cause });
      if (onIndexError === undefined) throw error;
      onIndexError(error);
      return undefined;
    }
  }
}
