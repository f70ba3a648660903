import type { OptionNames } from '@kctl/options';
import { booleanOption, requireOptions } from '@kctl/options';
import { requireThat } from '../required.js';
import type { AtomicDelta, DeletedDelta, Delta, PresentDelta, Tombstone } from './delta.js';
import { isTombstone } from './delta.js';
import type { KnownObjects } from './known-objects.js';
import { keyReader, requireObjects, requireProcess, requireTypes, transformOf } from './known-objects.js';
import { Line } from './line.js';
import { Pops } from './pops.js';
import { SyncWaiters } from './sync-waiters.js';
import type { InformerWaitOptions } from '../waiters.js';
import type { BatchInfo, PopBatchOptions, PopInfo, PopOptions, QueueWithBatch } from './queue.js';
import { popOptionNames, popBatchOptionNames } from './queue.js';

/** Options of {@link createRealFifo}. Mirrors `cache.RealFIFOOptions`. */
export interface RealFifoOptions<T> {
  /** Identity of objects. @default `namespace/name`, or `name` alone */
  readonly key?: (object: T) => string;
  /**
   * The consumer's known objects. With them a replacement deletes missing objects, and a resync has objects to iterate.
   * The process function applies deltas to them, before it returns or before its promise resolves. Not with
   * `atomicEvents`.
   *
   * @default none, only queued objects are known
   */
  readonly knownObjects?: KnownObjects<T>;
  /**
   * Changes objects before they are queued; tombstones and resyncs are not changed. The call throws the errors of the
   * transform.
   *
   * @default none
   */
  readonly transform?: (object: T) => T;
  /** How many deltas `popBatch` hands out at most. @default 1000 */
  readonly batchSize?: number;
  /**
   * A replacement is one delta `ReplacedAll`, a resync one `SyncAll`: the consumer compares with what it has.
   *
   * @default false, a delta per object
   */
  readonly atomicEvents?: boolean;
  /** Queues a `Bookmark` for each bookmark. Only with `atomicEvents`. @default false */
  readonly emitBookmarks?: boolean;
}

/**
 * A producer-consumer queue in which each delta has a separate place. Events are handed out in the order of arrival,
 * across all objects, and not merged, not even a second deletion. Mirrors `cache.RealFIFO`. The queue is bounded by the
 * number of events; {@link createDeltaFifo} groups by object.
 */
export interface RealFifo<T, D = Delta<T>> extends QueueWithBatch<T, readonly D[]> {
  /** How many deltas wait. */
  readonly length: number;
  /**
   * Whether the whole first replacement was processed; also if something was added first, or the replacement was empty.
   */
  readonly hasSynced: boolean;
  /** Waiting deltas, in the order of the pops. */
  deltas(): D[];
  /** Queues a deletion, also of an object that is neither queued nor known. */
  delete(object: T | Tombstone<T>): void;
  /**
   * Queues what is gone as deleted, with the newest state that was seen (first what is queued, then `knownObjects`), then
   * all objects as `Replaced`. `isIncomplete`: objects are missing that are there; then nothing is deleted.
   */
  replace(objects: readonly T[], resourceVersion: string, info?: { readonly isIncomplete?: boolean }): void;
  /** Queues each known object as `Sync` of which nothing is queued. */
  resync(): void;
  /** Queues a bookmark with `emitBookmarks`, otherwise does nothing. */
  bookmark(resourceVersion: string): void;
  /**
   * Waits for exactly one delta, removes it and processes it. One at a time; further calls wait for their turn.
   *
   * @returns the delta that was processed
   * @throws what `process` throws, with the delta gone; FifoClosedError when the queue is closed and empty
   */
  pop(
    process: (deltas: readonly D[], info: PopInfo) => void | Promise<void>,
    options?: PopOptions,
  ): Promise<readonly D[]>;
  /**
   * As `pop`, with as many deltas as can be processed together, which is at most `batchSize`, each of another object,
   * those of the first replacement apart from later ones. A delta of the whole collection is processed alone. Single
   * deltas go to `single`, if given.
   */
  popBatch(
    process: (deltas: readonly D[], info: BatchInfo) => void | Promise<void>,
    options?: PopBatchOptions<readonly D[]>,
  ): Promise<readonly D[]>;
  /** Lets waiting pops reject once nothing is left. Queued items can still be popped. Idempotent. */
  close(): void;
}

const replaceOptionNames: OptionNames<{ readonly isIncomplete?: boolean }> = { isIncomplete: booleanOption };
const optionNames: OptionNames<RealFifoOptions<unknown>> = {
  key: true,
  knownObjects: true,
  transform: true,
  batchSize: true,
  atomicEvents: true,
  emitBookmarks: true,
};

