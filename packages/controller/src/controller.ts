import type { Planner } from './plan.js';
import type { Kind } from '@kctl/apimachinery';
import type { AccessNeed } from '@kctl/rbac';
import type { Logger, Metrics, RequestCounter, Tracer } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { ControllerSettings } from './controller-options.js';
import type { ReconcileObserver } from './observer.js';
import type { EnqueueOptions } from './handler/event-handler.js';
import type { ReconcileRequest } from './reconciler/reconciler.js';
import type { InformerProvider } from './source/informer-provider.js';
import type { Source } from './source/source.js';

/** State of a controller: `cold` (nothing runs), `warm` (only sources run), `active`, or `draining` (ends its reconciles). */
export type ControllerPhase = 'cold' | 'warm' | 'active' | 'draining';

/** A source on a controller. It concerns the watch that it was returned for, not a later one of the same source. */
export interface WatchHandle extends AsyncDisposable {
  /** Whether the source has delivered what existed when it was started. False while the controller does not run. */
  readonly hasSynced: boolean;
  /**
   * Resolves when it has synced; before the controller runs, waits for that. Rejects when the source fails to, or is
   * removed.
   */
  waitForSync(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /**
   * Ends the source only; its events no longer reach the queue. Requests queued already are still valid, and are
   * reconciled. A start that waits for the source continues without it.
   */
  remove(): Promise<void>;
}

/** Options of {@link Controller.watch}. */
export interface WatchOptions {
  /**
   * Whether the controller can work without the source. `required`: reconciling begins when the source has synced, and
   * `run` rejects when it fails to. `optional`: the start does not wait for it; its failure is logged, and a kind source goes on
   * asking for its kind. A source that is added while the controller runs is always optional.
   *
   * @default 'required'
   */
  readonly startPolicy?: 'required' | 'optional';
}

/** How a source of a controller is doing: `cold` (not started), `starting` (not synced yet), `synced` or `failed`. */
export type SourcePhase = 'cold' | 'starting' | 'synced' | 'failed';

/** One source of a controller, for readiness. */
export interface SourceStatus {
  /** As in logs, e.g. `kind source: Pod`. */
  readonly name: string;
  /** The kind it watches in the cluster; undefined if none. */
  readonly kind: Kind | undefined;
  /** Provider of the informer of that kind, if it is not the manager's cache. */
  readonly informers: InformerProvider | undefined;
  /** False for an optional source, and for one that was added while the controller ran. */
  readonly isRequired: boolean;
  readonly phase: SourcePhase;
  /** Why it is `failed`. */
  readonly error?: unknown;
}

/** Options of {@link Controller.run}. */
export interface RunOptions {
  /**
   * Whether the controller will be run again. While this is not aborted, the end of the run leaves it `warm`: sources
   * and informers go on, requests are queued, and the next run begins with all of that. For a lease that may be won
   * again.
   *
   * @default the run ends `cold`, unless a warm-up is still wanted
   */
  readonly life?: AbortSignal;
}

/** Settings that a controller inherits when it is added, see {@link Controller.adopt}. */
export interface AdoptOptions {
  readonly settings?: ControllerSettings;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer;
  readonly requestCounter?: RequestCounter;
  readonly observer?: ReconcileObserver;
  readonly clock?: Clock;
  /** Called after each change of {@link Controller.sources}, when a source was added or removed. Must not throw. */
  readonly onSourcesChanged?: () => void;
}

/**
 * Calls a reconciler for each request that its sources queue, with one worker per key and several keys at once. Mirrors
 * `controller.Controller`.
 */
export interface Controller<R = ReconcileRequest> {
  readonly name: string;
  /** Identifies this as a controller to a manager, which requires unique names. */
  readonly runnableType: 'controller';
  readonly settings: Required<ControllerSettings>;
  readonly needLeaderElection: boolean;
  readonly leaderElectionScope: string;
  readonly logger: Logger;
  readonly phase: ControllerPhase;
  /** How many requests are reconciled at once; may be set at any time. Runs above a lowered limit finish. */
  maxConcurrentReconciles: number;
  /** Starts no further reconciles while it is paused; events are queued. A manager that is paused calls it. */
  setPaused(isPaused: boolean): void;
  /** Number of requests that wait to be reconciled, without those in progress or delayed. */
  readonly queueLength: number;
  /** Requests that are being reconciled now, as their keys. Names the stragglers of a stop. */
  readonly inFlight: readonly string[];
  /**
   * Adds a source, before the start (then it starts with the controller) or while it runs (then at once). A source
   * added before the start that fails makes `run` reject, unless it is optional; the failure of one added later is
   * logged, and its handle rejects, while a kind source goes on asking for its kind.
   *
   * @throws TypeError when it is not a source, or `startPolicy` is not valid
   * @throws ControllerError when the controller watches the source already
   */
  watch(source: Source<R>, options?: WatchOptions): WatchHandle;
  /**
   * Adds a source whose requests are not reconciled. Each request makes all sources deliver everything that exists once
   * more, at low priority, as after a restart. For changes that affect all objects, such as a new configuration.
   * Requests that only channel, cron and func sources queue are not repeated, because those sources do not know what
   * exists. Mirrors `reconcile_all_on` of kube-rs.
   *
   * @throws as {@link watch}
   */
  reconcileAllOn(source: Source<unknown>, options?: WatchOptions): WatchHandle;
  /** The rights of its options; those of its sources follow from {@link Controller.sources}. For a manager that generates roles. */
  accessNeeds(): readonly AccessNeed[];
  /** The planners of its options. */
  planners(): readonly Planner[];
  /** How each source is doing, in the order in which they were added. For readiness. */
  sources(): readonly SourceStatus[];
  /** Queues a request by hand. Ignored while the controller neither runs nor is warm. */
  enqueue(request: R, options?: EnqueueOptions): void;
  /**
   * Sets options that were left open (settings, logger, metrics, tracer, request counter, observer and clock). A
   * manager calls it when the controller is added. Ignored while the controller is not cold, except for
   * `onSourcesChanged`.
   *
   * @throws TypeError when a setting is not valid
   */
  adopt(defaults: AdoptOptions): void;
  /**
   * Starts the sources without reconciling, so that `run` can begin at once; resolves when they have synced. They go on
   * until the signal is aborted, through any number of runs. Only there with `enableWarmup`.
   */
  readonly warmup?: (signal: AbortSignal) => Promise<void>;
  /**
   * Starts all sources at once, waits for all to sync, then reconciles until the signal is aborted; resolves when no
   * reconcile is running. Rejects when a source fails to start or to sync in time. It may be run again; a run that
   * begins while an earlier one drains waits for its end. After a run that ended `cold` every source is started anew
   * and delivers everything at low priority; one that ended `warm` is continued, and has everything delivered at low
   * priority, too. Until its signal is aborted it keeps the process alive; from then on only the awaited work of its
   * reconciles does.
   *
   * @throws ControllerError when it runs already and is not stopping
   */
  run(signal: AbortSignal, options?: RunOptions): Promise<void>;
  /** Resolves when the controller is cold and has released everything; at once if that is already the case. */
  waitUntilCold(): Promise<void>;
}
