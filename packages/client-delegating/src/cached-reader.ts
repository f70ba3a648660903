import { formatKey, keyOf } from '@kctl/apimachinery';
import type { DeepReadonly, KeyOf, Kind, KindShape, KubeList, KubeObject } from '@kctl/apimachinery';
import type { GetOptions, ListOptions, Reader, ReadObject } from '@kctl/client';
import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { CacheView } from './cache-view.js';
import { CachedListError, notFound } from './errors.js';
import type { Ledger } from './ledger.js';
import { matcherOf } from './list-matcher.js';
import { mergeInOrder } from './merge-in-order.js';
import { orAborted } from './or-aborted.js';
import { orUndefined } from './or-undefined.js';
import { isAtLeast, isComparable, isNewer } from './own-write.js';
import type { OwnWrite } from './own-write.js';
import type { ScopeWrite } from './scope-writes.js';
import { projected } from './projected.js';
import { outcomeOfObject } from './write-outcome.js';

/** What {@link CachedReader} needs. */
export interface CachedReaderOptions {
  readonly cache: CacheView;
  readonly live: Reader;
  readonly ledger: Ledger;
  readonly mode: 'overlay' | 'barrier' | 'off';
  /** ms that a read waits for the cache to catch up, before it is sent to the server instead. */
  readonly barrierTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Reads from the cache, corrected by own writes that it has not seen. */
export class CachedReader {
  readonly #options: CachedReaderOptions;
  /** Questions under way, by the write that raised them: an answer to an older write would not do. */
  readonly #resolving = new WeakMap<OwnWrite, Map<string, Promise<OwnWrite | undefined>>>();
  readonly #views = new WeakMap<OwnWrite, Map<KindShape, DeepReadonly<KubeObject> | undefined>>();
  readonly #scopeVersions = new WeakMap<ScopeWrite, Promise<string>>();

  constructor(options: CachedReaderOptions) {
    this.#options = options;
  }

