import type { Kind } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { Logger } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import type { ObjectEventType } from '../event/object-event.js';
import type { EnqueueOptions, RequestQueue } from '../handler/event-handler.js';
import type { InformerProvider } from './informer-provider.js';

/** The event that led to a request, for an observer. It names the object, not its content. */
export interface EnqueueCause {
  /** The name of the source, e.g. `kind source: Pod`. */
  readonly source: string;
  readonly type: ObjectEventType;
  /** Undefined if the source has no version without decoding the object. */
  readonly header: ObjectHeader | undefined;
  /** Namespace and name of the object; undefined if it has none. */
  readonly name: string | undefined;
}

/** {@link EnqueueOptions} with the reason that logs, traces and the reconcile context show. */
export interface SourceEnqueueOptions extends EnqueueOptions {
  readonly reason?: string;
  /** The event that led to the request, if there is one. */
  readonly cause?: EnqueueCause;
}

/** The queue as seen by a source, which also gives a reason. */
export interface SourceQueue<R> extends RequestQueue<R> {
  add(request: R, options?: SourceEnqueueOptions): void;
  /**
   * The object that the request names is no longer in the watched namespaces. It was not deleted, so nothing is queued;
   * a safety interval no longer counts it. If absent, no notification is needed.
   */
  left?(request: R): void;
}

/** Context of a source when its controller starts it. */
export interface SourceContext<R> {
  readonly queue: SourceQueue<R>;
  /** Aborted when the watch is removed or the controller stops. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Reports a failure that ends the source after its start. The controller's `run` rejects with it, or logs it if the
   * source is optional.
   */
  readonly fail: (error: unknown) => void;
}

/** A started source. */
export interface StartedSource {
  /**
   * Resolves when everything that existed at the start was delivered to the queue; rejects with the signal's reason. If
   * absent, there is no wait. Workers start after every source has synced, so that no reconcile sees a partial state.
   */
  readonly waitForSync?: (signal: AbortSignal) => Promise<void>;
  /**
   * Delivers everything that exists now to the handler once more, as an initial list does, with low priority. If
   * absent, the source does not know what exists. For `reconcileAllOn`, and for a run after a lost lease.
   */
  readonly replay?: () => Promise<void> | void;
  /** Ends the source; once settled, the source no longer touches the queue. */
  stop(): Promise<void> | void;
}

/**
 * Source of events. `start` does not block; `waitForSync` waits. A source may be started several times (by several
 * controllers); each start is independent. Mirrors `source.Source` and `source.SyncingSource`.
 */
export interface Source<R> {
  /** For logs and errors, e.g. `kind source: Pod`. */
  readonly name: string;
  /** The kind that it watches in the cluster, for readiness. If absent, none. */
  readonly kind?: Kind | undefined;
  /**
   * Provider of the informer of that kind. A manager starts it with its caches, before the source and even if it does
   * not lead, so that readiness can wait for it. If absent, the cache of the manager's cluster.
   */
  readonly informers?: InformerProvider | undefined;
  start(context: SourceContext<R>): Promise<StartedSource>;
}