/**
 * Makes an empty queue.
 *
 * @throws TypeError for an option of the wrong type, `knownObjects` with `atomicEvents`, and `emitBookmarks` without
 *
 * @example
 * ```ts
 * import type { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createRealFifo } from '@kctl/informer';
 *
 * using fifo = createRealFifo<Pod>();
 * fifo.add({ metadata: { namespace: 'shop', name: 'web-0' } });
 * fifo.add({ metadata: { namespace: 'shop', name: 'web-1' } });
 * fifo.delete({ metadata: { namespace: 'shop', name: 'web-0' } });
 * await fifo.popBatch((deltas) => console.log(deltas.map(({ type, key }) => `${type} ${key}`)));
 * ```
 */
export function createRealFifo<T>(
  options: RealFifoOptions<T> & { readonly atomicEvents: true },
): RealFifo<T, AtomicDelta<T>>;
export function createRealFifo<T>(options?: RealFifoOptions<T> & { readonly atomicEvents?: false }): RealFifo<T>;
export function createRealFifo<T>(options: RealFifoOptions<T> = {}): RealFifo<T, AtomicDelta<T>> {
  requireOptions<RealFifoOptions<T>>('createRealFifo', options, optionNames);
  requireTypes('createRealFifo', options, {
    key: 'function',
    transform: 'function',
    knownObjects: 'object',
    atomicEvents: 'boolean',
    emitBookmarks: 'boolean',
  });
  const { batchSize = defaultBatchSize } = options;
  requireThat(Number.isSafeInteger(batchSize) && batchSize > 0, 'createRealFifo: batchSize', {
    value: batchSize,
    expected: 'a positive integer',
  });
  const isAtomic = options.atomicEvents === true;
  requireThat(!isAtomic || options.knownObjects === undefined, 'createRealFifo: knownObjects', {
    value: options.knownObjects,
    expected: 'none with atomicEvents: the consumer compares a ReplacedAll with what it has',
  });
  requireThat(isAtomic || options.emitBookmarks !== true, 'createRealFifo: emitBookmarks', {
    value: true,
    expected: 'false without atomicEvents: a bookmark would come before the objects of its version',
  });
  return new OrderedFifo<T>(options);
}

const defaultBatchSize = 1000;

class OrderedFifo<T> implements RealFifo<T, AtomicDelta<T>> {
  readonly #keyOf: (object: T) => string;
  readonly #options: RealFifoOptions<T>;
  readonly #changed: (object: T) => T;
  readonly #line = new Line<AtomicDelta<T>>();
  /** Deltas being processed; the consumer may not have them yet. */
  #inProcess: readonly AtomicDelta<T>[] = [];
  readonly #pops = new Pops();
  readonly #sync: SyncWaiters = new SyncWaiters(this);
  #isPopulated = false;
  /** How many deltas of the first replacement were not processed yet. */
  #initial = 0;

  constructor(options: RealFifoOptions<T>) {
    this.#keyOf = keyReader('RealFIFO', options.key);
    this.#options = options;
    this.#changed = transformOf('RealFIFO', options.transform);
  }

  get length(): number {
    return this.#line.length;
  }

  get hasSynced(): boolean {
    return this.#isPopulated && this.#initial === 0;
  }

  get isClosed(): boolean {
    return this.#pops.isClosed;
  }

