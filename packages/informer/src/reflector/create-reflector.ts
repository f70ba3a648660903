import type { DeepReadonly, Kind, KindScope, KubeObject, Persisted } from '@kctl/apimachinery';
import { guardedRandom, slicerOf } from '@kctl/wait/internal';
import type { Logger, Metrics } from '@kctl/telemetry';
import { guardSinks, loggerOption, metricsOption } from '@kctl/telemetry/internal';
import type { OptionNames } from '@kctl/options';
import type { Clock, Random } from '@kctl/wait';
import {
  booleanOption,
  clockOption,
  functionOption,
  numberOption,
  requireOptions,
  requireSignal,
  textOption,
} from '@kctl/options';
import { keepAlive, sleep, systemClock, systemRandom } from '@kctl/wait';
import { ByteDecoder } from '../decoders/byte-decoder.js';
import type { SkipReport } from '../decoders/decoder.js';
import { ObjectDecoder } from '../decoders/object-decoder.js';
import { InformerStartedError } from '../errors.js';
import { failureLogger } from '../failure-logger.js';
import { guardedHook } from '../guarded-hook.js';
import { createSkipCounter } from '../informer-metrics.js';
import type { InformerState, InformerTrouble } from '../informer-state.js';
import type { WatchErrorHandler } from './watch-error-decision.js';
import type { ListerWatcher } from '../list-watcher.js';
import { requireListerWatcher, yieldsFrames } from '../list-watcher.js';
import { hasMethods, requireKind, requireThat } from '../required.js';
import { frameSource, objectSource } from './frame-source.js';
import { reflectorConfigOf, reflectorConfigProblems } from './reflector-config.js';
import type { ReflectorConfig, ReflectorConfigOptions } from './reflector-config.js';
import { createReflectorMetrics } from './reflector-metrics.js';
import type { ReflectorStore } from './reflector-store.js';
import { Reflector as ReflectorLoop } from './reflector.js';
import { callStore, StoreIntake } from './store-intake.js';
import { decideOn } from './watch-error-decision.js';

/** Options of {@link createReflector}. */
export interface ReflectorOptions<T extends KubeObject, S extends KindScope = KindScope>
  extends ReflectorConfigOptions {
  readonly kind: Kind<T, S>;
  readonly listerWatcher: ListerWatcher<T>;
  /** Destination of the objects read, which is a store of the caller, or a DeltaFIFO. */
  readonly store: ReflectorStore<DeepReadonly<T & Persisted<S>>>;
  /** Calls `store.resync` at this interval in ms while a watch runs. @default 0 (never) */
  readonly resyncMs?: number;
  /** Keeps `metadata.managedFields`. @default false */
  readonly keepManagedFields?: boolean;
  /** Freezes objects, deeply. @default true */
  readonly freeze?: boolean;
  /** Receives each failure of a list or watch; may decide to give up. @default `retry` always */
  readonly watchErrorHandler?: WatchErrorHandler;
  /**
   * Receives the errors of the store; the reflector goes on. @default logged, to standard error if there is no `logger`
   */
  readonly onStoreError?: (error: unknown) => void;
  /** @default true */
  readonly bookmarks?: boolean;
  /** The minimum watch timeout requested from the server; the maximum is twice that. @default 300_000 */
  readonly minWatchTimeoutMs?: number;
  /** A watch without any frame for this long is taken for dead. @default as that of an informer */
  readonly idleTimeoutMs?: number;
  /** A list, or the start of a stream, without any bytes for this long is given up. @default 60_000 */
  readonly listIdleTimeoutMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** Name in logs and metrics. @default the kind */
  readonly name?: string;
}

/**
 * Lists and watches one collection and puts what it reads into a store. Mirrors `cache.Reflector`: the same requests, the
 * same ways back from each failure as a {@link SharedInformer}, which has one inside.
 */
