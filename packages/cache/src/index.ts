/**
 * Informers by kind and shape, declared or borrowed, readable like a client.
 *
 * @packageDocumentation
 */
export type {
  CacheOptions,
  KindOptions,
  NamespaceScopes,
  ScopeOptions,
  SelectedInformerOptions,
  StrippedKindOptions,
  WholeKindOptions,
} from './cache-options.js';
export type { Cache, CacheScope, InformerLease, InformerStatus } from './cache.js';
export {
  CacheNotStartedError,
  isCacheNotStarted,
  isKindNotCached,
  isUnknownNamespace,
  isUnsupportedRead,
  KindNotCachedError,
  UnknownNamespaceError,
  UnsupportedReadError,
} from './errors.js';
export { createCache } from './informer-cache.js';
export { createCacheSelection } from './selection.js';
export type { CacheSelection, CacheSelectionOptions } from './selection.js';
export { createNamespaceFollower } from './scopes/namespace-follower.js';
export type { NamespaceFollower, NamespaceFollowerOptions, NamespaceSelection } from './scopes/namespace-follower.js';
