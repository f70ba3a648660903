import type { Kind, KubeObject } from '@kctl/apimachinery';
import type { IndexDefinition } from '@kctl/cache-index';
import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
import type { CacheOptions, ResolvedScope } from '../cache-options.js';
import type { SeriesOwners } from './own-series.js';
import type { Part } from './part-table.js';

/** Options for an informer of a cache, besides the cache's own options. */
export interface ScopeInformer {
  readonly kind: Kind;
  readonly scope: ResolvedScope;
  /** Prefix of the kind's name (the name of the cache). */
  readonly prefix: string;
  /** Suffix that distinguishes it from others of the kind. */
  readonly selection?: string;
  readonly indexers: Readonly<Record<string, IndexDefinition<KubeObject>>>;
  readonly seriesOwners: SeriesOwners;
}

/** Makes the informer of one scope of a kind. */
export function makeScopeInformer(
  options: CacheOptions,
  { kind, scope, prefix, selection, indexers, seriesOwners }: ScopeInformer,
): Omit<Part<KubeObject>, 'scope'> {
  const { client, watchErrorHandler, clock, random, logger, metrics, watchList } = options;
  const { minWatchTimeoutMs, idleTimeoutMs, listIdleTimeoutMs, backoff, maxInternalErrorRetryMs } = options;
  const selected = selection === undefined ? '' : ` (${selection})`;
  const { transform, bookmarks, resyncMs, keepManagedFields, unsafeMutableObjects, storage, listScope } = scope;
  const makeListerWatcher = options.listerWatcherFor ?? ((own, within) => listerWatcherFor(client, own, within));
  const resource = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
  const shape = kind.shape === 'metadata' || kind.shape === 'stripped' ? ` (${kind.shape})` : '';
  const name = `${prefix}${resource}${shape}${selected}${scope.namespace === '' ? '' : ` in ${scope.namespace}`}`;
  const series = metrics === undefined ? undefined : seriesOwners.claim(metrics, name);
  const informer = createSharedInformer<KubeObject>({
    kind,
    listerWatcher: makeListerWatcher(kind, listScope),
    indexers,
    name,
    freeze: unsafeMutableObjects !== true,
    ...(transform === undefined ? {} : { transform }),
    ...(bookmarks === undefined ? {} : { bookmarks }),
    ...(resyncMs === undefined ? {} : { resyncMs }),
    ...(keepManagedFields === undefined ? {} : { keepManagedFields }),
    ...(storage === undefined ? {} : { storage }),
    ...(watchErrorHandler === undefined ? {} : { watchErrorHandler: (trouble) => watchErrorHandler(kind, trouble) }),
    ...(watchList === undefined ? {} : { watchList }),
    ...(minWatchTimeoutMs === undefined ? {} : { minWatchTimeoutMs }),
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    ...(listIdleTimeoutMs === undefined ? {} : { listIdleTimeoutMs }),
    ...(backoff === undefined ? {} : { backoff }),
    ...(maxInternalErrorRetryMs === undefined ? {} : { maxInternalErrorRetryMs }),
    ...(options.handlerMetrics === undefined ? {} : { handlerMetrics: options.handlerMetrics }),
    ...(clock === undefined ? {} : { clock }),
    ...(random === undefined ? {} : { random }),
    ...(logger === undefined ? {} : { logger }),
    ...(series === undefined ? {} : { metrics: series.metrics }),
  });
  return series === undefined ? { informer } : { informer, removeSeries: series.remove };
}
