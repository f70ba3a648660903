import { orAborted } from '@kctl/wait';

/** Whether a consumer has processed the initial list of its source. Mirrors the trackers of client-go's `synctrack`. */
export interface SyncTracker {
  /** Whether the source has synced and all that was started is finished; it stays true. */
  readonly hasSynced: boolean;
  /** The source has synced, so everything of its initial list was passed to `start`. Idempotent. */
  upstreamHasSynced(): void;
  /** Resolves once `hasSynced` is true. @throws the signal's reason when that is or becomes aborted */
  waitForSync(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/** For objects that are processed in order, as out of a queue. Mirrors `synctrack.SingleFileTracker`. */
export interface SingleFileTracker extends SyncTracker {
  /** An object of the initial list is about to be processed. */
  start(): void;
  /** It was processed. @throws Error when more is finished than was started: `hasSynced` could be wrong */
  finished(): void;
}

/** For objects that several workers process. Mirrors `synctrack.AsyncTracker`. */
export interface AsyncTracker<K> extends SyncTracker {
  /** An object of the initial list is about to be processed. A key that was started already counts once. */
  start(key: K): void;
  /** It was processed; nothing happens for a key that was not started. */
  finished(key: K): void;
}

/**
 * Makes a tracker that counts.
 *
 * @example
 * ```ts
 * import type { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createSingleFileTracker, type SharedInformer } from '@kctl/informer';
 *
 * declare const informer: SharedInformer<Pod>;
 * const tracker = createSingleFileTracker();
 * informer.addEventHandler({
 *   onAdd: (_, { isInInitialList }) => {
 *     if (isInInitialList) tracker.start();
 *   },
 * });
 * void informer.waitForSync().then(() => tracker.upstreamHasSynced());
 * // … where an object of the initial list was processed: tracker.finished();
 * await tracker.waitForSync();
 * ```
 */
export function createSingleFileTracker(): SingleFileTracker {
  let count = 0;
  const sync = new Sync(() => count === 0);
  return Object.assign(sync, {
    start: () => {
      count++;
    },
    finished: () => {
      if (count === 0)
        throw new Error(
          'finished was called more often than start: hasSynced could be wrong; call each once per object',
        );
      count--;
      sync.check();
    },
  });
}

/** Makes a tracker of keys, which are compared as those of a `Set`. */
export function createAsyncTracker<K>(): AsyncTracker<K> {
  const waiting = new Set<K>();
  const sync = new Sync(() => waiting.size === 0);
  return Object.assign(sync, {
    start: (key: K) => void waiting.add(key),
    finished: (key: K) => {
      waiting.delete(key);
      sync.check();
    },
  });
}

class Sync implements SyncTracker {
  readonly #isIdle: () => boolean;
  readonly #synced = Promise.withResolvers<undefined>();
  #isUpstreamSynced = false;
  #hasSynced = false;

  constructor(isIdle: () => boolean) {
    this.#isIdle = isIdle;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  upstreamHasSynced(): void {
    this.#isUpstreamSynced = true;
    this.check();
  }

  check(): void {
    if (!this.#isUpstreamSynced || !this.#isIdle()) return;
    this.#hasSynced = true;
    this.#synced.resolve(undefined);
  }

  waitForSync({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    return orAborted(this.#synced.promise, signal);
  }
}
