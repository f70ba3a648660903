import { keyOf } from '@kctl/apimachinery';
import { asObject } from './writes/as-object.js';
import type {
  DeepReadonly,
  InputOf,
  KeyOrObject,
  Kind,
  KubeList,
  KubeObject,
  ObjectKey,
  PersistedObject,
  Status,
} from '@kctl/apimachinery';
import {
  requireCallOptions,
  requireClientPart,
  requireKey,
  requireKind,
  requireListAnswer,
  requireObject,
} from '@kctl/client/internal';
import type {
  AbortOptions,
  Client,
  CreateOptions,
  DeleteAllOfOptions,
  DeletedCollection,
  DeleteOptions,
  GetOptions,
  ListOptions,
  Patch,
  PatchOptions,
  ReadObject,
  StatusClient,
  SubResourceClient,
  UpdateOptions,
  WriteObject,
} from '@kctl/client';
import { guardSinks, loggerOption, metricsOption } from '@kctl/telemetry/internal';
import type { Logger, Metrics } from '@kctl/telemetry';
import {
  booleanOption,
  clockOption,
  listOption,
  numberOption,
  objectOption,
  oneOfOption,
  optionWithMethods,
  requireOptions,
  signalOption,
} from '@kctl/options';
import { systemClock } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import type { CacheView } from './overlay/cache-view.js';
import { CachedReader } from './cached-reader.js';
import { LossyWriteError } from './errors.js';
import { PendingWrites } from './overlay/pending-writes.js';
import { LiveVersions } from './live-versions.js';
import type { ObservableInformer } from './own-events/own-informers.js';
import { listUncached } from './scoped-live.js';
import { Vanishings } from './overlay/vanishings.js';
import { isObject } from './writes/write-outcome.js';
import { WriteRecorder } from './overlay/write-recorder.js';

/** Options of {@link createDelegatingClient}. */
export interface DelegatingClientOptions {
  /** The cache that answers reads. */
  readonly cache: CacheView;
  /** The client for writes, and for reads that the cache cannot answer. */
  readonly client: Client;
  /** Kinds that are read from the server although a cache holds them; by group and kind. @default none */
  readonly uncached?: readonly Kind[];
  /** Reads untyped kinds from the cache too. @default false, as in controller-runtime */
  readonly cacheUntyped?: boolean;
  /**
   * How reads treat own writes that the cache has not seen: `overlay` shows them, `barrier` waits for them, `off`
   * answers as the cache is.
   *
   * @default 'overlay'
   */
  readonly readYourWrites?: 'overlay' | 'barrier' | 'off';
  /** ms that a read waits for the cache to catch up; then the server answers it. @default 5_000 */
  readonly barrierTimeoutMs?: number;
  /**
   * ms after which an own write is forgotten though the cache never saw it, which is counted and logged. @default
   * 300_000
   */
  readonly ownWriteTtlMs?: number;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<DelegatingClientOptions> = {
  cache: optionWithMethods(['get', 'list', 'isCached'], 'a cache, such as createCache({ … }) of @kctl/cache'),
  client: optionWithMethods(
    ['get', 'list', 'update', 'patch', 'delete'],
    'a client, such as createHttpClient({ … }) of @kctl/client-http',
  ),
  uncached: listOption('a list of kinds', objectOption('a kind')),
  cacheUntyped: booleanOption,
  readYourWrites: oneOfOption('overlay', 'barrier', 'off'),
  barrierTimeoutMs: numberOption({ orInfinity: true }),
  ownWriteTtlMs: numberOption({ above: 0, orInfinity: true }),
  logger: loggerOption,
  metrics: metricsOption,
  clock: clockOption,
};

/** A client that reads from a cache and writes to the server. Mirrors controller-runtime's default client. */
export interface DelegatingClient extends Client {
  /** The client without the cache. */
  readonly live: Client;
  /** Own writes that the cache has not seen yet. */
  readonly pendingWrites: number;
  /**
   * Reports, as deletes with `finalStateUnknown`, objects that this client wrote and that were gone before the cache
   * had them, for which an informer may have no event. `owns()` of @kctl/builder listens to it; a controller that is
   * composed by hand has `informerSource({ informer: client.vanished(Pod), handler: enqueueRequestForOwner(Job) })`. An
   * end may be reported twice, here and by the informer. Costs nothing without handlers; then one request for each end
   * that it reports.
   */
  vanished<K extends Kind>(kind: K): ObservableInformer<ReadObject<K>>;
}

/**
 * Returns a client whose reads come from `cache` if it holds the kind, and whose writes go to `client`.
 *
 * After `await client.update(x)` no cached `get` or `list` of this client returns anything older than x; the same for
 * create, patch, delete, deleteAllOf and subresources. If the outcome of a write is unknown (a timeout, a broken
 * connection, an abort), the next read of that object queries the server.
 *
 * @throws TypeError naming the option that is not valid
 */
export function createDelegatingClient(options: DelegatingClientOptions): DelegatingClient {
  requireOptions('createDelegatingClient', options, optionNames);
  return new CacheFirstClient(options);
}

class CacheFirstClient implements DelegatingClient {
  readonly live: Client;
  readonly #options: DelegatingClientOptions;
  readonly #reader: CachedReader;
  readonly #pendingWrites: PendingWrites;
  readonly #recorder: WriteRecorder;
  readonly #vanishings: Vanishings;
  readonly #liveVersions = new LiveVersions();

