import type {
  DeepReadonly,
  KeyOrObject,
  Kind,
  KubeList,
  KubeObject,
  ObjectOf,
  PersistedObject,
} from '@kctl/apimachinery';
import { formatGroupVersionKind, keyOf, stripped } from '@kctl/apimachinery';
import type { IndexDefinition } from '@kctl/cache-index';
import { deepFreeze } from '@kctl/cache-index';
import { requireKey } from '@kctl/client';
import type { GetOptions, ListOptions, ReadObject } from '@kctl/client';
import type { InformerWaitOptions, SharedInformer } from '@kctl/informer';
import { InformerStartedError, SyncError } from '@kctl/informer';
import { keepAlive, systemClock } from '@kctl/wait';
import type { CacheOptions, NamespaceScopes, ResolvedScope } from './cache-options.js';
import type { Cache, CacheScope, InformerLease, InformerStatus } from './cache.js';
import { CacheNotStartedError, KindNotCachedError, UnknownNamespaceError } from './errors.js';
import { KindEntry } from './kind-entry.js';
import { makeScopeInformer } from './make-informer.js';
import { fieldIndexName, listFrom, notFound } from './read.js';
import { requireCacheOptions, requireKind } from './required.js';
import { isEmpty, resolveScopes } from './resolve-scopes.js';
import { ScopedInformer } from './scoped-informer.js';

/** A cache over a client. It does nothing until it runs. @throws TypeError naming the option that is not valid */
export function createCache(options: CacheOptions): Cache {
  return new InformerCache(options);
}

const defaultLingerMs = 30_000;

class InformerCache implements Cache {
  readonly #options: CacheOptions;
  readonly #entries = new Map<string, KindEntry>();
  #defaultNamespaces: NamespaceScopes | undefined;
  #signal: AbortSignal | undefined;
  #fail: ((error: unknown) => void) | undefined;
  readonly #runs = new Set<Promise<void>>();

