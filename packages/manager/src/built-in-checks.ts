import { formatGroupVersionKind } from '@kctl/apimachinery';
import type { Clock } from '@kctl/wait';
import type { Cluster } from './cluster.js';
import type { HealthCheck } from './health.js';

/** Options of {@link informersCheck}. */
export interface InformersCheckOptions {
  readonly clusters: () => Iterable<Cluster>;
  readonly clock: Clock;
  /** How long an informer may be without a watch, in ms: watches break and come back all the time. */
  readonly graceMs: number;
}

/**
 * Ready while every informer watches, or has been seen without a watch only for a short while (it lists, it retries:
 * all of that is "not watching"). For readiness, not for liveness: a restart does not bring back a permission, and would
 * take all replicas down at once.
 */
export function informersCheck({ clusters, clock, graceMs }: InformersCheckOptions): HealthCheck {
  /** Since when each informer has been seen without a watch. */
  let lost = new Map<string, number>();
  return () => {
    const now = clock.monotonicNow();
    const still = new Map<string, number>();
    const broken: string[] = [];
    for (const { name: cluster, cache } of clusters()) {
      for (const { kind, state, trouble } of cache.informers?.() ?? []) {
        if (state.phase === 'watching') continue;
        const name = `${cluster}: ${formatGroupVersionKind(kind)}`;
        const since = lost.get(name) ?? now;
        still.set(name, since);
        if (now - since <= graceMs) continue;
        const reason = trouble === undefined ? '' : `: ${trouble.reason}: ${trouble.message}`;
        broken.push(`${name} is ${state.phase} for ${Math.round((now - since) / 1000)} s${reason}`);
      }
    }
    lost = still;
    if (broken.length > 0) throw new Error(broken.join('; '));
  };
}

/** Ready once the caches of all clusters have synced; never waits. */
export function cachesCheck(isSynced: () => boolean): HealthCheck {
  return () => {
    if (!isSynced()) throw new Error('the caches have not synced yet');
  };
}
