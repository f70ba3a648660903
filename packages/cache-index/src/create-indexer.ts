import type { KubeObject } from '@kctl/apimachinery';
import { IndexedStore } from './indexed-store.js';
import type { Indexer, IndexerOptions } from './indexer.js';

/**
 * An empty store. Mirrors `cache.NewIndexer`.
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createIndexer } from '@kctl/cache-index';
 *
 * const indexer = createIndexer<Pod>({ indexers: { node: ({ spec }) => [spec?.nodeName ?? ''] } });
 * indexer.put({ metadata: { namespace: 'shop', name: 'web-0' }, spec: { nodeName: 'node-1', containers: [] } });
 * console.log(indexer.byIndex('node', 'node-1').length); // 1
 * ```
 */
export function createIndexer<T extends KubeObject>(options: IndexerOptions<T> = {}): Indexer<T> {
  return new IndexedStore<T>(options);
}
