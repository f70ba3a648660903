// What happens to a controller, and what its reconciles do.

/** One thing that happens to a controller. */
export type Action =
  | { readonly type: 'event'; readonly key: string; readonly verb: 'add' | 'delete' }
  | { readonly type: 'watch' | 'remove' | 'removeStale'; readonly source: number }
  | { readonly type: 'run'; readonly hasLife: boolean }
  | { readonly type: 'stop' | 'warm' | 'cool' | 'endLife' | 'sendAll' | 'poison' | 'release' | 'rest' }
  | { readonly type: 'send'; readonly key: string }
  | { readonly type: 'advance'; readonly ms: number }
  | { readonly type: 'turns'; readonly count: number }
  | { readonly type: 'workers'; readonly count: number };

/** What a reconcile does. All but `done` and `terminal` are owed another run. */
export type Deed =
  | 'done'
  | 'fail'
  | 'throw'
  | 'hostile'
  | 'garbage'
  | 'backoff'
  | 'requeue'
  | 'requeueNow'
  | 'requeuePast'
  | 'untilStop'
  | 'hang'
  | 'slow';

/** How the controller of a model is made. */
export interface ModelOptions {
  readonly usePriorityQueue: boolean;
  readonly eventsDuringBackoff: 'immediate' | 'oncePerWindow';
  readonly isDebounced: boolean;
  readonly isLimited: boolean;
  /** Event handlers take time. */
  readonly areHandlersSlow: boolean;
  /** Hook, policy, limiter, metrics sink and tracer throw or return garbage. */
  readonly isHostile: boolean;
}
