import type { ObjectKey } from '@kctl/apimachinery';
import type { Logger, Span } from '@kctl/telemetry';

/**
 * What a controller is asked to reconcile: which object, never what happened to it. The default request type; a
 * controller works with any request that its key function can name. Mirrors `reconcile.Request`.
 */
export type ReconcileRequest = ObjectKey;

/**
 * What a reconcile asks for when it did not fail. Nothing (`undefined` or `{}`): done until the next event. Anything
 * else, also a field that is not known (`requeueAfter`), is a failed reconcile that says so: ignoring it would lose a
 * requeue.
 */
export interface ReconcileResult {
  /**
   * Reconcile again after this many ms, at the latest: an event in between replaces it. Forgets the key's back-off.
   * Wins over {@link ReconcileResult.backoff}. Zero or less means now, through the rate limiter, as `backoff` does:
   * `deadline - now` that is computed a moment late loses no run. NaN and the infinities fail the run.
   */
  readonly requeueAfterMs?: number;
  /**
   * Whether the time of `requeueAfterMs` stands although the key runs before it, as in controller-runtime without a
   * priority queue: what a later result asks for is added to it. @default false
   */
  readonly keep?: boolean;
  /** Not done yet: reconcile again with the key's growing back-off, without calling it an error. Mirrors `Requeue: true`. */
  readonly backoff?: boolean;
  /** Priority of the re-queued request. @default the priority with which it was dequeued */
  readonly priority?: number;
}

/** The context of a reconcile. */
export interface ReconcileContext {
  /**
   * Aborted when the controller stops or the reconciliation timeout passes. Hand it to everything that waits.
   * Created on first use.
   */
  readonly signal: AbortSignal;
  /**
   * Aborted when a newer event for this request arrives while it runs: it will be reconciled again right after, so
   * a long run may cut itself short. Created on first use.
   */
  readonly superseded: AbortSignal;
  /** Whether a newer event for this request waits: e.g. to skip an expensive status. */
  readonly isSuperseded: boolean;
  /** With the fields `controller`, `namespace`, `name`, `reconcileID`, … of this run. */
  readonly logger: Logger;
  /** The span of this run. */
  readonly span: Span;
  /** Unique for each run. */
  readonly reconcileId: string;
  /** 1 for the first run, +1 after each failure or back-off; a success resets it. */
  readonly attempt: number;
  /** Whether the retry policy gives up if this run fails. */
  readonly isLastAttempt: boolean;
  /** The priority with which the request was dequeued. */
  readonly priority: number;
  /**
   * Why the request was queued since its last run: the first 16 distinct ones, e.g. `kind source: Pod update default/a`,
   * `retry`, `safety interval`. For logs and traces: deciding by them makes a reconciler edge-triggered, and wrong
   * after a restart.
   */
  readonly reasons: readonly string[];
}

/**
 * Brings the world nearer to what the object of `request` asks for. It must be idempotent; it is never run twice at
 * once for the same request. Rejecting means: failed, try again with back-off (unless the error is terminal).
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import type { ReconcileFunction } from '@kctl/controller';
 *
 * const reconcile: ReconcileFunction = async ({ namespace = '', name }, { signal, logger }) => {
 *   const { data } = await client.get(ConfigMap, { namespace, name }, { signal });
 *   logger.info('Found', { colour: data?.['colour'] });
 *   return { requeueAfterMs: 60_000 };
 * };
 * ```
 */
export type ReconcileFunction<R = ReconcileRequest> = (
  request: R,
  context: ReconcileContext,
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a reconciler that returns nothing is the usual one
) => Promise<ReconcileResult | void>;

/** The object form of a {@link Reconciler}. */
export interface ReconcilerObject<R = ReconcileRequest> {
  readonly reconcile: ReconcileFunction<R>;
  /** See `ControllerOptions.onError`, which wins where both are set. */
  readonly onError?: ReconcileErrorHook<R>;
}

/** User code of a controller. Mirrors `reconcile.Reconciler`. */
export type Reconciler<R = ReconcileRequest> = ReconcileFunction<R> | ReconcilerObject<R>;

/** What to do after a failure, instead of what the retry policy said. */
export type RetryDecision =
  /** After so many ms; zero or less means now, as the controller's rate limiter says. */
  | { readonly type: 'retry'; readonly afterMs: number }
  /** As the controller's rate limiter says. */
  | { readonly type: 'backoff' }
  /** Not again until the next event (or the safety interval). */
  | { readonly type: 'stop' };

/** A failed run, as the error hook sees it. */
export interface ReconcileFailure<R = ReconcileRequest> {
  readonly request: R;
  readonly error: unknown;
  /** What will happen next unless the hook says otherwise. */
  readonly decision: RetryDecision;
}

/**
 * Called after a failed run, before its key is released: it may write status, and may override the decision by
 * returning another. When it fails itself, that is logged and the decision stands.
 */
export type ReconcileErrorHook<R = ReconcileRequest> = (
  failure: ReconcileFailure<R>,
  context: ReconcileContext,
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- most hooks return nothing
) => Promise<RetryDecision | void>;
