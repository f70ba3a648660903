import type { Kind } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/wire';
import type { Logger } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import type { ObjectEventType } from '../event/object-event.js';
import type { EnqueueOptions, RequestQueue } from '../handler/event-handler.js';
import type { InformerProvider } from './informer-provider.js';

/** The event that led to a request, for an observer: which object, not what is in it. */
export interface EnqueueCause {
  /** The name of the source, e.g. `kind source: Pod`. */
  readonly source: string;
  readonly type: ObjectEventType;
  /** Undefined where the source has none without decoding the object. */
  readonly header: ObjectHeader | undefined;
  /** Namespace and name of the object; undefined where it has none. */
  readonly name: string | undefined;
}

/** {@link EnqueueOptions} with the reason that logs, traces and the reconcile context show. */
export interface SourceEnqueueOptions extends EnqueueOptions {
  readonly reason?: string;
  /** What led to it, where that is an event. */
  readonly cause?: EnqueueCause;
}

/** The queue as a source sees it: a source also says why. */
export interface SourceQueue<R> extends RequestQueue<R> {
  add(request: R, options?: SourceEnqueueOptions): void;
  /**
   * The object that the request names is no longer in the watched namespaces. It was not deleted, so nothing is queued;
   * a safety interval no longer counts it. Absent: nothing to tell.
   */
  left?(request: R): void;
}

/** What a source is given when its controller starts it. */
export interface SourceContext<R> {
  readonly queue: SourceQueue<R>;
  /** Aborted when the watch is removed or the controller stops. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Reports a failure that ends the source after its start: the controller's `run` rejects with it, or logs it where the
   * source is optional.
   */
  readonly fail: (error: unknown) => void;
}

/** A started source. */
export interface StartedSource {
  /**
   * Resolves when everything that existed at the start was handed to the queue; rejects with the signal's reason.
   * Absent: nothing to wait for. Workers start after every source has synced, so that no reconcile sees half a world.
   */
  readonly waitForSync?: (signal: AbortSignal) => Promise<void>;
  /**
   * Hands everything that exists now to the handler once more, as an initial list does, with low priority. Absent: the
   * source does not know what exists. For `reconcileAllOn`, and for a run after a lost lease.
   */
  readonly replay?: () => Promise<void> | void;
  /** Ends the source: when it has settled, the source no longer touches the queue. */
  stop(): Promise<void> | void;
}

/**
 * Where events come from. `start` does not block: it only begins; waiting is `waitForSync`'s business. A source may be
 * started several times (by several controllers); each start is independent. Mirrors `source.Source` and
 * `source.SyncingSource`.
 */
export interface Source<R> {
  /** For logs and errors, e.g. `kind source: Pod`. */
  readonly name: string;
  /** The kind that it watches in the cluster, for readiness. Absent: none. */
  readonly kind?: Kind | undefined;
  /**
   * Who has the informer of that kind: a manager starts it with its caches, before the source and also where it does not
   * lead, so that readiness can wait for it. Absent: the cache of the manager's cluster.
   */
  readonly informers?: InformerProvider | undefined;
  start(context: SourceContext<R>): Promise<StartedSource>;
}
