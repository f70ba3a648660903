import type { LogFields, Logger, Tracer } from '@kctl/telemetry';
import { noopLogger, noopMetrics, noopTracer } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import { keepAlive, systemClock, systemRandom } from '@kctl/wait';
import type { Controller, ControllerPhase, WatchHandle, WatchOptions } from './controller.js';
import type { ControllerOptions, ControllerSettings } from './controller-options.js';
import { checkConcurrency, resolveSettings } from './controller-options.js';
import { ControllerError } from './errors.js';
import type { EnqueueOptions } from './handler/event-handler.js';
import { defaultQueueFactory, defaultRateLimiter } from './make-queue.js';
import type { ControllerMetrics } from './metrics.js';
import { createControllerMetrics } from './metrics.js';
import { orAborted, resolvesFirst } from './or-aborted.js';
import { ReconcileLoop } from './reconcile-loop.js';
import { adaptQueue, defaultRequestKey, rememberingKey } from './reconcile-queue.js';
import type { ReconcileErrorHook, ReconcileFunction, ReconcilerObject, ReconcileRequest } from './reconciler.js';
import { RequestIntake } from './request-intake.js';
import { RequestSlots } from './request-slots.js';
import { createRetryPolicy } from './retry-policy.js';
import { RunLimiter } from './run-limit.js';
import { Session } from './session.js';
import type { Source } from './source/source.js';
import { WorkerPool } from './worker-pool.js';

/** Makes a controller. It starts nothing. @throws TypeError when an option is not valid */
export function createController<R = ReconcileRequest>(options: ControllerOptions<R>): Controller<R> {
  return new ReconcileController(options);
}

class ReconcileController<R> implements Controller<R> {
  readonly name: string;
  readonly runnableType = 'controller';
  readonly settings: Required<ControllerSettings>;
  readonly logger: Logger;
  readonly warmup?: (signal: AbortSignal) => Promise<void>;
  readonly #options: ControllerOptions<R>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #tracer: Tracer;
  readonly #metrics: ControllerMetrics;
  readonly #requestKey: (request: R) => string;
  readonly #reconcile: ReconcileFunction<R>;
  readonly #sources = new Map<Source<R>, WatchOptions>();
  readonly #slots: RequestSlots;
  #session: Session<R> | undefined;
  #sessionBegan = Promise.withResolvers<Session<R>>();
  #pool: WorkerPool<R> | undefined;
  #concurrency: number;
  #phase: ControllerPhase = 'cold';
  #isRunning = false;

  constructor(options: ControllerOptions<R>) {
    const { name, reconciler } = options;
    this.settings = resolveSettings(name, options);
    if (typeof reconciler !== 'function' && typeof reconciler?.reconcile !== 'function')
      throw new TypeError(`controller ${JSON.stringify(name)}: must specify Reconciler: a function or { reconcile }`);
    this.name = name;
    this.#options = options;
    this.logger = (options.logger ?? noopLogger).child({ controller: name });
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#tracer = options.tracer ?? noopTracer;
    this.#metrics = createControllerMetrics(options.metrics ?? noopMetrics, name);
    this.#requestKey = rememberingKey(options.requestKey ?? defaultRequestKey);
    this.#reconcile =
      typeof reconciler === 'function' ? reconciler : (request, context) => reconciler.reconcile(request, context);
    this.#slots = new RequestSlots(this.#clock);
    this.#concurrency = this.settings.maxConcurrentReconciles;
    if (this.settings.enableWarmup) this.warmup = (signal) => this.#warmUp(signal);
  }

  get needLeaderElection(): boolean {
    return this.settings.needLeaderElection;
  }

  get leaderElectionScope(): string {
    return this.settings.leaderElectionScope;
  }

  get phase(): ControllerPhase {
    return this.#phase;
  }

  get inFlight(): readonly string[] {
    return this.#slots.running;
  }

  get maxConcurrentReconciles(): number {
    return this.#concurrency;
  }

