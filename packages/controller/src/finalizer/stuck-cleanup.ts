import type { Kind } from '@kctl/apimachinery';
import type { ReadObject } from '@kctl/client';
import type { Counter, Metrics } from '@kctl/telemetry';
import { noopMetrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { systemClock } from '@kctl/wait';
import type { ReconcileContext } from '../reconciler/reconciler.js';

/** How long after the deletion began a clean-up counts as stuck, in ms. */
export const defaultStuckAfterMs = 600_000;

/** A clean-up that is not done although the deletion began long ago. */
export interface StuckCleanup {
  /** Name of the finalizer. */
  readonly finalizer: string;
  /** ms since the deletion began, by the server's timestamp and our clock. */
  readonly sinceMs: number;
  /** Why the clean-up failed; undefined if it requested another run. */
  readonly error?: unknown;
}

/** Options of {@link StuckCleanups}. */
export interface StuckCleanupOptions<K extends Kind> {
  /** A clean-up that is not done this many ms after the deletion began is stuck. @default 600000 */
  readonly stuckAfterMs?: number;
  /**
   * Called after each run that ends with a stuck clean-up; may write a condition. Its own failure is logged.
   *
   * @default nothing is called
   */
  readonly onStuck?: (object: ReadObject<K>, cleanup: StuckCleanup, context: ReconcileContext) => Promise<void>;
  /** Counts such runs as `kctl_finalizer_stuck_cleanups_total{kind,finalizer}`. @default nothing is measured */
  readonly metrics?: Metrics;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** Reports clean-ups that keep deleted objects for long. Stateless. */
export class StuckCleanups<K extends Kind> {
  readonly #options: StuckCleanupOptions<K>;
  readonly #count: (finalizer: string) => Counter;

  constructor(kind: K, options: StuckCleanupOptions<K>) {
    this.#options = options;
    const family = (options.metrics ?? noopMetrics).counter({
      name: 'kctl_finalizer_stuck_cleanups_total',
      help: 'Total number of reconciles that left a clean-up undone long after the deletion began',
      labelNames: ['kind', 'finalizer'],
    });
    this.#count = (finalizer) => family.with({ kind: kind.kind, finalizer });
  }

  /** A run ends without the clean-up being done. */
  async undone(
    object: ReadObject<K>,
    { finalizer, error }: Omit<StuckCleanup, 'sinceMs'>,
    context: ReconcileContext,
  ): Promise<void> {
    const { stuckAfterMs = defaultStuckAfterMs, clock = systemClock, onStuck } = this.#options;
    const sinceMs = clock.now() - Date.parse(object.metadata.deletionTimestamp ?? '');
    if (!(sinceMs >= stuckAfterMs)) return;
    this.#count(finalizer).inc();
    context.logger.warn('a clean-up keeps a deleted object for long', { finalizer, sinceMs });
    try {
      await onStuck?.(object, { finalizer, sinceMs, ...(error === undefined ? {} : { error }) }, context);
    } catch (hookError) {
      context.logger.error('onStuck failed', { finalizer, error: hookError });
    }
  }
}
