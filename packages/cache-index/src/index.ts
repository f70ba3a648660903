/**
 * An indexed store of Kubernetes objects that cannot be corrupted. Objects are frozen, shared, read without copies, and
 * in a fixed order.
 *
 * @packageDocumentation
 */
export { mutableCopy } from '@kctl/apimachinery';
export { createIndexer } from './create-indexer.js';
export {
  IndexConflictError,
  IndexFunctionError,
  isIndexConflict,
  isIndexFunctionError,
  isUnknownIndex,
  UnknownIndexError,
} from './errors.js';
export { labelIndex, namespaceIndex, ownerIndex } from './index-definition.js';
export type { HeaderIndex, IndexDefinition, IndexFunction, ObjectIndex, PathIndex } from './index-definition.js';
export type { IndexListOptions, IndexReader, IndexSnapshot } from './index-reader.js';
export type { Indexer, IndexerOptions, ReplacedContent, Replacement, StoredWrite } from './indexer.js';
export { createLister } from './lister.js';
export type { Lister, NamespaceLister } from './lister.js';
export type { StoredObject, StoreObjectOptions } from './stored-object.js';
export { createBoundedStore } from './stores/bounded-store.js';
export type { BoundedStore, BoundedStoreOptions } from './stores/bounded-store.js';
export { createExpiringCache } from './stores/expiring-cache.js';
export type { ExpiringCache, ExpiringCacheOptions } from './stores/expiring-cache.js';
export { metaNamespaceKey } from './stores/key.js';
export { createStore } from './stores/plain-store.js';
export type { Store, StoreOptions } from './stores/store.js';
export { createTtlStore } from './stores/ttl-store.js';
export type { TtlStoreOptions } from './stores/ttl-store.js';
