import type { Planner } from './plan.js';
import type { AccessNeed } from '@kctl/rbac';
import type { Logger } from '@kctl/telemetry';
import { requireOptions, requireSignal } from '@kctl/options';
import { aborted, keepAlive, orAborted } from '@kctl/wait';
import { assembleSession } from './loop/assemble-session.js';
import type { AdoptOptions, Controller, ControllerPhase, RunOptions, SourceStatus } from './controller.js';
import type { WatchHandle, WatchOptions } from './controller.js';
import type { ControllerOptions, ControllerSettings } from './controller-options.js';
import { controllerProblems } from './check-options.js';
import { concurrencyProblem } from './controller-options.js';
import type { ControllerEnvironment } from './loop/environment.js';
import { environmentOf } from './loop/environment.js';
import { ControllerError } from './reconciler/errors.js';
import type { EnqueueOptions } from './handler/event-handler.js';
import { resolvesFirst } from './loop/or-aborted.js';
import { defaultRequestKey, rememberingKey } from './queue/reconcile-queue.js';
import type { ReconcileRequest } from './reconciler/reconciler.js';
import type { Session, WatchEntry } from './loop/session.js';
import type { Source } from './source/source.js';
import { requireSource, requireWatchOptions, triggerSource } from './loop/watch-entry.js';
import type { OptionNames } from '@kctl/options';
import { watchOptionNames, enqueueOptionNames, adoptOptionNames, runOptionNames } from './method-options.js';

/**
 * Makes a controller. It starts nothing. @throws TypeError when an option is not valid
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createController, enqueueRequestForObject, kindSource } from '@kctl/controller';
 *
 * const controller = createController({
 *   name: 'settings',
 *   reconciler: async ({ namespace, name }) => console.log(namespace, name),
 *   maxConcurrentReconciles: 4,
 * });
 * controller.watch(kindSource({ informers: manager.cache, kind: ConfigMap, handler: enqueueRequestForObject() }));
 * await controller.run(signal);
 * ```
 */
export function createController<R = ReconcileRequest>(options: ControllerOptions<R>): Controller<R> {
  return new ReconcileController(options);
}

/** A run of the controller, from its call to its end. */
interface Run {
  readonly signal: AbortSignal;
  readonly ended: PromiseWithResolvers<undefined>;
  phase: 'starting' | 'active' | 'draining';
}

class ReconcileController<R> implements Controller<R> {
  readonly name: string;
  readonly runnableType = 'controller';
  warmup?: (signal: AbortSignal) => Promise<void>;
  readonly #options: ControllerOptions<R>;
  readonly #requestKey: (request: R) => string;
  readonly #entries = new Set<WatchEntry<R>>();
  #environment: ControllerEnvironment;
  #session: Session<R> | undefined;
  #sessionBegan = Promise.withResolvers<Session<R>>();
  /** The end of earlier sessions, while it is under way. */
  #closing: Promise<void> | undefined;
  #run: Run | undefined;
  /** The signal of a run that waits for an earlier one to end. */
  #next: AbortSignal | undefined;
  #onSourcesChanged: (() => void) | undefined;
  /** Set by hand; wins over the settings. */
  #concurrency: number | undefined;
  #isPaused = false;

  constructor(options: ControllerOptions<R>) {
    if (typeof options !== 'object' || options === null)
      throw new TypeError('createController: expected options: { name, reconciler }');
    const { name, reconciler } = options;
    const problems = controllerProblems(options);
    if (problems.length > 0) throw new TypeError(`controller ${JSON.stringify(name)}: ${problems.join('; ')}`);
    this.name = name;
    this.#options = options;
    this.#requestKey = rememberingKey(options.requestKey ?? defaultRequestKey);
    this.#environment = this.#adopted({});
    if (typeof reconciler !== 'function' && typeof reconciler?.reconcile !== 'function')
      throw new TypeError(`controller ${JSON.stringify(name)}: reconciler is required: a function or { reconcile }`);
  }

  get settings(): Required<ControllerSettings> {
    return this.#environment.settings;
  }

  get logger(): Logger {
    return this.#environment.logger;
  }

  get needLeaderElection(): boolean {
    return this.settings.needLeaderElection;
  }

  get leaderElectionScope(): string {
    return this.settings.leaderElectionScope;
  }

