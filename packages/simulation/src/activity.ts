import { AsyncLocalStorage } from 'node:async_hooks';
import type { Exchange } from './network/exchange.js';
import type { ReconcileActivity, Scope } from './scope.js';

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
