import type { DeepReadonly, KubeObject, ObjectKey } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import type { FieldPaths } from '@kctl/apimachinery/internal/wire';
import { compileFieldPaths } from '@kctl/apimachinery/internal/wire';
import { IndexConflictError, IndexFunctionError, UnknownIndexError } from './errors.js';
import type { IndexSet } from './generation.js';
import { Generation } from './generation.js';
import type { IndexDefinition } from './index-definition.js';
import type { IndexListOptions, IndexSnapshot } from './index-reader.js';
import { compactValues, compileIndex, valuesOf } from './index-table.js';
import type { CompiledIndex, ReadableIndex } from './index-table.js';
import type { Indexer, IndexerOptions, Replacement, StoredWrite } from './indexer.js';
import { pick } from './pick.js';
import { createSnapshot } from './snapshot.js';
import { compareEntries } from './sorted-entries.js';
import type { Entry } from './sorted-entries.js';
import type { StoredObject } from './stored-object.js';
import { storeObject } from './stored-object.js';
import { requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';

const listOptionNames: OptionNames<IndexListOptions> = { namespace: true, selector: true };

/** The default Indexer. Holds one generation of objects and indexes, replaced as a whole. */
export class IndexedStore<T extends KubeObject> implements Indexer<T> {
  readonly #objects: Reading<T, DeepReadonly<T>> = { entry: ({ object }) => object, version: ({ object }) => object };
  readonly #versions: Reading<T, StoredObject<T>> = { entry: storedOf, version: itself };
  readonly #keys: Reading<T, string> = { entry: ({ stored }) => formatKey(stored), version: formatKey };
  readonly #freeze: boolean;
  readonly #onIndexError: IndexerOptions<T>['onIndexError'];
  readonly #onUnreadable: IndexerOptions<T>['onUnreadable'];
  #generation: Generation<T>;
  #resourceVersion = '';

  constructor(options: IndexerOptions<T>) {
    this.#freeze = options.freeze ?? true;
    this.#onIndexError = options.onIndexError;
    this.#onUnreadable = options.onUnreadable;
    this.#generation = new Generation(this.#extend([], options.indexers ?? {}));
  }

  get size(): number {
    return this.#generation.size;
  }

  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  get indexNames(): readonly string[] {
    return this.#generation.set.indexes.map((index) => index.name);
  }

  get fieldPaths(): FieldPaths | undefined {
    return this.#generation.set.paths;
  }

  get(key: ObjectKey): DeepReadonly<T> | undefined {
    return this.#generation.find(key.namespace ?? '', key.name)?.object;
  }

  stored(key: ObjectKey): StoredObject<T> | undefined {
    return this.#generation.find(key.namespace ?? '', key.name)?.stored;
  }

  has(key: ObjectKey): boolean {
    return this.stored(key) !== undefined;
  }

  list(options: IndexListOptions = {}): DeepReadonly<T>[] {
    return this.#pick(this.#generation.read(options.namespace), options, this.#objects);
  }

  listStored(options: IndexListOptions = {}): StoredObject<T>[] {
    return this.#pick(this.#generation.read(options.namespace), options, this.#versions);
  }

  values(): Iterable<StoredObject<T>> {
    return this.#generation.versions();
  }

  listKeys(options: IndexListOptions = {}): string[] {
    return this.#pick(this.#generation.read(options.namespace), options, this.#keys);
  }

  byIndex(indexName: string, value: string, options: IndexListOptions = {}): DeepReadonly<T>[] {
    return this.#pick(this.#table(indexName).read(value, options.namespace), options, this.#objects);
  }

  storedByIndex(indexName: string, value: string, options: IndexListOptions = {}): StoredObject<T>[] {
    return this.#pick(this.#table(indexName).read(value, options.namespace), options, this.#versions);
  }

  indexKeys(indexName: string, value: string): string[] {
    return this.#pick(this.#table(indexName).read(value, undefined), {}, this.#keys);
  }

  index(indexName: string, object: DeepReadonly<T>): DeepReadonly<T>[] {
    const table = this.#table(indexName);
    const [value, ...others] = this.indexValues(indexName, object);
    if (value === undefined) return [];
    const entries = table.read(value, undefined);
    if (others.length === 0) return this.#pick(entries, {}, this.#objects);
    const found = new Set([...entries, ...others.flatMap((other) => table.read(other, undefined))]);
    return this.#pick([...found].sort(compareEntries), {}, this.#objects);
  }

  indexValues(indexName: string, object: DeepReadonly<T>): readonly string[] {
    const { index } = this.#table(indexName);
    const stored = storeObject<T>(object, { freeze: false });
    const { paths } = this.#generation.set;
    if (index.field >= 0) return valuesOf(paths === undefined ? undefined : stored.fields(paths)[index.field]);
    try {
      return valuesOf(compactValues(index.compute(stored)));
    } catch (cause) {
      // As stored. If errors are handled, an object for which an index function fails has no values.
      if (this.#onIndexError !== undefined) return [];
      throw new IndexFunctionError(indexName, formatKey(stored), { cause });
    }
  }

  listIndexFuncValues(indexName: string): string[] {
    return this.#generation.tables.find((table) => table.index.name === indexName)?.values() ?? [];
  }

  snapshot(): IndexSnapshot<T> {
    return createSnapshot(this.listStored(), this.#resourceVersion, this.#onUnreadable);
  }

  put(object: T | DeepReadonly<T>): DeepReadonly<T> {
    const stored = this.#store(object, this.#generation);
    this.putStored(stored);
    return stored.object;
  }

  putStored(stored: StoredObject<T>, write: StoredWrite = {}): StoredObject<T> | undefined {
    const before = this.#generation.put(stored, write);
    if (stored.resourceVersion !== '') this.#resourceVersion = stored.resourceVersion;
    return before;
  }

  delete(key: ObjectKey): DeepReadonly<T> | undefined {
    return this.deleteStored(key)?.object;
  }

  deleteStored(key: ObjectKey, resourceVersion = ''): StoredObject<T> | undefined {
    const before = this.#generation.remove(key.namespace ?? '', key.name);
    if (resourceVersion !== '') this.#resourceVersion = resourceVersion;
    return before;
  }

  replace(objects: Iterable<T | DeepReadonly<T>>, resourceVersion: string): void {
    const next = new Generation<T>(this.#generation.set);
    for (const object of objects) next.put(this.#store(object, this.#generation));
    this.#generation = next;
    this.#resourceVersion = resourceVersion;
  }

  bookmark(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
  }

  beginReplace(): Replacement<T> {
    const base = this.#generation;
    let next = new Generation<T>(base.set);
    const current = (): Generation<T> => {
      // Indexes were added meanwhile, so the content filled so far moves to a generation that has them.
      if (next.set !== this.#generation.set) next = rebuild(next, this.#generation.set);
      return next;
    };
    return {
      get size() {
        return next.size;
      },
      stored: (key) => current().find(key.namespace ?? '', key.name)?.stored,
      put: (stored, write = {}) => {
        const target = current();
        return target.put(stored, target.set === base.set ? write : {});
      },
      delete: (key) => current().remove(key.namespace ?? '', key.name),
      all: () => next.collect(),
      commit: (resourceVersion) => {
        if (this.#generation.origin !== base.origin)
          throw new Error('another replacement of the store was committed since this one began');
        const before = this.#generation;
        this.#generation = current();
        this.#resourceVersion = resourceVersion;
        return {
          size: before.size,
          stored: (key) => before.find(key.namespace ?? '', key.name)?.stored,
          all: () => before.collect(),
          values: () => before.versions(),
        };
      },
    };
  }

  addIndexers(indexers: Readonly<Record<string, IndexDefinition<T>>>): void {
    const present = this.#generation;
    const taken = Object.keys(indexers).filter((name) => this.indexNames.includes(name));
    if (taken.length > 0) throw new IndexConflictError(taken);
    if (Object.keys(indexers).length === 0) return;
    this.#generation = rebuild(present, this.#extend(present.set.indexes, indexers));
  }

  #store(object: T | DeepReadonly<T>, base: Generation<T>): StoredObject<T> {
    const metadata: unknown = (object as { readonly metadata?: unknown } | null | undefined)?.metadata;
    if (typeof metadata !== 'object' || metadata === null)
      throw new TypeError('the object has no metadata: expected a Kubernetes object');
    const { namespace = '', name = '' }: { namespace?: string; name?: string } = metadata;
    return storeObject<T>(object, { freeze: this.#freeze, previous: base.find(namespace, name)?.object });
  }

  #pick<R>(entries: readonly Entry<T>[], options: IndexListOptions, read: Reading<T, R>): R[] {
    requireOptions('list', options, listOptionNames);
    const { selector } = options;
    const onUnreadable = this.#onUnreadable;
    if (selector === undefined) return pick(entries, { selector, storedOf, read: read.entry, onUnreadable });
    // A selector may be foreign code and write to this store, so it evaluates the content at the start of the list.
    return pick(entries.map(storedOf), { selector, storedOf: itself, read: read.version, onUnreadable });
  }

  #table(indexName: string): ReadableIndex<T> {
    for (const table of this.#generation.tables) if (table.index.name === indexName) return table;
    throw new UnknownIndexError(indexName, this.indexNames);
  }

  #extend(present: readonly CompiledIndex<T>[], indexers: Readonly<Record<string, IndexDefinition<T>>>): IndexSet<T> {
    const paths: string[] = [...(present.length === 0 ? [] : (this.fieldPaths?.paths ?? []))];
    const fieldOf = (path: string): number => {
      const known = paths.indexOf(path);
      return known >= 0 ? known : paths.push(path) - 1;
    };
    const added = Object.entries(indexers).map(([name, definition]) => compileIndex(name, definition, fieldOf));
    const indexes = [...present, ...added];
    return {
      indexes,
      followsFields: indexes.every(({ field, isNamespace }) => field >= 0 || isNamespace),
      paths: paths.length === 0 ? undefined : compileFieldPaths(paths),
      onIndexError: this.#onIndexError,
    };
  }
}

function rebuild<T extends KubeObject>(from: Generation<T>, set: IndexSet<T>): Generation<T> {
  const next = new Generation<T>(set, from.origin);
  for (const stored of from.collect()) next.put(stored);
  return next;
}

/** How a list reads its elements, either from an entry or from a version that an entry held. */
interface Reading<T extends KubeObject, R> {
  readonly entry: (entry: Entry<T>) => R;
  readonly version: (stored: StoredObject<T>) => R;
}

function storedOf<T extends KubeObject>(entry: Entry<T>): StoredObject<T> {
  return entry.stored;
}

function itself<T extends KubeObject>(stored: StoredObject<T>): StoredObject<T> {
  return stored;
}
