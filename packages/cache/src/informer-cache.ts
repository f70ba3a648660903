import type {
  DeepReadonly,
  KeyOf,
  KeyOrObject,
  Kind,
  KubeList,
  KubeObject,
  ObjectOf,
  PersistedObject,
} from '@kctl/apimachinery';
import { formatGroupVersionKind, keyOf, stripped } from '@kctl/apimachinery';
import { createIndexer, type IndexDefinition } from '@kctl/cache-index';
import { requireCallOptions, requireKey, requireKind as requireKindOf } from '@kctl/client/internal';
import type { GetOptions, ListOptions, ReadObject } from '@kctl/client';
import type { ReadScope } from '@kctl/client/internal';
import type { InformerWaitOptions, SharedInformer } from '@kctl/informer';
import { InformerStartedError, SyncError } from '@kctl/informer/internal';
import { messageOf } from '@kctl/telemetry/internal';
import { requireOptions, requireSignal } from '@kctl/options';
import { aborted, keepAlive, systemClock } from '@kctl/wait';
import { throwIfAborted } from '@kctl/wait/internal';
import { claimCacheName, type CacheName } from './options/cache-name.js';
import type {
  CacheOptions,
  KindOptions,
  NamespaceScopes,
  ResolvedScope,
  SelectedInformerOptions,
} from './cache-options.js';
import type { Cache, CacheScope, InformerLease, InformerStatus } from './cache.js';
import { informerOptionNames, knownVersionOptions, waitOptionNames } from './options/method-options.js';
import { copyCacheOptions, copyNamespaces, copySelection } from './options/copy-options.js';
import { CacheNotStartedError, KindNotCachedError, UnknownNamespaceError } from './errors.js';
import { KindEntry, type NewEntry } from './informers/kind-entry.js';
import { KindVersions } from './informers/kind-versions.js';
import { idOf, isSelected, requireDistinct, selected, selectionId } from './scopes/kind-id.js';
import { getLive, listLive, type LiveReadScope } from './reads/live-read.js';
import { makeScopeInformer } from './informers/make-informer.js';
import { projected } from './scopes/projected.js';
import { fieldIndexName, indexedFieldOf, listFrom, matcherFrom, notFound, type CachedRead } from './reads/read.js';
import type { StoreGet } from './reads/read-decisions.js';
import { requireCacheOptions, requireKind, requireNamespaces, requireSelection } from './options/required.js';
import { isEmpty, limitsOf, noScopes, resolveScopes, selectionOf, withoutTransforms } from './scopes/resolve-scopes.js';
import type { ScopeSources } from './scopes/resolve-scopes.js';
import { SeriesOwners } from './informers/own-series.js';
import { ScopeTable } from './scopes/scope-table.js';
import { ScopedInformer } from './informers/scoped-informer.js';

/**
 * A cache over a client. It does nothing until it runs. @throws TypeError naming the option that is not valid
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createCache } from '@kctl/cache';
 *
 * const cache = createCache({ client, defaultNamespaces: { shop: {} } });
 * const running = cache.run(signal);
 * const { items } = await cache.list(Pod, { namespace: 'shop' }); // starts the informer, waits for its first list
 * await running;
 * ```
 */
export function createCache(options: CacheOptions): Cache {
  return new InformerCache(options);
}

const defaultLingerMs = 30_000;

class InformerCache implements Cache {
  readonly #options: CacheOptions;
  readonly #entries = new Map<string, KindEntry>();
  readonly #versions = new KindVersions(() => [...this.#entries.values()].map(({ kind }) => kind));
  #defaultNamespaces: NamespaceScopes | undefined;
  #signal: AbortSignal | undefined;
  #fail: ((error: unknown) => void) | undefined;
  readonly #runs = new Set<Promise<void>>();
  readonly #name: CacheName;
  readonly #seriesOwners = new SeriesOwners();

  constructor(options: CacheOptions) {
    requireCacheOptions(options);
    this.#options = copyCacheOptions(options);
    const { defaultNamespaces, byObject = [] } = this.#options;
    this.#defaultNamespaces =
      defaultNamespaces === undefined || isEmpty(defaultNamespaces) ? undefined : defaultNamespaces;
    requireDistinct(byObject.map(({ kind }) => kind));
    this.#name = claimCacheName(options.name, options.metrics, this);
    try {
      for (const { kind } of byObject) this.#declare(kind);
    } catch (error) {
      this.#name.release();
      throw error;
    }
  }

