import { compareResourceVersions } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { functionOption, numberProblem, requireOptions } from '@kctl/options';
import { orAborted } from '@kctl/wait';
import { throwIfAborted } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import { keyFunction } from './key.js';
import type { Store, StoreOptions } from './store.js';

/** Options of {@link createBoundedStore}. */
export interface BoundedStoreOptions<T extends KubeObject> extends StoreOptions<T> {
  /** Number of objects held whole (those put or read last). */
  readonly maxObjects: number;
  /**
   * Reads an object from the server; undefined if it does not exist. Called for an evicted object, one call at a time.
   */
  readonly read: (key: string) => Promise<T | undefined>;
}

/**
 * A store that has every key, and holds the objects that were used last. Mirrors `BoundedItemStore` of the Java Operator
 * SDK. Of the others it keeps key, resourceVersion and uid alone.
 */
export interface BoundedStore<T extends KubeObject>
  extends Pick<Store<T>, 'size' | 'add' | 'update' | 'delete' | 'replace' | 'keys'> {
  /** How many objects are held whole. */
  readonly held: number;
  /** Whether the key is known; costs no read. */
  has(key: string): boolean;
  /** The version that was put last. */
  resourceVersionOf(key: string): string | undefined;
  /** The object if held. */
  peek(key: string): T | undefined;
  /**
   * The object, read again if it was evicted; undefined if the key is not known, or if the server no longer has such an
   * object (its delete is on its way). Never older than `resourceVersionOf`, nor an object that had the key before; if
   * `read` returns one, it is read again. Calls that wait for the same object share one read.
   *
   * @throws what `read` throws; an Error if it returns an older object three times; the signal's reason on abort, which
   *   leaves the read to the others
   */
  get(key: string, options?: { readonly signal?: AbortSignal }): Promise<T | undefined>;
}

const optionNames: OptionNames<BoundedStoreOptions<never>> = { key: true, maxObjects: true, read: functionOption };

const readOptionNames: OptionNames<{ readonly signal?: AbortSignal }> = { signal: true };

/**
 * An empty bounded store, for a reflector or an informer's handler to feed.
 *
 * @throws TypeError naming the option that is not valid
 *
 * @example
 * ```ts
 * import { parseKey } from '@kctl/apimachinery';
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createBoundedStore } from '@kctl/cache-index';
 * import { createReflector, listerWatcherFor } from '@kctl/informer';
 *
 * const store = createBoundedStore({
 *   maxObjects: 1000,
 *   read: (key) => client.get(ConfigMap, { namespace: '', ...parseKey(key) }),
 * });
 * void createReflector({ kind: ConfigMap, listerWatcher: listerWatcherFor(client, ConfigMap), store }).run(signal);
 * const settings = await store.get('shop/settings');
 * ```
 */
export function createBoundedStore<T extends KubeObject>(options: BoundedStoreOptions<T>): BoundedStore<T> {
  requireOptions<BoundedStoreOptions<T>>('createBoundedStore', options, optionNames);
  const { key, maxObjects, read } = options;
  const problem =
    numberProblem('maxObjects', maxObjects, { least: 1, integer: true }) ??
    (read === undefined ? 'read is not set: expected a function that reads an object by its key' : undefined);
  if (problem !== undefined) throw new TypeError(`createBoundedStore: ${problem}`);
  return new EvictingStore(keyFunction('createBoundedStore', key), maxObjects, read);
}

class EvictingStore<T extends KubeObject> implements BoundedStore<T> {
  readonly #keyOf: (object: T) => string;
  readonly #maxObjects: number;
  readonly #read: (key: string) => Promise<T | undefined>;
  /** By key, what was put last. */
  readonly #known = new Map<string, Known>();
  /** The one that was used longest ago first. */
  readonly #whole = new Map<string, T>();
  readonly #reads = new Map<string, Promise<T | undefined>>();

