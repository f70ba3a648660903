import type { Metrics } from '@kctl/telemetry';
import { noopMetrics } from '@kctl/telemetry';

/**
 * The names of the caches that write to the same metrics, and who has them; nothing else has a place in common. A cache
 * that runs gives its name back at its end, one that never runs when it is collected.
 */
const taken = new WeakMap<Metrics, Map<string, WeakRef<object>>>();

/** A cache's place among those that share its metrics. */
export interface CacheName {
  /** Prefix of the names of its informers. */
  readonly prefix: string;
  /** Frees the name for a later cache. */
  release(): void;
}

/**
 * Claims a name for a cache, so that two caches that share metrics do not write to the same series. Without one, the first cache
 * has no prefix, and each further one a number.
 *
 * @throws TypeError for a name that another cache has
 */
export function claimCacheName(name: string | undefined, metrics: Metrics | undefined, owner: object): CacheName {
  if (metrics === undefined || metrics === noopMetrics)
    return { prefix: prefixOf(name ?? ''), release: () => undefined };
  const names = taken.get(metrics) ?? new Map<string, WeakRef<object>>();
  taken.set(metrics, names);
  for (const [given, holder] of names) if (holder.deref() === undefined) names.delete(given);
  if (name !== undefined && names.has(name))
    throw new TypeError(
      `createCache: name ${JSON.stringify(name)} is that of another cache with the same metrics: give each its own`,
    );
  const claimed = name ?? firstFree(names);
  names.set(claimed, new WeakRef(owner));
  return { prefix: prefixOf(claimed), release: () => void names.delete(claimed) };
}

function firstFree(names: ReadonlyMap<string, unknown>): string {
  if (!names.has('')) return '';
  let number = 2;
  while (names.has(`cache-${number}`)) number++;
  return `cache-${number}`;
}

function prefixOf(name: string): string {
  return name === '' ? '' : `${name}/`;
}
