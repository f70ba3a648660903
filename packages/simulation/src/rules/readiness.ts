import type { Listeners } from '../network/listeners.js';
import type { ReplicaHost } from '../replica/replica-host.js';
import type { Scheduler } from '../scheduler.js';
import type { Scope } from '../scope.js';

/** Options of {@link probeReadiness}. */
export interface ReadinessOptions {
  readonly scheduler: Scheduler;
  readonly listeners: Listeners;
  /** Time since which nothing is broken, in ms; undefined while faults continue. */
  readonly quietSince: () => number | undefined;
  violate(rule: 'ready-before-sync' | 'unready-in-quiet', message: string): void;
}

/** Probe intervals of a kubelet while a replica starts, and after that, in ms. */
const startProbeMs = 1000;
const probeMs = 15_000;
const startMs = 30_000;
/**
 * How long a replica may be unready when nothing is broken, in ms. An informer whose last attempts failed waits for up
 * to a minute, is notified that its version has expired, and waits as long again, as in client-go.
 */
const quietGraceMs = 150_000;

/** Probes a process for readiness, as a kubelet does, from its start to its end, if it serves the probe. */
export function probeReadiness(host: ReplicaHost, scope: Scope, options: ReadinessOptions): void {
  const { scheduler, listeners } = options;
  const startedAt = scheduler.now;
  const probe = async (): Promise<void> => {
    for (const server of listeners.of(scope)) {
      const before = unsyncedOf(host);
      const status = await listeners.get(server, '/readyz');
      if (scope.isDead || host.isStopping) return;
      const after = unsyncedOf(host).find((kind) => before.includes(kind));
      if (status === 200 && after !== undefined)
        options.violate(
          'ready-before-sync',
          `${host.name} says that it is ready, and its cache of ${after} has not synced: a rollout would replace good replicas by ones that see nothing`,
        );
      const since = options.quietSince();
      if (status !== 200 && status !== 404 && status !== 0 && since !== undefined)
        if (scheduler.now - Math.max(since, startedAt) > quietGraceMs)
          options.violate('unready-in-quiet', `${host.name} answers /readyz with ${status} when nothing is broken`);
    }
  };
  const later = (): void => {
    const everyMs = scheduler.now - startedAt < startMs ? startProbeMs : probeMs;
    scheduler.after(scope, everyMs, () => {
      if (host.isStopping || host.scope !== scope) return;
      scope.enter(() => void probe());
      later();
    });
  };
  later();
}

/** Kinds that are wanted of the cache of an operator and have not synced. */
function unsyncedOf({ operator }: ReplicaHost): string[] {
  const cache = operator?.cache;
  if (typeof cache !== 'object' || cache === null || !('informers' in cache)) return [];
  if (typeof cache.informers !== 'function') return [];
  const all = Reflect.apply(cache.informers, cache, []) as readonly {
    readonly kind: { readonly kind: string };
    readonly isWanted: boolean;
    readonly hasSynced: boolean;
  }[];
  return all.flatMap(({ kind, isWanted, hasSynced }) => (isWanted && !hasSynced ? [kind.kind] : []));
}
