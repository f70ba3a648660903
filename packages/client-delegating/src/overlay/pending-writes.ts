import { formatKey } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { Kind, KindShape, ObjectKey } from '@kctl/apimachinery';
import type { Logger, Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { CacheView } from './cache-view.js';
import { KindWrites } from './kind-writes.js';
import type { PendingWrite } from './kind-writes.js';
import { orUndefined } from '../or-undefined.js';
import { isAtLeast, isComparable, isPast, isSuperseded, needsLook, replaces, storeName } from '../writes/own-write.js';
import type { Fact, OwnWrite, ObservedStore } from '../writes/own-write.js';
import { isHeld } from './projected.js';
import { ScopeWrites } from '../writes/scope-writes.js';
import type { ScopeWrite } from '../writes/scope-writes.js';

/** Options for {@link PendingWrites}. */
export interface PendingWritesOptions {
  readonly cache: CacheView;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** ms after which a write is forgotten although no store caught up with it. */
  readonly ttlMs: number;
  /** The shapes that are read from the cache; other stores need not catch up. */
  readonly shapes: readonly KindShape[];
}

/** The content of the answer to a write to unknown names. */
export interface AnsweredScope {
  /** Of the server, when it answered. */
  readonly version: string;
  /** By store, its version when what it shows was compared with the answer. */
  readonly comparedAt: Map<string, string>;
}

/** How many of the oldest entries each new one checks. More than one, so that the record of own writes shrinks. */
const sweepPerWrite = 3;

/**
 * Records own writes, and answers of the server to look-ups, until every store of their kind has caught up.
 *
 * Retains one object for each key that was written, or looked up, within the lag of the cache, for `ttlMs` at most. All
 * operations are O(1) except {@link inScope}, which is O(size of its result), and {@link scopesOver}.
 */
export class PendingWrites {
  readonly #options: PendingWritesOptions;
  readonly #byKind = new Map<string, KindWrites>();
  readonly #scopes: ScopeWrites;
  readonly #expired: (kind: Kind) => void;
  readonly #stores = new WeakMap<Kind, readonly Kind[]>();
  /** By group and kind, a kind of each version, for a cache that does not list its own. */
  readonly #versions = new Map<string, Kind[]>();
  readonly #learned = new WeakSet<Kind>();
  #own = 0;

  constructor(options: PendingWritesOptions) {
    this.#options = options;
    this.#scopes = new ScopeWrites({
      isExpired: (scope) => this.#isExpired(scope.recordedAt),
      isHeld: ({ kind, namespace }) => this.storesOf(kind, namespace).length > 0,
      coverageOf: (kind) => this.#coverageOf(kind),
    });
    const labelNames = ['group', 'kind'];
    const expired = options.metrics.counter({
      name: 'kctl_client_own_writes_expired_total',
      help: 'Number of own writes that were forgotten before the cache had seen them.',
      labelNames,
    });
    const pending = options.metrics.gauge({
      name: 'kctl_client_own_writes_pending',
      help: 'Number of own writes that the cache has not seen yet.',
    });
    options.metrics.onCollect(() => pending.with({}).set(this.size));
    this.#expired = ({ group, kind }) => expired.with({ group, kind }).inc();
  }

  /** How many own writes are remembered. */
  get size(): number {
    return this.#own + this.#scopes.pending;
  }

  /**
   * Records a write, unless the record of its key is newer. If no store holds its kind, only the version that a later
   * store must have is recorded, and nothing for writes that were only learned.
   */
  record(kind: Kind, fact: Fact): void {
    this.learn(kind);
    const write: OwnWrite = { ...fact, recordedAt: this.#options.clock.monotonicNow() };
    const { namespace } = write.key;
    if (this.storesOf(kind, namespace).length === 0) {
      if (write.isLearned !== true) this.#addScope(kind, namespace, { version: write.version });
      return;
    }
    const kindWrites = this.#writesOf(kind);
    const earlier = kindWrites.get(write.key);
    if (earlier !== undefined && !replaces(write, earlier.write)) return;
    this.#put(kindWrites, { write, kind, doneFor: new Set() });
    this.#sweep(kindWrites);
  }

  /**
   * Replaces a write by what the server returned, unless another one has come meanwhile. If the write was dropped, as
   * every store was past it, what the server returned is newer.
   */
  settle(kind: Kind, open: OwnWrite | undefined, known: OwnWrite): void {
    const kindWrites = this.#writesOf(kind);
    const present = kindWrites.get(known.key)?.write;
    if (present === undefined || present === open) this.#put(kindWrites, { write: known, kind, doneFor: new Set() });
    else this.#forgetEmpty(kind, kindWrites);
  }

  /** Records that a kind is read or written in this version. O(1) for one that is known. */
  learn(kind: Kind): void {
    if (this.#options.cache.versionsOf !== undefined || this.#learned.has(kind)) return;
    this.#learned.add(kind);
    const name = formatGroupKind(kind);
    const known = this.#versions.get(name);
    if (known === undefined) this.#versions.set(name, [kind]);
    else if (known.every(({ version }) => version !== kind.version)) known.push(kind);
  }

  find(kind: Kind, key: ObjectKey): OwnWrite | undefined {
    if (this.#byKind.size === 0) return undefined;
    const kindWrites = this.#byKind.get(formatGroupKind(kind));
    const pending = kindWrites?.get(key);
    return kindWrites === undefined || pending === undefined ? undefined : this.#openFor(kind, kindWrites, pending);
  }

  /** The writes of a kind in a namespace (undefined or '': in all), by key. */
  inScope(kind: Kind, namespace: string | undefined): Map<string, OwnWrite> {
    const found = new Map<string, OwnWrite>();
    const kindWrites = this.#byKind.get(formatGroupKind(kind));
    if (kindWrites === undefined) return found;
    for (const pending of [...kindWrites.within(namespace)]) {
      const write = this.#openFor(kind, kindWrites, pending);
      if (write !== undefined) found.set(formatKey(write.key), write);
    }
    return found;
  }

  /** All that is remembered of a kind in a namespace (undefined or '': in all), also what its store has caught up with. */
  writesIn(kind: Kind, namespace: string | undefined): Map<string, OwnWrite> {
    const kindWrites = this.#byKind.get(formatGroupKind(kind));
    return new Map([...(kindWrites?.within(namespace) ?? [])].map(({ write }) => [formatKey(write.key), write]));
  }

  /** Reports whether the store has caught up with the write; if so, it is not checked again. */
  isDone(kind: Kind, write: OwnWrite, observed: ObservedStore): boolean {
    if (!isSuperseded(write, observed)) return false;
    const kindWrites = this.#byKind.get(formatGroupKind(kind));
    const pending = kindWrites?.get(write.key);
    if (kindWrites === undefined || pending?.write !== write) return true;
    pending.doneFor.add(storeName(kind));
    if (this.#isDoneForAll(pending)) this.#drop(kindWrites, pending);
    return true;
  }

  /** Remembers a write to unknown names. */
  recordScope(kind: Kind, namespace: string | undefined): void {
    this.#addScope(kind, namespace, { version: '' });
  }

  /**
   * Records that the objects of a scope have been checked since a write to unknown names, at `version` of the server,
   * with these versions of the stores. A store that moves without getting there may show objects that came and went
   * before.
   */
  recordAnswered(kind: Kind, namespace: string | undefined, { version, comparedAt }: AnsweredScope): void {
    const isPastAll = [...comparedAt.values()].every((at) => isAtLeast(at, version));
    if (!isComparable(version) || isPastAll) return;
    this.#addScope(kind, namespace, { version, comparedAt, isOfServer: true, isAnswered: true });
  }

  scopesOver(kind: Kind, namespace: string | undefined): readonly ScopeWrite[] {
    return this.#scopes.over(kind, namespace);
  }

  /** Forgets a scope for a store that has caught up with it; then for all. */
  settleScope(kind: Kind, scope: ScopeWrite): void {
    scope.settledFor.add(storeName(kind));
    const { cache } = this.#options;
    const isSettled = (store: Kind): boolean =>
      scope.settledFor.has(storeName(store)) ||
      (scope.version !== '' && isAtLeast(cache.resourceVersionOf(store, scope.namespace), scope.version));
    if (this.storesOf(scope.kind, scope.namespace).every(isSettled)) this.#scopes.delete(scope);
  }

  /**
   * The stores that hold objects of a kind in a namespace (any if undefined), in each version, without those that a
   * read would only start.
   */
  storesOf(kind: Kind, namespace: string | undefined): readonly Kind[] {
    const { cache } = this.#options;
    const stores = this.#versionsOf(kind).flatMap((version) => this.#shapesOf(version));
    return stores.filter((store) => cache.isCached(store, namespace) && cache.scopesOf?.(store).length !== 0);
  }

  #versionsOf(kind: Kind): readonly Kind[] {
    const known = this.#options.cache.versionsOf?.(kind) ?? this.#versions.get(formatGroupKind(kind)) ?? [];
    return known.some(({ version }) => version === kind.version) ? known : [kind, ...known];
  }

  /** A kind in each shape that is read from the cache. They are frozen, as a kind is that is known by its identity. */
  #shapesOf(kind: Kind): readonly Kind[] {
    const known = this.#stores.get(kind);
    if (known !== undefined) return known;
    const stores = this.#options.shapes.map((shape) => Object.freeze({ ...kind, shape }));
    if (Object.isFrozen(kind)) this.#stores.set(kind, stores);
    return stores;
  }

  #coverageOf(kind: Kind): readonly unknown[] | undefined {
    const { cache } = this.#options;
    if (cache.scopesOf === undefined) return undefined;
    return this.#versionsOf(kind).flatMap((version) => this.#shapesOf(version).map((store) => cache.scopesOf?.(store)));
  }

  #addScope(
    kind: Kind,
    namespace: string | undefined,
    known: Pick<ScopeWrite, 'version' | 'isOfServer' | 'isAnswered'> & Partial<Pick<ScopeWrite, 'comparedAt'>>,
  ): void {
    const recordedAt = this.#options.clock.monotonicNow();
    this.#scopes.add({ kind, namespace, recordedAt, settledFor: new Set(), comparedAt: new Map(), ...known });
  }

  #openFor(kind: Kind, kindWrites: KindWrites, pending: PendingWrite): OwnWrite | undefined {
    if (this.#isExpired(pending.write.recordedAt)) {
      this.#expire(kindWrites, pending);
      return undefined;
    }
    return pending.doneFor.has(storeName(kind)) ? undefined : pending.write;
  }

  /** Drops what is done or too old among those not looked at longest, so that writes that are not read do not pile up. */
  #sweep(kindWrites: KindWrites): void {
    for (const pending of kindWrites.oldest(sweepPerWrite)) {
      if (this.#isExpired(pending.write.recordedAt)) this.#expire(kindWrites, pending);
      else if (this.#isDoneForAll(pending)) this.#settle(kindWrites, pending);
      else {
        kindWrites.touch(pending);
        if (needsLook(pending.write)) void this.#look(kindWrites, pending);
      }
    }
  }

  #isDoneForAll({ write, kind, doneFor }: PendingWrite): boolean {
    const { cache } = this.#options;
    const { namespace } = write.key;
    return this.storesOf(kind, namespace).every(
      (store) => doneFor.has(storeName(store)) || isPast(write, cache.resourceVersionOf(store, namespace)),
    );
  }

  #isExpired(recordedAt: number): boolean {
    return this.#options.clock.monotonicNow() - recordedAt > this.#options.ttlMs;
  }

  /** An end that no store contradicts is not a failure, because that store was not read, so nothing checked it. */
  #expire(kindWrites: KindWrites, pending: PendingWrite): void {
    if (!needsLook(pending.write)) this.#giveUp(kindWrites, pending);
    else
      void this.#look(kindWrites, pending).then(() => {
        if (kindWrites.get(pending.write.key) === pending) this.#giveUp(kindWrites, pending);
      });
  }

  #giveUp(kindWrites: KindWrites, pending: PendingWrite): void {
    if (pending.write.isLearned !== true && this.#wouldBeHeld(pending)) {
      this.#expired(pending.kind);
      this.#options.logger.warn('the cache has not seen an own write in time; reads may be older than it', {
        kind: formatGroupKind(pending.kind),
        key: formatKey(pending.write.key),
        ttlMs: this.#options.ttlMs,
      });
    }
    this.#drop(kindWrites, pending);
  }

  /** Reports whether some store is to see the outcome, which is false if the cache's selectors exclude the object. */
  #wouldBeHeld({ write: { outcome, key }, kind }: PendingWrite): boolean {
    if (outcome.type !== 'present') return true;
    const { cache } = this.#options;
    return this.storesOf(kind, key.namespace).some((store) => isHeld(cache, store, outcome.object));
  }

  /** Checks ended objects in the stores that were not read since, because the version of a delete is not known. */
  async #look(kindWrites: KindWrites, pending: PendingWrite): Promise<void> {
    if (pending.isLookedAt === true) return;
    pending.isLookedAt = true;
    const { cache } = this.#options;
    const { key } = pending.write;
    for (const store of this.storesOf(pending.kind, key.namespace)) {
      if (pending.doneFor.has(storeName(store))) continue;
      const storeVersion = cache.resourceVersionOf(store, key.namespace);
      if (storeVersion === '') continue;
      try {
        this.isDone(store, pending.write, { storeVersion, cached: await orUndefined(cache.get<Kind>(store, key)) });
      } catch {
        // A store that cannot answer now is checked another time.
        break;
      }
    }
    pending.isLookedAt = false;
    if (this.#isDoneForAll(pending)) this.#settle(kindWrites, pending);
  }

  /** Every store has caught up. If no store holds it any longer, one that comes to hold it again must be as new. */
  #settle(kindWrites: KindWrites, pending: PendingWrite): void {
    const { write, kind } = pending;
    const { namespace } = write.key;
    this.#drop(kindWrites, pending);
    if (write.isLearned === true || this.#isExpired(write.recordedAt)) return;
    if (this.storesOf(kind, namespace).length === 0) this.#addScope(kind, namespace, { version: write.version });
  }

  #writesOf(kind: Kind): KindWrites {
    const name = formatGroupKind(kind);
    let kindWrites = this.#byKind.get(name);
    if (kindWrites === undefined) this.#byKind.set(name, (kindWrites = new KindWrites()));
    return kindWrites;
  }

  #put(kindWrites: KindWrites, pending: PendingWrite): void {
    const earlier = kindWrites.put(pending);
    this.#own += own(pending) - own(earlier);
  }

  #drop(kindWrites: KindWrites, pending: PendingWrite): void {
    if (!kindWrites.delete(pending)) return;
    this.#own -= own(pending);
    this.#forgetEmpty(pending.kind, kindWrites);
  }

  #forgetEmpty(kind: Kind, kindWrites: KindWrites): void {
    const name = formatGroupKind(kind);
    if (kindWrites.size === 0 && this.#byKind.get(name) === kindWrites) this.#byKind.delete(name);
  }
}

function own(pending: PendingWrite | undefined): number {
  return pending === undefined || pending.write.isLearned === true ? 0 : 1;
}