  get phase(): ControllerPhase {
    if (this.#closing !== undefined || this.#run?.phase === 'draining') return 'draining';
    if (this.#run?.phase === 'active') return 'active';
    return this.#session?.isReady === true ? 'warm' : 'cold';
  }

  get queueLength(): number {
    return this.#session?.queueLength ?? 0;
  }

  get inFlight(): readonly string[] {
    return this.#session?.running.keys ?? [];
  }

  get maxConcurrentReconciles(): number {
    return this.#concurrency ?? this.settings.maxConcurrentReconciles;
  }

  set maxConcurrentReconciles(value: number) {
    const problem = concurrencyProblem(value);
    if (problem !== undefined) throw new TypeError(`controller ${JSON.stringify(this.name)}: ${problem}`);
    this.#concurrency = value;
    this.#environment.measured.maxConcurrent.set(value);
    this.#session?.setConcurrency(this.#workers);
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#session?.setConcurrency(this.#workers);
  }

  /** How many requests may be reconciled at once now. */
  get #workers(): number {
    return this.#isPaused ? 0 : this.maxConcurrentReconciles;
  }

  watch(source: Source<R>, options: WatchOptions = {}): WatchHandle {
    requireSource(this.name, source);
    this.#requireNames('watch', options, watchOptionNames);
    return this.#watch(source, source, options);
  }

  reconcileAllOn(source: Source<unknown>, options: WatchOptions = {}): WatchHandle {
    requireSource(this.name, source);
    this.#requireNames('reconcileAllOn', options, watchOptionNames);
    const trigger = triggerSource<R>(source, () => this.#session?.replay());
    return this.#watch(trigger, source, options);
  }

  accessNeeds(): readonly AccessNeed[] {
    return this.#options.accessNeeds ?? [];
  }

  planners(): readonly Planner[] {
    return this.#options.planners ?? [];
  }

  sources(): readonly SourceStatus[] {
    return [...this.#entries].map((entry) => {
      const watch = this.#session?.find(entry);
      const isLate = watch !== undefined && this.#session?.awaits(entry) !== true;
      return {
        name: entry.source.name,
        kind: entry.source.kind,
        informers: entry.source.informers,
        isRequired: entry.isRequired && !isLate,
        phase: watch?.phase ?? 'cold',
        ...(watch?.phase === 'failed' ? { error: watch.error } : {}),
      };
    });
  }

  enqueue(request: R, options: EnqueueOptions = {}): void {
    this.#requireNames('enqueue', options, enqueueOptionNames);
    this.#session?.intake.add(request, options);
  }

  #requireNames<T extends object>(what: string, options: T, known: OptionNames<T>): void {
    requireOptions(`controller ${JSON.stringify(this.name)}: ${what}`, options, known);
  }

