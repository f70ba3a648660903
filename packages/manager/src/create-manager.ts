import type { Client, KindResolver, Reader } from '@kctl/client';
import type { Logger, Metrics, Tracer } from '@kctl/telemetry';
import { noopLogger, noopMetrics, noopTracer } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { systemClock } from '@kctl/wait';
import type { Cluster, EventSink, ManagedCache } from './cluster.js';
import { ManagerError } from './errors.js';
import type { HealthCheck } from './health.js';
import { createHealthHandler } from './health.js';
import type { HttpHandler } from './http-server.js';
import { createHttpServer } from './http-server.js';
import { Lifecycle } from './lifecycle.js';
import type { ControllerDefaults, HealthOptions, Manager, ManagerOptions, RunnableHandle } from './manager.js';
import type { MetricsServerOptions } from './metrics-server.js';
import { createMetricsServer } from './metrics-server.js';
import type { Runnable, RunnableFunction } from './runnable.js';
import { Runnables } from './runnables.js';

/** How long a stop may take, in ms. */
export const defaultGracefulShutdownTimeoutMs = 30_000;
const defaultRejoinTimeoutMs = 10_000;

/** Makes a manager; it starts nothing and binds no port. */
export function createManager(options: ManagerOptions): Manager {
  return new RunnableManager(options);
}

class RunnableManager implements Manager {
  readonly cluster: Cluster;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly controllerDefaults: ControllerDefaults;
  readonly #options: ManagerOptions;
  readonly #runnables: Runnables;
  readonly #lifecycle: Lifecycle;
  readonly #liveness = new Map<string, HealthCheck>();
  readonly #readiness = new Map<string, HealthCheck>();
  readonly #extraHandlers = new Map<string, HttpHandler>();
  #wasRun = false;

  constructor(options: ManagerOptions) {
    const { cluster, leaderElection } = options;
    this.#options = options;
    this.cluster = cluster;
    this.logger = options.logger ?? noopLogger;
    this.metrics = options.metrics ?? noopMetrics;
    this.tracer = options.tracer ?? noopTracer;
    this.clock = options.clock ?? systemClock;
    this.controllerDefaults = options.controllers ?? {};
    const fail = (error: unknown): void => this.#lifecycle.fail(error);
    this.#runnables = new Runnables({
      logger: this.logger,
      clock: this.clock,
      newElector: leaderElection?.newElector,
      onLost: leaderElection?.onLost ?? 'exit',
      rejoinTimeoutMs: leaderElection?.rejoinTimeoutMs ?? defaultRejoinTimeoutMs,
      onError: fail,
      fail,
    });
    this.#lifecycle = new Lifecycle({
      runnables: this.#runnables,
      logger: this.logger,
      clock: this.clock,
      graceMs: options.gracefulShutdownTimeoutMs ?? defaultGracefulShutdownTimeoutMs,
      events: cluster.events,
    });
    this.#runnables.add(cluster);
    if (options.metricsServer !== undefined) this.#addMetricsServer(options.metricsServer);
    if (options.health !== undefined) this.#addHealthServer(options.health);
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

  get elected(): Promise<void> {
    return this.#runnables.scope('').elected;
  }

  get isLeader(): boolean {
    return this.#runnables.scope('').isLeading;
  }

  add(runnable: Runnable | RunnableFunction): RunnableHandle {
    const added = typeof runnable === 'function' ? { run: runnable } : runnable;
    const name = this.#runnables.add(added);
    const remove = (): Promise<void> => this.#runnables.remove(added);
    return { name, remove, [Symbol.asyncDispose]: remove };
  }

  remove(runnable: Runnable): Promise<void> {
    return this.#runnables.remove(runnable);
  }

  addHealthzCheck(name: string, check: HealthCheck): void {
    claim(this.#liveness, name, check);
  }

  addReadyzCheck(name: string, check: HealthCheck): void {
    claim(this.#readiness, name, check);
  }

  addMetricsHandler(path: string, handler: HttpHandler): void {
    if (this.#options.metricsServer === undefined)
      throw new ManagerError(`there is no metrics server to serve ${path}: give the manager the option metricsServer`);
    if (this.#wasRun)
      throw new ManagerError('unable to add new metrics handler because metrics endpoint has already been created');
    claim(this.#extraHandlers, path, handler);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#wasRun) throw new ManagerError('manager already started');
    this.#wasRun = true;
    await this.#lifecycle.run(signal);
  }

  #addHealthServer({ port, host, livenessPath = '/healthz', readinessPath = '/readyz' }: HealthOptions): void {
    const handlerOf = (path: string, checks: Map<string, HealthCheck>): HttpHandler =>
      createHealthHandler({
        path,
        checks,
        onFailure: (check, error) => this.logger.info('health check failed', { path, check, error }),
      });
    const server = createHttpServer({
      name: 'health probe',
      port,
      ...(host === undefined ? {} : { host }),
      handlers: [handlerOf(livenessPath, this.#liveness), handlerOf(readinessPath, this.#readiness)],
      logger: this.logger,
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
      createMetricsServer({ server, exporter, extra: this.#extraHandlers, logger: this.logger, clock: this.clock }),
    );
  }
}

function claim<T>(map: Map<string, T>, name: string, value: T): void {
  if (map.has(name)) throw new ManagerError(`${JSON.stringify(name)} is taken already`);
  map.set(name, value);
}