  async get<K extends Kind>(kind: K, key: KeyOf<K>, options: GetOptions): Promise<ReadObject<K>> {
    const { cache, ledger, live } = this.#options;
    const mode = options.readYourWrites ?? this.#options.mode;
    if (mode === 'off') return await cache.get(kind, key, options);
    if (!(await this.#waitForScopes(kind, key.namespace, options))) return await live.get(kind, key, options);
    const waitsFor = mode === 'barrier' ? ledger.find(kind, key) : undefined;
    if (waitsFor !== undefined && !(await this.#waitFor(kind, [waitsFor], key.namespace, options)))
      return await live.get(kind, key, options);
    const write = ledger.find(kind, key);
    if (write === undefined) return await cache.get(kind, key, options);
    const storeVersion = cache.resourceVersionOf(kind, key.namespace);
    const cached = await orUndefined(cache.get(kind, key, options));
    if (ledger.isDone(kind, write, { storeVersion, cached: asObject(cached) })) {
      if (cached === undefined) throw notFound(kind, key.name);
      return cached;
    }
    const known = needsReading(kind, write) ? await this.#resolve(kind, write, options) : write;
    if (known === undefined) return await live.get(kind, key, options);
    const held = this.#held(kind, known);
    if (held === undefined) throw notFound(kind, key.name);
    return asRead<K>(held);
  }

  async list<K extends Kind>(kind: K, options: ListOptions): Promise<KubeList<ReadObject<K>>> {
    const { cache, ledger, live } = this.#options;
    if ((options.continue ?? '') !== '') throw new CachedListError(kind, 'continue', 'a cached list is not paged');
    const { limit, ...unlimited } = options;
    const mode = options.readYourWrites ?? this.#options.mode;
    if (mode === 'off') return limited(await cache.list(kind, unlimited), limit);
    const { namespace } = options;
    if (!(await this.#waitForScopes(kind, namespace, options))) return await live.list(kind, options);
    const waitsFor = mode === 'barrier' ? [...ledger.inScope(kind, namespace).values()] : [];
    if (waitsFor.length > 0 && !(await this.#waitFor(kind, waitsFor, namespace, options)))
      return await live.list(kind, options);
    const writes = ledger.inScope(kind, namespace);
    if (writes.size === 0) return limited(await cache.list(kind, unlimited), limit);
    if (!(await this.#resolveAll(kind, writes, options))) return await live.list(kind, options);
    const storeVersion = cache.resourceVersionOf(kind, namespace);
    const list = await cache.list(kind, unlimited);
    return limited(await this.#merge(kind, list, { writes, storeVersion, options }), limit);
  }

  /** What a store of this kind would hold after a write: frozen, made once for each store; undefined: nothing. */
  #held(kind: Kind, write: OwnWrite): DeepReadonly<KubeObject> | undefined {
    if (write.outcome.type !== 'present') return undefined;
    let views = this.#views.get(write);
    if (views === undefined)
      this.#views.set(write, (views = new Map<KindShape, DeepReadonly<KubeObject> | undefined>()));
    if (views.has(kind.shape)) return views.get(kind.shape);
    const view = projected(this.#options.cache, kind, write.outcome.object);
    views.set(kind.shape, view);
    return view;
  }

  /** Replaces, removes and adds, each in its place, what own writes know better. */
  async #merge<K extends Kind>(
    kind: K,
    list: KubeList<ReadObject<K>>,
    { writes, storeVersion, options }: Merge,
  ): Promise<KubeList<ReadObject<K>>> {
    const { cache, ledger } = this.#options;
    const matches = matcherOf(options);
    const items: ReadObject<K>[] = [];
    const better: DeepReadonly<KubeObject>[] = [];
    const take = (write: OwnWrite): void => {
      const held = this.#held(kind, write);
      if (held !== undefined && matches(held)) better.push(held);
    };
    const unseen = new Map(writes);
    for (const item of list.items) {
      const cached = asObject(item);
      const write = cached === undefined ? undefined : unseen.get(formatKey(keyOf(cached)));
      if (write === undefined) {
        items.push(item);
        continue;
      }
      unseen.delete(formatKey(write.key));
      if (ledger.isDone(kind, write, { storeVersion, cached })) items.push(item);
      else take(write);
    }
    for (const write of unseen.values()) {
      // A store that is past the version of a write and does not list the object: it is gone, or matches no more. The
      // version of a delete is not known, so there one must look whether it is really gone.
      if (write.version !== '' && ledger.isDone(kind, write, { storeVersion, cached: undefined })) continue;
      const cached = await orUndefined(cache.get<Kind>(kind, write.key));
      if (!ledger.isDone(kind, write, { storeVersion, cached: asObject(cached) })) take(write);
    }
    if (better.length === 0) return { ...list, items };
    const added = better.map((object) => asRead<K>(object));
    return { ...list, items: mergeInOrder(items, added, metadataOf) };
  }

  /**
   * Waits until the cache is past the writes; where the version of one is not known, the server is asked for it.
   * False: the cache did not get there, or nobody can tell.
   */
  async #waitFor(
    kind: Kind,
    writes: readonly OwnWrite[],
    namespace: string | undefined,
    options: GetOptions,
  ): Promise<boolean> {
    const known = await Promise.all(
      writes.map(async (write) => (isComparable(write.version) ? write : await this.#resolve(kind, write, options))),
    );
    let latest = '';
    for (const write of known) {
      if (write === undefined || !isComparable(write.version)) return false;
      if (latest === '' || isNewer(write.version, latest)) latest = write.version;
    }
    return await this.#waitForVersion(kind, latest, { namespace, signal: options.signal });
  }

  async #waitForVersion(kind: Kind, version: string, { namespace, signal }: Wait): Promise<boolean> {
    const { cache, barrierTimeoutMs: timeoutMs, logger } = this.#options;
    try {
      await cache.waitForResourceVersion(kind, version, {
        timeoutMs,
        ...(namespace === undefined ? {} : { namespace }),
        ...(signal === undefined ? {} : { signal }),
      });
      return true;
    } catch (error) {
      signal?.throwIfAborted();
      logger.debug('The cache did not catch up with own writes in time: reading from the server', {
        kind: kind.kind,
        version,
        error,
      });
      return false;
    }
  }

  /** After a write to unknown names, or before the kind was cached: the store must be at a version that covers it. */
  async #waitForScopes(kind: Kind, namespace: string | undefined, options: GetOptions): Promise<boolean> {
    const { cache, ledger } = this.#options;
    const { signal } = options;
    for (const scope of ledger.scopesOver(kind, namespace)) {
      if (scope.version === '') scope.version = await orAborted(this.#versionOver(kind, scope), signal);
      if (!isComparable(scope.version)) return false;
      if (!isAtLeast(cache.resourceVersionOf(kind, namespace), scope.version)) {
        // A quiet kind may reach the version with the next bookmark only: one read waits for it, not every one.
        if (scope.isLate === true) return false;
        if (!(await this.#waitForVersion(kind, scope.version, { namespace, signal }))) {
          scope.isLate = true;
          return false;
        }
      }
      ledger.settleScope(scope);
    }
    return true;
  }

  /** The version that the server is at, asked once for all who wait. */
  #versionOver(kind: Kind, scope: ScopeWrite): Promise<string> {
    let version = this.#scopeVersions.get(scope);
    if (version !== undefined) return version;
    const inScope = scope.namespace === undefined ? {} : { namespace: scope.namespace };
    version = this.#options.live
      .list(kind, { ...inScope, limit: 1 })
      .then(({ metadata }) => metadata.resourceVersion ?? '')
      .finally(() => this.#scopeVersions.delete(scope));
    this.#scopeVersions.set(scope, version);
    return version;
  }

  async #resolveAll(kind: Kind, writes: Map<string, OwnWrite>, options: ListOptions): Promise<boolean> {
    const { cache } = this.#options;
    const storeVersion = cache.resourceVersionOf(kind, options.namespace);
    const open = [...writes].filter(
      ([, write]) =>
        needsReading(kind, write) && !this.#options.ledger.isDone(kind, write, { storeVersion, cached: undefined }),
    );
    const known = await Promise.all(open.map(([, write]) => this.#resolve(kind, write, options)));
    open.forEach(([key], index) => {
      const write = known[index];
      if (write !== undefined) writes.set(key, write);
    });
    return known.every((write) => write !== undefined);
  }

  /**
   * Asks the server what became of a key, once for all who wait: a list of this one name, because its answer has a
   * version also where the object is gone. Undefined where the server does not tell.
   */
  #resolve(kind: Kind, write: OwnWrite, { signal }: GetOptions): Promise<OwnWrite | undefined> {
    signal?.throwIfAborted();
    let byKind = this.#resolving.get(write);
    if (byKind === undefined) this.#resolving.set(write, (byKind = new Map<string, Promise<OwnWrite | undefined>>()));
    const id = `${kind.apiVersion} ${kind.shape}`;
    let running = byKind.get(id);
    if (running === undefined) {
      const owner = byKind;
      running = this.#ask(kind, write).finally(() => owner.delete(id));
      byKind.set(id, running);
    }
    return orAborted(running, signal);
  }

  async #ask(kind: Kind, open: OwnWrite): Promise<OwnWrite | undefined> {
    const { live, ledger, clock } = this.#options;
    const { key } = open;
    const { items, metadata } = await live.list(kind, {
      ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
      fieldSelector: { 'metadata.name': key.name },
    });
    const found = items.map((item) => asObject(item)).find((item) => item?.metadata.name === key.name);
    const version = metadata.resourceVersion ?? '';
    if (!isComparable(version)) return undefined;
    const recordedAt = clock.monotonicNow();
    const write: OwnWrite =
      found === undefined
        ? { key, outcome: { type: 'absent' }, version, floor: '', uid: '', recordedAt }
        : { ...outcomeOfObject(kind, found), recordedAt };
    ledger.settle(kind, open, write);
    return write;
  }
}

interface Merge {
  readonly writes: ReadonlyMap<string, OwnWrite>;
  readonly storeVersion: string;
  readonly options: ListOptions;
}

interface Wait {
  readonly namespace: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Whether what is remembered is not enough to answer a read of this kind. */
function needsReading(kind: Kind, { outcome, version }: OwnWrite): boolean {
  if (outcome.type === 'unread') return true;
  if (version !== '' && !isComparable(version)) return true;
  if (outcome.type === 'absent') return false;
  return outcome.apiVersion !== kind.apiVersion || (outcome.shape === 'metadata' && kind.shape !== 'metadata');
}

/** A cut list says so, in the one field that says it without promising a next page. */
function limited<T>(list: KubeList<T>, limit: number | undefined): KubeList<T> {
  if (limit === undefined || limit <= 0 || list.items.length <= limit) return list;
  return {
    ...list,
    metadata: { ...list.metadata, remainingItemCount: list.items.length - limit },
    items: list.items.slice(0, limit),
  };
}

/** Every object type of a kind is a KubeObject; the compiler cannot see that through the conditional type. */
function asObject(object: object | undefined): DeepReadonly<KubeObject> | undefined {
  return object as DeepReadonly<KubeObject> | undefined;
}

function metadataOf(object: object): DeepReadonly<KubeObject>['metadata'] {
  return asObject(object)?.metadata ?? {};
}

/** The inverse: an object of this kind, as its reader wants it. */
function asRead<K extends Kind>(object: DeepReadonly<KubeObject>): ReadObject<K> {
  return object as ReadObject<K>;
}
