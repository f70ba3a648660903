import { throwIfAborted } from '@kctl/wait';
import { formatKey, keyOf } from '@kctl/apimachinery';
import type { DeepReadonly, KeyOf, Kind, KubeList, KubeObject, ObjectKey } from '@kctl/apimachinery';
import type { GetOptions, ListOptions, Reader, ReadObject } from '@kctl/client';
import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { CacheView } from './overlay/cache-view.js';
import { CachedListError, notFound } from './errors.js';
import { HeldViews } from './overlay/held-views.js';
import type { Ledger } from './overlay/ledger.js';
import { limited } from './limited.js';
import { listMatcher } from './overlay/list-matcher.js';
import { mergeInOrder } from './overlay/merge-in-order.js';
import { orUndefined } from './or-undefined.js';
import { isComparable, isNewer, isPast, needsReading, storeName } from './writes/own-write.js';
import type { OwnWrite } from './writes/own-write.js';
import { ScopedLive } from './scoped-live.js';
import type { ScopeWrite } from './writes/scope-writes.js';
import { ServerQuestions } from './overlay/server-questions.js';

/** What {@link CachedReader} needs. */
export interface CachedReaderOptions {
  readonly cache: CacheView;
  readonly live: Reader;
  readonly ledger: Ledger;
  readonly mode: 'overlay' | 'barrier' | 'off';
  /** ms that a read waits for the cache to catch up, before the server is asked instead. */
  readonly barrierTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Beyond this many open questions about names, the whole namespace is asked for at once. */
const maxNames = 4;

/** How often a read starts over because of writes and events that came meanwhile. */
const maxRounds = 5;

/**
 * Reads from the cache, corrected by own writes that it has not seen. What the cache cannot tell is asked of the server,
 * and the answer is noted like a write: a read is always made of cache and notes, so it has the scope of the cache.
 *
 * A `get` costs what the cache's costs, and O(1). A `list` costs in addition O(notes of the namespace), and O(objects of
 * the list) while there are any.
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
   * What the cache holds, where no own write could say otherwise: nearly every read of a reconciler, which then waits for
   * nothing. Undefined where {@link get} has to look.
   */
  peek<K extends Kind>(kind: K, key: KeyOf<K>, options: GetOptions): ReadObject<K> | undefined {
    const { cache, ledger } = this.#options;
    if (cache.peek === undefined || options.signal?.aborted === true) return undefined;
    ledger.learn(kind);
    const isSeen = ledger.find(kind, key) === undefined && ledger.scopesOver(kind, key.namespace).length === 0;
    return isSeen ? cache.peek(kind, key) : undefined;
  }

