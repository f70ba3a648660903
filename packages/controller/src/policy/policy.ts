import type { Outcome } from '../retry/outcome.js';
import type { ReconcileRun } from '../reconciler/reconcile-run.js';

/** When and how a key is queued again. */
export interface Requeue {
  /** ≤ 0: at once. */
  readonly afterMs: number;
  readonly priority: number;
  readonly reason: string;
}

/** A run that has ended, on its way out through the policies. */
export interface Settled {
  readonly key: string;
  readonly run: ReconcileRun;
  readonly outcome: Outcome;
  /** The next run; undefined if nothing follows before the next event. */
  next: Requeue | undefined;
  /** A time that stands beside `next`, see `ReconcileResult.keep`. */
  kept: Requeue | undefined;
  /** Whether the hot-loop detector found the key with this run. */
  isLooping: boolean;
}

/**
 * The part that an option adds to the loop, one synchronous function on the way in and one on the way out. The order of
 * the policies is that of the list in `policies.ts`.
 */
export interface ReconcilePolicy {
  /**
   * Before a run, from the outside in. Returns how many ms the request is deferred; ≤ 0 lets it run, Infinity drops it.
   * `reasons` lists the triggers.
   */
  readonly admit?: (key: string, reasons: readonly string[]) => number;
  /** After a run, from the inside out. May change the next run. */
  readonly settle?: (settled: Settled) => void;
}
