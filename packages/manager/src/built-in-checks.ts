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
 * Ready while every informer watches, or has lost its watch only a short while ago. For readiness, not for liveness: a
 * restart does not bring back a permission, and would take all replicas down at once.
 */
export function informersCheck({ clusters, clock, graceMs }: InformersCheckOptions): HealthCheck {
  return () => {
    const now = clock.monotonicNow();
    const broken: string[] = [];
    for (const { name, cache } of clusters()) {
      for (const informer of cache.health?.() ?? []) {
        if (informer.isWatching || now - informer.since <= graceMs) continue;
        const seconds = Math.round((now - informer.since) / 1000);
        broken.push(
          `${name}: ${informer.name} is not watching for ${seconds} s: ${informer.reason ?? 'no reason known'}`,
        );
      }
    }
    if (broken.length > 0) throw new Error(broken.join('; '));
  };
}

/** Ready once the caches of all clusters have synced; never waits. */
export function cachesCheck(isSynced: () => boolean): HealthCheck {
  return () => {
    if (!isSynced()) throw new Error('the caches have not synced yet');
  };
}
