import type { DeepReadonly, KubeObject, ObjectKey } from '@kctl/apimachinery';
import { formatKey, keyOf } from '@kctl/apimachinery';
import { UnknownIndexError } from '@kctl/cache-index/internal';
import type { IndexListOptions, IndexReader, IndexSnapshot, StoredObject } from '@kctl/cache-index';
import { readableOf } from './readable.js';

/** A store, and the namespace that it holds; '' for all namespaces without a separate store. */
export interface NamedStore<T extends KubeObject> {
  readonly namespace: string;
  readonly reader: IndexReader<T>;
}

/** The stores of one kind at one time. */
export interface StoreSet<T extends KubeObject> {
  /** In the order of their namespaces. */
  readonly stores: readonly NamedStore<T>[];
  /** The store that holds a namespace, found without looking at the others. */
  storeFor(namespace: string): IndexReader<T> | undefined;
}

/** Sources of a {@link MergedReader} at the time of a read. */
export interface MergedStores<T extends KubeObject> {
  readonly readable: StoreSet<T>;
  readonly resourceVersion: string;
  /** Index names of every store, even if no store exists at present. */
  readonly indexNames: readonly string[];
}

/** Several stores of one kind as one. Reads of one namespace cost the same however many there are. */
export class MergedReader<T extends KubeObject> implements IndexReader<T> {
  readonly #set: MergedStores<T>;

  constructor(set: MergedStores<T>) {
    this.#set = set;
  }

  get size(): number {
    return this.#stores.reduce((sum, { reader }) => sum + reader.size, 0);
  }

  get resourceVersion(): string {
    return this.#set.resourceVersion;
  }

  get indexNames(): readonly string[] {
    return this.#set.indexNames;
  }

  get(key: ObjectKey): DeepReadonly<T> | undefined {
    return this.#storeOf(key.namespace)?.get(key);
  }

  has(key: ObjectKey): boolean {
    return this.#storeOf(key.namespace)?.has(key) ?? false;
  }

  stored(key: ObjectKey): StoredObject<T> | undefined {
    return this.#storeOf(key.namespace)?.stored(key);
  }

  list(options: IndexListOptions = {}): DeepReadonly<T>[] {
    return this.#only?.list(options) ?? readableOf(this.listStored(options));
  }

  listStored(options: IndexListOptions = {}): StoredObject<T>[] {
    return this.#collect(options, (reader) => reader.listStored(options));
  }

  listKeys(options: IndexListOptions = {}): string[] {
    return this.#only?.listKeys(options) ?? this.listStored(options).map(formatKey);
  }

  byIndex(indexName: string, value: string, options: IndexListOptions = {}): DeepReadonly<T>[] {
    return this.#only?.byIndex(indexName, value, options) ?? readableOf(this.storedByIndex(indexName, value, options));
  }

  storedByIndex(indexName: string, value: string, options: IndexListOptions = {}): StoredObject<T>[] {
    const only = this.#only;
    if (only !== undefined) return only.storedByIndex(indexName, value, options);
    this.#requireIndex(indexName);
    return this.#collect(options, (reader) => reader.storedByIndex(indexName, value, options));
  }

  index(indexName: string, object: DeepReadonly<T>): DeepReadonly<T>[] {
    this.#requireIndex(indexName);
    const stores = this.#stores;
    const all = stores.flatMap(({ reader }) => reader.index(indexName, object));
    return overlap(stores) ? all.sort((a, b) => byKey(keyOf(a), keyOf(b))) : all;
  }

  /** All stores have the same definitions. If no store exists at present, no object has values. */
  indexValues(indexName: string, object: DeepReadonly<T>): readonly string[] {
    this.#requireIndex(indexName);
    return this.#stores[0]?.reader.indexValues(indexName, object) ?? [];
  }

  indexKeys(indexName: string, value: string): string[] {
    return this.#only?.indexKeys(indexName, value) ?? this.storedByIndex(indexName, value).map(formatKey);
  }

  listIndexFuncValues(indexName: string): string[] {
    const values = this.#stores.flatMap(({ reader }) => reader.listIndexFuncValues(indexName));
    return [...new Set(values)].sort();
  }

  snapshot(): IndexSnapshot<T> {
    const { resourceVersion } = this;
    const stores = this.#stores;
    const snapshots = stores.map(({ reader }) => reader.snapshot());
    const areMixed = overlap(stores);
    return {
      size: snapshots.reduce((sum, snapshot) => sum + snapshot.size, 0),
      resourceVersion,
      get: (key) => {
        for (const snapshot of snapshots) {
          const found = snapshot.get(key);
          if (found !== undefined) return found;
        }
        return undefined;
      },
      list: (options) => {
        const all = snapshots.flatMap((snapshot) => snapshot.list(options));
        return areMixed ? all.sort((a, b) => byKey(keyOf(a), keyOf(b))) : all;
      },
    };
  }

  get #stores(): readonly NamedStore<T>[] {
    return this.#set.readable.stores;
  }

  /** The store, if there is one, because it has the objects of its lists at hand. */
  get #only(): IndexReader<T> | undefined {
    const stores = this.#stores;
    return stores.length === 1 ? stores[0]?.reader : undefined;
  }

  /** Even if there is no store at present that would refuse it. */
  #requireIndex(indexName: string): void {
    const { indexNames } = this.#set;
    if (!indexNames.includes(indexName)) throw new UnknownIndexError(indexName, indexNames);
  }

  #storeOf(namespace: string | undefined): IndexReader<T> | undefined {
    return this.#set.readable.storeFor(namespace ?? '');
  }

  #collect(options: IndexListOptions, read: (reader: IndexReader<T>) => StoredObject<T>[]): StoredObject<T>[] {
    if (options.namespace !== undefined) {
      const store = this.#storeOf(options.namespace);
      return store === undefined ? [] : read(store);
    }
    const stores = this.#stores;
    const only = this.#only;
    if (only !== undefined) return read(only);
    const all = stores.flatMap(({ reader }) => read(reader));
    return overlap(stores) ? all.sort(byKey) : all;
  }
}

/** Stores of single namespaces follow each other in order; only the one for all others lies across them. */
function overlap(stores: readonly { readonly namespace: string }[]): boolean {
  return stores.length > 1 && stores.some(({ namespace }) => namespace === '');
}

function byKey(a: ObjectKey, b: ObjectKey): number {
  const [ofA, ofB] = [a.namespace ?? '', b.namespace ?? ''];
  if (ofA !== ofB) return ofA < ofB ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
