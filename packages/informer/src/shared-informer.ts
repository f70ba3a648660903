import type { Kind, KindScope, KubeObject, Persisted } from '@kctl/apimachinery';
import { compareResourceVersions } from '@kctl/apimachinery';
import type { Indexer, IndexDefinition, IndexReader, Lister, StoredObject } from '@kctl/cache-index';
import { createIndexer, createLister } from '@kctl/cache-index';
import { keepAlive, numberProblem } from '@kctl/wait';
import { ByteDecoder } from './byte-decoder.js';
import { Change } from './change.js';
import { Distributor } from './distributor.js';
import { InformerStartedError, InformerStoppedError, SyncError } from './errors.js';
import type { EventHandlerOptions, HandlerRegistration, InformerEventHandler } from './event.js';
import { frameSource, objectSource } from './frame-source.js';
import { HandlerQueue } from './handler-queue.js';
import type { HandlerHost } from './handler-queue.js';
import type { InformerState, InformerTrouble } from './informer-state.js';
import { describeInformerState } from './informer-state.js';
import type { InformerWaitOptions, SharedInformer, SharedInformerOptions } from './informer.js';
import type { ResolvedOptions } from './informer-options.js';
import { resolveInformerOptions } from './informer-options.js';
import { createInformerMetrics } from './informer-metrics.js';
import type { ChangeSink } from './intake.js';
import { Intake } from './intake.js';
import { yieldsFrames } from './list-watcher.js';
import { ObjectDecoder } from './object-decoder.js';
import { Reflector } from './reflector.js';
import { createReflectorMetrics } from './reflector-metrics.js';
import { Slicer } from './slicer.js';
import { Waiters } from './waiters.js';

/** What of a reflector its informer uses, whatever it reads. */
interface Runner {
  readonly state: InformerState;
  readonly trouble: InformerTrouble | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * An informer over a ListerWatcher. It does nothing until it runs. Mirrors `cache.NewSharedIndexInformer`.
 *
 * @throws TypeError naming the option that is not valid
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
  readonly #distributor = new Distributor<T>();
  readonly #waiters: Waiters;
  readonly #runner: Runner;
  readonly #heldBytes: () => number;
  readonly #leaving = new AbortController();
  /** The signal of the run. */
  #outer: AbortSignal | undefined;
  readonly #ended = Promise.withResolvers<undefined>();
  #handlerCount = 0;
  #hasSynced = false;
  #isStarted = false;
  #isStopped = false;
  #lastPhase: InformerState['phase'] = 'idle';

