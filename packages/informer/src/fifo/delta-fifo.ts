import { metaNamespaceKey } from '@kctl/cache-index';
import type { OptionNames } from '@kctl/wait';
import { abortReason, orAborted, requireOptions } from '@kctl/wait';
import { requireThat } from '../required.js';
import type { PopInfo, PopOptions, Queue } from './queue.js';
import type { Delta, Deltas, PresentDelta, Tombstone } from './delta.js';
import { isTombstone, withoutRepeatedDeletion } from './delta.js';
import { FifoClosedError, isRequeueError } from './errors.js';

/** What a consumer has already, by key: its store. Mirrors `cache.KeyListerGetter`. */
export interface KnownObjects<T> {
  keys(): Iterable<string>;
  get(key: string): T | undefined;
}

/** What {@link createDeltaFifo} takes. */
export interface DeltaFifoOptions<T> {
  /** Identity of objects. @default `namespace/name`, or `name` alone */
  readonly key?: (object: T) => string;
  /**
   * What the consumer has: a replacement then deletes what is missing in it, and a resync has something to go through.
   * Deltas of what is queued must be applied to it by the process function, before it returns.
   *
   * @default none: only what is queued is known
   */
  readonly knownObjects?: KnownObjects<T>;
  /** Says `Replaced` of the objects of a replacement; false: `Sync`, as client-go's `EmitDeltaTypeReplaced: false`. @default true */
  readonly emitReplaced?: boolean;
  /**
   * Changes objects before they are queued; tombstones and resyncs are not changed. What it throws, the call throws.
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
 * Order is kept inside an object and, between objects, by the first delta since the last pop. What waits is bounded by the
 * number of changes, not by the number of objects: deltas are not merged, so that each state is seen.
 */
export interface DeltaFifo<T> extends Queue<T, Deltas<T>> {
  /** How many objects have deltas. */
  readonly length: number;
  /** Whether the first replacement was popped whole; also where something was added first, or the replacement was empty. */
  readonly hasSynced: boolean;
  /** The keys that wait, in the order of their pops. */
  keys(): string[];
  /** What waits of an object; undefined where nothing does. */
  deltasOf(key: string): Deltas<T> | undefined;
  /** Queues a deletion. Ignored where the object is neither queued nor known: it was reported before. */
  delete(object: T | Tombstone<T>): void;
  /**
   * Queues all objects as replaced, and as deleted (with the state that is known) whatever else is queued or known.
   * `isIncomplete`: objects are missing that are there; then nothing is deleted.
   */
  replace(objects: readonly T[], resourceVersion: string, info?: { readonly isIncomplete?: boolean }): void;
  /** Queues each known object as `Sync` of which nothing is queued. */
  resync(): void;
  /**
   * Waits for an object with deltas, removes them and processes them. One at a time: further calls wait for their turn.
   *
   * @returns the deltas that were processed
   * @throws what `process` throws (of a RequeueError the cause), with the deltas gone or queued again; FifoClosedError when
   * the queue is closed and empty
   */
  pop(process: ProcessDeltas<T>, options?: PopOptions): Promise<Deltas<T>>;
  /** Lets waiting pops reject once nothing is left. What is queued can still be popped. Idempotent. */
  close(): void;
}

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
  for (const [name, expected] of [
    ['key', 'function'],
    ['transform', 'function'],
    ['emitReplaced', 'boolean'],
    ['knownObjects', 'object'],
  ] as const) {
    const value = options[name];
    requireThat(value === undefined || typeof value === expected, `createDeltaFifo: ${name}`, {
      value,
      expected: `a value of type ${expected}`,
    });
  }
  return new GroupingFifo<T>(options);
}

class GroupingFifo<T> implements DeltaFifo<T> {
  readonly #keyOf: (object: T) => string;
  readonly #known: KnownObjects<T> | undefined;
  readonly #replaced: PresentDelta<T>['type'];
  readonly #transform: ((object: T) => T) | undefined;
  /** In the order of the pops. */
  readonly #queue = new Map<string, Delta<T>[]>();
  /** Who waits for something to pop. */
  #wake: PromiseWithResolvers<void> | undefined;
  /** The end of the last pop that was called. */
  #turn: Promise<unknown> = Promise.resolve();
  #isPopulated = false;
  /** How many objects of the first replacement were not popped yet. */
  #initial = 0;
  #isClosed = false;

  constructor({ key = metaNamespaceKey, knownObjects, emitReplaced = true, transform }: DeltaFifoOptions<T>) {
    this.#keyOf = key;
    this.#known = knownObjects;
    this.#replaced = emitReplaced ? 'Replaced' : 'Sync';
    this.#transform = transform;
  }

  get length(): number {
    return this.#queue.size;
  }

