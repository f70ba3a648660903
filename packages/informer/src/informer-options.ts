import type { KubeObject, Persisted } from '@kctl/apimachinery';
import type { IndexDefinition } from '@kctl/cache-index';
import { namespaceIndex } from '@kctl/cache-index';
import { namespaceIndexName } from '@kctl/cache-index/internal';
import { guardSinks, loggerOption, metricsOption } from '@kctl/telemetry/internal';
import type { OptionNames } from '@kctl/options';
import {
  booleanOption,
  clockOption,
  functionOption,
  numberOption,
  objectOption,
  requireOptions,
  textOption,
} from '@kctl/options';
import { systemClock, systemRandom } from '@kctl/wait';
import { guardedRandom } from '@kctl/wait/internal';
import type { CompactStorage } from './bytes/storage.js';
import { defaultStorage } from './bytes/default-storage.js';
import { compactStorageOf, storageOption } from './bytes/storage.js';
import { failureLogger } from './failure-logger.js';
import type { SharedInformerOptions } from './informer.js';
import { requireListerWatcher } from './list-watcher.js';
import type { ReflectorConfig, ReflectorConfigOptions } from './reflector/reflector-config.js';
import { reflectorConfigOf, reflectorConfigProblems } from './reflector/reflector-config.js';
import { requireKind } from './required.js';

/** Options that are resolved unchanged. Each has its field, so that an added option has a value here. */
type AsGiven<T extends KubeObject> = Omit<
  SharedInformerOptions<T>,
  keyof ReflectorConfigOptions | 'indexers' | 'storage' | 'transform' | 'idleTimeoutMs' | 'listIdleTimeoutMs'
>;

/** {@link SharedInformerOptions} with every choice made. */
export interface ResolvedOptions<T extends KubeObject> extends Required<AsGiven<T>> {
  readonly indexers: Readonly<Record<string, IndexDefinition<T>>>;
  readonly transform: ((object: T) => T) | undefined;
  /** Undefined if bytes are not compressed. */
  readonly compact: CompactStorage | undefined;
  readonly config: ReflectorConfig;
  readonly idleTimeoutMs: number | undefined;
  readonly listIdleMs: number;
}

const optionNames: OptionNames<SharedInformerOptions<never>> = {
  kind: true,
  listerWatcher: true,
  indexers: objectOption('index definitions by their names'),
  resyncMs: numberOption(),
  transform: functionOption,
  keepManagedFields: booleanOption,
  freeze: booleanOption,
  storage: storageOption,
  watchErrorHandler: functionOption,
  watchList: booleanOption,
  pageSize: true,
  backoff: true,
  maxInternalErrorRetryMs: true,
  bookmarks: booleanOption,
  minWatchTimeoutMs: numberOption({ least: 1000 }),
  idleTimeoutMs: numberOption({ least: 1 }),
  listIdleTimeoutMs: numberOption({ least: 1 }),
  handlerMetrics: booleanOption,
  onHandlerError: functionOption,
  clock: clockOption,
  random: functionOption,
  logger: loggerOption,
  metrics: metricsOption,
  name: textOption,
};

/** Makes the choices. @throws TypeError naming the option that is not valid */
export function resolveInformerOptions<T extends KubeObject & Persisted>(
  options: SharedInformerOptions<T>,
): ResolvedOptions<T> {
  requireOptions('createSharedInformer', options, optionNames);
  const { kind, minWatchTimeoutMs = 300_000, idleTimeoutMs } = options;
  const { logger, metrics } = guardSinks(options);
  const failures = failureLogger(options.logger);
  const { listIdleTimeoutMs = 60_000, resyncMs = 0, freeze = true } = options;
  requireKind('createSharedInformer', kind);
  requireListerWatcher('createSharedInformer', options.listerWatcher);
  const name = options.name ?? (kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`);
  const [problem] = reflectorConfigProblems(options);
  if (problem !== undefined) throw new TypeError(`createSharedInformer: ${problem}`);
  return {
    kind,
    listerWatcher: options.listerWatcher,
    indexers: { [namespaceIndexName]: namespaceIndex, ...options.indexers },
    resyncMs,
    transform: options.transform,
    keepManagedFields: options.keepManagedFields ?? false,
    freeze,
    compact: compactStorageOf('createSharedInformer', options.storage ?? (freeze ? defaultStorage : 'plain'), freeze),
    watchErrorHandler: options.watchErrorHandler ?? (() => undefined),
    config: reflectorConfigOf(options),
    bookmarks: options.bookmarks ?? true,
    minWatchTimeoutMs,
    idleTimeoutMs,
    listIdleMs: listIdleTimeoutMs,
    onHandlerError:
      options.onHandlerError ??
      ((error, handler, { type, key }) =>
        failures.error('event handler failed', { error, handler, informer: name, event: type, object: key })),
    clock: options.clock ?? systemClock,
    random: guardedRandom(options.random ?? systemRandom, (error) =>
      logger.error('random failed, Math.random is used instead', { error }),
    ),
    logger,
    metrics,
    handlerMetrics: options.handlerMetrics ?? false,
    name,
  };
}
