import type { Kind, KindScope, KubeObject, Persisted } from '@kctl/apimachinery';
import { compareResourceVersions } from '@kctl/apimachinery';
import type { Indexer, IndexDefinition, IndexReader, Lister, StoredObject } from '@kctl/cache-index';
import { createIndexer, createLister } from '@kctl/cache-index';
import type { Slicer } from '@kctl/wait/internal';
import { Audience } from '@kctl/delivery';
import { slicerOf } from '@kctl/wait/internal';
import { isThenable } from '@kctl/options';
import { requireSignal } from '@kctl/options';
import { keepAlive } from '@kctl/wait';
import { ByteDecoder } from './decoders/byte-decoder.js';
import type { Change } from './handlers/change.js';
import { InformerStartedError, InformerStoppedError, SyncError } from './errors.js';
import type { EventHandlerOptions, HandlerRegistration, InformerEventHandler } from './handlers/event.js';
import { frameSource, objectSource } from './reflector/frame-source.js';
import { requireHandler, requireHandlerOptions } from './handlers/handler-options.js';
import { filteredByType } from './handlers/filter-by-type.js';
import { HandlerPlace } from './handlers/handler-place.js';
import type { HandlerHost } from './handlers/handler-place.js';
import type { InformerState, InformerTrouble } from './informer-state.js';
import { describeInformerState } from './informer-state.js';
import type { SharedInformer, SharedInformerOptions } from './informer.js';
import type { ResolvedOptions } from './informer-options.js';
import { resolveInformerOptions } from './informer-options.js';
import type { SkipReport } from './decoders/decoder.js';
import {
  createHandlerTimer,
  createIndexErrorCounter,
  createInformerMetrics,
  createSkipCounter,
} from './informer-metrics.js';
import type { ChangeSink } from './reflector/intake.js';
import { Intake } from './reflector/intake.js';
import { yieldsFrames } from './list-watcher.js';
import { ObjectDecoder } from './decoders/object-decoder.js';
import { Reflector } from './reflector/reflector.js';
import { decideOn } from './reflector/watch-error-decision.js';
import { createReflectorMetrics } from './reflector/reflector-metrics.js';
import { Waiters, type InformerWaitOptions } from './waiters.js';

