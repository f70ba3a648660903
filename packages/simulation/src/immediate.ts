import { activities } from './activity.js';
import { cancel, type Scheduler } from './scheduler.js';
import type { Scope } from './scope.js';

/** `setImmediate` of a scope. What the server does in a later turn, it does for itself. */
export function immediate(scheduler: Scheduler, scope: Scope, callback: () => void): { cancel(): void } {
  const activity = scope.kind === 'server' ? { scope } : (activities.getStore() ?? { scope });
  const task = scheduler.post(scope, () => activities.run(activity, callback));
  return {
    cancel: () => {
      cancel(task);
    },
  };
}
