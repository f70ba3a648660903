import type { Client, KindResolver, Reader } from '@kctl/client';
import type { Controller } from '@kctl/controller';
import type { Provided } from '@kctl/controller/internal';
import { provide } from '@kctl/controller';
import { accessTo, type AccessKind, type AccessNeed, type AccessOptions, type AccessVerb } from '@kctl/rbac';
import type { Gauge, Logger, Metrics, Tracer } from '@kctl/telemetry';
import type { Sinks } from '@kctl/telemetry/internal';
import { noopLogger, noopMetrics, noopTracer } from '@kctl/telemetry';
import { guardSinks } from '@kctl/telemetry/internal';
import { requireSignal } from '@kctl/options';
import { keepAlive, systemClock, systemRandom } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import type { WebhookServer } from '@kctl/webhook';
import { accessNeedsOf, declaredNeeds } from './access-needs.js';
import { cachesCheck, informersCheck } from './built-in-checks.js';
import { checkOptions } from './check-options.js';
import { requireCheck, requireExtraHandler, requireRunnable } from './required.js';
import type { Cluster, EventSink, ManagedCache } from './cluster.js';
import type { ConverterRegistry } from './converter-registry.js';
import { createConverterRegistry } from './converter-registry.js';
import { ManagerError } from './errors.js';
import { EventSinks } from './event-sinks.js';
import type { HealthCheck } from './health.js';
import { createHealthHandler, defaultCheckTimeoutMs } from './health.js';
import type { HttpHandler } from './http-server.js';
import { createHttpServer } from './http-server.js';
import { InformerDemand } from './informer-demand.js';
import { Lifecycle } from './lifecycle.js';
import type {
  ControllerDefaults,
  HealthOptions,
  Manager,
  ManagerDependencies,
  ManagerOptions,
  RunnableHandle,
} from './manager.js';
import type { MetricsServerOptions } from './metrics-server.js';
import { createMetricsServer, defaultMetricsPath } from './metrics-server.js';
import { createProfilingServer } from './profiling.js';
import type { Runnable, RunnableFunction } from './runnable.js';
import { Runnables } from './runnables.js';
import { resolveSchedule } from './schedule/occurrences.js';
import { createScheduleMetrics } from './schedule/schedule-metrics.js';
import type { ScheduleOptions } from './schedule/schedule.js';
import { Scheduler } from './schedule/scheduler.js';
import { webhookRunnable } from './webhook-runnable.js';

/** How long a stop may take, in ms. */
export const defaultGracefulShutdownTimeoutMs = 30_000;
const defaultRejoinTimeoutMs = 10_000;

/**
 * Makes a manager; it starts nothing and binds no port.
 *
 * @throws TypeError naming every option that is not valid
 *
 * @example
 * ```ts
 * import { createCache } from '@kctl/cache';
 * import { createCluster, createManager, stopOnSignals } from '@kctl/manager';
 *
 * const cluster = createCluster({ client, apiReader: client, cache: createCache({ client }) });
 * const manager = createManager({ cluster, logger });
 * manager.add(async (running) => console.log('runs until the manager stops', running.aborted));
 * using stop = stopOnSignals();
 * await manager.run(stop.signal);
 * ```
 */
export function createManager<X extends object = object>(options: ManagerOptions<X>): Manager<X> {
  checkOptions(options);
  return new RunnableManager(options);
}

class RunnableManager<X extends object> implements Manager<X> {
  readonly cluster: Cluster;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly controllerDefaults: ControllerDefaults;
  readonly dependencies: ManagerDependencies & X;
  readonly converters: ConverterRegistry = createConverterRegistry();
  readonly #options: ManagerOptions<X>;
  /** The manager's own lines and measurements; they stop nothing if a sink fails. */
  readonly #sinks: Sinks;
  readonly #stop = new AbortController();
  readonly #clusters = new Set<Cluster>();
  readonly #eventSinks: EventSinks;
  readonly #demand: InformerDemand;
  readonly #runnables: Runnables;
  readonly #lifecycle: Lifecycle;
  readonly #liveness = new Map<string, HealthCheck>();
  readonly #readiness = new Map<string, HealthCheck>();
  readonly #schedules = new Set<string>();
  readonly #extraHandlers = new Map<string, HttpHandler>();
  readonly #declaredNeeds: AccessNeed[] = [];
  readonly #paused: Gauge;
  #isPaused = false;
  #wasRun = false;
  #hasWebhooks = false;

