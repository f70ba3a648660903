/**
 * When a runnable starts and stops, see `Manager.run`. `leader` runs only while this process leads; the others always
 * run.
 */
export type RunnableGroupName = 'servers' | 'webhooks' | 'caches' | 'others' | 'leader';

/** Anything that a manager starts and stops. Mirrors `manager.Runnable`, with its optional interfaces as members. */
export interface Runnable {
  /** For logs, errors and the report of a stop. @default 'runnable' and a number */
  readonly name?: string;
  /**
   * Works until the signal is aborted, then resolves when it has ended. Resolving before that is fine: it is finished,
   * and nothing else stops. Rejecting stops the manager with that error.
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Whether it may run only while this process leads. Ignored where `group` says it.
   *
   * @default true: as in controller-runtime, what does not say that it is safe to run twice is run once
   */
  readonly needLeaderElection?: boolean;
  /** When it starts and stops. @default 'leader' or 'others', by `needLeaderElection` */
  readonly group?: RunnableGroupName;
  /** Name of an own lease, instead of the manager's; only for those that need leader election. @default '' */
  readonly leaderElectionScope?: string;
  /** Prepares before this process leads; started after `others`. What `run` does after it should then be short. */
  readonly warmup?: (signal: AbortSignal) => Promise<void>;
  /** Resolves when later groups may start. @default as soon as it runs */
  waitForReady?(signal: AbortSignal): Promise<void>;
  /** What it is doing, for the report of a stop that took too long. */
  readonly inFlight?: readonly string[];
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
