import type { KubeObject } from '@kctl/apimachinery';
import type { SharedInformerOptions } from '@kctl/informer';
import type { Decisions } from '@kctl/options';
import type { CacheOptions, ResolvedScope } from '../cache-options.js';

/** The options of a cache, as its informers get them. */
export const ofCache = {
  watchList: 'sent',
  minWatchTimeoutMs: 'sent',
  idleTimeoutMs: 'sent',
  listIdleTimeoutMs: 'sent',
  backoff: 'sent',
  maxInternalErrorRetryMs: 'sent',
  handlerMetrics: 'sent',
  clock: 'sent',
  random: 'sent',
  logger: 'sent',
  name: 'answered',
  client: 'answered',
  listerWatcherFor: 'answered',
  watchErrorHandler: 'answered',
  metrics: 'answered',
  byObject: 'answered',
  defaultNamespaces: 'answered',
  defaults: 'answered',
  undeclaredReads: 'answered',
  lingerMs: 'answered',
} as const;
ofCache satisfies Decisions<CacheOptions>;

/** The options of a scope, as its informer gets them. */
export const ofScope = {
  transform: 'sent',
  bookmarks: 'sent',
  resyncMs: 'sent',
  keepManagedFields: 'sent',
  storage: 'sent',
  unsafeMutableObjects: 'answered',
  namespace: 'answered',
  listScope: 'answered',
  labels: 'answered',
  labelSelector: 'answered',
  fieldSelector: 'answered',
} as const;
ofScope satisfies Decisions<ResolvedScope>;

/** The options of an informer, of which a cache gives all but those that would differ from informer to informer. */
export const ofInformer = {
  kind: 'sent',
  listerWatcher: 'sent',
  indexers: 'sent',
  name: 'sent',
  freeze: 'sent',
  transform: 'sent',
  bookmarks: 'sent',
  resyncMs: 'sent',
  keepManagedFields: 'sent',
  storage: 'sent',
  watchErrorHandler: 'sent',
  watchList: 'sent',
  minWatchTimeoutMs: 'sent',
  idleTimeoutMs: 'sent',
  listIdleTimeoutMs: 'sent',
  backoff: 'sent',
  maxInternalErrorRetryMs: 'sent',
  handlerMetrics: 'sent',
  clock: 'sent',
  random: 'sent',
  logger: 'sent',
  metrics: 'sent',
  pageSize: { refused: 'the rules of client-go choose it' },
  onHandlerError: { refused: 'failures of handlers are logged' },
} as const;
ofInformer satisfies Decisions<SharedInformerOptions<KubeObject>>;