  constructor(options: ManagerOptions<X>) {
    const { cluster, leaderElection } = options;
    this.#options = options;
    this.cluster = cluster;
    this.logger = options.logger ?? noopLogger;
    this.metrics = options.metrics ?? noopMetrics;
    this.tracer = options.tracer ?? noopTracer;
    this.clock = options.clock ?? systemClock;
    this.controllerDefaults = options.controllers ?? {};
    this.#sinks = guardSinks(options);
    const { logger } = this.#sinks;
    this.#paused = this.#sinks.metrics
      .gauge({ name: 'kctl_manager_paused', help: 'Whether the manager is paused: 1 or 0.' })
      .with({});
    this.#paused.set(0);
    const fail = (error: unknown): void => this.#lifecycle.fail(error);
    this.#demand = new InformerDemand(cluster.cache, logger, fail);
    const demand = this.#demand;
    this.#eventSinks = new EventSinks(fail);
    this.#runnables = new Runnables({
      logger,
      clock: this.clock,
      newElector: leaderElection?.newElector,
      onLost: leaderElection?.onLost ?? 'exit',
      rejoinTimeoutMs: leaderElection?.rejoinTimeoutMs ?? defaultRejoinTimeoutMs,
      demand,
      onError: fail,
      fail,
    });
    this.#lifecycle = new Lifecycle({
      runnables: this.#runnables,
      logger,
      clock: this.clock,
      graceMs: options.gracefulShutdownTimeoutMs ?? defaultGracefulShutdownTimeoutMs,
      events: this.#eventSinks,
      demand,
    });
    this.dependencies = this.#collectDependencies();
    this.add(cluster);
    if (options.metricsServer !== undefined) this.#addMetricsServer(options.metricsServer);
    if (options.health !== undefined) this.#addHealthServer(options.health);
    if (options.profiling !== undefined)
      this.#runnables.add(createProfilingServer({ ...options.profiling, logger, clock: this.clock }));
  }

  get client(): Client {
    return this.cluster.client;
  }

  get apiReader(): Reader {
    return this.cluster.apiReader;
  }

  get cache(): ManagedCache {
    return this.cluster.cache;
  }

  get mapper(): KindResolver | undefined {
    return this.cluster.mapper;
  }

  get events(): EventSink | undefined {
    return this.cluster.events;
  }

  get webhookServer(): WebhookServer {
    const { webhookServer } = this.#options;
    if (webhookServer === undefined)
      throw new ManagerError('there is no webhook server: give createManager({ webhookServer }) one of @kctl/webhook');
    if (!this.#hasWebhooks) {
      this.#hasWebhooks = true;
      this.#runnables.add(webhookRunnable(webhookServer, this.clock));
      const { health } = this.#options;
      // A check of that name may be the user's; it reports more about the server than the default, and takes
      // precedence.
      if (health !== undefined && health.builtInChecks !== false && !this.#readiness.has('webhooks'))
        this.addReadyzCheck('webhooks', () => webhookServer.checkStarted());
    }
    return webhookServer;
  }

  get elected(): Promise<void> {
    return this.#runnables.scope('').elected;
  }

  get isLeader(): boolean {
    return this.#runnables.scope('').isLeading;
  }

  get leaseAgeMs(): number | undefined {
    return this.#runnables.scope('').renewedMsAgo;
  }

  add(runnable: Provided<Runnable | RunnableFunction, ManagerDependencies & X>): RunnableHandle {
    const provided = provide(runnable, this.dependencies, 'a runnable');
    const added: Runnable = typeof provided === 'function' ? { run: provided } : provided;
    requireRunnable(added);
    const { controllerDefaults, logger, metrics, tracer, clock } = this;
    const { groupKindConcurrency: _, ...given } = controllerDefaults;
    const settings = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    const { requestCounter, observer } = this.#options;
    const counted = {
      ...(requestCounter === undefined ? {} : { requestCounter }),
      ...(observer === undefined ? {} : { observer }),
    };
    const onSourcesChanged = (): void => this.#demand.update(added);
    added.adopt?.({ settings, logger, metrics, tracer, clock, ...counted, onSourcesChanged });
    const name = this.#runnables.add(added);
    // Unless it has removed itself in its first step.
    if (this.#runnables.has(added)) {
      if (this.#isPaused) this.#setRunnablePaused(added, true);
      if (isCluster(added)) this.#addCluster(added);
    }
    let removed: Promise<void> | undefined;
    // Not a second time, because it may have been added again by then.
    const remove = (): Promise<void> => (removed ??= this.remove(added));
    return { name, remove, [Symbol.asyncDispose]: remove };
  }

  needs(kind: AccessKind, verbs: readonly AccessVerb[], options: AccessOptions = {}): void {
    this.#declaredNeeds.push(accessTo(kind, verbs, options));
  }

  accessNeeds(): readonly AccessNeed[] {
    const { accessNeeds, leaderElection } = this.#options;
    return [
      ...accessNeedsOf(this.cluster, this.#runnables.all),
      ...[...this.#runnables.scopeNames].flatMap((scope) =>
        declaredNeeds('accessNeeds of leaderElection', leaderElection?.accessNeeds?.(scope)),
      ),
      ...declaredNeeds('accessNeeds of the events of the cluster', this.cluster.events?.accessNeeds?.()),
      ...declaredNeeds('the option accessNeeds', accessNeeds?.()),
      ...this.#declaredNeeds,
    ];
  }

  schedule(options: ScheduleOptions): RunnableHandle {
    const schedule = resolveSchedule(options);
    const { name } = schedule;
    if (this.#schedules.has(name))
      throw new ManagerError(`there is a schedule of the name ${JSON.stringify(name)} already: give each its own`);
    const { clock } = this;
    const { logger, metrics } = this.#sinks;
    const scheduler = new Scheduler({
      schedule,
      store: this.#options.scheduleStore,
      leaderElectionScope: options.leaderElectionScope,
      clock,
      random: systemRandom,
      logger,
      metrics: createScheduleMetrics(metrics, name),
    });
    const handle = this.add(scheduler);
    this.#schedules.add(name);
    let removed: Promise<void> | undefined;
    // The name is free when its last run has ended, and not a second time, because another schedule may have it by
    // then.
    const remove = (): Promise<void> =>
      (removed ??= handle.remove().finally(() => {
        this.#schedules.delete(name);
      }));
    return { name: handle.name, remove, [Symbol.asyncDispose]: remove };
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#setPaused(true);
  }

  resume(): void {
    this.#setPaused(false);
  }

  #setPaused(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    this.#paused.set(isPaused ? 1 : 0);
    this.#sinks.logger.info(isPaused ? 'Pausing: no further work is started' : 'Resuming');
    for (const runnable of this.#runnables.all) this.#setRunnablePaused(runnable, isPaused);
  }

  /** One that fails costs itself. */
  #setRunnablePaused(runnable: Runnable, isPaused: boolean): void {
    const report = (error: unknown): void =>
      this.#sinks.logger.error('setPaused of a runnable failed', { runnable: runnable.name, isPaused, error });
    try {
      const answer: unknown = runnable.setPaused?.(isPaused);
      void Promise.resolve(answer).catch(report); // it may be an async function
    } catch (error) {
      report(error);
    }
  }

  controllers(): readonly Controller<never>[] {
    return [...this.#runnables.all].filter((runnable) => isController(runnable));
  }

  clusters(): readonly Cluster[] {
    return [...this.#clusters];
  }

  async remove(runnable: Runnable): Promise<void> {
    const wasAdded = this.#runnables.has(runnable);
    // The stop has reached it when this returns; from the pause on, nothing of it begins.
    const removed = this.#runnables.remove(runnable);
    if (wasAdded && this.#isPaused) this.#setRunnablePaused(runnable, false);
    const cluster = isCluster(runnable) && this.#clusters.delete(runnable) ? runnable : undefined;
    await removed;
    // After it, because its end may have recorded events. Those of the manager end with the manager.
    if (cluster?.events !== undefined && cluster !== this.cluster)
      await this.#eventSinks.remove(cluster.events, new DOMException(`${cluster.name} was removed`, 'AbortError'));
  }

  #addCluster(cluster: Cluster): void {
    this.#clusters.add(cluster);
    if (cluster.events !== undefined) this.#eventSinks.add(cluster.events);
  }

  addHealthzCheck(name: string, check: HealthCheck): void {
    requireCheck(name, check);
    claim(this.#liveness, name, check);
  }

  addReadyzCheck(name: string, check: HealthCheck): void {
    requireCheck(name, check);
    claim(this.#readiness, name, check);
  }

  addMetricsHandler(path: string, handler: HttpHandler): void {
    if (this.#options.metricsServer === undefined)
      throw new ManagerError(`there is no metrics server to serve ${path}: give the manager the option metricsServer`);
    if (path === (this.#options.metricsServer.path ?? defaultMetricsPath))
      throw new ManagerError(`overriding builtin ${path} endpoint is not allowed`);
    if (this.#wasRun)
      throw new ManagerError('unable to add new metrics handler because metrics endpoint has already been created');
    requireExtraHandler(path, handler);
    claim(this.#extraHandlers, path, handler);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#wasRun) throw new ManagerError('manager already started');
    requireSignal('manager.run', signal);
    this.#wasRun = true;
    using _alive = keepAlive();
    const onStop = (): void => this.#stop.abort(signal.reason);
    signal.addEventListener('abort', onStop, { once: true });
    try {
      await this.#lifecycle.run(signal);
    } finally {
      signal.removeEventListener('abort', onStop);
      onStop();
    }
  }

  /** Absent properties are left out, so that a need for them fails by name. */
  #collectDependencies(): ManagerDependencies & X {
    const { cluster, client, apiReader, cache, mapper, events, logger, metrics, tracer, clock } = this;
    const stopSignal = this.#stop.signal;
    const present = { cluster, client, apiReader, cache, mapper, events, logger, metrics, tracer, clock, stopSignal };
    // An option that is set to undefined is not set.
    const own = Object.entries(this.#options.dependencies ?? {}).filter(([, value]) => value !== undefined);
    return { ...present, ...Object.fromEntries(own) } as ManagerDependencies & X;
  }

  #addBuiltInChecks({ informerGraceMs }: HealthOptions): void {
    const clusters = (): Iterable<Cluster> => this.#clusters;
    const demand = this.#demand.of.bind(this.#demand);
    const isStarted = (): boolean => this.#lifecycle.isStarted;
    const hasElection = this.#options.leaderElection !== undefined;
    const converts = this.converters.has;
    this.addReadyzCheck(
      'caches',
      cachesCheck({ clusters, demand, converts, isStarted, unsynced: () => this.#demand.unsynced(hasElection) }),
    );
    this.addReadyzCheck(
      'informers',
      informersCheck({ clusters, demand, converts, clock: this.clock, graceMs: informerGraceMs }),
    );
    if (hasElection)
      this.addHealthzCheck('leader-election', () => {
        for (const scope of this.#runnables.scopes) scope.checkHealth();
      });
  }

  #addHealthServer(health: HealthOptions): void {
    const { port, host, listener, livenessPath = '/healthz', readinessPath = '/readyz' } = health;
    const { checkTimeoutMs = defaultCheckTimeoutMs } = health;
    if (health.builtInChecks !== false) this.#addBuiltInChecks(health);
    const handlerOf = (path: string, checks: Map<string, HealthCheck>): HttpHandler =>
      createHealthHandler({
        path,
        checks,
        onFailure: (check, error) => this.#sinks.logger.info('health check failed', { path, check, error }),
        checkTimeoutMs,
        clock: this.clock,
      });
    const both: readonly (readonly [string, Map<string, HealthCheck>])[] = [
      [livenessPath, this.#liveness],
      [readinessPath, this.#readiness],
    ];
    // The longer path first, because if it is below the other one, the shorter one would take it for the name of a
    // check.
    const served = both.toSorted(([left], [right]) => right.length - left.length);
    const server = createHttpServer({
      name: 'health probe',
      port,
      ...(host === undefined ? {} : { host }),
      ...(listener === undefined ? {} : { listener }),
      handlers: served.map(([path, checks]) => handlerOf(path, checks)),
      logger: this.#sinks.logger,
      clock: this.clock,
    });
    this.#runnables.add(server);
  }

  #addMetricsServer(server: MetricsServerOptions): void {
    const { metrics } = this.#options;
    if (metrics?.export === undefined)
      throw new ManagerError(
        'metricsServer needs metrics that can be exported: give createManager({ metrics }) those of @kctl/metrics',
      );
    const exporter = { export: metrics.export.bind(metrics) };
    this.#runnables.add(
      createMetricsServer({
        server,
        exporter,
        extra: this.#extraHandlers,
        metrics: this.#sinks.metrics,
        logger: this.#sinks.logger,
        clock: this.clock,
      }),
    );
  }
}

function isCluster(runnable: Runnable): runnable is Cluster {
  return runnable.group === 'caches' && 'cache' in runnable && 'client' in runnable;
}

function isController(runnable: Runnable): runnable is Runnable & Controller<never> {
  return runnable.runnableType === 'controller' && 'maxConcurrentReconciles' in runnable && 'sources' in runnable;
}

function claim<T>(map: Map<string, T>, name: string, value: T): void {
  if (map.has(name)) throw new ManagerError(`${JSON.stringify(name)} is taken already`);
  map.set(name, value);
}
