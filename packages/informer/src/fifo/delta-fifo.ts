import type { OptionNames } from '@kctl/options';
import { booleanOption, requireOptions } from '@kctl/options';
import type { Delta, Deltas, PresentDelta, Tombstone } from './delta.js';
import { isTombstone, withoutRepeatedDeletion } from './delta.js';
import { isRequeueError } from './errors.js';
import type { KnownObjects } from './known-objects.js';
import { keyReader, requireObjects, requireProcess, requireTypes, transformOf } from './known-objects.js';
import { Line } from './line.js';
import { Pops } from './pops.js';
import { SyncWaiters } from './sync-waiters.js';
import type { InformerWaitOptions } from '../waiters.js';
import type { PopInfo, PopOptions, Queue } from './queue.js';
import { popOptionNames } from './queue.js';

/** Options of {@link createDeltaFifo}. */
export interface DeltaFifoOptions<T> {
  /** Identity of objects. @default `namespace/name`, or `name` alone */
  readonly key?: (object: T) => string;
  /**
   * The consumer's known objects. With them a replacement deletes missing objects, and a resync has objects to iterate.
   * The process function applies deltas to them, before it returns or before its promise resolves.
   *
   * @default none, only queued objects are known
   */
  readonly knownObjects?: KnownObjects<T>;
  /**
   * Emits `Replaced` for the objects of a replacement; false emits `Sync`, as client-go's
   * `EmitDeltaTypeReplaced: false`. @default true
   */
  readonly emitReplaced?: boolean;
  /**
   * Changes objects before they are queued; tombstones and resyncs are not changed. The call throws the errors of the
   * transform.
   *
   * @default none
   */
  readonly transform?: (object: T) => T;
}

/**
 * Applies the deltas of one object. A promise is awaited before the next object is popped.
 *
 * @throws RequeueError to have the deltas queued again, in front of those that have come meanwhile
 */
export type ProcessDeltas<T> = (deltas: Deltas<T>, info: PopInfo) => void | Promise<void>;

/**
 * A producer-consumer queue of what happened to objects, grouped by object: `pop` hands out all deltas of the object that
 * has waited longest. Mirrors `cache.DeltaFIFO`; a {@link Reflector} is its producer.
 *
 * Order is kept inside an object and, between objects, by the first delta since the last pop. The queue is bounded by
 * the number of changes, not by the number of objects, because deltas are not merged, so that each state is seen.
 */
export interface DeltaFifo<T> extends Queue<T, Deltas<T>> {
  /** How many objects have deltas. */
  readonly length: number;
  /**
   * Whether the whole first replacement was popped; also if something was added first, or the replacement was empty.
   */
  readonly hasSynced: boolean;
  /** The keys that wait, in the order of their pops. */
  keys(): string[];
  /** Waiting deltas of an object; undefined if there are no deltas. */
  deltasOf(key: string): Deltas<T> | undefined;
  /** Queues a deletion. Ignored if the object is neither queued nor known, because it was reported before. */
  delete(object: T | Tombstone<T>): void;
  /**
   * Queues all objects as replaced, and as deleted (with the state that is known) whatever else is queued or known.
   * `isIncomplete`: objects are missing that are there; then nothing is deleted.
   */
  replace(objects: readonly T[], resourceVersion: string, info?: { readonly isIncomplete?: boolean }): void;
  /** Queues each known object as `Sync` of which nothing is queued. */
  resync(): void;
  /**
   * Waits for an object with deltas, removes them and processes them. One at a time; further calls wait for their turn.
   *
   * @returns the deltas that were processed
   * @throws what `process` throws (of a RequeueError the cause), with the deltas gone or queued again; FifoClosedError when
   * the queue is closed and empty
   */
  pop(process: ProcessDeltas<T>, options?: PopOptions): Promise<Deltas<T>>;
  /** Lets waiting pops reject once nothing is left. Queued items can still be popped. Idempotent. */
  close(): void;
}

const replaceOptionNames: OptionNames<{ readonly isIncomplete?: boolean }> = { isIncomplete: booleanOption };
const optionNames: OptionNames<DeltaFifoOptions<unknown>> = {
  key: true,
  knownObjects: true,
  emitReplaced: true,
  transform: true,
};

