import type { LogLevel } from '@kctl/telemetry';
import type { ResourceLock } from '../record.js';

/** What the thread is started with. */
export interface WorkerInput {
  readonly memory: SharedArrayBuffer;
  readonly bootOffsetMs: number | undefined;
  /** URL of a module with a {@link LockModule | createLock}. */
  readonly lockModule: string;
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

/** What a lock module exports. */
export interface LockModule {
  /** Makes the lock inside the thread, with connections of its own. `data` is a structured clone of `lockData`. */
  createLock(data: unknown): ResourceLock | Promise<ResourceLock>;
}

/** A failure, as it crosses. */
export interface Failure {
  readonly name: string;
  readonly message: string;
}

/** From the thread. */
export type FromWorker =
  | { readonly type: 'started'; readonly term: number }
  /** The term's fence has closed; the work must end. */
  | { readonly type: 'closed'; readonly term: number; readonly reason: Failure }
  /** The work has ended (or was given up on), and the lock was released if it is to be. */
  | { readonly type: 'ended'; readonly led: boolean }
  | { readonly type: 'leader'; readonly identity: string }
  | { readonly type: 'slow-path' }
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

/** What crosses of an error. */
export function toFailure(error: unknown): Failure {
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: 'Error', message: String(error) };
}

/** The error on the other side. */
export function fromFailure({ name, message }: Failure): Error {
  return name === 'AbortError' ? new DOMException(message, name) : Object.assign(new Error(message), { name });
}