  set maxConcurrentReconciles(value: number) {
    const [problem] = checkConcurrency(value);
    if (problem !== undefined) throw new TypeError(`controller ${JSON.stringify(this.name)}: ${problem}`);
    this.#concurrency = value;
    this.#metrics.maxConcurrent.set(value);
    if (this.#pool !== undefined) this.#pool.concurrency = value;
  }

  watch(source: Source<R>, options: WatchOptions = {}): WatchHandle {
    if (this.#sources.has(source))
      throw new ControllerError(`controller ${JSON.stringify(this.name)} watches ${source.name} already`);
    this.#sources.set(source, options);
    if (this.#session !== undefined) this.#watchBeside(this.#session, source);
    const remove = async (): Promise<void> => {
      this.#sources.delete(source);
      await this.#session?.unwatch(source);
    };
    const find = (): boolean => this.#session?.find(source)?.hasSynced ?? false;
    return {
      get hasSynced() {
        return find();
      },
      waitForSync: ({ signal } = {}) => {
        const synced = this.#waitForSync(source);
        return signal === undefined ? synced : orAborted(synced, signal);
      },
      remove,
      [Symbol.asyncDispose]: remove,
    };
  }

  enqueue(request: R, options: EnqueueOptions = {}): void {
    this.#session?.intake.add(request, options);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#isRunning)
      throw new ControllerError(
        `controller ${JSON.stringify(this.name)} was started more than once. This is likely to be caused by being added to a manager multiple times`,
      );
    this.#isRunning = true;
    using _alive = keepAlive();
    this.#metrics.preset();
    this.#metrics.maxConcurrent.set(this.#concurrency);
    this.logger.info('Starting Controller');
    const session = this.#begin();
    try {
      if (!(await resolvesFirst(this.#start(session), signal))) return;
      this.#phase = 'active';
      await this.#work(session, signal);
    } finally {
      this.#phase = 'draining';
      await this.#end(session, signal.reason);
      this.#isRunning = false;
      this.#phase = 'cold';
    }
  }

  /** Mirrors `Controller.Warmup`. A failure is kept for `run`, which shares the session. */
  async #warmUp(signal: AbortSignal): Promise<void> {
    const session = this.#begin();
    const endUnlessRunning = (): void => {
      if (!this.#isRunning && this.#session === session)
        this.#end(session, signal.reason).catch((error: unknown) =>
          this.logger.error('a source did not stop cleanly', { error }),
        );
    };
    if (signal.aborted) endUnlessRunning();
    else signal.addEventListener('abort', endUnlessRunning, { once: true });
    if (await resolvesFirst(this.#start(session), signal)) {
      if (this.#phase === 'cold') this.#phase = 'warm';
    }
  }

  /** Starts every source; resolves when those have synced that it cannot do without. */
  #start(session: Session<R>): Promise<void> {
    const isRequired = (source: Source<R>): boolean => this.#sources.get(source)?.startPolicy !== 'optional';
    const sources = [...this.#sources.keys()];
    const ready = session.start(sources.filter(isRequired));
    for (const source of sources)
      if (!isRequired(source) && session.find(source) === undefined) this.#watchBeside(session, source);
    return ready;
  }

  /** Starts a source that nothing waits for. */
  #watchBeside(session: Session<R>, source: Source<R>): void {
    const tell = (error: unknown): void => {
      if (session === this.#session && this.#phase !== 'draining' && this.#sources.has(source))
        this.logger.error('a source that nothing waits for failed', { source: source.name, error });
    };
    session.watch(source, tell).synced.catch(tell);
  }

  #begin(): Session<R> {
    if (this.#session !== undefined) return this.#session;
    const { usePriorityQueue, cacheSyncTimeoutMs } = this.settings;
    const key = this.#requestKey;
    const clock = this.#clock;
    const rateLimiter = this.#options.rateLimiter ?? defaultRateLimiter(usePriorityQueue, { key, clock });
    const newQueue = this.#options.newQueue ?? defaultQueueFactory(usePriorityQueue);
    const metrics = this.#options.metrics ?? noopMetrics;
    const queue = adaptQueue(newQueue({ name: this.name, controller: this.name, key, rateLimiter, metrics, clock }));
    const intake = new RequestIntake({
      queue,
      slots: this.#slots,
      requestKey: key,
      clock,
      random: this.#random,
      debounce: this.#options.debounce,
      eventsDuringBackoff: this.#options.eventsDuringBackoff ?? 'immediate',
      safetyInterval: this.#options.safetyInterval,
    });
    const session = new Session({
      controller: this.name,
      queue,
      intake,
      rateLimiter,
      logger: this.logger,
      clock,
      random: this.#random,
      syncTimeoutMs: cacheSyncTimeoutMs,
    });
    this.#session = session;
    this.#sessionBegan.resolve(session);
    return session;
  }

  async #work(session: Session<R>, signal: AbortSignal): Promise<void> {
    const { retryPolicy, reconciler, hotLoop, runLimit } = this.#options;
    const onError = this.#options.onError ?? (typeof reconciler === 'function' ? undefined : bindHook(reconciler));
    const stop = new AbortController();
    const loop = new ReconcileLoop({
      reconcile: this.#reconcile,
      onError,
      retryPolicy: retryPolicy ?? createRetryPolicy(),
      rateLimiter: session.rateLimiter,
      recoverPanic: this.settings.recoverPanic,
      timeoutMs: this.settings.reconciliationTimeoutMs,
      hotLoop,
      runLimiter: runLimit === undefined ? undefined : new RunLimiter(runLimit),
      queue: session.queue,
      intake: session.intake,
      slots: this.#slots,
      metrics: this.#metrics,
      tracer: this.#tracer,
      clock: this.#clock,
      random: this.#random,
      requestKey: this.#requestKey,
      makeLogger: (request, reconcileID) => this.logger.child({ ...this.#fieldsOf(request), reconcileID }),
      spanAttributes: (request) => ({ controller: this.name, request: this.#requestKey(request) }),
      stopSignal: stop.signal,
      fail: session.fail,
    });
    const pool = new WorkerPool({
      queue: session.queue,
      concurrency: this.#concurrency,
      clock: this.#clock,
      work: (item) => loop.work(item),
    });
    this.#pool = pool;
    this.logger.info('Starting workers', { 'worker count': this.#concurrency });
    const onStop = (): void => {
      this.#phase = 'draining';
      this.logger.info('Shutdown signal received, waiting for all workers to finish');
      stop.abort(signal.reason);
    };
    if (signal.aborted) onStop();
    else signal.addEventListener('abort', onStop, { once: true });
    const ended = pool.run(stop.signal);
    try {
      await Promise.race([ended, session.failed]);
    } catch (error) {
      stop.abort(error);
      throw error;
    } finally {
      signal.removeEventListener('abort', onStop);
      await ended;
      this.#pool = undefined;
      this.logger.info('All workers finished');
    }
  }

  async #end(session: Session<R>, reason: unknown): Promise<void> {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#sessionBegan = Promise.withResolvers();
    this.#slots.clear();
    await session.close(reason);
  }

  async #waitForSync(source: Source<R>): Promise<void> {
    const session = this.#session ?? (await this.#sessionBegan.promise);
    const watch = session.find(source);
    if (watch === undefined)
      throw new ControllerError(`${source.name} was removed from controller ${JSON.stringify(this.name)}`);
    await watch.synced;
  }

  #fieldsOf(request: R): LogFields {
    if (this.#options.logFields !== undefined) return this.#options.logFields(request);
    if (typeof request !== 'object' || request === null || !('name' in request)) return { request };
    const namespace = 'namespace' in request ? (request.namespace ?? '') : '';
    const { name } = request;
    return { object: { name, namespace }, namespace, name };
  }
}

function bindHook<R>(reconciler: ReconcilerObject<R>): ReconcileErrorHook<R> | undefined {
  return reconciler.onError?.bind(reconciler);
}