/**
 * Makes an empty queue.
 *
 * @throws TypeError for an option of the wrong type
 *
 * @example
 * ```ts
 * import type { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createDeltaFifo } from '@kctl/informer';
 *
 * using fifo = createDeltaFifo<Pod>();
 * fifo.add({ metadata: { namespace: 'shop', name: 'web-0' } });
 * await fifo.pop((deltas, { key }) => console.log(key, deltas.map(({ type }) => type)));
 * ```
 */
export function createDeltaFifo<T>(options: DeltaFifoOptions<T> = {}): DeltaFifo<T> {
  requireOptions<DeltaFifoOptions<T>>('createDeltaFifo', options, optionNames);
  requireTypes('createDeltaFifo', options, {
    key: 'function',
    transform: 'function',
    emitReplaced: 'boolean',
    knownObjects: 'object',
  });
  return new GroupingFifo<T>(options);
}

class GroupingFifo<T> implements DeltaFifo<T> {
  readonly #keyOf: (object: T) => string;
  readonly #known: KnownObjects<T> | undefined;
  readonly #replaced: PresentDelta<T>['type'];
  readonly #changed: (object: T) => T;
  readonly #queued = new Map<string, Delta<T>[]>();
  /** The keys of what is queued, in the order of the pops. */
  readonly #line = new Line<string>();
  /** Deltas being processed; the consumer may not have them yet. */
  #inProcess: Deltas<T> = [];
  readonly #pops = new Pops();
  readonly #sync: SyncWaiters = new SyncWaiters(this);
  #isPopulated = false;
  /** How many objects of the first replacement were not processed yet. */
  #initial = 0;

  constructor({ key, knownObjects, emitReplaced = true, transform }: DeltaFifoOptions<T>) {
    this.#keyOf = keyReader('DeltaFIFO', key);
    this.#known = knownObjects;
    this.#replaced = emitReplaced ? 'Replaced' : 'Sync';
    this.#changed = transformOf('DeltaFIFO', transform);
  }

  get length(): number {
    return this.#queued.size;
  }

  get hasSynced(): boolean {
    return this.#isPopulated && this.#initial === 0;
  }

  get isClosed(): boolean {
    return this.#pops.isClosed;
  }

