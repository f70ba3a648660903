import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '@kctl/wait';
import type { Exchange } from './network/exchange.js';

/** Whose code runs: a replica of the operator, the API server, or what the test itself does. */
export interface Scope {
  readonly name: string;
  readonly kind: 'replica' | 'server' | 'user';
  readonly clock: Clock;
  /** Nothing of a dead scope runs again: its timers, callbacks and answers are dropped. */
  isDead: boolean;
  /** Nothing of the scope runs before this time of the world, in ms: the event loop stands still. */
  stalledUntil: number;
  /** Timers that are pending. */
  timers: number;
  /** Requests and watches that are open. */
  readonly exchanges: Set<Exchange>;
}

/** A reconcile that runs, as the tracer saw it begin. */
export interface ReconcileActivity {
  readonly id: number;
  readonly controller: string;
  /** `namespace/name`. */
  readonly key: string;
  readonly startedAt: number;
}

/** What the running code belongs to. It follows promises, timers and callbacks. */
export interface Activity {
  readonly scope: Scope;
  readonly reconcile?: ReconcileActivity | undefined;
  /** Of the server's code: the request that it answers. */
  readonly cause?: Exchange | undefined;
  /** For whom the server's code runs, where no exchange says it. */
  readonly origin?: 'user' | undefined;
}

/** The activity of the running code; none outside of a world. */
export const activities: AsyncLocalStorage<Activity> = new AsyncLocalStorage();

/** The scope of the running code; none outside of a world, or of one that has died. */
export function currentScope(): Scope | undefined {
  return activities.getStore()?.scope;
}