  constructor(options: CacheOptions) {
    requireCacheOptions(options);
    this.#options = options;
    const { defaultNamespaces } = options;
    this.#defaultNamespaces =
      defaultNamespaces === undefined || isEmpty(defaultNamespaces) ? undefined : defaultNamespaces;
    for (const { kind } of options.byObject ?? []) this.#declare(kind);
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
      options.signal?.throwIfAborted();
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

  async removeInformer(kind: Kind): Promise<void> {
    const entry = this.#entries.get(idOf(kind));
    if (entry !== undefined) await this.#remove(entry);
  }

  addIndex<K extends Kind>(kind: K, name: string, definition: IndexDefinition<PersistedObject<K>>): void {
    const scoped =
      typeof definition === 'function' ? { object: definition, scoped: true } : { ...definition, scoped: true };
    this.informerFor(kind).addIndexers({ [fieldIndexName(name)]: scoped });
  }

  async setNamespaces(namespaces: NamespaceScopes): Promise<void> {
    this.#defaultNamespaces = namespaces;
    await Promise.all([...this.#entries.values()].map((entry) => entry.informer.setScopes(this.#scopesOf(entry.kind))));
  }

  async waitForSync(options: InformerWaitOptions = {}): Promise<void> {
    const entries = [...this.#entries.values()];
    const results = await Promise.allSettled(entries.map((entry) => entry.informer.waitForSync(options)));
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    options.signal?.throwIfAborted();
    if (errors.length === 0) return;
    const informers = errors.flatMap((error) => (error instanceof SyncError ? error.informers : []));
    const messages = errors.map((error) => (error instanceof Error ? error.message : String(error)));
    throw new SyncError(`the cache has not synced: ${messages.join('; ')}`, informers, {
      cause: new AggregateError(errors),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
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
    if (!ending.signal.aborted)
      await new Promise<void>((resolve) => ending.signal.addEventListener('abort', () => resolve(), { once: true }));
    signal.removeEventListener('abort', end);
    for (const entry of this.#entries.values()) entry.stopLinger();
    while (this.#runs.size > 0) await Promise.all(this.#runs);
    if (failure !== undefined) throw failure.error;
  }

  async get<K extends Kind>(kind: K, named: KeyOrObject<K>, options: GetOptions = {}): Promise<ReadObject<K>> {
    const key = requireKey('get', kind, named);
    const namespace = kind.scope === 'Cluster' ? undefined : key.namespace;
    const informer = await this.#readable(kind, { verb: 'get', namespace: namespace ?? '' }, options);
    const found = informer.indexer.get(namespace === undefined ? { name: key.name } : { namespace, name: key.name });
    if (found === undefined) throw notFound(kind, key);
    return found as ReadObject<K>;
  }

  async list<K extends Kind>(kind: K, options: ListOptions = {}): Promise<KubeList<ReadObject<K>>> {
    const namespace = kind.scope === 'Cluster' ? '' : (options.namespace ?? '');
    const informer = await this.#readable(kind, { verb: 'list', namespace }, options);
    return listFrom({ kind, reader: informer.indexer, options }) as KubeList<ReadObject<K>>;
  }

  isCached(kind: Kind, namespace?: string): boolean {
    const entry = this.#entries.get(idOf(kind));
    if (entry === undefined) return this.#startsOnRead(kind);
    if (namespace === undefined || namespace === '' || kind.scope === 'Cluster') return true;
    return entry.informer.partFor(namespace) !== undefined;
  }

  resourceVersionOf(kind: Kind, namespace?: string): string {
    return this.#part(kind, namespace)?.resourceVersion ?? '';
  }

  async waitForResourceVersion(
    kind: Kind,
    resourceVersion: string,
    options: InformerWaitOptions & CacheScope = {},
  ): Promise<void> {
    const part = this.#part(kind, options.namespace);
    if (part === undefined) throw new KindNotCachedError(kind);
    await part.waitForResourceVersion(resourceVersion, options);
  }

  project<K extends Kind>(kind: K, object: ObjectOf<K>): DeepReadonly<ObjectOf<K>> | undefined {
    const { namespace = '' } = keyOf(object);
    const scopes = this.#entries.get(idOf(kind))?.informer.scopes ?? this.#scopesOf(kind);
    const scope = scopes.find((own) => own.namespace === namespace) ?? scopes.find((own) => own.namespace === '');
    if (scope === undefined) return undefined;
    const { metadata } = object as KubeObject;
    if (scope.labels !== undefined && !scope.labels.matches(metadata.labels)) return undefined;
    const { managedFields, ...kept } = metadata;
    const whole = {
      ...(object as KubeObject),
      metadata: scope.keepManagedFields === true && managedFields !== undefined ? metadata : kept,
    };
    const stored = scope.transform === undefined ? whole : scope.transform(whole);
    return deepFreeze(stored) as unknown as DeepReadonly<ObjectOf<K>>;
  }

  isLossy(kind: Kind): boolean {
    const lean = this.#entries.get(idOf(stripped(kind)));
    return lean !== undefined && lean.informer.scopes.some((scope) => scope.transform !== undefined);
  }

  informers(): readonly InformerStatus[] {
    return [...this.#entries.values()].map(({ informer, isWanted }) => ({
      kind: informer.kind,
      state: informer.state,
      trouble: informer.trouble,
      hasSynced: informer.hasSynced,
      resourceVersion: informer.resourceVersion,
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
    const other = this.#otherFormOf(kind);
    if (other !== undefined)
      throw new TypeError(
        `${formatGroupVersionKind(kind)} is cached ${other.kind.shape === 'stripped' ? 'stripped already: use stripped(…)' : 'whole already: use the plain kind'}, or read it live; both would be held twice`,
      );
    const informer = new ScopedInformer<KubeObject>(kind, this.#scopesOf(kind), (scope, indexers) =>
      makeScopeInformer(this.#options, { kind, scope, indexers }),
    );
    const entry = new KindEntry(kind, informer);
    this.#entries.set(id, entry);
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

  /** Does nothing for one that was removed before: another of its kind may be there by now. */
  async #remove(entry: KindEntry): Promise<void> {
    const id = idOf(entry.kind);
    if (this.#entries.get(id) !== entry) return;
    this.#entries.delete(id);
    entry.stopLinger();
    await entry.informer.leaveScope();
  }

  #scopesOf(kind: Kind): ResolvedScope[] {
    return resolveScopes(kind, {
      byKind: this.#options.byObject?.find((own) => idOf(own.kind) === idOf(kind)),
      defaultNamespaces: this.#defaultNamespaces,
      defaults: this.#options.defaults,
    });
  }

  #start({ informer }: KindEntry): void {
    const signal = this.#signal;
    // Also after the end: the informer then ends at once, and nobody waits for it for ever.
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

  /** The informer that answers a read, synced. */
  async #readable(
    kind: Kind,
    read: { readonly verb: string; readonly namespace: string },
    { signal }: GetOptions,
  ): Promise<SharedInformer<KubeObject>> {
    signal?.throwIfAborted();
    if (!this.isStarted) throw new CacheNotStartedError();
    const known = this.#entries.get(idOf(kind));
    if (known === undefined && !this.#startsOnRead(kind)) throw new KindNotCachedError(kind);
    const { informer } = known ?? this.#declare(kind);
    const part = read.namespace === '' ? informer : informer.partFor(read.namespace);
    if (part === undefined) throw new UnknownNamespaceError(`${read.verb} ${kind.plural}`, read.namespace);
    const options = signal === undefined ? {} : { signal };
    if (!informer.hasSynced) await informer.waitForSync(options);
    // A namespace that has just been added.
    if (!part.hasSynced) await part.waitForSync(options);
    return part;
  }
}

/** Full and untyped tokens name the same objects; stripped ones are less, metadata-only ones less to ask for. */
function idOf(token: Kind): string {
  requireKind('cache: kind', token);
  const { group, version, kind, shape } = token;
  return `${group}/${version}/${kind}/${shape === 'metadata' || shape === 'stripped' ? shape : 'whole'}`;
}
