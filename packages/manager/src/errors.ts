import { messageOf } from '@kctl/telemetry/internal';

/** A manager was used in a way that cannot work. */
export class ManagerError extends Error {
  override readonly name = 'ManagerError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_MANAGER' as const;
}

/** Whether an error is a {@link ManagerError}. */
export function isManagerError(error: unknown): error is ManagerError {
  return hasCode(error, 'KCTL_MANAGER');
}

/** A runnable of a manager failed; the cause is what it failed with. */
export class RunnableError extends Error {
  override readonly name = 'RunnableError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_RUNNABLE' as const;
  /** Name of the runnable. */
  readonly runnable: string;

  constructor(runnable: string, cause: unknown) {
    super(`${runnable} failed: ${messageOf(cause)}`, { cause });
    this.runnable = runnable;
  }
}

/** Whether an error is a {@link RunnableError}. */
export function isRunnableError(error: unknown): error is RunnableError {
  return hasCode(error, 'KCTL_RUNNABLE');
}

/** One runnable that did not end in time. */
export interface Straggler {
  readonly runnable: string;
  readonly group: string;
  /** Its last operation, if known (the requests of a controller that were being reconciled). */
  readonly work: readonly string[];
}

/** Some runnables did not end within the grace period. */
export class StopTimeoutError extends Error {
  override readonly name = 'StopTimeoutError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_STOP_TIMEOUT' as const;
  readonly gracePeriodMs: number;
  readonly stragglers: readonly Straggler[];

  constructor(gracePeriodMs: number, stragglers: readonly Straggler[]) {
    const names = stragglers.map(({ runnable, work }) =>
      work.length === 0 ? runnable : `${runnable} (${work.join(', ')})`,
    );
    super(
      `failed waiting for all runnables to end within grace period of ${gracePeriodMs} ms: still running: ${names.join('; ')}`,
    );
    this.gracePeriodMs = gracePeriodMs;
    this.stragglers = stragglers;
  }
}

/** Whether an error is a {@link StopTimeoutError}. */
export function isStopTimeoutError(error: unknown): error is StopTimeoutError {
  return hasCode(error, 'KCTL_STOP_TIMEOUT');
}

/** Leadership was lost. Another replica may lead by now, so the process should exit. */
export class LeaderElectionLostError extends Error {
  override readonly name = 'LeaderElectionLostError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_LEADER_ELECTION_LOST' as const;
  /** '' for the manager's own lease. */
  readonly scope: string;

  constructor(scope: string, options?: ErrorOptions) {
    super(scope === '' ? 'leader election lost' : `leader election lost for scope ${scope}`, options);
    this.scope = scope;
  }
}

/** Whether an error is a {@link LeaderElectionLostError}. */
export function isLeaderElectionLostError(error: unknown): error is LeaderElectionLostError {
  return hasCode(error, 'KCTL_LEADER_ELECTION_LOST');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