  constructor(options: DelegatingClientOptions) {
    const { cache, client, clock = systemClock } = options;
    const { logger, metrics } = guardSinks(options);
    const { ownWriteTtlMs: ttlMs = 300_000, barrierTimeoutMs = 5_000 } = options;
    this.live = client;
    this.#options = options;
    this.#vanishings = new Vanishings({ cache, live: client, logger, clock });
    this.#pendingWrites = new PendingWrites({
      cache,
      clock,
      logger,
      metrics,
      ttlMs,
      shapes: [...cachedShapes, ...(options.cacheUntyped === true ? (['untyped'] as const) : [])],
    });
    this.#recorder = new WriteRecorder({ cache, pendingWrites: this.#pendingWrites, vanishings: this.#vanishings });
    this.#reader = new CachedReader({
      cache,
      live: client,
      pendingWrites: this.#pendingWrites,
      mode: options.readYourWrites ?? 'overlay',
      barrierTimeoutMs,
      clock,
      logger,
    });
  }

  get pendingWrites(): number {
    return this.#pendingWrites.size;
  }

  vanished<K extends Kind>(kind: K): ObservableInformer<ReadObject<K>> {
    requireKind('vanished', kind);
    return this.#vanishings.of(kind);
  }

  async get<K extends Kind>(kind: K, named: KeyOrObject<K>, options: GetOptions = {}): Promise<ReadObject<K>> {
    const key = requireKey('get', kind, named);
    requireCallOptions('get', kind, options);
    checkSignal(`get ${kind.kind}`, options);
    if (this.#readsCache(kind, key.namespace, options)) {
      const peeked = this.#reader.peek(kind, key, options);
      if (peeked !== undefined) return peeked;
      const read = await this.#whileCached(kind, { ...options, namespace: key.namespace }, () =>
        this.#reader.get(kind, key, options),
      );
      if (read !== undefined) return read;
    }
    const object = await this.live.get(kind, key, options);
    this.#sawLive(kind, object);
    return object;
  }

  async list<K extends Kind>(kind: K, options: ListOptions = {}): Promise<KubeList<ReadObject<K>>> {
    requireKind('list', kind);
    requireCallOptions('list', kind, options);
    checkSignal(`list ${kind.kind}`, options);
    if (this.#readsCache(kind, options.namespace, options)) {
      const read = await this.#whileCached(kind, options, () => this.#reader.list(kind, options));
      if (read !== undefined) return read;
    }
    const list = await (options.live === true
      ? this.live.list(kind, options)
      : listUncached(this.#options.cache, this.live, kind, options));
    requireListAnswer(`list ${kind.kind}`, list);
    for (const item of list.items) this.#sawLive(kind, item);
    return list;
  }

  async create<K extends Kind>(kind: K, object: InputOf<K>, options: CreateOptions = {}): Promise<PersistedObject<K>> {
    requireKind('create', kind);
    requireCallOptions('create', kind, options);
    const written: unknown = object;
    requireObject(`create ${kind.kind}`, 'object', written);
    const { name, namespace } = written.metadata;
    const key =
      name === undefined || name === '' ? undefined : { name, ...(namespace === undefined ? {} : { namespace }) };
    return await this.#write(kind, { key, namespace, options }, () => this.live.create(kind, object, options));
  }

  async update<K extends Kind>(
    kind: K,
    object: WriteObject<K>,
    options: UpdateOptions = {},
  ): Promise<PersistedObject<K>> {
    requireKind('update', kind);
    requireCallOptions('update', kind, options);
    const key = keyToUpdate(kind, object);
    this.#refuseLossy(kind, object);
    return await this.#write(kind, { key, options }, () => this.live.update(kind, object, options));
  }

  async patch<K extends Kind>(
    kind: K,
    named: KeyOrObject<K>,
    patch: Patch,
    options: PatchOptions = {},
  ): Promise<PersistedObject<K>> {
    const key = requireKey('patch', kind, named);
    requireCallOptions('patch', kind, options);
    return await this.#write(kind, { key, options }, () => this.live.patch(kind, key, patch, options));
  }

  async delete<K extends Kind>(
    kind: K,
    named: KeyOrObject<K>,
    options: DeleteOptions = {},
  ): Promise<PersistedObject<K> | Status> {
    const key = requireKey('delete', kind, named);
    requireCallOptions('delete', kind, options);
    return await this.#recorder.deleted(kind, key, options, () => this.live.delete(kind, key, options));
  }

  async deleteAllOf<K extends Kind>(kind: K, options: DeleteAllOfOptions = {}): Promise<DeletedCollection<K>> {
    requireKind('deleteAllOf', kind);
    requireCallOptions('deleteAllOf', kind, options);
    return await this.#recorder.deletedAll(kind, options, () => this.live.deleteAllOf(kind, options));
  }

  status<K extends Kind>(kind: K): StatusClient<K> {
    const status = requireClientPart('status', this.live.status(kind));
    return {
      update: async (object, options = {}) => {
        requireCallOptions('update', kind, options);
        const key = keyToUpdate(kind, object);
        this.#refuseLossy(kind, object);
        return await this.#write(kind, { key, options }, () => status.update(object, options));
      },
      patch: async (named, patch, options = {}) => {
        const key = requireKey('patch', kind, named);
        requireCallOptions('patch', kind, options);
        return await this.#write(kind, { key, options }, () => status.patch(key, patch, options));
      },
    };
  }

  subResource<K extends Kind, B extends object = PersistedObject<K>>(kind: K, name: string): SubResourceClient<K, B> {
    const live = requireClientPart('subResource', this.live.subResource<K, B>(kind, name));
    const record = async (named: KeyOrObject<K>, options: CreateOptions, send: () => Promise<B>): Promise<B> => {
      const key = requireKey(name, kind, named);
      requireCallOptions(name, kind, options);
      const body = await this.#recorder.subResource(kind, { key, name, options }, send);
      if (name === 'status') this.#sawLive(kind, body);
      return body;
    };
    return {
      get: (key, options) => live.get(key, options),
      create: (key, body, options = {}) => record(key, options, () => live.create(key, body, options)),
      update: async (key, body, options = {}) => {
        if (name === 'status') this.#refuseLossy(kind, body);
        return await record(key, options, () => live.update(key, body, options));
      },
      patch: (key, patch, options = {}) => record(key, options, () => live.patch(key, patch, options)),
    };
  }

  async #write<K extends Kind>(
    kind: K,
    about: Write,
    send: () => Promise<PersistedObject<K>>,
  ): Promise<PersistedObject<K>> {
    const object = await this.#recorder.written(kind, about, send);
    this.#sawLive(kind, asObject(object));
    return object;
  }

  /**
   * Returns the cache's answer, retried if it fails and the coverage of the cache has changed since the read began;
   * undefined if the cache no longer holds the requested kind.
   */
  async #whileCached<R>(
    kind: Kind,
    { namespace, ...options }: GetOptions & { readonly namespace?: string | undefined },
    read: () => Promise<R>,
  ): Promise<R | undefined> {
    const { cache } = this.#options;
    do {
      const scopes = cache.scopesOf?.(kind);
      try {
        return await read();
      } catch (error) {
        if (options.signal?.aborted === true) throw error;
        if (this.#readsCache(kind, namespace, options) && cache.scopesOf?.(kind) === scopes) throw error;
      }
    } while (this.#readsCache(kind, namespace, options));
    return undefined;
  }

  #readsCache(kind: Kind, namespace: string | undefined, options: GetOptions): boolean {
    if (options.live === true) return false;
    const { cache, cacheUntyped = false, uncached = [] } = this.#options;
    if (kind.shape === 'untyped' && !cacheUntyped) return false;
    if (uncached.some((other) => other.kind === kind.kind && other.group === kind.group)) return false;
    return cache.isCached(kind, namespace);
  }

  #sawLive(kind: Kind, object: DeepReadonly<KubeObject> | object): void {
    const isWhole = kind.shape !== 'metadata' && isObject(asObject(object));
    if (isWhole && this.#options.cache.isLossy?.(kind) === true) this.#liveVersions.add(asObject(object));
  }

  /** An object from a stripping cache must not replace the whole object. Objects not known to be whole are refused. */
  #refuseLossy(kind: Kind, object: object): void {
    if (this.#options.cache.isLossy?.(kind) !== true) return;
    const written = asObject(object);
    if (!this.#liveVersions.has(written)) throw new LossyWriteError(kind, keyOf(written));
  }
}

/** @throws TypeError for what is not an object with a name */
function keyToUpdate(kind: Kind, object: unknown): ObjectKey {
  requireObject(`update ${kind.kind}`, 'object', object);
  return keyOf(object);
}

const cachedShapes = ['full', 'stripped', 'metadata'] as const;

interface Write {
  /** Undefined for a generated name. */
  readonly key: ObjectKey | undefined;
  readonly namespace?: string | undefined;
  readonly options: { readonly dryRun?: boolean };
}

/** A read that the cache answers would not look at it. @throws TypeError */
function checkSignal(what: string, { signal }: AbortOptions): void {
  const misuse = signal === undefined ? undefined : signalOption('signal', signal);
  if (misuse !== undefined) throw new TypeError(`${what}: ${misuse}`);
}