  constructor(keyOf: (object: T) => string, maxObjects: number, read: (key: string) => Promise<T | undefined>) {
    this.#keyOf = keyOf;
    this.#maxObjects = maxObjects;
    this.#read = read;
  }

  get size(): number {
    return this.#known.size;
  }

  get held(): number {
    return this.#whole.size;
  }

  add(object: T): void {
    this.#put(this.#keyOf(object), object);
  }

  update(object: T): void {
    this.add(object);
  }

  delete(object: T): void {
    const key = this.#keyOf(object);
    this.#known.delete(key);
    this.#whole.delete(key);
  }

  replace(objects: readonly T[]): void {
    const keyed = objects.map((object): [string, T] => [this.#keyOf(object), object]);
    this.#known.clear();
    this.#whole.clear();
    for (const [key, object] of keyed) this.#put(key, object);
  }

  keys(): string[] {
    return [...this.#known.keys()];
  }

  has(key: string): boolean {
    return this.#known.has(key);
  }

  resourceVersionOf(key: string): string | undefined {
    return this.#known.get(key)?.resourceVersion;
  }

  peek(key: string): T | undefined {
    return this.#whole.get(key);
  }

  async get(key: string, options: { readonly signal?: AbortSignal } = {}): Promise<T | undefined> {
    requireOptions('createBoundedStore.get', options, readOptionNames);
    throwIfAborted(options.signal);
    const object = this.#whole.get(key);
    if (object !== undefined) this.#hold(key, object);
    if (object !== undefined || !this.#known.has(key)) return object;
    let reading = this.#reads.get(key);
    if (reading === undefined) {
      reading = this.#readAgain(key).finally(() => this.#reads.delete(key));
      this.#reads.set(key, reading);
    }
    return await orAborted(reading, options.signal);
  }

  async #readAgain(key: string): Promise<T | undefined> {
    for (let attempt = 1; ; attempt++) {
      const before = this.#known.get(key);
      const object = await this.#read(key);
      // An object put meanwhile is the latest state from the watch.
      const put = this.#whole.get(key);
      if (put !== undefined) return put;
      const known = this.#known.get(key);
      if (known === undefined || object === undefined) return undefined;
      if (!isFormer(object, known)) {
        this.#put(key, object);
        return object;
      }
      // Another object was put and evicted during this read, which is not the fault of the server.
      if (known !== before) attempt = 0;
      if (attempt >= maxReads)
        throw new Error(
          `bounded store: read of ${JSON.stringify(key)} returned version ${JSON.stringify(versionOf(object))} ${maxReads} times, and ${JSON.stringify(known.resourceVersion)} was put before: read from the API server, not from a cache that is behind it`,
        );
    }
  }

  #put(key: string, object: T): void {
    this.#known.set(key, { resourceVersion: versionOf(object), uid: object.metadata?.uid ?? '' });
    this.#hold(key, object);
  }

  #hold(key: string, object: T): void {
    this.#whole.delete(key);
    this.#whole.set(key, object);
    if (this.#whole.size <= this.#maxObjects) return;
    const oldest = this.#whole.keys().next();
    if (oldest.done !== true) this.#whole.delete(oldest.value);
  }
}

/** The resourceVersion put last under a key; '' if the object has none. */
interface Known {
  readonly resourceVersion: string;
  readonly uid: string;
}

/** How often an object is read that turns out to be older. */
const maxReads = 3;

function versionOf({ metadata }: KubeObject): string {
  return metadata?.resourceVersion ?? '';
}

/**
 * A server behind a cache may answer with a version older than the one that was put, also with an object that had the
 * key before. If versions cannot be compared, a different uid counts as that.
 */
function isFormer(object: KubeObject, { resourceVersion, uid }: Known): boolean {
  const order = compareResourceVersions(versionOf(object), resourceVersion);
  const { uid: read = '' } = object.metadata ?? {};
  return order === 'older' || (order === 'unknown' && uid !== '' && read !== '' && read !== uid);
}