  get isStarted(): boolean {
    return this.#signal !== undefined;
  }

  informerFor<K extends Kind>(kind: K): SharedInformer<PersistedObject<K>> {
    return this.#declare(kind).informer as unknown as SharedInformer<PersistedObject<K>>;
  }

  informer<K extends Kind>(
    kind: K,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<SharedInformer<PersistedObject<K>>> {
    return new Promise((resolve) => {
      requireOptions('informer', options, informerOptionNames);
      throwIfAborted(options.signal);
      resolve(this.informerFor(kind));
    });
  }

  acquire<K extends Kind>(kind: K): InformerLease<K> {
    const entry = this.#entryFor(kind);
    const { clock = systemClock, lingerMs = defaultLingerMs } = this.#options;
    const release = entry.acquire({ clock, lingerMs, onUnused: () => this.#remove(entry) });
    return {
      informer: entry.informer as unknown as SharedInformer<PersistedObject<K>>,
      [Symbol.asyncDispose]: () => {
        release();
        return Promise.resolve();
      },
    };
  }

  selectedInformer<K extends Kind>(kind: K, options: SelectedInformerOptions): SharedInformer<PersistedObject<K>> {
    requireKind('selectedInformer: kind', kind);
    requireSelection(options);
    const { name, isWanted = true, ...limits } = copySelection(options);
    const id = selectionId(kind, name);
    if (this.#entries.has(id))
      throw new TypeError(
        `selectedInformer: ${formatGroupVersionKind(kind)} has one of the name ${JSON.stringify(name)} already: give another name, or remove that one`,
      );
    const byKind = selectionOf(kind, limits, this.#options.byObject ?? []);
    const entry = this.#addEntry(kind, {
      id,
      selection: name,
      scopes: () => resolveScopes(kind, this.#sources(byKind)),
    });
    if (isWanted) entry.pin();
    return entry.informer as unknown as SharedInformer<PersistedObject<K>>;
  }

  async removeInformer(kind: Kind, name?: string): Promise<void> {
    const entry = this.#entries.get(name === undefined ? idOf(kind) : selectionId(kind, name));
    if (entry !== undefined) await this.#remove(entry);
  }

  addIndex<K extends Kind>(kind: K, name: string, definition: IndexDefinition<PersistedObject<K>>): void {
    const scoped =
      typeof definition === 'function' ? { object: definition, scoped: true } : { ...definition, scoped: true };
    this.informerFor(kind).addIndexers({ [fieldIndexName(name)]: scoped });
  }

  async setNamespaces(namespaces: NamespaceScopes): Promise<void> {
    requireNamespaces('setNamespaces', namespaces);
    const before = this.#defaultNamespaces;
    this.#defaultNamespaces = copyNamespaces(namespaces);
    const entries = [...this.#entries.values()];
    let scopes: readonly (readonly ResolvedScope[])[];
    try {
      scopes = entries.map((entry) => entry.resolve());
    } catch (error) {
      // Nothing is half done.
      this.#defaultNamespaces = before;
      throw error;
    }
    await Promise.all(entries.map((entry, index) => entry.setScopes(scopes[index] ?? [])));
  }

  async waitForSync(options: InformerWaitOptions = {}): Promise<void> {
    requireOptions('waitForSync', options, waitOptionNames);
    const entries = [...this.#entries.values()];
    const results = await Promise.allSettled(
      entries.map((entry) =>
        entry.informer.waitForSync(options).catch((error: unknown) => {
          // One that was removed meanwhile is no longer declared.
          if (this.#entries.get(entry.id) === entry) throw error;
        }),
      ),
    );
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    throwIfAborted(options.signal);
    if (errors.length === 0) return;
    const informers = errors.flatMap((error) => (error instanceof SyncError ? error.informers : []));
    const messages = errors.map(messageOf);
    throw new SyncError(`the cache has not synced: ${messages.join('; ')}`, informers, {
      cause: new AggregateError(errors),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    requireSignal('cache.run', signal);
    if (this.#signal !== undefined) throw new InformerStartedError('the cache was started already; make another one');
    using _alive = keepAlive();
    const ending = new AbortController();
    const end = (): void => ending.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    let failure: { readonly error: unknown } | undefined;
    this.#fail = (error) => {
      failure ??= { error };
      ending.abort(error);
    };
    this.#signal = ending.signal;
    for (const entry of this.#entries.values()) this.#start(entry);
    await aborted(ending.signal);
    signal.removeEventListener('abort', end);
    for (const entry of this.#entries.values()) entry.stopLinger();
    while (this.#runs.size > 0) await Promise.all(this.#runs);
    this.#name.release();
    if (failure !== undefined) throw failure.error;
  }

  async get<K extends Kind>(kind: K, named: KeyOrObject<K>, options: GetOptions = {}): Promise<ReadObject<K>> {
    const key = requireKey('get', kind, named);
    requireCallOptions('get', kind, options);
    const namespace = kind.scope === 'Cluster' ? undefined : key.namespace;
    const place = namespace === undefined ? { name: key.name } : { namespace, name: key.name };
    const read = { verb: 'get', namespace: namespace ?? '' };
    if (options.live === true)
      return (await getLive(kind, place, { ...this.#liveScope(kind, read), options })) as ReadObject<K>;
    throwIfAborted(options.signal);
    const ready = this.#ready(kind, read.namespace);
    const find = ({ indexer }: SharedInformer<KubeObject>): DeepReadonly<KubeObject> | undefined => indexer.get(place);
    const found = ready === undefined ? await this.#whenReadable(kind, { ...read, options }, find) : find(ready);
    if (found === undefined) throw notFound(kind, key);
    return found as ReadObject<K>;
  }

  peek<K extends Kind>(kind: K, key: KeyOf<K>): ReadObject<K> | undefined {
    const { namespace = '', name } = key;
    const isNamespaced = kind.scope !== 'Cluster';
    if (isNamespaced && namespace === '') return undefined;
    const informer = this.#ready(kind, isNamespaced ? namespace : '');
    try {
      return informer?.indexer.get(isNamespaced ? key : { name }) as ReadObject<K> | undefined;
    } catch {
      // Objects that cannot be read; `get` reports the reason.
      return undefined;
    }
  }

  async list<K extends Kind>(kind: K, options: ListOptions = {}): Promise<KubeList<ReadObject<K>>> {
    requireKindOf('list', kind);
    requireCallOptions('list', kind, options);
    const namespace = kind.scope === 'Cluster' ? '' : (options.namespace ?? '');
    const read = { verb: 'list', namespace };
    if (options.live === true)
      return (await listLive(kind, { ...this.#liveScope(kind, read), options })) as KubeList<ReadObject<K>>;
    const list = await this.#whenReadable(kind, { ...read, options }, ({ indexer }) =>
      listFrom({ kind, reader: indexer, options }),
    );
    return list as KubeList<ReadObject<K>>;
  }

  matcherFor(kind: Kind, options: ListOptions): (object: DeepReadonly<KubeObject>) => boolean {
    const entry = this.#entries.get(idOf(kind));
    if (entry === undefined) throw new KindNotCachedError(kind);
    return matcherFrom({ kind, reader: entry.indexes, options });
  }

  indexedFields(kind: Kind): readonly string[] {
    return (this.#entries.get(idOf(kind))?.informer.indexNames ?? []).flatMap(indexedFieldOf);
  }

  versionsOf(kind: Kind): readonly Kind[] {
    return this.#versions.of(kind);
  }

  scopesOf(kind: Kind): readonly ReadScope[] {
    return this.#entries.get(idOf(kind))?.scopes.lists ?? noScopes;
  }

  namespacesFor(kind: Kind): readonly string[] | undefined {
    const namespaces = this.#tableOf(kind).lists.map(({ namespace }) => namespace);
    const named = namespaces.filter((namespace) => namespace !== undefined);
    // Of an empty set that is yet to be filled, no name is known.
    return named.length < namespaces.length || named.length === 0 ? undefined : [...new Set(named)].sort();
  }

  isCached(kind: Kind, namespace?: string): boolean {
    const entry = this.#entries.get(idOf(kind));
    if (entry === undefined && !this.#startsOnRead(kind)) return false;
    return kind.scope === 'Cluster' || (entry?.scopes ?? this.#tableOf(kind)).covers(namespace);
  }

  resourceVersionOf(kind: Kind, namespace?: string): string {
    return this.#part(kind, namespace)?.resourceVersion ?? '';
  }

  async waitForResourceVersion(
    kind: Kind,
    resourceVersion: string,
    options: InformerWaitOptions & CacheScope = {},
  ): Promise<void> {
    const { namespace, ...wait } = knownVersionOptions(options);
    const part = this.#part(kind, namespace);
    if (part === undefined) throw new KindNotCachedError(kind);
    await part.waitForResourceVersion(resourceVersion, wait);
  }

  project<K extends Kind>(kind: K, object: ObjectOf<K>): DeepReadonly<ObjectOf<K>> | undefined {
    const held = this.#projected(kind, this.#tableOf(kind), object);
    return held as DeepReadonly<ObjectOf<K>> | undefined;
  }

  isLossy(kind: Kind): boolean {
    return this.#entries.get(idOf(stripped(kind)))?.scopes.isLossy ?? false;
  }

  informers(): readonly InformerStatus[] {
    return [...this.#entries.values()].map(({ informer, isWanted, selection }) => ({
      kind: selection === undefined ? informer.kind : selected(informer.kind, selection),
      ...(selection === undefined ? {} : { selection }),
      state: informer.state,
      trouble: informer.trouble,
      hasSynced: informer.hasSynced,
      resourceVersion: informer.resourceVersion,
      objects: informer.indexer.size,
      bytes: informer.heldBytes,
      indexes: informer.indexNames,
      isWanted,
    }));
  }

  /** Makes the entry of a kind, or finds it, and keeps it for good. */
  #declare(kind: Kind): KindEntry {
    const entry = this.#entryFor(kind);
    entry.pin();
    return entry;
  }

  #entryFor(kind: Kind): KindEntry {
    const id = idOf(kind);
    const present = this.#entries.get(id);
    if (present !== undefined) return present;
    if (isSelected(kind)) throw new KindNotCachedError(kind);
    const other = this.#otherFormOf(kind);
    if (other !== undefined)
      throw new TypeError(
        `${formatGroupVersionKind(kind)} is cached ${other.kind.shape === 'stripped' ? 'stripped already: use stripped(…)' : 'whole already: use the plain kind'}, or read it live; both would be held twice`,
      );
    return this.#addEntry(kind, { id, scopes: () => this.#scopesOf(kind) });
  }

  #addEntry(kind: Kind, { id, selection, scopes }: NewEntry): KindEntry {
    const { prefix } = this.#name;
    const of = selection === undefined ? {} : { selection };
    const informer = new ScopedInformer<KubeObject>(kind, scopes(), (scope, indexers) =>
      makeScopeInformer(this.#options, { kind, scope, prefix, indexers, seriesOwners: this.#seriesOwners, ...of }),
    );
    const entry = new KindEntry({ id, kind, informer, resolve: scopes, ...of });
    this.#entries.set(id, entry);
    this.#versions.clear();
    this.#start(entry);
    return entry;
  }

  /** A kind is held whole or stripped, never both. */
  #otherFormOf(kind: Kind): KindEntry | undefined {
    if (kind.shape === 'metadata') return undefined;
    return this.#entries.get(idOf({ ...kind, shape: kind.shape === 'stripped' ? 'full' : 'stripped' }));
  }

  #startsOnRead(kind: Kind): boolean {
    return this.#options.undeclaredReads === 'start' && this.#otherFormOf(kind) === undefined;
  }

  /** Does nothing for an informer that was removed before, because another of its kind may exist by now. */
  async #remove(entry: KindEntry): Promise<void> {
    if (this.#entries.get(entry.id) !== entry) return;
    this.#entries.delete(entry.id);
    this.#versions.clear();
    entry.stopLinger();
    await entry.informer.leaveScope();
  }

  #scopesOf(kind: Kind): ResolvedScope[] {
    return resolveScopes(kind, this.#sources(limitsOf(kind, this.#options.byObject ?? [])));
  }

  #sources(byKind: KindOptions | undefined): ScopeSources {
    return { byKind, defaultNamespaces: this.#defaultNamespaces, defaults: this.#options.defaults };
  }

  #tableOf(kind: Kind): ScopeTable {
    const entry = this.#entries.get(idOf(kind));
    if (entry !== undefined) return entry.scopes;
    // Objects that are read live because they are not held are whole.
    const sources = withoutTransforms(this.#sources(limitsOf(kind, this.#options.byObject ?? [])));
    return new ScopeTable(kind, resolveScopes(kind, sources));
  }

  /** The restrictions of a live read. @throws UnknownNamespaceError as a cached read does */
  #liveScope(kind: Kind, { verb, namespace }: CachedRead): LiveReadScope {
    const table = this.#tableOf(kind);
    if (!table.covers(namespace)) throw new UnknownNamespaceError(`${verb} ${kind.plural}`, namespace);
    const entry = this.#entries.get(idOf(kind));
    const reader = entry === undefined ? createIndexer<KubeObject>() : entry.indexes;
    const project = (object: KubeObject): DeepReadonly<KubeObject> | undefined => this.#projected(kind, table, object);
    return { client: this.#options.client, scopes: table.lists, reader, project };
  }

  /** If the transform fails, the store keeps the version before, or nothing. */
  #projected(kind: Kind, table: ScopeTable, object: KubeObject): DeepReadonly<KubeObject> | undefined {
    try {
      return projected(table, object);
    } catch {
      return this.#entries.get(idOf(kind))?.informer.indexer.get(keyOf(object));
    }
  }

  #start({ informer }: KindEntry): void {
    const signal = this.#signal;
    // Also after the end. The informer then ends at once, and no caller waits for it forever.
    if (signal === undefined) return;
    const run = informer
      .run(signal)
      .catch((error: unknown) => this.#fail?.(error))
      .finally(() => this.#runs.delete(run));
    this.#runs.add(run);
  }

  #part(kind: Kind, namespace: string | undefined): SharedInformer<KubeObject> | undefined {
    const informer = this.#entries.get(idOf(kind))?.informer;
    return namespace === undefined || namespace === '' || kind.scope === 'Cluster'
      ? informer
      : informer?.partFor(namespace);
  }

  /** The informer that answers a read, if it can do so at once. */
  #ready(kind: Kind, namespace: string): SharedInformer<KubeObject> | undefined {
    if (this.#signal === undefined) return undefined;
    const informer = this.#entries.get(idOf(kind))?.informer;
    const part = namespace === '' ? informer : informer?.partFor(namespace);
    return part?.hasSynced === true ? part : undefined;
  }

  /**
   * Reads from the informer that answers, once it has synced, in the same step in which the sync was observed. An
   * informer that leaves meanwhile becomes empty, so an empty result from it means nothing; its replacement then
   * answers.
   */
  async #whenReadable<R>(
    kind: Kind,
    { verb, namespace, options: { signal } }: CachedRead & { readonly options: StoreGet },
    use: (informer: SharedInformer<KubeObject>) => R,
  ): Promise<R> {
    for (;;) {
      throwIfAborted(signal);
      if (!this.isStarted) throw new CacheNotStartedError();
      const known = this.#entries.get(idOf(kind));
      if (known === undefined && !this.#startsOnRead(kind)) throw new KindNotCachedError(kind);
      // Before it starts an informer that could not answer.
      if (known === undefined && !this.#tableOf(kind).covers(namespace))
        throw new UnknownNamespaceError(`${verb} ${kind.plural}`, namespace);
      const { informer } = known ?? this.#declare(kind);
      const part = namespace === '' ? informer : informer.partFor(namespace);
      if (part === undefined) throw new UnknownNamespaceError(`${verb} ${kind.plural}`, namespace);
      const late = informer.lateFor(part);
      if (late === undefined) return use(part);
      try {
        await late.waitForSync(signal === undefined ? {} : { signal });
      } catch (error) {
        throwIfAborted(signal);
        const present = this.#entries.get(idOf(kind))?.informer;
        if (present === informer && (late === informer || informer.holds(late))) throw error;
      }
    }
  }
}