  async get<K extends Kind>(kind: K, key: KeyOf<K>, options: GetOptions): Promise<ReadObject<K>> {
    const { cache } = this.#options;
    const mode = options.readYourWrites ?? this.#options.mode;
    if (mode === 'off') return await cache.get(kind, key, options);
    this.#options.ledger.learn(kind);
    for (let round = 0; round < maxRounds; round++) {
      if (!(await this.#settleScopes(kind, key.namespace, options.signal))) break;
      const read = await this.#get(kind, key, { mode, options });
      if (read === 'untold') break;
      if (!this.#isSettled(kind, key.namespace)) continue;
      if (read === undefined) throw notFound(kind, key.name);
      return read;
    }
    return await this.#live.get(kind, key, options);
  }

  async #get<K extends Kind>(kind: K, key: KeyOf<K>, { mode, options }: Read): Promise<Answer<ReadObject<K>>> {
    const { cache, ledger } = this.#options;
    const { signal } = options;
    if (mode === 'barrier') await this.#catchUp(kind, ledger.find(kind, key), signal);
    const write = ledger.find(kind, key);
    const storeVersion = cache.resourceVersionOf(kind, key.namespace);
    const cached = await orUndefined(cache.get(kind, key, options));
    if (write === undefined || ledger.isDone(kind, write, { storeVersion, cached: asObject(cached) })) return cached;
    const known = needsReading(kind, write) ? await this.#questions.about(kind, write, signal) : write;
    if (known === undefined) return 'untold';
    const held = this.#views.of(kind, known);
    return held === undefined ? undefined : asRead<K>(held);
  }

  async list<K extends Kind>(kind: K, options: ListOptions): Promise<KubeList<ReadObject<K>>> {
    const { cache } = this.#options;
    if ((options.continue ?? '') !== '') throw new CachedListError(kind, 'continue', 'a cached list is not paged');
    const { limit, ...unlimited } = options;
    const mode = options.readYourWrites ?? this.#options.mode;
    if (mode === 'off') return limited(await cache.list(kind, unlimited), limit);
    this.#options.ledger.learn(kind);
    for (let round = 0; round < maxRounds; round++) {
      if (!(await this.#settleScopes(kind, options.namespace, options.signal))) break;
      const list = await this.#list(kind, { mode, options: unlimited });
      if (list === 'untold') break;
      if (list !== undefined && this.#isSettled(kind, options.namespace)) return limited(list, limit);
    }
    return await this.#live.list(kind, options);
  }

  async #list<K extends Kind>(kind: K, { mode, options }: Read): Promise<Answer<KubeList<ReadObject<K>>>> {
    const { cache } = this.#options;
    const { namespace, signal } = options;
    if (mode === 'barrier') await this.#catchUpAll(kind, namespace, signal);
    const writes = await this.#answered(kind, namespace, signal);
    if (writes === undefined) return 'untold';
    // Of each namespace: one that cannot be listed says nothing about the others.
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
    const { cache, ledger } = this.#options;
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
      if (ledger.isDone(kind, write, { storeVersion, cached })) items.push(item);
      else addTo(better, heldIfMatching(write));
    }
    for (const write of unseen.values()) {
      const storeVersion = versions.get(write.key.namespace) ?? '';
      const held = heldIfMatching(write);
      const isBehind = !isPast(write, storeVersion);
      if (isBehind && held === undefined && write.outcome.type === 'present') continue;
      // The version of an end is not known, so there one must look whether the store has seen it. A store that is past a
      // write and does not list the object: it is gone, no longer matches, or its namespace is about to be shown.
      const cached = await this.#shown(kind, write.key, options.signal);
      if (!ledger.isDone(kind, write, { storeVersion, cached })) addTo(better, held);
      // The store has got it since it was listed: in the list it would be missing.
      else if (cached !== undefined && matches(cached)) better.push(cached);
    }
    if (better.length === 0) return { ...list, items };
    const added = better.map((object) => asRead<K>(object));
    return { ...list, items: mergeInOrder(items, added, metadataOf) };
  }

  /**
   * The writes that the store has not caught up with, each enough to answer a read of this kind. Undefined where the
   * server does not tell what became of one.
   */
  async #answered(
    kind: Kind,
    namespace: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, OwnWrite> | undefined> {
    // A write may come between question and answer, and raise another one.
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

  /** Those of namespaces that the cache holds: one may have left it, and what is remembered of it with it. */
  #inScope(kind: Kind, namespace: string | undefined): Map<string, OwnWrite> {
    const { cache, ledger } = this.#options;
    const writes = ledger.inScope(kind, namespace);
    for (const [id, { key }] of writes) if (!cache.isCached(kind, key.namespace)) writes.delete(id);
    return writes;
  }

  /**
   * What the store of a key shows at present. One that has not synced shows nothing: its namespace may never be listed, and
   * a read of others does not wait for it.
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

  /** Asks by name, or of many names for what differs in their namespace. False where the server does not tell. */
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
    const { cache, ledger } = this.#options;
    const storeVersion = cache.resourceVersionOf(kind, write.key.namespace);
    const cached = await this.#shown(kind, write.key, signal);
    return ledger.isDone(kind, write, { storeVersion, cached });
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
   * Waits until the store is past a write; where its version is not known, the server is asked for it. A store that does
   * not get there in time is overlaid with what the server then says.
   */
  async #catchUp(kind: Kind, write: OwnWrite | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (write === undefined || (await this.#isSeen(kind, write, signal))) return;
    const known = needsReading(kind, write) ? await this.#questions.about(kind, write, signal) : write;
    if (known === undefined || !isComparable(known.version) || (await this.#isSeen(kind, known, signal))) return;
    const { namespace } = write.key;
    if (await this.#waitForVersion(kind, known.version, { namespace, signal })) return;
    const late = this.#options.ledger.find(kind, write.key);
    if (late !== undefined) await this.#questions.about(kind, late, signal);
  }

  /** The same for all writes of a namespace: a store is waited for by the writes of its own namespace alone. */
  async #catchUpAll(kind: Kind, namespace: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    const { cache } = this.#options;
    const latest = new Map<string | undefined, OwnWrite>();
    for (const write of (await this.#answered(kind, namespace, signal))?.values() ?? []) {
      const other = latest.get(write.key.namespace);
      if (!isComparable(write.version) || (other !== undefined && !isNewer(write.version, other.version))) continue;
      // A namespace that was never listed does not catch up: its writes are shown over the store of the others.
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
      logger.debug('The cache did not catch up with own writes in time: asking the server', {
        kind: kind.kind,
        version,
        error,
      });
      return false;
    }
  }

  /**
   * After a write to unknown names, or before the kind was cached: the store must be past it, or what differs must be
   * noted. A store is waited for only where the event of the write is on its way. False where the server does not tell.
   */
  async #settleScopes(kind: Kind, namespace: string | undefined, signal: AbortSignal | undefined): Promise<boolean> {
    const { cache, ledger } = this.#options;
    for (const scope of ledger.scopesOver(kind, namespace)) {
      const isPart = isAll(namespace);
      if (await this.#reaches(kind, scope, { isPart, signal })) {
        ledger.settleScope(kind, scope);
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

  /** Whether what was noted of scopes still holds: a store that moves may show what came and went before the write. */
  #isSettled(kind: Kind, namespace: string | undefined): boolean {
    const { cache, ledger } = this.#options;
    return ledger
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

/** What is read; undefined: nothing; `untold`: the server does not tell what it would be. */
type Answer<T> = T | undefined | 'untold';

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

/** The inverse: an object of this kind, as its reader wants it. */
function asRead<K extends Kind>(object: DeepReadonly<KubeObject>): ReadObject<K> {
  return object as ReadObject<K>;
}
