import type { LogLevel } from '@kctl/telemetry';
import type { ResourceLock } from '../record.js';

/** The start data of the thread. */
export interface WorkerInput {
  readonly memory: SharedArrayBuffer;
  readonly bootOffsetMs: number | undefined;
  /** URL of a module with a {@link LockModule | createLock}; undefined if the thread's module has one. */
  readonly lockModule: string | undefined;
  readonly lockData: unknown;
  readonly election: WorkerElection;
}

/** The part of the options that crosses to the thread. */
export interface WorkerElection {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly releaseOnCancel: boolean;
  readonly reelect: boolean;
  readonly coordinated: boolean;
  readonly mainStallLimitMs: number;
  readonly heartbeatMs: number;
}

/** The exports of a lock module. */
export interface LockModule {
  /** Creates the lock inside the thread, with separate connections. `data` is a structured clone of `lockData`. */
  createLock(data: unknown): ResourceLock | Promise<ResourceLock>;
}

/** A failure, as it crosses. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly cause?: Failure;
}

/** From the thread. */
export type FromWorker =
  | { readonly type: 'started'; readonly term: number }
  /** The term's fence has closed; the work must end. */
  | { readonly type: 'closed'; readonly term: number; readonly reason: Failure }
  /** The work has ended (or was given up on), and the lock was released if it is to be. */
  | { readonly type: 'ended'; readonly led: boolean }
  | { readonly type: 'leader'; readonly identity: string }
  | { readonly type: 'count'; readonly metric: 'slowPath' | 'failures' }
  | {
      readonly type: 'log';
      readonly level: LogLevel;
      readonly message: string;
      readonly fields: Record<string, unknown>;
    }
  | { readonly type: 'done'; readonly lost: Failure | undefined; readonly failure: Failure | undefined };

/** To the thread. */
export type ToWorker =
  | { readonly type: 'stop' }
  | { readonly type: 'step-down'; readonly holdOffMs: number }
  | { readonly type: 'work-ended'; readonly term: number; readonly failed: boolean };

/** How many causes of an error are transferred, because a chain may be a circle. */
const causesThatCross = 5;

/** The transferred parts of an error. */
export function toFailure(error: unknown, causes: number = causesThatCross): Failure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, cause } = error;
  return {
    name,
    message,
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    ...(cause === undefined || causes === 0 ? {} : { cause: toFailure(cause, causes - 1) }),
  };
}

/** The error on the other side. */
export function fromFailure({ name, message, code, cause }: Failure): Error {
  if (name === 'AbortError') return new DOMException(message, name);
  const error = new Error(message, cause === undefined ? undefined : { cause: fromFailure(cause) });
  return Object.assign(error, { name }, code === undefined ? {} : { code });
}