  constructor(options: ResolvedOptions<T>) {
    this.#options = options;
    this.kind = options.kind;
    this.name = options.name;
    this.#waiters = new Waiters(options.clock);
    this.#indexer = createIndexer<T>({
      indexers: options.indexers,
      freeze: options.freeze,
      onIndexError: (error) => options.logger.error('index function failed', { error, informer: this.name }),
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

  get sliceMs(): number {
    return this.#options.sliceMs;
  }

  get isDraining(): boolean {
    return this.#distributor.isDraining;
  }

  get state(): InformerState {
    const { state } = this.#runner;
    return state.phase === 'idle' && this.#isStopped ? { phase: 'stopped', since: 0 } : state;
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

  addEventHandler(handler: InformerEventHandler<T>, options: EventHandlerOptions = {}): HandlerRegistration {
    if (this.#isStopped)
      throw new InformerStoppedError(`the handler was not added: informer ${this.name} has stopped already`);
    const {
      delivery = 'latest',
      resyncMs = this.#options.resyncMs,
      name = `handler-${++this.#handlerCount}`,
      after,
    } = options;
    const problem = numberProblem('resyncMs', resyncMs);
    if (problem !== undefined) throw new TypeError(`addEventHandler: ${problem}`);
    const queue = new HandlerQueue<T>(this, {
      handler,
      name,
      delivery,
      after,
      resyncMs: resyncMs <= 0 ? 0 : Math.max(resyncMs, minResyncMs),
      firstEpoch: this.#distributor.nextEpoch,
    });
    this.#distributor.add(queue);
    if (this.#distributor.hasBegun) queue.replay(this.#indexer.listStored());
    return queue;
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
      const queues = this.#stop();
      await Promise.all(queues.map((queue) => queue.settled()));
      this.#ended.resolve(undefined);
    }
  }

  async leaveScope(): Promise<void> {
    this.#leaving.abort();
    if (this.#isStarted) await this.#ended.promise;
    else this.#stop();
  }

  versions(): readonly StoredObject<T>[] {
    return this.#indexer.listStored();
  }

  onHandlerError(error: unknown, handlerName: string): void {
    try {
      this.#options.onHandlerError(error, handlerName);
    } catch (failure) {
      // It is the last resort of handlers: without one of its own it would end the informer of all of them.
      this.#options.logger.error('onHandlerError failed', {
        error: failure,
        handler: handlerName,
        informer: this.name,
      });
    }
  }

  removed(queue: HandlerQueue<T>): void {
    this.#distributor.remove(queue);
  }

  /** Nothing happens after this; who waits is told so. Returns the handlers that there were. */
  #stop(): readonly HandlerQueue<T>[] {
    this.#isStopped = true;
    const { queues } = this.#distributor;
    for (const queue of queues) queue.end();
    this.#waiters.fail(() => this.#syncError());
    return queues;
  }

  async #dropAll(signal: AbortSignal): Promise<void> {
    const replaced = this.#indexer.beginReplace().commit(this.#indexer.resourceVersion);
    for (const stored of replaced.all())
      this.#distributor.dispatch(new Change('delete', stored, stored, { leftScope: true }));
    const end = (): void => {
      for (const queue of this.#distributor.queues) queue.end();
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    await Promise.all(this.#distributor.queues.map((queue) => queue.drained()));
    signal.removeEventListener('abort', end);
  }

  #createRunner(): { readonly runner: Runner; readonly heldBytes: () => number } {
    const options = this.#options;
    const { listerWatcher, kind, freeze, keepManagedFields, transform, clock } = options;
    const onSkip = (message: string, error?: unknown): void =>
      options.logger.error(`${message}; it is skipped`, { error, informer: this.name });
    const slicer = new InformerSlicer(options, () => this.#distributor.beginSlice());
    const sink = this.#createSink();
    const common = {
      config: { ...options.config, watchList: options.config.watchList && listerWatcher.supportsWatchList !== false },
      slicer,
      clock,
      random: options.random,
      metrics: createReflectorMetrics(options.metrics, this.name),
      watchErrorHandler: options.watchErrorHandler,
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
        fieldPaths: () => this.#indexer.fieldPaths,
        onSkip,
      });
      const intake = new Intake(this.#indexer, decoder, sink);
      const runner = new Reflector({ ...common, source: frameSource(listerWatcher), intake });
      return { runner, heldBytes: () => decoder.slabs.heldBytes };
    }
    const decoder = new ObjectDecoder<T>({ kind, freeze, keepManagedFields, transform, onSkip });
    const intake = new Intake(this.#indexer, decoder, sink);
    return { runner: new Reflector({ ...common, source: objectSource(listerWatcher), intake }), heldBytes: () => 0 };
  }

  #createSink(): ChangeSink<T> {
    const distributor = this.#distributor;
    return {
      dispatch: (change) => {
        distributor.dispatch(change);
        this.#waiters.check();
      },
      beginDrain: () => distributor.beginDrain(),
      dispatchDrained: (change, epoch) => distributor.dispatchDrained(change, epoch),
      endDrain: (epoch) => distributor.endDrain(epoch),
      moved: () => {
        this.#hasSynced = true;
        this.#waiters.check();
      },
    };
  }

  /** One log line for each change of state, not for each attempt. */
  #onStateChange(): void {
    const { phase } = this.#runner.state;
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
      pending: () => this.#distributor.queues.reduce((sum, queue) => sum + queue.pending, 0),
      phase: () => this.state.phase,
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

/** A slice of the reflector's is a slice of direct deliveries too. */
class InformerSlicer extends Slicer {
  readonly #onBegin: () => void;

  constructor(
    options: { readonly clock: ResolvedOptions<KubeObject>['clock']; readonly sliceMs: number },
    onBegin: () => void,
  ) {
    super(options.clock, options.sliceMs);
    this.#onBegin = onBegin;
  }

  override begin(): void {
    super.begin();
    this.#onBegin();
  }
}