  adopt(defaults: AdoptOptions): void {
    this.#requireNames('adopt', defaults, adoptOptionNames);
    if (this.#session === undefined && this.#run === undefined) this.#environment = this.#adopted(defaults);
    this.#onSourcesChanged = defaults.onSourcesChanged ?? this.#onSourcesChanged;
  }

  async run(signal: AbortSignal, options: RunOptions = {}): Promise<void> {
    this.#requireNames('run', options, runOptionNames);
    const { life } = options;
    requireSignal(`controller ${JSON.stringify(this.name)}: run`, signal);
    const run = await this.#claim(signal);
    if (run === undefined) return;
    const alive = keepAlive();
    const letGo = (): void => alive[Symbol.dispose]();
    signal.addEventListener('abort', letGo, { once: true });
    const { measured, logger } = this.#environment;
    let session: Session<R> | undefined;
    try {
      measured.preset();
      measured.maxConcurrent.set(this.maxConcurrentReconciles);
      logger.info('Starting Controller');
      session = this.#begin();
      session.holders.add(run);
      if (life !== undefined) this.#holdUntil(session, life);
      if (!(await resolvesFirst(session.start(this.#entries), signal))) return;
      if (session.runs++ > 0) session.replay();
      run.phase = 'active';
      await this.#work(session, run);
    } catch (error) {
      session?.holders.clear(); // what has failed is not continued
      throw error;
    } finally {
      run.phase = 'draining';
      session?.holders.delete(run);
      if (session !== undefined) await this.#endUnlessHeld(session, signal.reason);
      signal.removeEventListener('abort', letGo);
      letGo();
      this.#run = undefined;
      run.ended.resolve(undefined);
    }
  }

  async waitUntilCold(): Promise<void> {
    for (;;) {
      if (this.#run !== undefined) await this.#run.ended.promise;
      else if (this.#closing !== undefined) await this.#closing;
      else if (this.#session !== undefined) await aborted(this.#session.signal);
      else return;
    }
  }

  /**
   * Makes a run the current run of the controller, after the end of the previous one; undefined if it is aborted
   * before.
   *
   * @throws ControllerError if another run is active, or waits for its turn
   */
  async #claim(signal: AbortSignal): Promise<Run | undefined> {
    if (this.#run?.signal.aborted === false || this.#next?.aborted === false)
      throw new ControllerError(
        `controller ${JSON.stringify(this.name)} was started more than once. This is likely to be caused by being added to a manager multiple times`,
      );
    this.#next = signal;
    while (this.#run !== undefined || this.#closing !== undefined) await (this.#run?.ended.promise ?? this.#closing);
    // From here on in one turn. If several runs wait for one end, the last one that was not aborted begins.
    if (this.#next === signal) this.#next = undefined;
    if (signal.aborted) return undefined;
    this.#run = { signal, ended: Promise.withResolvers(), phase: 'starting' };
    return this.#run;
  }

  /** Mirrors `Controller.Warmup`. A failure is kept for `run`, which shares the session. */
  async #warmUp(signal: AbortSignal): Promise<void> {
    while (this.#closing !== undefined) await this.#closing;
    if (signal.aborted) return;
    const session = this.#begin();
    this.#holdUntil(session, signal);
    await resolvesFirst(session.start(this.#entries), signal);
  }

  #watch(source: Source<R>, origin: unknown, options: WatchOptions): WatchHandle {
    requireWatchOptions(this.name, options);
    for (const entry of this.#entries)
      if (entry.origin === origin)
        throw new ControllerError(`controller ${JSON.stringify(this.name)} watches ${source.name} already`);
    const entry: WatchEntry<R> = { source, origin, isRequired: options.startPolicy !== 'optional' };
    this.#entries.add(entry);
    this.#session?.watchBeside(entry);
    this.#onSourcesChanged?.();
    const removal = new AbortController();
    const remove = async (): Promise<void> => {
      removal.abort(this.#removedError(entry));
      if (this.#entries.delete(entry)) this.#onSourcesChanged?.();
      await this.#session?.unwatch(entry);
    };
    const find = (): boolean => this.#session?.find(entry)?.hasSynced ?? false;
    return {
      get hasSynced() {
        return find();
      },
      waitForSync: ({ signal } = {}) => orAborted(this.#waitForSync(entry, removal.signal), signal),
      remove,
      [Symbol.asyncDispose]: remove,
    };
  }

  async #waitForSync(entry: WatchEntry<R>, removal: AbortSignal): Promise<void> {
    const session = this.#session ?? (await orAborted(this.#sessionBegan.promise, removal));
    const watch = session.find(entry);
    if (watch === undefined) throw this.#removedError(entry);
    await watch.synced;
  }

  #removedError({ source }: WatchEntry<R>): ControllerError {
    return new ControllerError(`${source.name} was removed from controller ${JSON.stringify(this.name)}`);
  }

  #begin(): Session<R> {
    if (this.#session !== undefined) return this.#session;
    const session = assembleSession(this.#options, this.#environment, this.#requestKey);
    this.#session = session;
    this.#sessionBegan.resolve(session);
    return session;
  }

  /** Keeps the session until the signal is aborted. */
  #holdUntil(session: Session<R>, signal: AbortSignal): void {
    if (signal.aborted || session.holders.has(signal)) return;
    session.holders.add(signal);
    // Not by the `signal` option of addEventListener, because Node then keeps both signals and everything they
    // reference forever if neither is aborted.
    const leave = (): void => signal.removeEventListener('abort', letGo);
    const letGo = (): void => {
      session.signal.removeEventListener('abort', leave);
      session.holders.delete(signal);
      void this.#endUnlessHeld(session, signal.reason);
    };
    signal.addEventListener('abort', letGo, { once: true });
    session.signal.addEventListener('abort', leave);
  }

  /** Never rejects. */
  async #endUnlessHeld(session: Session<R>, reason: unknown): Promise<void> {
    if (session.holders.size > 0 || this.#session !== session) return;
    this.#session = undefined;
    this.#sessionBegan = Promise.withResolvers();
    const closing = session.close(reason).then(() => {
      this.#closing = undefined;
    });
    this.#closing = closing;
    await closing;
  }

  async #work(session: Session<R>, run: Run): Promise<void> {
    const { logger } = this.#environment;
    const { signal } = run;
    const onStop = (): void => {
      run.phase = 'draining';
      logger.info('Shutdown signal received, waiting for all workers to finish');
    };
    logger.info('Starting workers', { 'worker count': this.maxConcurrentReconciles });
    if (signal.aborted) onStop();
    else signal.addEventListener('abort', onStop, { once: true });
    try {
      await session.work(signal, {
        concurrency: this.#workers,
        onFailure: () => (run.phase = 'draining'),
      });
    } finally {
      signal.removeEventListener('abort', onStop);
      logger.info('All workers finished');
    }
  }

  #adopted(adopted: AdoptOptions): ControllerEnvironment {
    const environment = environmentOf(this.#options, adopted);
    if (environment.settings.enableWarmup) this.warmup = (signal) => this.#warmUp(signal);
    else delete this.warmup;
    return environment;
  }
}