  deltas(): AtomicDelta<T>[] {
    return [...this.#line];
  }

  add(object: T): void {
    this.#enqueuePresent('Added', object);
  }

  update(object: T): void {
    this.#enqueuePresent('Updated', object);
  }

  delete(object: T | Tombstone<T>): void {
    this.#enqueue(
      isTombstone(object)
        ? { type: 'Deleted', key: object.tombstoneOf, object: object.object, finalStateUnknown: true }
        : { type: 'Deleted', key: this.#keyOf(object), object: this.#changed(object), finalStateUnknown: false },
    );
    this.#populate();
  }

  replace(objects: readonly T[], resourceVersion: string, info: { readonly isIncomplete?: boolean } = {}): void {
    requireOptions('RealFIFO.replace', info, replaceOptionNames);
    requireObjects('RealFIFO', objects);
    // All keys and deletions first, because an error refuses the replacement as a whole.
    const keys = objects.map((object) => this.#keyOf(object));
    const changed = objects.map((object) => this.#changed(object));
    const isIncomplete = info.isIncomplete === true;
    if (this.#options.atomicEvents === true) {
      this.#enqueue({ type: 'ReplacedAll', resourceVersion, objects: changed, isIncomplete });
    } else {
      for (const gone of isIncomplete ? [] : this.#othersThan(new Set(keys))) this.#enqueue(gone);
      for (const [index, object] of changed.entries())
        this.#enqueue({ type: 'Replaced', key: keys[index] ?? '', object });
    }
    if (this.#isPopulated) return;
    this.#initial = this.#line.length;
    this.#populate();
  }

  waitForSync(options?: InformerWaitOptions): Promise<void> {
    return this.#sync.wait(options);
  }

  resync(): void {
    if (this.#options.atomicEvents === true) {
      this.#enqueue({ type: 'SyncAll' });
      return;
    }
    const { knownObjects: known } = this.#options;
    if (known === undefined) return;
    const last = this.#lastByKey();
    const synced: PresentDelta<T>[] = [];
    for (const key of known.keys()) {
      // Deltas that are queued or in process carry more than the resync would.
      const object = last.has(key) ? undefined : known.get(key);
      if (object !== undefined) synced.push({ type: 'Sync', key, object });
    }
    for (const delta of synced) this.#enqueue(delta);
  }

  bookmark(resourceVersion: string): void {
    if (this.#options.emitBookmarks === true) this.#enqueue({ type: 'Bookmark', resourceVersion });
  }

  async pop(
    process: (deltas: readonly AtomicDelta<T>[], info: PopInfo) => void | Promise<void>,
    options: PopOptions = {},
  ): Promise<readonly AtomicDelta<T>[]> {
    requireProcess('RealFIFO.pop', process);
    requireOptions('RealFIFO.pop', options, popOptionNames);
    return await this.#pops.take(() => {
      const delta = this.#line.shift();
      if (delta === undefined) return undefined;
      return this.#process([delta], (deltas, info) => process(deltas, { key: keyIn(delta) ?? '', ...info }));
    }, options.signal);
  }

  async popBatch(
    process: (deltas: readonly AtomicDelta<T>[], info: BatchInfo) => void | Promise<void>,
    options: PopBatchOptions<readonly AtomicDelta<T>[]> = {},
  ): Promise<readonly AtomicDelta<T>[]> {
    requireProcess('RealFIFO.popBatch', process);
    requireOptions<PopBatchOptions<readonly AtomicDelta<T>[]>>('RealFIFO.popBatch', options, popBatchOptionNames);
    const { signal, single } = options;
    if (single !== undefined) requireProcess('RealFIFO.popBatch: single', single);
    return await this.#pops.take(() => {
      const batch = this.#nextBatch();
      const [first] = batch;
      if (first === undefined) return undefined;
      if (batch.length > 1 || single === undefined) return this.#process(batch, process);
      return this.#process(batch, (deltas, info) => single(deltas, { key: keyIn(first) ?? '', ...info }));
    }, signal);
  }

  close(): void {
    this.#pops.close();
    this.#sync.check();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Takes deltas of different objects, as long as all are from the first replacement or all from later. */
  #nextBatch(): AtomicDelta<T>[] {
    const { batchSize = defaultBatchSize } = this.#options;
    const limit = this.#initial > 0 ? Math.min(this.#initial, batchSize) : batchSize;
    const batch: AtomicDelta<T>[] = [];
    const keys = new Set<string>();
    for (const delta of this.#line) {
      const key = keyIn(delta);
      if (batch.length > 0 && (batch.length === limit || key === undefined || keys.has(key))) break;
      batch.push(delta);
      if (key === undefined) break;
      keys.add(key);
    }
    for (let taken = 0; taken < batch.length; taken++) this.#line.shift();
    return batch;
  }

  async #process(
    deltas: readonly AtomicDelta<T>[],
    process: (deltas: readonly AtomicDelta<T>[], info: BatchInfo) => void | Promise<void>,
  ): Promise<readonly AtomicDelta<T>[]> {
    const initial = Math.min(this.#initial, deltas.length);
    this.#inProcess = deltas;
    this.#sync.check(true);
    try {
      await process(deltas, { isInInitialList: !this.hasSynced });
    } finally {
      this.#inProcess = [];
      this.#initial -= initial;
      this.#sync.check(false);
    }
    return deltas;
  }

  #populate(): void {
    this.#isPopulated = true;
    this.#sync.check();
  }

  #enqueuePresent(type: PresentDelta<T>['type'], object: T): void {
    this.#enqueue({ type, key: this.#keyOf(object), object: this.#changed(object) });
    this.#populate();
  }

  /** The deletions of what is queued, in process or known and not among `keys`. */
  #othersThan(keys: ReadonlySet<string>): DeletedDelta<T>[] {
    const lastByKey = this.#lastByKey();
    const gone: DeletedDelta<T>[] = [];
    const tell = (key: string, object: T | undefined): void =>
      void gone.push({ type: 'Deleted', key, object, finalStateUnknown: true });
    for (const [key, last] of lastByKey) if (!keys.has(key) && last.type !== 'Deleted') tell(key, last.object);
    const { knownObjects: known } = this.#options;
    for (const key of known?.keys() ?? []) if (!keys.has(key) && !lastByKey.has(key)) tell(key, known?.get(key));
    return gone;
  }

  /** The newest delta of each object that is in process or queued, in the order of the first ones. */
  #lastByKey(): Map<string, Delta<T>> {
    const last = new Map<string, Delta<T>>();
    for (const deltas of [this.#inProcess, this.#line])
      for (const delta of deltas) if ('key' in delta) last.set(delta.key, delta);
    return last;
  }

  #enqueue(delta: AtomicDelta<T>): void {
    this.#line.push(delta);
    this.#pops.wakeUp();
  }
}

/** The key of the object that a delta is of; undefined for one of the whole collection. */
function keyIn(delta: AtomicDelta<unknown>): string | undefined {
  return 'key' in delta ? delta.key : undefined;
}
