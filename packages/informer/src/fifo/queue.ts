import type { ReflectorStore } from '../reflector/reflector-store.js';
import type { InformerWaitOptions } from '../waiters.js';
import type { Deltas } from './delta.js';
import type { OptionNames } from '@kctl/options';

/** Context of a process function besides the item. */
export interface PopInfo {
  /** Empty for a delta of the whole collection, from a queue with `atomicEvents`. */
  readonly key: string;
  /** The object is part of the first replacement, which has not been fully processed. */
  readonly isInInitialList: boolean;
}

/** Context of a process function besides a batch. */
export type BatchInfo = Omit<PopInfo, 'key'>;

/** What `pop` takes. */
export interface PopOptions {
  /** Aborting it rejects the wait; work in progress is not interrupted. */
  readonly signal?: AbortSignal;
}

/** What `popBatch` takes. */
export interface PopBatchOptions<Item> extends PopOptions {
  /**
   * Gets what comes alone, a batch of one, with its key, in place of the process function of batches.
   *
   * @default none, single items are passed as batches
   */
  readonly single?: (item: Item, info: PopInfo) => void | Promise<void>;
}

/** The options of `pop`; `popBatch` has `single`, too. */
export const popOptionNames: OptionNames<PopOptions> = { signal: true };
export const popBatchOptionNames: OptionNames<PopBatchOptions<never>> = { signal: true, single: true };

/**
 * A queue between a reflector and a consumer, as {@link createDeltaController} requires. `Item` is the popped value of
 * an object, its deltas by default. Mirrors `cache.Queue`.
 */
export interface Queue<T, Item = Deltas<T>> extends ReflectorStore<T>, Disposable {
  /** Whether the first replacement was processed whole. */
  readonly hasSynced: boolean;
  readonly isClosed: boolean;
  /**
   * Resolves when {@link hasSynced}.
   *
   * @throws FifoClosedError when the queue is closed and empty before that; Error after `timeoutMs`; the signal's reason
   */
  waitForSync(options?: InformerWaitOptions): Promise<void>;
  /**
   * Waits for an object, removes it and processes it; one at a time.
   *
   * @throws what `process` throws; FifoClosedError when the queue is closed and empty; the signal's reason on abort
   */
  pop(process: (item: Item, info: PopInfo) => void | Promise<void>, options?: PopOptions): Promise<Item>;
  /** Lets waiting pops reject once nothing is left. Idempotent. */
  close(): void;
}

/** A queue that hands out several items at once. Mirrors `cache.QueueWithBatch`. */
export interface QueueWithBatch<T, Item = Deltas<T>> extends Queue<T, Item> {
  /**
   * Waits for objects, removes as many as can be processed together and processes them; one batch at a time.
   *
   * @throws as `pop`
   */
  popBatch(
    process: (batch: Item, info: BatchInfo) => void | Promise<void>,
    options?: PopBatchOptions<Item>,
  ): Promise<Item>;
}
