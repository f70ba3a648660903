import type { Kind, KindScope, KubeObject, Persisted } from '@kctl/apimachinery';
import type { IndexDefinition, IndexReader, Lister } from '@kctl/cache-index';
import type { Logger, Metrics } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import type { ObjectStorage } from './bytes/storage.js';
import type { EventHandlerOptions, HandlerRegistration, InformerEventHandler } from './handlers/event.js';
import type { InformerState, InformerTrouble } from './informer-state.js';
import type { ListerWatcher } from './list-watcher.js';
import type { ReflectorConfigOptions } from './reflector/reflector-config.js';
import type { WatchErrorHandler } from './reflector/watch-error-decision.js';
import type { InformerWaitOptions } from './waiters.js';

/**
 * A local copy of one collection that follows the server, and hands its changes to any number of handlers. Mirrors
 * `cache.SharedIndexInformer`.
 *
 * The store changes before any handler is called with the change. A relist is applied as a whole, so no reader sees
 * half of it.
 */
export interface SharedInformer<T extends KubeObject> {
  readonly kind: Kind<T>;
  /** The store, for reading. Returned objects are frozen. */
  readonly indexer: IndexReader<T>;
  readonly lister: Lister<T>;
  readonly state: InformerState;
  /** The failure that it is recovering from; undefined while all is well. */
  readonly trouble: InformerTrouble | undefined;
  /** The reason why it is not synced, if known, in `trouble.error`. */
  readonly lastError: unknown;
  /** Whether the initial list is in the store. Stays true. */
  readonly hasSynced: boolean;
  /** Whether `run` was called. */
  readonly isStarted: boolean;
  readonly isStopped: boolean;
  /** How many bytes the store holds of objects that came as bytes; 0 for others. @default not known */
  readonly heldBytes?: number;
  /** The version of the collection that the store is at; '' before the first list. */
  readonly resourceVersion: string;
  /**
   * Adds a handler. After start, the present objects are replayed to it as adds with `isInInitialList`, and later
   * changes follow without gap or repetition. Adding one handler twice makes two registrations.
   *
   * @throws InformerStoppedError after the informer has stopped; TypeError when the handler or an option is not valid
   */
  addEventHandler(handler: InformerEventHandler<T>, options?: EventHandlerOptions<T>): HandlerRegistration;
  /** Adds indexes, also to a filled store. @throws IndexConflictError when a name is taken; nothing is added then */
  addIndexers(indexers: Readonly<Record<string, IndexDefinition<T>>>): void;
  /**
   * Resolves when the initial list is in the store (handlers may still be at it).
   *
   * @throws SyncError naming kind, state and reason, on timeout or when the informer stops first
   */
  waitForSync(options?: InformerWaitOptions): Promise<void>;
  /**
   * Resolves when the store is at this version of the collection or a newer one. A version that cannot be compared
   * resolves only by equality.
   *
   * @throws SyncError as {@link waitForSync}
   */
  waitForResourceVersion(resourceVersion: string, options?: InformerWaitOptions): Promise<void>;
  /**
   * Lists and watches until the signal aborts; then resolves when streams are closed and running callbacks have ended.
   * An informer runs once. Until then it keeps the process alive, also while it waits for a server that is down.
   *
   * @throws the error that the watch error handler decided to stop for; InformerStartedError when it ran before
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Ends the informer because its objects are out of scope. The store empties, every handler gets a delete marked
   * `leftScope` for each object, and when all have been handled, `run` resolves. This resolves with it, or earlier,
   * because it does not wait for handlers with a callback that runs at the time of the call, so that a callback may
   * await it.
   */
  leaveScope(): Promise<void>;
}

/**
 * Receives a failure of a handler, which is the error of a callback, or a `DeadlineExceededError` if it did not settle.
 * The event counts as delivered.
 */
export type HandlerErrorHook = (error: unknown, handlerName: string, event: FailedEvent) => void | Promise<void>;

/** The event that a handler failed for. */
export interface FailedEvent {
  readonly type: 'add' | 'update' | 'delete';
  /** `namespace/name`, or `name` if the object has no namespace. */
  readonly key: string;
}

/** Options of {@link createSharedInformer}. */
export interface SharedInformerOptions<T extends KubeObject, S extends KindScope = KindScope>
  extends ReflectorConfigOptions {
  readonly kind: Kind<T, S>;
  readonly listerWatcher: ListerWatcher<T>;
  readonly indexers?: Readonly<Record<string, IndexDefinition<T & Persisted<S>>>>;
  /** Default resync period of handlers in ms. @default 0 (never) */
  readonly resyncMs?: number;
  /**
   * Changes objects before they are stored, once per version; may return a new object or the given one. It forces
   * every object to be parsed. Identity (namespace, name, uid, resourceVersion) must stay.
   */
  readonly transform?: (object: T & Persisted<S>) => T;
  /**
   * Keeps `metadata.managedFields`. @default false, in which case they are cut out, mostly before anything is parsed
   */
  readonly keepManagedFields?: boolean;
  /** Freezes stored objects. false favors speed, without protection of the cache from changes. @default true */
  readonly freeze?: boolean;
  /**
   * Storage of objects received as bytes. `compact` compresses those that have been unchanged for longest; intended for
   * hundreds of thousands of objects, most of which are seldom read. Each first read takes longer, and a read object is
   * parsed again once it is no longer referenced; with a `transform`, and from a ListerWatcher of objects, it has no
   * effect. See the README for its cost.
   *
   * @default 'plain'
   */
  readonly storage?: ObjectStorage;
  readonly watchErrorHandler?: WatchErrorHandler;
  /** @default true */
  readonly bookmarks?: boolean;
  /** The minimum watch timeout requested from the server; the maximum is twice that. @default 300_000 */
  readonly minWatchTimeoutMs?: number;
  /**
   * A watch without any frame for this long is taken for dead.
   *
   * @default the server's timeout plus 5 s, or 3 min once the server has sent a bookmark. The one that ends the initial
   *   events of a stream counts until a watch is silent for 3 min without another.
   */
  readonly idleTimeoutMs?: number;
  /** A list, or the start of a stream, without any bytes for this long is given up. @default 60_000 */
  readonly listIdleTimeoutMs?: number;
  /**
   * Receives the failures of handlers. Its own errors are logged.
   *
   * @default logs handler, object and error, to standard error if there is no `logger`
   */
  readonly onHandlerError?: HandlerErrorHook;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /**
   * Measures how long each callback of a handler takes, as `informer_handler_duration_seconds` by informer and handler.
   *
   * @default false, so nothing is measured per event
   */
  readonly handlerMetrics?: boolean;
  /** Name in logs and metrics. @default the kind */
  readonly name?: string;
}
