// A cached get returns own writes like this. `overlay/write-recorder.ts` records the outcome of each write of this client.
// `overlay/pending-writes.ts` keeps it until every store of the cache has observed a version that is as new.
// `writes/own-write.ts` decides whether a store has. While it has not, this file lays the write over the object that the
// cache returns; if the outcome is not known, it reads the object from the server once.
import { throwIfAborted } from '@kctl/wait/internal';
import { formatKey, keyOf } from '@kctl/apimachinery';
import type { DeepReadonly, KeyOf, Kind, KubeList, KubeObject, ObjectKey } from '@kctl/apimachinery';
import { requireObjectAnswer } from '@kctl/client/internal';
import type { GetOptions, ListOptions, Reader, ReadObject } from '@kctl/client';
import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { refusedOption, sentOptions } from '@kctl/options';
import { cachedList } from './overlay/list-decisions.js';
import type { CacheView } from './overlay/cache-view.js';
import { CachedListError, notFound } from './errors.js';
import { HeldViews } from './overlay/held-views.js';
import type { PendingWrites } from './overlay/pending-writes.js';
import { limited } from './limited.js';
import { listMatcher } from './overlay/list-matcher.js';
import { mergeInOrder } from './overlay/merge-in-order.js';
import { orUndefined } from './or-undefined.js';
import { isComparable, isNewer, isPast, needsReading, storeName } from './writes/own-write.js';
import type { OwnWrite } from './writes/own-write.js';
import { ScopedLive } from './scoped-live.js';
import type { ScopeWrite } from './writes/scope-writes.js';
import { ServerQuestions } from './overlay/server-questions.js';

/** Options for {@link CachedReader}. */
export interface CachedReaderOptions {
  readonly cache: CacheView;
  readonly live: Reader;
  readonly pendingWrites: PendingWrites;
  readonly mode: 'overlay' | 'barrier' | 'off';
  /** ms that a read waits for the cache to catch up, before it queries the server instead. */
  readonly barrierTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Beyond this many open look-ups of names, the whole namespace is requested at once. */
const maxNames = 4;

/** How often a read starts over because of writes and events that came meanwhile. */
const maxRounds = 5;

/**
 * Reads from the cache, corrected by own writes that it has not seen. Anything the cache cannot answer is requested
 * from the server, and the answer is recorded like a write. A read is therefore always made of cache and recorded
 * writes, so it has the scope of the cache.
 *
 * A `get` costs as much as the cache's, plus O(1). A `list` costs in addition O(recorded writes of the namespace), and
 * O(objects of the list) while there are any.
 */
export class CachedReader {
  readonly #options: CachedReaderOptions;
  readonly #questions: ServerQuestions;
  readonly #views: HeldViews;
  readonly #live: ScopedLive;

  constructor(options: CachedReaderOptions) {
    this.#options = options;
    this.#questions = new ServerQuestions(options);
    this.#views = new HeldViews(options.cache);
    this.#live = new ScopedLive(options.cache, options.live);
  }

  /**
   * Returns the cached object if no own write could change it, which covers nearly every read of a reconciler without
   * waiting. Undefined if {@link get} has to look.
   */
  peek<K extends Kind>(kind: K, key: KeyOf<K>, options: GetOptions): ReadObject<K> | undefined {
    const { cache, pendingWrites } = this.#options;
    if (cache.peek === undefined || options.signal?.aborted === true) return undefined;
    pendingWrites.learn(kind);
    const isSeen =
      pendingWrites.find(kind, key) === undefined && pendingWrites.scopesOver(kind, key.namespace).length === 0;
    return isSeen ? cache.peek(kind, key) : undefined;
  }

