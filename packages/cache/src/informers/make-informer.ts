import type { Kind, KubeObject } from '@kctl/apimachinery';
import type { IndexDefinition } from '@kctl/cache-index';
import { createSharedInformer, listerWatcherFor, type InformerTrouble } from '@kctl/informer';
import { sentOptions } from '@kctl/options';
import type { CacheOptions, ResolvedScope } from '../cache-options.js';
import { ofCache, ofInformer, ofScope } from './informer-decisions.js';
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
  const { client, watchErrorHandler, metrics } = options;
  const selected = selection === undefined ? '' : ` (${selection})`;
  const { unsafeMutableObjects, listScope } = scope;
  const makeListerWatcher = options.listerWatcherFor ?? ((own, within) => listerWatcherFor(client, own, within));
  const resource = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
  const shape = kind.shape === 'metadata' || kind.shape === 'stripped' ? ` (${kind.shape})` : '';
  const name = `${prefix}${resource}${shape}${selected}${scope.namespace === '' ? '' : ` in ${scope.namespace}`}`;
  const series = metrics === undefined ? undefined : seriesOwners.claim(metrics, name);
  const informer = createSharedInformer<KubeObject>(
    sentOptions(ofInformer, {
      ...sentOptions(ofCache, options),
      ...sentOptions(ofScope, scope),
      kind,
      listerWatcher: makeListerWatcher(kind, listScope),
      indexers,
      name,
      freeze: unsafeMutableObjects !== true,
      ...(watchErrorHandler === undefined
        ? {}
        : { watchErrorHandler: (trouble: InformerTrouble) => watchErrorHandler(kind, trouble) }),
      ...(series === undefined ? {} : { metrics: series.metrics }),
    }),
  );
  return series === undefined ? { informer } : { informer, removeSeries: series.remove };
}