  get hasSynced(): boolean {
    return this.#isPopulated && this.#initial === 0;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  keys(): string[] {
    return [...this.#queue.keys()];
  }

  deltasOf(key: string): Deltas<T> | undefined {
    const deltas = this.#queue.get(key);
    return deltas === undefined ? undefined : [...deltas];
  }

  add(object: T): void {
    this.#enqueuePresent('Added', object);
    this.#isPopulated = true;
  }

  update(object: T): void {
    this.#enqueuePresent('Updated', object);
    this.#isPopulated = true;
  }

  delete(object: T | Tombstone<T>): void {
    const key = isTombstone(object) ? object.tombstoneOf : this.#key(object);
    this.#isPopulated = true;
    if (!this.#queue.has(key) && this.#known?.get(key) === undefined) return;
    if (isTombstone(object)) this.#enqueueGone(key, object.object);
    else this.#enqueue({ type: 'Deleted', key, object: this.#changed(object), finalStateUnknown: false });
  }

  replace(objects: readonly T[], _resourceVersion: string, info: { readonly isIncomplete?: boolean } = {}): void {
    // All keys first: an object without one refuses the replacement as a whole.
    const listed = objects.map((object) => ({ key: this.#key(object), object: this.#changed(object) }));
    const keys = new Set(listed.map(({ key }) => key));
    for (const { key, object } of listed) this.#enqueue({ type: this.#replaced, key, object });
    const deletions = info.isIncomplete === true ? 0 : this.#deleteOthers(keys);
    if (this.#isPopulated) return;
    this.#isPopulated = true;
    this.#initial = keys.size + deletions;
  }

  resync(): void {
    if (this.#known === undefined) return;
    for (const key of this.#known.keys()) {
      // What is queued says more than the resync would.
      if (this.#queue.has(key)) continue;
      const object = this.#known.get(key);
      if (object !== undefined) this.#enqueue({ type: 'Sync', key, object });
    }
  }

  pop(process: ProcessDeltas<T>, options: PopOptions = {}): Promise<Deltas<T>> {
    const before = this.#turn;
    const turn = this.#takeTurn(before, process, options.signal);
    // Without their results: they would hold whatever was popped before.
    this.#turn = Promise.allSettled([before, turn]).then(() => undefined);
    return turn;
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeUp();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #takeTurn(
    before: Promise<unknown>,
    process: ProcessDeltas<T>,
    signal: AbortSignal | undefined,
  ): Promise<Deltas<T>> {
    await orAborted(before, signal);
    return await this.#popNext(process, signal);
  }

  async #popNext(process: ProcessDeltas<T>, signal: AbortSignal | undefined): Promise<Deltas<T>> {
    for (;;) {
      if (signal?.aborted === true) throw abortReason(signal);
      const next = this.#queue.entries().next();
      if (next.done !== true) return await this.#process(next.value, process);
      if (this.#isClosed) throw new FifoClosedError();
      this.#wake ??= Promise.withResolvers();
      await orAborted(this.#wake.promise, signal);
    }
  }

  async #process([key, deltas]: [string, Delta<T>[]], process: ProcessDeltas<T>): Promise<Deltas<T>> {
    const isInInitialList = !this.hasSynced;
    this.#queue.delete(key);
    if (this.#initial > 0) this.#initial--;
    try {
      await process(deltas, { key, isInInitialList });
    } catch (error) {
      if (!isRequeueError(error)) throw error;
      this.#requeue(key, deltas);
      throw error.cause instanceof Error ? error.cause : error;
    }
    return deltas;
  }

  /** What has come meanwhile happened after it. */
  #requeue(key: string, deltas: Delta<T>[]): void {
    const since = this.#queue.get(key) ?? [];
    const all: Delta<T>[] = [...deltas];
    for (const delta of since) {
      all.push(delta);
      withoutRepeatedDeletion(all);
    }
    this.#queue.set(key, all);
    this.#wakeUp();
  }

  #enqueuePresent(type: PresentDelta<T>['type'], object: T): void {
    const key = this.#key(object);
    this.#enqueue({ type, key, object: this.#changed(object) });
  }

  /** Reports as deleted what is queued or known and not among `keys`. Returns how many that were. */
  #deleteOthers(keys: ReadonlySet<string>): number {
    let deletions = 0;
    for (const [key, deltas] of [...this.#queue]) {
      if (keys.has(key)) continue;
      deletions++;
      this.#enqueueGone(key, deltas.at(-1)?.object);
    }
    for (const key of this.#known?.keys() ?? []) {
      if (keys.has(key) || this.#queue.has(key)) continue;
      deletions++;
      this.#enqueueGone(key, this.#known?.get(key));
    }
    return deletions;
  }

  #enqueueGone(key: string, object: T | undefined): void {
    this.#enqueue({ type: 'Deleted', key, object, finalStateUnknown: true });
  }

  #enqueue(delta: Delta<T>): void {
    const deltas = this.#queue.get(delta.key);
    if (deltas === undefined) this.#queue.set(delta.key, [delta]);
    else {
      deltas.push(delta);
      withoutRepeatedDeletion(deltas);
    }
    this.#wakeUp();
  }

  #wakeUp(): void {
    this.#wake?.resolve();
    this.#wake = undefined;
  }

  #changed(object: T): T {
    return this.#transform === undefined ? object : this.#transform(object);
  }

  #key(object: T): string {
    const key: unknown = this.#keyOf(object);
    requireThat(typeof key === 'string' && key !== '', 'DeltaFIFO: the key of an object', {
      value: key,
      expected: 'a text that is not empty, from the option key',
    });
    return String(key);
  }
}
