import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { Exchange } from './exchange.js';
import type { ReconcileActivity, Scope } from '../scope.js';

/** Context of the running code. It follows promises, timers and callbacks. */
export interface Activity {
  readonly scope: Scope;
  readonly reconcile?: ReconcileActivity | undefined;
  /** For the server's code, the request that it handles. */
  readonly cause?: Exchange | undefined;
  /** Origin for which the server's code runs, if there is no exchange. */
  readonly origin?: 'user' | undefined;
}

/** The activity of the running code; none outside of a world. */
export const activities: AsyncLocalStorage<Activity> = new AsyncLocalStorage();

/**
 * A function that calls others with an activity, in the current asynchronous context, for repeated use. `run` creates
 * the context each time, and takes twenty times as long.
 */
export function entrance(activity: Activity): (work: () => void) => void {
  const resource = activities.run(activity, () => new AsyncResource('scope'));
  return (work) => resource.runInAsyncScope(work);
}

/** The scope of the running code; none outside of a world, or of one that has died. */
export function currentScope(): Scope | undefined {
  return activities.getStore()?.scope;
}

/**
 * Origin for which the server commits, and the request that it handles. A timer that a request armed, such as that of
 * the garbage collector, keeps its activity, and outlives it; its later work is the server's own.
 */
export function causeOfCommit(): { readonly cause: Exchange | undefined; readonly origin: Scope['kind'] } {
  const { cause, origin = 'server' } = activities.getStore() ?? {};
  return cause === undefined || cause.isServed ? { cause: undefined, origin } : { cause, origin: cause.scope.kind };
}