/** The parts of a reflector used by its informer, whatever it reads. */
interface Runner {
  readonly state: InformerState;
  readonly trouble: InformerTrouble | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * An informer over a ListerWatcher. It does nothing until it runs. Mirrors `cache.NewSharedIndexInformer`.
 *
 * @throws TypeError naming the option that is not valid
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
 *
 * const informer = createSharedInformer({ kind: Pod, listerWatcher: listerWatcherFor(client, Pod) });
 * informer.addEventHandler({ onEvent: ({ type, key }) => console.log(type, key) });
 * const running = informer.run(signal);
 * await informer.waitForSync({ signal });
 * console.log(informer.lister.namespace('shop').get('web-0')?.spec?.nodeName);
 * await running;
 * ```
 */
export function createSharedInformer<T extends KubeObject, S extends KindScope = KindScope>(
  options: SharedInformerOptions<T, S>,
): SharedInformer<T & Persisted<S>>;
export function createSharedInformer<T extends KubeObject & Persisted>(
  options: SharedInformerOptions<T>,
): SharedInformer<T> {
  return new CoalescingInformer<T>(resolveInformerOptions(options));
}

class CoalescingInformer<T extends KubeObject> implements SharedInformer<T>, HandlerHost<T> {
  readonly kind: Kind<T>;
  readonly lister: Lister<T>;
  readonly name: string;
  readonly #options: ResolvedOptions<T>;
  readonly #indexer: Indexer<T>;
  readonly #audience = new Audience<Change<T>, HandlerPlace<T>>();
  readonly #slicer: Slicer;
  /** How many moves of the store are being published over several turns. */
  #publishing = 0;
  /** Whether the store has content, which a joining handler takes as it is. */
  #hasContent = false;
  #hasOfferedInitialList = false;
  readonly #waiters: Waiters;
  readonly #runner: Runner;
  readonly #heldBytes: () => number;
  readonly #leaving = new AbortController();
  /** The signal of the run. */
  #outer: AbortSignal | undefined;
  /** Resolves when the deletes of a scope that is left are offered to all handlers, or the run has ended. */
  readonly #told = Promise.withResolvers<undefined>();
  #handlerCount = 0;
  #hasSynced = false;
  #isStarted = false;
  #isStopped = false;
  #stoppedAt = 0;
  #lastPhase: InformerState['phase'] = 'idle';
  /** The last state before the reflector stopped, because handlers may still receive its objects. */
  #lastState: InformerState = { phase: 'idle' };

  constructor(options: ResolvedOptions<T>) {
    this.#options = options;
    this.#slicer = slicerOf(options.clock);
    this.kind = options.kind;
    this.name = options.name;
    this.#waiters = new Waiters(options.clock);
    const countIndexError = createIndexErrorCounter(options.metrics, this.name);
    this.#indexer = createIndexer<T>({
      indexers: options.indexers,
      freeze: options.freeze,
      onIndexError: (error) => {
        countIndexError(error.indexName);
        options.logger.error('index function failed', { error, informer: this.name });
      },
      // The decoder has reported the object, once for all reads.
      onUnreadable: () => undefined,
    });
    this.lister = createLister(this.#indexer);
    const { runner, heldBytes } = this.#createRunner();
    this.#runner = runner;
    this.#heldBytes = heldBytes;
  }

  get indexer(): IndexReader<T> {
    return this.#indexer;
  }

  get clock(): ResolvedOptions<T>['clock'] {
    return this.#options.clock;
  }

  get slicer(): Slicer {
    return this.#slicer;
  }

  get isAhead(): boolean {
    return this.#publishing > 0;
  }

  /** `stopped` exactly when {@link isStopped}. */
  get state(): InformerState {
    const { state } = this.#runner;
    if (this.#isStopped) return state.phase === 'stopped' ? state : { phase: 'stopped', since: this.#stoppedAt };
    return state.phase === 'stopped' ? this.#lastState : state;
  }

  get trouble(): InformerTrouble | undefined {
    return this.#runner.trouble;
  }

  get lastError(): unknown {
    return this.trouble?.error;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get resourceVersion(): string {
    return this.#indexer.resourceVersion;
  }

  get heldBytes(): number {
    return this.#heldBytes();
  }

  addEventHandler(handler: InformerEventHandler<T>, options: EventHandlerOptions<T> = {}): HandlerRegistration {
    if (this.#isStopped)
      throw new InformerStoppedError(`the handler was not added: informer ${this.name} has stopped already`);
    requireHandler('addEventHandler', handler);
    requireHandlerOptions(options);
    const {
      delivery = 'latest',
      resyncMs = this.#options.resyncMs,
      name = `handler-${++this.#handlerCount}`,
      timeoutMs = 30_000,
      after,
      turn,
      filters,
    } = options;
    const observe = this.#options.handlerMetrics
      ? createHandlerTimer(this.#options.metrics, this.name)(name)
      : undefined;
    const place = new HandlerPlace<T>(this, {
      handler: filters === undefined ? handler : filteredByType(filters, handler),
      observe,
      name,
      delivery,
      after,
      turn,
      timeoutMs,
      resyncMs: resyncMs <= 0 ? 0 : Math.max(resyncMs, minResyncMs),
    });
    this.#audience.join(place);
    if (this.#hasContent) place.catchUp();
    return place;
  }

  addIndexers(indexers: Readonly<Record<string, IndexDefinition<T>>>): void {
    if (this.#isStopped)
      throw new InformerStoppedError(`the indexes were not added: informer ${this.name} has stopped already`);
    this.#indexer.addIndexers(indexers);
  }

  waitForSync(options: InformerWaitOptions = {}): Promise<void> {
    if (this.#isStopped && !this.#hasSynced) return Promise.reject(this.#syncError());
    return this.#waiters.wait(
      () => this.#hasSynced,
      options,
      () => this.#syncError(),
    );
  }

  waitForResourceVersion(resourceVersion: string, options: InformerWaitOptions = {}): Promise<void> {
    const isReached = (): boolean => {
      if (this.resourceVersion === resourceVersion) return true;
      const order = compareResourceVersions(this.resourceVersion, resourceVersion);
      return order === 'newer' || order === 'equal';
    };
    if (this.#isStopped && !isReached()) return Promise.reject(this.#syncError(resourceVersion));
    return this.#waiters.wait(isReached, options, () => this.#syncError(resourceVersion));
  }

  async run(signal: AbortSignal): Promise<void> {
    requireSignal(`informer ${this.name}: run`, signal);
    if (this.#isStarted) throw new InformerStartedError(`informer ${this.name} was started already; make another one`);
    this.#isStarted = true;
    this.#outer = signal;
    using _alive = keepAlive();
    const stopMetrics = this.#exportMetrics();
    const ending = new AbortController();
    const end = (): void => ending.abort();
    signal.addEventListener('abort', end, { once: true });
    this.#leaving.signal.addEventListener('abort', end, { once: true });
    if (signal.aborted || this.#leaving.signal.aborted) end();
    try {
      await this.#runner.run(ending.signal);
      if (this.#leaving.signal.aborted) await this.#dropAll(signal);
    } finally {
      signal.removeEventListener('abort', end);
      stopMetrics();
      const places = this.#stop();
      this.#told.resolve(undefined);
      await Promise.all(places.map(({ ended }) => ended));
    }
  }

  async leaveScope(): Promise<void> {
    // A callback that runs may be the one that awaits this.
    const awaited = this.#audience.members.filter(({ isCalling }) => !isCalling);
    this.#leaving.abort();
    if (!this.#isStarted) {
      this.#stop();
      return;
    }
    await this.#told.promise;
    await Promise.all(awaited.map(({ ended }) => ended));
  }

  get size(): number {
    return this.#indexer.size;
  }

  values(): Iterable<StoredObject<T>> {
    return this.#indexer.values();
  }

  present(version: StoredObject<T>): StoredObject<T> | undefined {
    return this.#indexer.stored(version);
  }

  onHandlerError(error: unknown, handlerName: string, { type, key }: Change<T>): void {
    const { logger } = this.#options;
    const onFailure = (failure: unknown): void =>
      logger.error('onHandlerError failed', {
        error: failure,
        handler: handlerName,
        informer: this.name,
        object: key,
      });
    try {
      const reported = this.#options.onHandlerError(error, handlerName, { type, key });
      if (isThenable(reported)) Promise.resolve(reported).catch(onFailure);
    } catch (failure) {
      onFailure(failure);
    }
  }

  removed(place: HandlerPlace<T>): void {
    this.#audience.leave(place);
  }

  /** Nothing happens after this; waits reject. Returns the handlers that there were. */
  #stop(): readonly HandlerPlace<T>[] {
    this.#isStopped = true;
    this.#stoppedAt = this.#options.clock.monotonicNow();
    const { members } = this.#audience;
    for (const place of members) place.end();
    this.#waiters.fail(() => this.#syncError());
    return members;
  }

  /** Empties the store and notifies the handlers that have seen it; each one ends when it has received all. */
  async #dropAll(signal: AbortSignal): Promise<void> {
    const content = this.#indexer.beginReplace().commit(this.#indexer.resourceVersion);
    const ended = this.#audience.members.map((place) => place.endWithScope(content));
    this.#told.resolve(undefined);
    const end = (): void => {
      for (const place of this.#audience.members) place.end();
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    await Promise.all(ended);
    signal.removeEventListener('abort', end);
  }

  #createRunner(): { readonly runner: Runner; readonly heldBytes: () => number } {
    const options = this.#options;
    const { listerWatcher, kind, freeze, keepManagedFields, transform, clock } = options;
    const countSkip = createSkipCounter(options.metrics, this.name);
    const onSkip: SkipReport = ({ reason, message, error, key }) => {
      countSkip(reason);
      options.logger.error(`${message}; it is skipped`, { error, key, informer: this.name });
    };
    const slicer = this.#slicer;
    const sink = this.#createSink();
    const common = {
      config: { ...options.config, watchList: options.config.watchList && listerWatcher.supportsWatchList !== false },
      slicer,
      clock,
      random: options.random,
      metrics: createReflectorMetrics(options.metrics, this.name),
      watchErrorHandler: (trouble: InformerTrouble) =>
        decideOn(trouble, options.watchErrorHandler, (error) =>
          options.logger.error('watchErrorHandler failed, the informer goes on', { error, informer: this.name }),
        ),
      onStateChange: () => this.#onStateChange(),
      isLeaving: () => this.#leaving.signal.aborted && this.#outer?.aborted !== true,
      bookmarks: options.bookmarks,
      minWatchTimeoutMs: options.minWatchTimeoutMs,
      idleTimeoutMs: options.idleTimeoutMs,
      listIdleMs: options.listIdleMs,
      name: this.name,
    };
    if (yieldsFrames(listerWatcher)) {
      const decoder = new ByteDecoder<T>({
        kind,
        freeze,
        keepManagedFields,
        transform,
        compact: options.compact,
        fieldPaths: () => this.#indexer.fieldPaths,
        onSkip,
      });
      const intake = new Intake(this.#indexer, decoder, sink);
      const runner = new Reflector({ ...common, source: frameSource(listerWatcher), intake });
      return { runner, heldBytes: () => decoder.slabs.heldBytes };
    }
    const decoder = new ObjectDecoder<T>({ kind, freeze, keepManagedFields, transform, onSkip });
    const intake = new Intake(this.#indexer, decoder, sink);
    return {
      runner: new Reflector({ ...common, source: objectSource(listerWatcher, kind), intake }),
      heldBytes: () => 0,
    };
  }

  #createSink(): ChangeSink<T> {
    const audience = this.#audience;
    return {
      dispatch: (change, next) => {
        if (next === undefined) audience.publish(change);
        else {
          const publication = audience.begin();
          publication.offer(change);
          publication.offer(next);
        }
        this.#waiters.check();
      },
      beginDrain: () => {
        this.#publishing++;
        this.#hasContent = true;
        const { members, offer } = audience.begin();
        return { offer, end: () => this.#endDrain(members) };
      },
      moved: () => {
        this.#hasSynced = true;
        this.#waiters.check();
      },
    };
  }

  #endDrain(members: readonly HandlerPlace<T>[]): void {
    this.#publishing--;
    if (!this.#hasOfferedInitialList) for (const place of members) place.initialListOffered();
    this.#hasOfferedInitialList = true;
    for (const place of this.#audience.members) place.storeIsLevel();
  }

  /** One log line for each change of state, not for each attempt. */
  #onStateChange(): void {
    const { state } = this.#runner;
    const { phase } = state;
    if (phase !== 'stopped') this.#lastState = state;
    if (phase === this.#lastPhase) return;
    this.#lastPhase = phase;
    const { logger } = this.#options;
    if (phase === 'retrying') {
      const { trouble } = this.#runner;
      logger.warn('informer is retrying', { informer: this.name, reason: trouble?.reason, error: trouble?.error });
    } else logger.debug('informer changed state', { informer: this.name, state: phase });
  }

  #exportMetrics(): () => void {
    return createInformerMetrics(this.#options.metrics, this.name, {
      objects: () => this.#indexer.size,
      bytes: this.#heldBytes,
      pending: () => this.#audience.members.reduce((sum, place) => sum + place.pending, 0),
      phase: () => this.state.phase,
      resourceVersion: () => this.resourceVersion,
    });
  }

  #syncError(resourceVersion?: string): SyncError {
    const { state } = this;
    const wanted = resourceVersion === undefined ? 'has not synced' : `has not reached version ${resourceVersion}`;
    const cause = this.lastError;
    return new SyncError(
      `informer ${this.name} ${wanted}: ${describeInformerState(state, this.trouble, this.#options.clock.monotonicNow())}`,
      [{ name: this.name, state }],
      cause === undefined ? {} : { cause },
    );
  }
}

const minResyncMs = 1000;
