import type { ObjectKey } from '@kctl/apimachinery';
import type { Logger, Span } from '@kctl/telemetry';

/**
 * The request of a controller. It names an object, never the change to it. The default request type; a controller works
 * with any request that its key function can name. Mirrors `reconcile.Request`.
 */
export type ReconcileRequest = ObjectKey;

/**
 * Result of a reconcile that did not fail. Nothing (`undefined` or `{}`) means done until the next event. Anything
 * else, including an unknown field (`requeueAfter`), is a failed reconcile that reports it, because ignoring it would
 * lose a requeue.
 */
export interface ReconcileResult {
  /**
   * Reconcile again after this many ms, at the latest; an event in between replaces it. Forgets the key's back-off.
   * Wins over {@link ReconcileResult.backoff}. Zero or less means now, through the rate limiter, as `backoff` does, so
   * a `deadline - now` that is computed a moment late loses no run. NaN and the infinities fail the run.
   */
  readonly requeueAfterMs?: number;
  /**
   * Whether the time of `requeueAfterMs` stands although the key runs before it, as in controller-runtime without a
   * priority queue. A later result's requeue is added to it. @default false
   */
  readonly keep?: boolean;
  /**
   * Not done yet. Reconcile again with the key's growing back-off, without counting as an error. Mirrors
   * `Requeue: true`.
   */
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
   * Aborted when a newer event for this request arrives while it runs. The request is reconciled again right after, so
   * a long run may cut itself short. Created on first use.
   */
  readonly superseded: AbortSignal;
  /** Whether a newer event for this request waits, e.g. to skip an expensive status. */
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
   * Why the request was queued since its last run (the first 16 distinct reasons, e.g.
   * `kind source: Pod update default/a`, `retry`, `safety interval`). For logs and traces only, because deciding by
   * them makes a reconciler edge-triggered, and wrong after a restart.
   */
  readonly reasons: readonly string[];
}

/**
 * Brings the world nearer to the state required by the object of `request`. It must be idempotent; it never runs twice
 * at once for the same request. A rejection means that it failed and is tried again with back-off (unless the error is
 * terminal).
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
  /** See `ControllerOptions.onError`, which takes precedence if both are set. */
  readonly onError?: ReconcileErrorHook<R>;
}

/** User code of a controller. Mirrors `reconcile.Reconciler`. */
export type Reconciler<R = ReconcileRequest> = ReconcileFunction<R> | ReconcilerObject<R>;

/** Decision after a failure, instead of the retry policy's. */
export type RetryDecision =
  /** After this many ms; zero or less means now, according to the controller's rate limiter. */
  | { readonly type: 'retry'; readonly afterMs: number }
  /** According to the controller's rate limiter. */
  | { readonly type: 'backoff' }
  /** Not again until the next event (or the safety interval). */
  | { readonly type: 'stop' };

/** A failed run, as the error hook sees it. */
export interface ReconcileFailure<R = ReconcileRequest> {
  readonly request: R;
  readonly error: unknown;
  /** The next step unless the hook decides otherwise. */
  readonly decision: RetryDecision;
}

/**
 * Called after a failed run, before its key is released. It may write status, and may override the decision by
 * returning another. When it fails itself, that is logged and the decision stands.
 */
export type ReconcileErrorHook<R = ReconcileRequest> = (
  failure: ReconcileFailure<R>,
  context: ReconcileContext,
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- most hooks return nothing
) => Promise<RetryDecision | void>;
