import type { ReflectorStore } from '../reflector/reflector-store.js';
import type { Deltas } from './delta.js';

/** What a process function gets besides the item. */
export interface PopInfo {
  readonly key: string;
  /** The object is one of the first replacement: not all of those have been popped. */
  readonly isInInitialList: boolean;
}

/** What `pop` takes. */
export interface PopOptions {
  /** Aborting it rejects the wait; work in progress is not interrupted. */
  readonly signal?: AbortSignal;
}

/**
 * A queue between a reflector and a consumer: what {@link createDeltaController} needs of one. `Item` is what is popped of
 * an object, its deltas by default. Mirrors `cache.Queue`.
 */
export interface Queue<T, Item = Deltas<T>> extends ReflectorStore<T>, Disposable {
  /** Whether the first replacement was popped whole. */
  readonly hasSynced: boolean;
  readonly isClosed: boolean;
  /**
   * Waits for an object, removes it and processes it; one at a time.
   *
   * @throws what `process` throws; FifoClosedError when the queue is closed and empty; the signal's reason on abort
   */
  pop(process: (item: Item, info: PopInfo) => void | Promise<void>, options?: PopOptions): Promise<Item>;
  /** Lets waiting pops reject once nothing is left. Idempotent. */
  close(): void;
}
