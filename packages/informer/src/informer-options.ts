import type { Kind, KubeObject } from '@kctl/apimachinery';
import type { IndexDefinition } from '@kctl/cache-index';
import { namespaceIndex, namespaceIndexName } from '@kctl/cache-index';
import type { Logger, Metrics } from '@kctl/telemetry';
import { noopLogger, noopMetrics } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import { systemClock, systemRandom } from '@kctl/wait';
import type { SharedInformerOptions, WatchErrorHandler } from './informer.js';
import type { ListerWatcher } from './list-watcher.js';
import type { ReflectorConfig } from './reflector-config.js';
import { defaultReflectorConfig } from './reflector-config.js';

/** {@link SharedInformerOptions} with every choice made. */
export interface ResolvedOptions<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly listerWatcher: ListerWatcher<T>;
  readonly indexers: Readonly<Record<string, IndexDefinition<T>>>;
  readonly resyncMs: number;
  readonly transform: ((object: T) => T) | undefined;
  readonly keepManagedFields: boolean;
  readonly freeze: boolean;
  readonly watchErrorHandler: WatchErrorHandler;
  readonly config: ReflectorConfig;
  readonly bookmarks: boolean;
  readonly minWatchTimeoutMs: number;
  readonly idleTimeoutMs: number | undefined;
  readonly listIdleMs: number;
  readonly sliceMs: number;
  readonly onHandlerError: (error: unknown, handlerName: string) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly name: string;
}

const leastWatchTimeoutMs = 1000;

/** Makes the choices. @throws TypeError naming the option that is not valid */
export function resolveInformerOptions<T extends KubeObject>(options: SharedInformerOptions<T>): ResolvedOptions<T> {
  const { kind, logger = noopLogger, minWatchTimeoutMs = 300_000, pageSize, idleTimeoutMs } = options;
  const name = options.name ?? (kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`);
  requirePositive('minWatchTimeoutMs', minWatchTimeoutMs, leastWatchTimeoutMs);
  if (pageSize !== undefined) requirePositive('pageSize', pageSize, 1);
  if (idleTimeoutMs !== undefined) requirePositive('idleTimeoutMs', idleTimeoutMs, 1);
  requirePositive('resyncMs', options.resyncMs ?? 0, 0);
  return {
    kind,
    listerWatcher: options.listerWatcher,
    indexers: { [namespaceIndexName]: namespaceIndex, ...options.indexers },
    resyncMs: options.resyncMs ?? 0,
    transform: options.transform,
    keepManagedFields: options.keepManagedFields ?? false,
    freeze: options.freeze ?? true,
    watchErrorHandler: options.watchErrorHandler ?? (() => undefined),
    config: { ...defaultReflectorConfig, watchList: options.watchList ?? true, pageSize },
    bookmarks: options.bookmarks ?? true,
    minWatchTimeoutMs,
    idleTimeoutMs,
    listIdleMs: options.listIdleTimeoutMs ?? 60_000,
    sliceMs: 5,
    onHandlerError:
      options.onHandlerError ??
      ((error, handler) => logger.error('event handler failed', { error, handler, informer: name })),
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    logger,
    metrics: options.metrics ?? noopMetrics,
    name,
  };
}

function requirePositive(option: string, value: number, least: number): void {
  if (!Number.isFinite(value) || value < least)
    throw new TypeError(`createSharedInformer: ${option} is ${value}: expected a number of at least ${least}`);
}