  async get<K extends Kind>(kind: K, key: KeyOf<K>, options: GetOptions): Promise<ReadObject<K>> {
    const { cache } = this.#options;
    const mode = options.readYourWrites ?? this.#options.mode;
    if (mode === 'off') return await cache.get(kind, key, options);
    this.#options.pendingWrites.learn(kind);
    for (let round = 0; round < maxRounds; round++) {
      if (!(await this.#settleScopes(kind, key.namespace, options.signal))) break;
      const read = await this.#get(kind, key, { mode, options });
      if (read === 'unknown') break;
      if (!this.#isSettled(kind, key.namespace)) continue;
      if (read === undefined) throw notFound(kind, key.name);
      return read;
    }
    return await this.#live.get(kind, key, options);
  }

  async #get<K extends Kind>(kind: K, key: KeyOf<K>, { mode, options }: Read): Promise<Answer<ReadObject<K>>> {
    const { cache, pendingWrites } = this.#options;
    const { signal } = options;
    if (mode === 'barrier') await this.#catchUp(kind, pendingWrites.find(kind, key), signal);
    const write = pendingWrites.find(kind, key);
    const storeVersion = cache.resourceVersionOf(kind, key.namespace);
    const cached = await orUndefined(cache.get(kind, key, options));
    if (cached !== undefined) requireObjectAnswer(`cached read of ${kind.kind}`, cached);
    if (write === undefined || pendingWrites.isDone(kind, write, { storeVersion, cached: asObject(cached) }))
      return cached;
    const known = needsReading(kind, write) ? await this.#questions.about(kind, write, signal) : write;
    if (known === undefined) return 'unknown';
    const held = this.#views.of(kind, known);
    return held === undefined ? undefined : asRead<K>(held);
  }

  async list<K extends Kind>(kind: K, options: ListOptions): Promise<KubeList<ReadObject<K>>> {
    const { cache } = this.#options;
    const refused = refusedOption(cachedList, options);
    if (refused !== undefined) throw new CachedListError(kind, refused.name, refused.reason);
    const { limit } = options;
    const unlimited = sentOptions(cachedList, options);
    const mode = options.readYourWrites ?? this.#options.mode;
    if (mode === 'off') return limited(await cache.list(kind, unlimited), limit);
    this.#options.pendingWrites.learn(kind);
    for (let round = 0; round < maxRounds; round++) {
      if (!(await this.#settleScopes(kind, options.namespace, options.signal))) break;
      const list = await this.#list(kind, { mode, options: unlimited });
      if (list === 'unknown') break;
      if (list !== undefined && this.#isSettled(kind, options.namespace)) return limited(list, limit);
    }
    return await this.#live.list(kind, options);
  }

  async #list<K extends Kind>(kind: K, { mode, options }: Read): Promise<Answer<KubeList<ReadObject<K>>>> {
    const { cache } = this.#options;
    const { namespace, signal } = options;
    if (mode === 'barrier') await this.#catchUpAll(kind, namespace, signal);
    const writes = await this.#answered(kind, namespace, signal);
    if (writes === undefined) return 'unknown';
    // Per namespace, because one that cannot be listed has no effect on the others.
    const versions = new Map<string | undefined, string>();
    for (const { key } of writes.values())
      if (!versions.has(key.namespace)) versions.set(key.namespace, cache.resourceVersionOf(kind, key.namespace));
    const list = await cache.list(kind, options);
    return writes.size === 0 ? list : await this.#merge(kind, list, { writes, versions, options });
  }

  /** Replaces, removes and adds, each in its place, what own writes know better. */
  async #merge<K extends Kind>(
    kind: K,
    list: KubeList<ReadObject<K>>,
    { writes, versions, options }: Merge,
  ): Promise<KubeList<ReadObject<K>>> {
    const { cache, pendingWrites } = this.#options;
    const matches = listMatcher(cache, kind, options);
    const items: ReadObject<K>[] = [];
    const better: DeepReadonly<KubeObject>[] = [];
    const heldIfMatching = (write: OwnWrite): DeepReadonly<KubeObject> | undefined => {
      const held = this.#views.of(kind, write);
      return held !== undefined && matches(held) ? held : undefined;
    };
    const unseen = new Map(writes);
    for (const item of list.items) {
      const cached = asObject(item);
      const id = cached === undefined ? '' : formatKey(keyOf(cached));
      const write = unseen.get(id);
      if (write === undefined) {
        items.push(item);
        continue;
      }
      unseen.delete(id);
      const storeVersion = versions.get(write.key.namespace) ?? '';
      if (pendingWrites.isDone(kind, write, { storeVersion, cached })) items.push(item);
      else addTo(better, heldIfMatching(write));
    }
    for (const write of unseen.values()) {
      const storeVersion = versions.get(write.key.namespace) ?? '';
      const held = heldIfMatching(write);
      const isBehind = !isPast(write, storeVersion);
      if (isBehind && held === undefined && write.outcome.type === 'present') continue;
      // The version of an end is not known, so one must check whether the store has seen it. If a store is past a write
      // and does not list the object, it is gone, no longer matches, or its namespace is about to be shown.
      const cached = await this.#shown(kind, write.key, options.signal);
      if (!pendingWrites.isDone(kind, write, { storeVersion, cached })) addTo(better, held);
      // The store has received it since it was listed, so it would be missing in the list.
      else if (cached !== undefined && matches(cached)) better.push(cached);
    }
    if (better.length === 0) return { ...list, items };
    const added = better.map((object) => asRead<K>(object));
    return { ...list, items: mergeInOrder(items, added, metadataOf) };
  }

  /**
   * Returns the writes that the store has not caught up with, each sufficient to answer a read of this kind. Undefined
   * if the server does not report the outcome of one.
   */
  async #answered(
    kind: Kind,
    namespace: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, OwnWrite> | undefined> {
    // A write may come between query and answer, and require another query.
    for (let round = 0; round < maxRounds; round++) {
      const writes = this.#inScope(kind, namespace);
      const open: OwnWrite[] = [];
      let isKnown = true;
      for (const write of writes.values()) {
        if (!needsReading(kind, write)) continue;
        isKnown = false;
        if (!(await this.#isDone(kind, write, signal))) open.push(write);
      }
      if (isKnown) return writes;
      if (!(await this.#ask(kind, open, signal))) return undefined;
    }
    return undefined;
  }

  /**
   * Only those of namespaces that the cache holds, because a namespace may have left it, and its recorded writes with
   * it.
   */
  #inScope(kind: Kind, namespace: string | undefined): Map<string, OwnWrite> {
    const { cache, pendingWrites } = this.#options;
    const writes = pendingWrites.inScope(kind, namespace);
    for (const [id, { key }] of writes) if (!cache.isCached(kind, key.namespace)) writes.delete(id);
    return writes;
  }

  /**
   * Returns the object that the store of a key holds at present. A store that has not synced holds nothing, because its
   * namespace may never be listed, and a read of others does not wait for it.
   */
  async #shown(
    kind: Kind,
    key: ObjectKey,
    signal: AbortSignal | undefined,
  ): Promise<DeepReadonly<KubeObject> | undefined> {
    const { cache } = this.#options;
    const peeked = cache.peek?.<Kind>(kind, key);
    if (peeked !== undefined) return asObject(peeked);
    if (cache.resourceVersionOf(kind, key.namespace) === '') return undefined;
    return asObject(await orUndefined(cache.get<Kind>(kind, key, signal === undefined ? {} : { signal })));
  }

  /**
   * Looks up names, or the differences of the whole namespace for many names. False if the server does not report the
   * outcome.
   */
  async #ask(kind: Kind, writes: readonly OwnWrite[], signal: AbortSignal | undefined): Promise<boolean> {
    const questions = [...Map.groupBy(writes, ({ key }) => key.namespace)].flatMap(([within, own]) => {
      const [reason] = own;
      if (reason !== undefined && own.length > maxNames)
        return [this.#differs(kind, within, { reason, signal, isPart: true }).then((version) => version !== '')];
      return own.map(async (write) => (await this.#questions.about(kind, write, signal)) !== undefined);
    });
    return (await Promise.all(questions)).every((isTold) => isTold);
  }

  async #isDone(kind: Kind, write: OwnWrite, signal: AbortSignal | undefined): Promise<boolean> {
    const { cache, pendingWrites } = this.#options;
    const storeVersion = cache.resourceVersionOf(kind, write.key.namespace);
    const cached = await this.#shown(kind, write.key, signal);
    return pendingWrites.isDone(kind, write, { storeVersion, cached });
  }

  /**
   * Whether there is nothing to wait for. An end, also that of an object which leaves what the store looks at, is overlaid:
   * its version is not known, and a quiet store takes long to reach a later one.
   */
  async #isSeen(kind: Kind, write: OwnWrite, signal: AbortSignal | undefined): Promise<boolean> {
    if (await this.#isDone(kind, write, signal)) return true;
    return !needsReading(kind, write) && this.#views.of(kind, write) === undefined;
  }

  /**
   * Waits until the store is past a write; if its version is not known, it is requested from the server. A store that
   * does not get there in time is overlaid with the server's answer.
   */
  async #catchUp(kind: Kind, write: OwnWrite | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (write === undefined || (await this.#isSeen(kind, write, signal))) return;
    const known = needsReading(kind, write) ? await this.#questions.about(kind, write, signal) : write;
    if (known === undefined || !isComparable(known.version) || (await this.#isSeen(kind, known, signal))) return;
    const { namespace } = write.key;
    if (await this.#waitForVersion(kind, known.version, { namespace, signal })) return;
    const late = this.#options.pendingWrites.find(kind, write.key);
    if (late !== undefined) await this.#questions.about(kind, late, signal);
  }

  /** The same for all writes of a namespace. A store is waited for only if its namespace has such writes. */
  async #catchUpAll(kind: Kind, namespace: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    const { cache } = this.#options;
    const latest = new Map<string | undefined, OwnWrite>();
    for (const write of (await this.#answered(kind, namespace, signal))?.values() ?? []) {
      const other = latest.get(write.key.namespace);
      if (!isComparable(write.version) || (other !== undefined && !isNewer(write.version, other.version))) continue;
      // A namespace that was never listed does not catch up, so its writes are overlaid on the store of the others.
      const isPart = isAll(namespace) && write.key.namespace !== undefined;
      if (isPart && cache.resourceVersionOf(kind, write.key.namespace) === '') continue;
      if (!(await this.#isSeen(kind, write, signal))) latest.set(write.key.namespace, write);
    }
    await Promise.all(
      [...latest].map(async ([within, write]) => {
        if (await this.#waitForVersion(kind, write.version, { namespace: within, signal })) return;
        await this.#differs(kind, within, { reason: write, signal, isPart: isAll(namespace) });
      }),
    );
  }

  /** `isPart`: the read is about other namespaces, too, so it does not wait for the store of this one. */
  #differs(kind: Kind, within: string | undefined, { reason, signal, isPart }: Difference): Promise<string> {
    const isLate = isPart && within !== undefined && this.#options.cache.resourceVersionOf(kind, within) === '';
    return this.#questions.differences(kind, within, { reason, signal, isLate });
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
      throwIfAborted(signal);
      logger.debug('the cache did not catch up with own writes in time: asking the server', {
        kind: kind.kind,
        version,
        error,
      });
      return false;
    }
  }

  /**
   * After a write to unknown names, or before the kind was cached, the store must be past it, or the differences must
   * be recorded. A store is waited for only if the event of the write is on its way. False if the server does not
   * report the outcome.
   */
  async #settleScopes(kind: Kind, namespace: string | undefined, signal: AbortSignal | undefined): Promise<boolean> {
    const { cache, pendingWrites } = this.#options;
    for (const scope of pendingWrites.scopesOver(kind, namespace)) {
      const isPart = isAll(namespace);
      if (await this.#reaches(kind, scope, { isPart, signal })) {
        pendingWrites.settleScope(kind, scope);
        continue;
      }
      const at = cache.resourceVersionOf(kind, scope.namespace);
      if (scope.comparedAt.get(storeName(kind)) === at) continue;
      const version = await this.#differs(kind, scope.namespace, { reason: scope, signal, isPart });
      if (version === '') return false;
      scope.comparedAt.set(storeName(kind), at);
      if (scope.version !== '') continue;
      scope.version = version;
      scope.isOfServer = true;
    }
    return true;
  }

  /**
   * Reports whether the records of scopes still hold, because a store that moves may show objects that came and went
   * before the write.
   */
  #isSettled(kind: Kind, namespace: string | undefined): boolean {
    const { cache, pendingWrites } = this.#options;
    return pendingWrites
      .scopesOver(kind, namespace)
      .every((scope) => scope.comparedAt.get(storeName(kind)) === cache.resourceVersionOf(kind, scope.namespace));
  }

  /** Whether the store gets to a version that covers a scope. */
  async #reaches(
    kind: Kind,
    scope: ScopeWrite,
    { isPart, signal }: { readonly isPart: boolean; readonly signal: AbortSignal | undefined },
  ): Promise<boolean> {
    const { namespace } = scope;
    const { cache } = this.#options;
    const within = namespace === undefined ? {} : { namespace };
    if (cache.resourceVersionOf(kind, namespace) === '') {
      // A read of all namespaces is answered without those that were never listed.
      if (isPart && namespace !== undefined) return false;
      await cache.list(kind, { ...within, limit: 1, ...(signal === undefined ? {} : { signal }) });
    }
    if (!isComparable(scope.version)) return false;
    if (isPast(scope, cache.resourceVersionOf(kind, namespace))) return true;
    // One read waits for a store that is late, not every one; none waits for a version that may not come.
    if (scope.isLate === true || scope.isOfServer === true) return false;
    const isThere = await this.#waitForVersion(kind, scope.version, { namespace, signal });
    scope.isLate = !isThere;
    return isThere;
  }
}

/** Result of a read. Undefined means that there is no object, `unknown` that the outcome is unknown. */
type Answer<T> = T | undefined | 'unknown';

interface Read {
  readonly mode: 'overlay' | 'barrier';
  readonly options: ListOptions;
}

interface Merge {
  readonly writes: ReadonlyMap<string, OwnWrite>;
  /** Of the stores, by namespace, before they were listed. */
  readonly versions: ReadonlyMap<string | undefined, string>;
  readonly options: ListOptions;
}

interface Difference {
  readonly reason: object;
  readonly signal: AbortSignal | undefined;
  readonly isPart: boolean;
}

interface Wait {
  readonly namespace: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Whether a read is about all namespaces. */
function isAll(namespace: string | undefined): boolean {
  return namespace === undefined || namespace === '';
}

function addTo<T>(list: T[], item: T | undefined): void {
  if (item !== undefined) list.push(item);
}

/** Every object type of a kind is a KubeObject; the compiler cannot see that through the conditional type. */
function asObject(object: object | undefined): DeepReadonly<KubeObject> | undefined {
  return object as DeepReadonly<KubeObject> | undefined;
}

function metadataOf(object: object): DeepReadonly<KubeObject>['metadata'] {
  return asObject(object)?.metadata ?? {};
}

/** The inverse, an object of this kind as its reader expects it. */
function asRead<K extends Kind>(object: DeepReadonly<KubeObject>): ReadObject<K> {
  return object as ReadObject<K>;
}
