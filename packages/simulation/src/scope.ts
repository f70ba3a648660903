import type { Clock } from '@kctl/wait';

/** Owner of the running code, which is a replica of the operator, the API server, or the test itself. */
export interface Scope {
  readonly name: string;
  readonly kind: 'replica' | 'server' | 'user';
  readonly clock: Clock;
  /** Nothing of a dead scope runs again, because its timers, callbacks and responses are dropped. */
  isDead: boolean;
  /** Nothing of the scope runs before this time of the world, in ms, because the event loop stands still. */
  stalledUntil: number;
  /** Timers that are pending. */
  timers: number;
  /** Calls code as that of the scope. */
  readonly enter: (work: () => void) => void;
}

/** A reconcile that runs, as the tracer saw it begin. */
export interface ReconcileActivity {
  readonly id: number;
  readonly controller: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly startedAt: number;
}
