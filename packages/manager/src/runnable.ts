import type { GroupVersionKind } from '@kctl/apimachinery';
import type { ControllerSettings, ReconcileObserver } from '@kctl/controller';
import type { AccessNeed } from '@kctl/rbac';
import type { Logger, Metrics, RequestCounter, Tracer } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';

/**
 * When a runnable starts and stops, see `Manager.run`. `leader` runs only while this process leads; the others always
 * run.
 */
export type RunnableGroupName = 'servers' | 'webhooks' | 'caches' | 'others' | 'leader';

/** Options of {@link Runnable.run}. */
export interface RunnableRunOptions {
  /**
   * Set if the runnable will be run again after a lost lease. Until it is aborted, the runnable may keep the state from
   * which the next run can begin. It is aborted before `signal` if there is no next run.
   */
  readonly life?: AbortSignal;
}

/** One source of a runnable; a `SourceStatus` of @kctl/controller is one. */
export interface RunnableSource {
  /** The kind whose informer it reads; undefined if none. */
  readonly kind?: GroupVersionKind | undefined;
  /** Who has the informer. @default the cache of the manager's cluster */
  readonly informers?: object | undefined;
  /** Whether the runnable waits for the source; readiness does so, too. */
  readonly isRequired: boolean;
  /** For errors. */
  readonly name?: string;
  /** `starting` and `failed` are not ready. @default 'synced' */
  readonly phase?: string;
}

/** Settings that a runnable may take from its manager, see {@link Runnable.adopt}. */
export interface RunnableDefaults {
  readonly settings: ControllerSettings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly requestCounter?: RequestCounter;
  readonly observer?: ReconcileObserver;
  readonly clock: Clock;
  /** To be called when {@link Runnable.sources} changes. The manager then starts or releases informers. */
  readonly onSourcesChanged?: () => void;
}

/** Anything that a manager starts and stops. Mirrors `manager.Runnable`, with its optional interfaces as members. */
export interface Runnable {
  /** For logs, errors and the report of a stop. @default 'runnable' and a number */
  readonly name?: string;
  /**
   * Works until the signal is aborted, then resolves when it has ended. Resolving earlier means that it is finished,
   * and nothing else stops. Rejecting stops the manager with that error.
   */
  run(signal: AbortSignal, options?: RunnableRunOptions): Promise<void>;
  /**
   * Whether it may run only while this process leads. Ignored if `group` is set.
   *
   * @default true, as in controller-runtime, so a runnable that is not declared safe to run twice is run once
   */
  readonly needLeaderElection?: boolean;
  /** When it starts and stops. @default 'leader' or 'others', by `needLeaderElection` */
  readonly group?: RunnableGroupName;
  /** Name of an own lease, instead of the manager's; only for those that need leader election. @default '' */
  readonly leaderElectionScope?: string;
  /** Prepares before this process leads; started after `others`. The part of `run` after it should then be short. */
  readonly warmup?: (signal: AbortSignal) => Promise<void>;
  /** Resolves when later groups may start. @default as soon as it runs */
  waitForReady?(signal: AbortSignal): Promise<void>;
  /** Its activity, for the report of a stop that took too long. */
  readonly inFlight?: readonly string[];
  /**
   * The informers that it reads from. The manager starts the required ones with the caches, even if this process does
   * not lead, so that readiness can wait for them and a new leader finds them filled.
   */
  sources?(): readonly RunnableSource[];
  /** The rights that it needs beside those to watch what its {@link Runnable.sources} name. @default none */
  accessNeeds?(): readonly AccessNeed[];
  /** Resolves when nothing of it is left, also of what it keeps between two runs. @default when `run` has settled */
  waitUntilCold?(): Promise<void>;
  /** Begins nothing new while it is paused. Called when its manager is paused or resumed, and when it is added to one that is paused. */
  setPaused?(isPaused: boolean): void;
  /** Takes over what its own options leave open. Called when it is added, before anything else. */
  adopt?(defaults: RunnableDefaults): void;
  /** `controller`: its name must be unique in the manager, unless `settings.skipNameValidation`. */
  readonly runnableType?: string;
  readonly settings?: { readonly skipNameValidation?: boolean };
}

/** The function form of a {@link Runnable}. Mirrors `manager.RunnableFunc`. */
export type RunnableFunction = (signal: AbortSignal) => Promise<void>;

/** The group of a runnable. Mirrors the type switch of `runnables.Add`, by declaration. */
export function groupOf(runnable: Runnable): RunnableGroupName {
  return runnable.group ?? (runnable.needLeaderElection === false ? 'others' : 'leader');
}
