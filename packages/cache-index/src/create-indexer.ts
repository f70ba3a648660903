import type { KubeObject } from '@kctl/apimachinery';
import { IndexedStore } from './indexed-store.js';
import type { Indexer, IndexerOptions } from './indexer.js';

/** An empty store. Mirrors `cache.NewIndexer`. */
export function createIndexer<T extends KubeObject>(options: IndexerOptions<T> = {}): Indexer<T> {
  return new IndexedStore<T>(options);
}
