import type { Logger } from '@kctl/telemetry';
import type { ControllerSettings } from './controller-options.js';
import type { EnqueueOptions } from './handler/event-handler.js';
import type { ReconcileRequest } from './reconciler.js';
import type { Source } from './source/source.js';

/**
 * Where a controller is: `cold` (nothing runs), `warm` (sources run, nothing is reconciled), `active`, `draining` (told
 * to stop, runs are ending).
 */
export type ControllerPhase = 'cold' | 'warm' | 'active' | 'draining';

/** A source on a controller. */
export interface WatchHandle extends AsyncDisposable {
  /** Whether the source has delivered what existed when it was started. False while the controller does not run. */
  readonly hasSynced: boolean;
  /** Resolves when it has synced; before the controller runs, waits for that. Rejects when the source fails to. */
  waitForSync(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Ends the source: its events no longer reach the queue. What is queued already is still valid, and is reconciled. */
  remove(): Promise<void>;
}

/** Options of {@link Controller.watch}. */
export interface WatchOptions {
  /**
   * Whether the controller can work without the source. `required`: reconciling begins when the source has synced, and
   * `run` rejects when it fails to. `optional`: nothing waits for it; its failure is logged, and a kind source goes on
   * asking for its kind. A source that is added while the controller runs is always optional.
   *
   * @default 'required'
   */
  readonly startPolicy?: 'required' | 'optional';
}

/**
 * Calls a reconciler for each request that its sources queue: one worker per key, several keys at once. Mirrors
 * `controller.Controller`.
 */
export interface Controller<R = ReconcileRequest> {
  readonly name: string;
  /** Tells a manager what this is, and that names of these must differ. */
  readonly runnableType: 'controller';
  readonly settings: Required<ControllerSettings>;
  readonly needLeaderElection: boolean;
  readonly leaderElectionScope: string;
  readonly logger: Logger;
  readonly phase: ControllerPhase;
  /** How many requests are reconciled at once; may be set at any time. Runs above a lowered limit finish. */
  maxConcurrentReconciles: number;
  /** Requests that are being reconciled now, as their keys. Names the stragglers of a stop. */
  readonly inFlight: readonly string[];
  /**
   * Adds a source, before the start (then it starts with the controller) or while it runs (then at once). A source
   * added before the start that fails makes `run` reject, unless it is optional; the failure of one added later is
   * logged, and its handle rejects, while a kind source goes on asking for its kind.
   */
  watch(source: Source<R>, options?: WatchOptions): WatchHandle;
  /** Queues a request by hand. Ignored while the controller neither runs nor is warm. */
  enqueue(request: R, options?: EnqueueOptions): void;
  /**
   * Starts the sources without reconciling, so that `run` can begin at once; resolves when they have synced. Only there
   * with `enableWarmup`.
   */
  readonly warmup?: (signal: AbortSignal) => Promise<void>;
  /**
   * Starts all sources at once, waits for all to sync, then reconciles until the signal is aborted; resolves when no
   * reconcile is running any more. Rejects when a source fails to start or to sync in time. It may be run again after
   * it has ended: every source is started anew and delivers everything at low priority. While it runs, it keeps the
   * process alive.
   *
   * @throws ControllerError when it runs already
   */
  run(signal: AbortSignal): Promise<void>;
}
