import type { GroupVersionKind } from '@kctl/apimachinery';
import { formatGroupVersionKind } from '@kctl/apimachinery';
import type { Clock } from '@kctl/wait';
import { reportsOf } from './listed-by.js';
import type { Cluster, InformerReport } from './cluster.js';
import type { HealthCheck } from './health.js';
import type { Demand } from './informer-demand.js';

/** Options that both checks share. */
interface CheckOptions {
  readonly clusters: () => Iterable<Cluster>;
  /** Whether a runnable needs an informer. */
  readonly demand: (cache: object, kind: GroupVersionKind) => Demand;
  /** Whether this process converts the versions of a kind. */
  readonly converts: (kind: GroupVersionKind) => boolean;
}

/** Options of {@link informersCheck}. */
export interface InformersCheckOptions extends CheckOptions {
  readonly clock: Clock;
  /**
   * How long a synced informer may be without a watch, in ms, because watches break and come back all the time. If
   * undefined, the default, without a limit during an outage of the server.
   */
  readonly graceMs: number | undefined;
}

const defaultGraceMs = 30_000;
/** Causes that lie with the server, so other replicas are affected as well. */
const outageReasons: ReadonlySet<string> = new Set(['connection', 'throttled', 'internal-error']);

/**
 * Ready while every informer has synced and watches, or has been without a watch only for a short while (listing and
 * retrying count as "not watching"). One that never synced has no grace, because a rollout would replace good replicas
 * by ones that see nothing. One that had synced has no limit during an outage of the server, unless a grace is given,
 * because all replicas would be taken out of service at once, webhooks included, and the server would find none on its
 * return. One that is needed by optional sources alone, or only lingers, does not count. For readiness, not for
 * liveness, because a restart does not bring back a permission, and would take all replicas down at once. One that may wait for a
 * conversion by this process does not count, see {@link waitsForConversion}.
 */
export function informersCheck({ clusters, demand, converts, clock, graceMs }: InformersCheckOptions): HealthCheck {
  /** Since when each informer has been seen without a watch. */
  let lost = new Map<string, number>();
  /** When an outage was last seen. Kept while a watch is tried, which looks like watching and may fail once more. */
  let outageAt = new Map<string, number>();
  return () => {
    const now = clock.monotonicNow();
    const still = new Map<string, number>();
    const outages = new Map<string, number>();
    const broken: string[] = [];
    for (const { name: cluster, cache } of clusters())
      for (const report of reportsOf(cache)) {
        if (!counts(report, demand(cache, report.kind))) continue;
        const { state, trouble, hasSynced = true } = report;
        const name = `${cluster}: ${nameOf(report)}`;
        const isOutage = graceMs === undefined && trouble !== undefined && outageReasons.has(trouble.reason);
        const lastOutage = isOutage ? now : (outageAt.get(name) ?? -Infinity);
        outages.set(name, lastOutage);
        if (state.phase === 'watching' && hasSynced) continue;
        const reason = trouble === undefined ? '' : `: ${trouble.reason}: ${trouble.message}`;
        const begun = lost.get(name) ?? (state.phase === 'retrying' ? (state.since ?? now) : now);
        // The grace begins when the outage is over, because other replicas are also affected by the server's answers
        // from then on.
        const since = Math.max(begun, lastOutage);
        if (hasSynced) {
          still.set(name, since);
          if (now - since <= (graceMs ?? defaultGraceMs)) continue;
          broken.push(`${name} is ${state.phase} for ${Math.round((now - since) / 1000)} s${reason}`);
        } else if (!waitsForConversion(report, converts))
          broken.push(`${name} has not synced: it is ${state.phase}${reason}`);
      }
    lost = still;
    outageAt = outages;
    if (broken.length > 0) throw new Error(broken.join('; '));
  };
}

/** In the message of a failed list, 500 for a page and 429 otherwise: the server lists from a cache that it has to convert. */
const conversionFailure = /\bconversion webhook for /;

/**
 * Whether an informer has not synced because the server cannot convert what it lists, with a webhook that this process
 * serves. A Service forwards to ready replicas only, so at the first rollout of a converter a replica that waited for
 * the list would never be ready, and the list would never be served. Other failures of the server count, since a
 * rollout would replace replicas that have synced before.
 */
function waitsForConversion({ kind, hasSynced, trouble }: InformerReport, converts: CheckOptions['converts']): boolean {
  return hasSynced === false && trouble !== undefined && conversionFailure.test(trouble.message) && converts(kind);
}

function nameOf({ kind, selection }: InformerReport): string {
  const name = formatGroupVersionKind(kind);
  return selection === undefined ? name : `${name} (${selection})`;
}

function counts({ isWanted = true }: InformerReport, demand: Demand): boolean {
  return demand === 'required' || (demand === 'unnamed' && isWanted);
}

/** Options of {@link cachesCheck}. */
export interface CachesCheckOptions extends CheckOptions {
  /** Whether the manager has started its caches, and every informer that its runnables need. */
  readonly isStarted: () => boolean;
  /** Required sources of runnables that run and have not synced. */
  readonly unsynced: () => readonly string[];
}

/**
 * Ready once the caches of all clusters have synced, with what the runnables need of them; never waits. While an
 * informer may wait for a conversion by this process, neither its cache nor the sources are considered.
 */
export function cachesCheck({ clusters, demand, converts, isStarted, unsynced }: CachesCheckOptions): HealthCheck {
  return () => {
    if (!isStarted()) throw new Error('the caches have not been started yet');
    let waits = false;
    for (const { name, cache, hasSynced } of clusters()) {
      let waitsHere = false;
      for (const report of reportsOf(cache)) {
        const isCounted = counts(report, demand(cache, report.kind));
        if (waitsForConversion(report, converts)) {
          waitsHere = true;
          // The sources that wait for it are those of runnables that need it.
          waits ||= isCounted;
        } else if (report.hasSynced === false && isCounted)
          throw new Error(`the cache of ${name} has not synced yet: ${nameOf(report)} is ${report.state.phase}`);
      }
      if (!hasSynced && !waitsHere) throw new Error(`the cache of ${name} has not synced yet`);
    }
    const sources = waits ? [] : unsynced();
    if (sources.length > 0) throw new Error(`sources have not synced yet: ${sources.join('; ')}`);
  };
}
