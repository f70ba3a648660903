import { activities } from './network/activity.js';
import { cancel, type Scheduler } from './scheduler.js';
import type { Scope } from './scope.js';

/** `setImmediate` of a scope. Work of the server in a later turn is attributed to the server itself. */
export function immediate(scheduler: Scheduler, scope: Scope, callback: () => void): { cancel(): void } {
  const activity = scope.kind === 'server' ? undefined : activities.getStore();
  const isOwn = activity === undefined || (activity.scope === scope && activity.reconcile === undefined);
  const task = scheduler.post(scope, isOwn ? () => scope.enter(callback) : () => activities.run(activity, callback));
  return {
    cancel: () => {
      cancel(task);
    },
  };
}