export interface Reflector {
  readonly state: InformerState;
  /** The failure that it is recovering from; undefined while all is well. */
  readonly trouble: InformerTrouble | undefined;
  /** The version of the last list, event or bookmark; '' before the first. Mirrors `LastSyncResourceVersion`. */
  readonly resourceVersion: string;
  /**
   * Lists and watches until the signal aborts. A reflector runs once.
   *
   * @throws the error that the watch error handler decided to stop for; InformerStartedError when it ran before
   */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Makes a reflector. It does nothing until it runs.
 *
 * @throws TypeError naming the option that is not valid
 */
export function createReflector<T extends KubeObject, S extends KindScope = KindScope>(
  options: ReflectorOptions<T, S>,
): Reflector {
  return new BareReflector<T, S>(options);
}

class BareReflector<T extends KubeObject, S extends KindScope> implements Reflector {
  readonly #loop: Pick<ReflectorLoop<unknown>, 'run' | 'state' | 'trouble' | 'resourceVersion'>;
  readonly #store: ReflectorOptions<T, S>['store'];
  readonly #resyncMs: number;
  readonly #clock: Clock;
  readonly #onStoreError: (error: unknown, operation: string, key?: string) => void;
  readonly #name: string;
  #isStarted = false;

  constructor(options: ReflectorOptions<T, S>) {
    requireValid(options);
    const { kind, store, clock = systemClock, resyncMs = 0 } = options;
    const { logger, metrics } = guardSinks(options);
    this.#name = options.name ?? (kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`);
    this.#store = store;
    this.#resyncMs = resyncMs;
    this.#clock = clock;
    const { onStoreError } = options;
    const failures = failureLogger(options.logger);
    this.#onStoreError =
      onStoreError === undefined
        ? (error, operation, key) => failures.error('store failed', { error, operation, key, reflector: this.#name })
        : guardedHook((error: unknown) => onStoreError(error), 'onStoreError', failures);
    const countSkip = createSkipCounter(metrics, this.#name);
    const onSkip: SkipReport = ({ reason, message, error, key }) => {
      countSkip(reason);
      logger.error(`${message}; it is skipped`, { error, key, reflector: this.#name });
    };
    this.#loop = createLoop(options, {
      name: this.#name,
      onSkip,
      onStoreError: this.#onStoreError,
      logger,
      metrics,
      watchErrorHandler: (trouble) =>
        decideOn(trouble, options.watchErrorHandler ?? (() => undefined), (error) =>
          logger.error('watchErrorHandler failed, the reflector goes on', { error, reflector: this.#name }),
        ),
    });
  }

  get state(): InformerState {
    return this.#loop.state;
  }

  get trouble(): InformerTrouble | undefined {
    return this.#loop.trouble;
  }

  get resourceVersion(): string {
    return this.#loop.resourceVersion;
  }

  async run(signal: AbortSignal): Promise<void> {
    requireSignal(`reflector ${this.#name}: run`, signal);
    if (this.#isStarted)
      throw new InformerStartedError(`reflector ${this.#name} was started already; make another one`);
    this.#isStarted = true;
    using _alive = keepAlive();
    const ending = new AbortController();
    const resyncs = this.#resync(AbortSignal.any([signal, ending.signal]));
    try {
      await this.#loop.run(signal);
    } finally {
      ending.abort();
      await resyncs;
    }
  }

  async #resync(signal: AbortSignal): Promise<void> {
    if (this.#resyncMs <= 0) return;
    for (;;) {
      try {
        await sleep(this.#resyncMs, { signal, clock: this.#clock, keepAlive: false });
      } catch {
        return;
      }
      if (this.state.phase !== 'watching') continue;
      callStore(
        'resync',
        () => this.#store.resync?.(),
        (error) => this.#onStoreError(error, 'resync'),
      );
    }
  }
}

interface Hooks {
  readonly name: string;
  readonly onSkip: SkipReport;
  readonly onStoreError: (error: unknown, operation: string, key?: string) => void;
  readonly watchErrorHandler: WatchErrorHandler;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

function createLoop<T extends KubeObject, S extends KindScope>(
  options: ReflectorOptions<T, S>,
  hooks: Hooks,
): Pick<ReflectorLoop<unknown>, 'run' | 'state' | 'trouble' | 'resourceVersion'> {
  const { listerWatcher, kind, clock = systemClock } = options;
  const common = {
    config: configOf(options),
    slicer: slicerOf(clock),
    clock,
    random: guardedRandom(options.random ?? systemRandom, (error) =>
      hooks.logger.error('random failed, Math.random is used instead', { error }),
    ),
    metrics: createReflectorMetrics(hooks.metrics, hooks.name),
    watchErrorHandler: hooks.watchErrorHandler,
    onStateChange: () => undefined,
    isLeaving: () => false,
    bookmarks: options.bookmarks ?? true,
    minWatchTimeoutMs: options.minWatchTimeoutMs ?? 300_000,
    idleTimeoutMs: options.idleTimeoutMs,
    listIdleMs: options.listIdleTimeoutMs ?? 60_000,
    name: hooks.name,
  };
  const decoding = {
    kind,
    freeze: options.freeze ?? true,
    keepManagedFields: options.keepManagedFields ?? false,
    transform: undefined,
    onSkip: hooks.onSkip,
  };
  // The server's objects have the metadata of the requested ones.
  const store = options.store as ReflectorStore<DeepReadonly<T>>;
  if (yieldsFrames(listerWatcher)) {
    const decoder = new ByteDecoder<T>({ ...decoding, fieldPaths: () => undefined });
    const intake = new StoreIntake(store, decoder, hooks.onStoreError);
    return new ReflectorLoop({ ...common, source: frameSource(listerWatcher), intake });
  }
  const intake = new StoreIntake(store, new ObjectDecoder<T>(decoding), hooks.onStoreError);
  return new ReflectorLoop({ ...common, source: objectSource(listerWatcher, kind), intake });
}

function configOf<T extends KubeObject, S extends KindScope>(options: ReflectorOptions<T, S>): ReflectorConfig {
  const config = reflectorConfigOf(options);
  return { ...config, watchList: config.watchList && options.listerWatcher.supportsWatchList !== false };
}

/** The names of a reflector's options. */
export const reflectorOptionNames: OptionNames<ReflectorOptions<KubeObject>> = {
  kind: true,
  listerWatcher: true,
  store: true,
  resyncMs: numberOption(),
  keepManagedFields: booleanOption,
  freeze: booleanOption,
  watchErrorHandler: functionOption,
  onStoreError: functionOption,
  backoff: true,
  maxInternalErrorRetryMs: true,
  watchList: booleanOption,
  pageSize: true,
  bookmarks: booleanOption,
  minWatchTimeoutMs: numberOption({ least: 1000 }),
  idleTimeoutMs: numberOption({ least: 1 }),
  listIdleTimeoutMs: numberOption({ least: 1 }),
  clock: clockOption,
  random: functionOption,
  logger: loggerOption,
  metrics: metricsOption,
  name: textOption,
};

function requireValid<T extends KubeObject, S extends KindScope>(options: ReflectorOptions<T, S>): void {
  const where = 'createReflector';
  requireOptions<ReflectorOptions<T, S>>(where, options, reflectorOptionNames);
  const problems = reflectorConfigProblems(options);
  if (problems.length > 0) throw new TypeError(`${where}: ${problems.join('; ')}`);
  const { kind, listerWatcher, store } = options;
  requireKind(where, kind);
  requireListerWatcher(where, listerWatcher);
  requireThat(hasMethods(store, ['add', 'update', 'delete', 'replace']), `${where}: store`, {
    value: store,
    expected: 'add, update, delete and replace, such as createDeltaFifo()',
  });
}