  keys(): string[] {
    return [...this.#line];
  }

  deltasOf(key: string): Deltas<T> | undefined {
    const deltas = this.#queued.get(key);
    return deltas === undefined ? undefined : [...deltas];
  }

  add(object: T): void {
    this.#enqueuePresent('Added', object);
    this.#populate();
  }

  update(object: T): void {
    this.#enqueuePresent('Updated', object);
    this.#populate();
  }

  delete(object: T | Tombstone<T>): void {
    const key = isTombstone(object) ? object.tombstoneOf : this.#keyOf(object);
    this.#populate();
    if (!this.#isQueuedOrKnown(key)) return;
    if (isTombstone(object)) this.#enqueueGone(key, object.object);
    else this.#enqueue({ type: 'Deleted', key, object: this.#changed(object), finalStateUnknown: false });
  }

  replace(objects: readonly T[], _resourceVersion: string, info: { readonly isIncomplete?: boolean } = {}): void {
    requireOptions('DeltaFIFO.replace', info, replaceOptionNames);
    requireObjects('DeltaFIFO', objects);
    // All keys and deletions first, because an error refuses the replacement as a whole.
    const listed = objects.map((object) => ({ key: this.#keyOf(object), object: this.#changed(object) }));
    const keys = new Set(listed.map(({ key }) => key));
    const gone = info.isIncomplete === true ? [] : this.#othersThan(keys);
    for (const { key, object } of listed) this.#enqueue({ type: this.#replaced, key, object });
    for (const { key, object } of gone) this.#enqueueGone(key, object);
    if (this.#isPopulated) return;
    this.#initial = keys.size + gone.length;
    this.#populate();
  }

  waitForSync(options?: InformerWaitOptions): Promise<void> {
    return this.#sync.wait(options);
  }

  resync(): void {
    if (this.#known === undefined) return;
    const known: PresentDelta<T>[] = [];
    for (const key of this.#known.keys()) {
      // Deltas that are queued or in process carry more than the resync would.
      if (this.#lastOf(key) !== undefined) continue;
      const object = this.#known.get(key);
      if (object !== undefined) known.push({ type: 'Sync', key, object });
    }
    for (const delta of known) this.#enqueue(delta);
  }

  async pop(process: ProcessDeltas<T>, options: PopOptions = {}): Promise<Deltas<T>> {
    requireProcess('DeltaFIFO.pop', process);
    requireOptions('DeltaFIFO.pop', options, popOptionNames);
    return await this.#pops.take(() => {
      const key = this.#line.shift();
      return key === undefined ? undefined : this.#process(key, process);
    }, options.signal);
  }

  close(): void {
    this.#pops.close();
    this.#sync.check();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #process(key: string, process: ProcessDeltas<T>): Promise<Deltas<T>> {
    const deltas = this.#queued.get(key) ?? [];
    this.#queued.delete(key);
    this.#inProcess = deltas;
    this.#sync.check(true);
    const isInitial = this.#initial > 0;
    try {
      // A copy, because the original deltas are needed if they are queued again.
      await process([...deltas], { key, isInInitialList: !this.hasSynced });
    } catch (error) {
      if (!isRequeueError(error)) throw error;
      this.#requeue(key, deltas);
      throw error.cause instanceof Error ? error.cause : error;
    } finally {
      this.#inProcess = [];
      if (isInitial) this.#initial--;
      this.#sync.check(false);
    }
    return deltas;
  }

  #populate(): void {
    this.#isPopulated = true;
    this.#sync.check();
  }

  /** Deltas that have arrived meanwhile are later. */
  #requeue(key: string, deltas: Deltas<T>): void {
    const since = this.#queued.get(key);
    if (since === undefined) this.#line.push(key);
    const all: Delta<T>[] = [...deltas];
    for (const delta of since ?? []) {
      all.push(delta);
      withoutRepeatedDeletion(all);
    }
    this.#queued.set(key, all);
    this.#pops.wakeUp();
  }

  #enqueuePresent(type: PresentDelta<T>['type'], object: T): void {
    const key = this.#keyOf(object);
    this.#enqueue({ type, key, object: this.#changed(object) });
  }

  /** Objects that are queued, in process or known and not among `keys`, with their newest state. */
  #othersThan(keys: ReadonlySet<string>): { readonly key: string; readonly object: T | undefined }[] {
    const others = new Set([...this.#line, ...this.#inProcess.map(({ key }) => key)]).difference(keys);
    const gone = [...others]
      .filter((key) => this.#isQueuedOrKnown(key))
      .map((key) => ({ key, object: this.#lastOf(key)?.object }));
    for (const key of this.#known?.keys() ?? [])
      if (!keys.has(key) && !others.has(key)) gone.push({ key, object: this.#known?.get(key) });
    return gone;
  }

  #isQueuedOrKnown(key: string): boolean {
    if (this.#queued.has(key)) return true;
    const last = this.#lastOf(key);
    // An object in process is about to be known, or known as deleted.
    return last === undefined ? this.#known?.get(key) !== undefined : last.type !== 'Deleted';
  }

  /** The newest delta of an object that is queued or in process. */
  #lastOf(key: string): Delta<T> | undefined {
    const last = this.#inProcess.at(-1);
    return this.#queued.get(key)?.at(-1) ?? (last?.key === key ? last : undefined);
  }

  #enqueueGone(key: string, object: T | undefined): void {
    this.#enqueue({ type: 'Deleted', key, object, finalStateUnknown: true });
  }

  #enqueue(delta: Delta<T>): void {
    const deltas = this.#queued.get(delta.key);
    if (deltas === undefined) {
      this.#queued.set(delta.key, [delta]);
      this.#line.push(delta.key);
    } else {
      deltas.push(delta);
      withoutRepeatedDeletion(deltas);
    }
    this.#pops.wakeUp();
  }
}
