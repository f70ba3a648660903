import { formatGroupKind, formatKey } from '@kctl/apimachinery';
import type { Kind, KindShape, ObjectKey } from '@kctl/apimachinery';
import type { Logger, Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { CacheView } from './cache-view.js';
import { orUndefined } from './or-undefined.js';
import { isAtLeast, isSuperseded, isTombstone, replaces } from './own-write.js';
import type { OwnWrite, StoreSight } from './own-write.js';
import { ScopeWrites } from './scope-writes.js';
import type { ScopeWrite } from './scope-writes.js';

/** What a {@link Ledger} needs. */
export interface LedgerOptions {
  readonly cache: CacheView;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** ms after which a write is forgotten although no store caught up with it. */
  readonly ttlMs: number;
  /** The shapes that are read from the cache; other stores need not catch up. */
  readonly shapes: readonly KindShape[];
}

interface Entry {
  readonly write: OwnWrite;
  readonly kind: Kind;
  /** Stores that have caught up; the entry goes when all have. */
  readonly doneFor: Set<string>;
  /** Whether the stores are being looked into. */
  isProbed?: boolean;
}

/** How many of the oldest entries each new one makes us look at: more than one, so that the ledger shrinks. */
const sweepPerWrite = 3;

/**
 * Remembers own writes until every store of their kind has caught up. Bounded by the number of distinct keys that
 * were written within the lag of the cache.
 */
export class Ledger {
  readonly #options: LedgerOptions;
  readonly #byKind = new Map<string, Map<string, Entry>>();
  readonly #scopes: ScopeWrites;
  readonly #expired: (kind: Kind) => void;
  #size = 0;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#scopes = new ScopeWrites((scope) => this.#isExpired(scope.recordedAt));
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
    options.metrics.onCollect(() => pending.with({}).set(this.#size));
    this.#expired = ({ group, kind }) => expired.with({ group, kind }).inc();
  }

  /** How many writes are remembered. */
  get size(): number {
    return this.#size + this.#scopes.pending;
  }

  /**
   * Remembers a write, unless what is remembered for its key is newer. Where no store holds its kind, what is
   * remembered is how new a store that comes later must be.
   */
  record(kind: Kind, write: OwnWrite): void {
    const { namespace } = write.key;
    if (this.#cachedShapes(kind, namespace).length === 0) {
      this.#scopes.add({ kind, namespace, version: write.version, recordedAt: write.recordedAt, isUncached: true });
      return;
    }
    const name = formatGroupKind(kind);
    let entries = this.#byKind.get(name);
    if (entries === undefined) this.#byKind.set(name, (entries = new Map<string, Entry>()));
    const key = formatKey(write.key);
    const earlier = entries.get(key);
    if (earlier !== undefined && !replaces(write, earlier.write)) return;
    if (earlier === undefined) this.#size++;
    entries.delete(key);
    entries.set(key, { write, kind, doneFor: new Set() });
    this.#sweep(entries);
  }

  /** Puts what the server told in the place of a write, unless another one has come meanwhile. */
  settle(kind: Kind, open: OwnWrite, known: OwnWrite): void {
    const entries = this.#byKind.get(formatGroupKind(kind));
    const key = formatKey(open.key);
    if (entries?.get(key)?.write === open) entries.set(key, { write: known, kind, doneFor: new Set() });
  }

  find(kind: Kind, key: ObjectKey): OwnWrite | undefined {
    const entries = this.#byKind.get(formatGroupKind(kind));
    const entry = entries?.get(formatKey(key));
    if (entries === undefined || entry === undefined) return undefined;
    if (this.#isExpired(entry.write.recordedAt)) {
      this.#expire(entries, entry);
      return undefined;
    }
    return entry.doneFor.has(storeName(kind)) ? undefined : entry.write;
  }

  /** The writes of a kind in a namespace (undefined: in all), by key. */
  inScope(kind: Kind, namespace: string | undefined): Map<string, OwnWrite> {
    const found = new Map<string, OwnWrite>();
    const entries = this.#byKind.get(formatGroupKind(kind));
    for (const [key, entry] of entries ?? []) {
      if (namespace !== undefined && namespace !== '' && entry.write.key.namespace !== namespace) continue;
      const write = this.find(kind, entry.write.key);
      if (write !== undefined) found.set(key, write);
    }
    return found;
  }

  /** Whether the store has caught up with the write; if so it is not asked again. */
  isDone(kind: Kind, write: OwnWrite, sight: StoreSight): boolean {
    if (!isSuperseded(write, sight)) return false;
    const entries = this.#byKind.get(formatGroupKind(kind));
    const entry = entries?.get(formatKey(write.key));
    if (entries === undefined || entry?.write !== write) return true;
    entry.doneFor.add(storeName(kind));
    if (this.#isDoneForAll(entry)) this.#drop(entries, entry);
    return true;
  }

  /** Remembers a write to unknown names. */
  recordScope(kind: Kind, namespace: string | undefined): void {
    const recordedAt = this.#options.clock.monotonicNow();
    const isUncached = this.#cachedShapes(kind, namespace).length === 0;
    this.#scopes.add({ kind, namespace, version: '', recordedAt, isUncached });
  }

  scopesOver(kind: Kind, namespace: string | undefined): readonly ScopeWrite[] {
    return this.#scopes.over(kind, namespace);
  }

  /** Forgets a write to unknown names when every store is at its version. */
  settleScope(scope: ScopeWrite): void {
    const { cache } = this.#options;
    const stores = this.#cachedShapes(scope.kind, scope.namespace);
    const isDone = (store: Kind): boolean => isAtLeast(cache.resourceVersionOf(store, scope.namespace), scope.version);
    if (stores.length > 0 && stores.every(isDone)) this.#scopes.delete(scope);
  }

  /** Drops what is done or too old among those not looked at longest, so that writes that nobody reads do not pile up. */
  #sweep(entries: Map<string, Entry>): void {
    let looked = 0;
    for (const [key, entry] of entries) {
      if (++looked > sweepPerWrite) return;
      if (this.#isExpired(entry.write.recordedAt)) this.#expire(entries, entry);
      else if (this.#isDoneForAll(entry)) this.#drop(entries, entry);
      else {
        entries.delete(key);
        entries.set(key, entry);
        if (isTombstone(entry.write)) void this.#probe(entries, entry);
      }
    }
  }

  #isDoneForAll({ write, kind, doneFor }: Entry): boolean {
    const { cache } = this.#options;
    const { namespace } = write.key;
    return this.#cachedShapes(kind, namespace).every(
      (store) =>
        doneFor.has(storeName(store)) ||
        (write.version !== '' &&
          isSuperseded(write, { storeVersion: cache.resourceVersionOf(store, namespace), cached: undefined })),
    );
  }

  #cachedShapes(kind: Kind, namespace: string | undefined): readonly Kind[] {
    const { cache, shapes } = this.#options;
    return shapes.map((shape) => ({ ...kind, shape })).filter((store) => cache.isCached(store, namespace));
  }

  #isExpired(recordedAt: number): boolean {
    return this.#options.clock.monotonicNow() - recordedAt > this.#options.ttlMs;
  }

  /** A tombstone that no store contradicts is no failure: nobody has read that store, so nobody has looked. */
  #expire(entries: Map<string, Entry>, entry: Entry): void {
    if (!isTombstone(entry.write)) this.#giveUp(entries, entry);
    else
      void this.#probe(entries, entry).then(() => {
        if (entries.get(formatKey(entry.write.key)) === entry) this.#giveUp(entries, entry);
      });
  }

  #giveUp(entries: Map<string, Entry>, entry: Entry): void {
    this.#expired(entry.kind);
    this.#options.logger.warn('The cache has not seen an own write in time; reads may be older than it', {
      kind: formatGroupKind(entry.kind),
      key: formatKey(entry.write.key),
      ttlMs: this.#options.ttlMs,
    });
    this.#drop(entries, entry);
  }

  /** Looks for what was deleted in the stores that were not read since: the version of a delete is not known. */
  async #probe(entries: Map<string, Entry>, entry: Entry): Promise<void> {
    if (entry.isProbed === true) return;
    entry.isProbed = true;
    const { cache } = this.#options;
    const { key } = entry.write;
    for (const store of this.#cachedShapes(entry.kind, key.namespace)) {
      if (entry.doneFor.has(storeName(store))) continue;
      const storeVersion = cache.resourceVersionOf(store, key.namespace);
      if (storeVersion === '') continue;
      try {
        this.isDone(store, entry.write, { storeVersion, cached: await orUndefined(cache.get<Kind>(store, key)) });
      } catch {
        // A store that cannot answer now is asked another time.
        break;
      }
    }
    entry.isProbed = false;
    if (this.#isDoneForAll(entry)) this.#drop(entries, entry);
  }

  #drop(entries: Map<string, Entry>, entry: Entry): void {
    const key = formatKey(entry.write.key);
    if (entries.get(key) === entry && entries.delete(key)) this.#size--;
  }
}

function storeName(kind: Kind): string {
  return `${kind.version} ${kind.shape}`;
}
