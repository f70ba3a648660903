import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { Turn } from '@kctl/delivery';

/** Event that a handler receives for an object that appeared. */
export interface AddInfo {
  /**
   * Whether the object comes from the informer's first list, or is replayed to a handler that was added later. An object
   * that a later list finds (it was created during an outage) is not in the initial list.
   */
  readonly isInInitialList: boolean;
}

/** Event that a handler receives for a deleted object. */
export interface DeleteInfo {
  /** The deletion itself was missed, so the object is the last known state, not the final one (a tombstone). */
  readonly finalStateUnknown: boolean;
  /**
   * The object was not deleted, but the informer no longer covers it (its namespace or its kind was dropped). Do not
   * clean up after it as if it were gone.
   */
  readonly leftScope: boolean;
}

/** Event that a handler receives for a change. */
export interface UpdateInfo {
  /** Whether nothing changed, because a resync delivers the object again. */
  readonly isResync: boolean;
}

/**
 * One change, as a handler sees it. The headers are there; reading `object` or `oldObject` parses the object, once per
 * version for all handlers and readers together. Both are frozen, and sub-trees that did not change are identical
 * (`event.object.spec === event.oldObject.spec`).
 */
export interface InformerEvent<T extends KubeObject> {
  readonly type: 'add' | 'update' | 'delete';
  /**
   * `namespace/name`, or `name` if the object has no namespace (client-go's `MetaNamespaceKeyFunc`); one string for all
   * handlers.
   */
  readonly key: string;
  /** Header of the object; of its last known state for a delete. */
  readonly header: ObjectHeader;
  /** Header of the version that this handler saw before; undefined for an add. */
  readonly oldHeader: ObjectHeader | undefined;
  readonly object: DeepReadonly<T>;
  /** undefined for an add; the object itself for a delete. */
  readonly oldObject: DeepReadonly<T> | undefined;
  readonly isInInitialList: boolean;
  readonly finalStateUnknown: boolean;
  /** See {@link DeleteInfo.leftScope}. */
  readonly leftScope: boolean;
  readonly isResync: boolean;
}

/**
 * Receives changes, after the store has them. Each handler gets its events in order and one at a time. When a callback
 * returns a promise (or any thenable), the next event waits for it, while later changes of an object merge into one. A
 * callback that throws, rejects or does not settle within `timeoutMs` is reported by `onHandlerError`; its event counts
 * as delivered, and neither other handlers nor the informer wait for it.
 *
 * Set `onEvent` to decide by headers without having the object parsed, or the client-go callbacks; if both are given,
 * both are called, `onEvent` first.
 */
export interface InformerEventHandler<T extends KubeObject> {
  onEvent?(event: InformerEvent<T>): void | Promise<void>;
  onAdd?(object: DeepReadonly<T>, info: AddInfo): void | Promise<void>;
  onUpdate?(oldObject: DeepReadonly<T>, newObject: DeepReadonly<T>, info: UpdateInfo): void | Promise<void>;
  onDelete?(object: DeepReadonly<T>, info: DeleteInfo): void | Promise<void>;
}

/**
 * Which events a handler receives, by their type; a type without a filter passes. A filter returns whether the event
 * passes; one that returns nothing refuses. If a filter throws or returns a promise, the event is reported as one that
 * the handler failed for. Unlike `filterEvents`, nothing is remembered and no event becomes one of
 * another type.
 */
export interface EventFilters<T extends KubeObject> {
  add?(event: InformerEvent<T>): boolean;
  /** Resyncs included. */
  update?(event: InformerEvent<T>): boolean;
  delete?(event: InformerEvent<T>): boolean;
}

/** Options of `addEventHandler`. */
export interface EventHandlerOptions<T extends KubeObject = KubeObject> {
  /**
   * `latest`: changes that wait for a busy handler merge per object, so that what waits is bounded by the number of
   * objects. `every`: each change is delivered; what waits is unbounded (see the metric `informer_pending_events`).
   *
   * @default 'latest'
   */
  readonly delivery?: 'latest' | 'every';
  /**
   * Hands all objects out again at this interval, in ms; 0: never. At least 1000 otherwise.
   *
   * @default the informer's resyncMs
   */
  readonly resyncMs?: number;
  /** The handler receives nothing before this has settled; what happens meanwhile waits. @default it does not wait */
  readonly after?: Promise<unknown>;
  /** For logs and metrics. @default 'handler-N' */
  readonly name?: string;
  /**
   * ms after which a callback whose promise has not settled is reported as failed and its event counts as delivered.
   * The next callback then begins, even if the first one is still running. `Infinity` disables it.
   *
   * @default 30_000
   */
  readonly timeoutMs?: number;
  /**
   * Handlers that are registered with the same turn are never called at the same time; for one handler in several
   * informers. @default a separate turn
   */
  readonly turn?: Turn;
  /** Which events it receives. @default every one */
  readonly filters?: EventFilters<T>;
}

/** A handler's place in an informer. */
export interface HandlerRegistration {
  /** Whether the initial list has been handed to this handler and handled. */
  readonly hasSynced: boolean;
  /** How many objects have changes that wait for this handler. */
  readonly pending: number;
  /**
   * Resolves when {@link hasSynced}.
   *
   * @throws SyncError when the informer or the registration ends first; the signal's reason when aborted
   */
  waitForSync(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /**
   * Resolves when no callback runs and none will follow, either after {@link remove} or with the informer. A callback
   * that has run for 5 s by then is reported and no longer waited for.
   */
  readonly ended: Promise<void>;
  /**
   * Ends the deliveries, so that no callback begins after this call. Resolves with {@link ended}, so do not await it
   * within a callback of the handler. Calling it again is harmless.
   */
  remove(): Promise<void>;
}
