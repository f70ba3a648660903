import type { Client, KindResolver, Reader } from '@kctl/client';
import type { Controller, ControllerSettings, ReconcileObserver } from '@kctl/controller';
import type { Provided } from '@kctl/controller/internal';
import type { AccessKind, AccessNeed, AccessOptions, AccessVerb } from '@kctl/rbac';
import type { Logger, Metrics, RequestCounter, Tracer } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { WebhookServer } from '@kctl/webhook';
import type { Cluster, EventSink, ManagedCache } from './cluster.js';
import type { ConverterRegistry } from './converter-registry.js';
import type { LeaderElectionOptions } from './elector.js';
import type { HealthCheck } from './health.js';
import type { ListenTarget } from '@kctl/http-server';
import type { HttpHandler } from './http-server.js';
import type { MetricsExporter, MetricsServerOptions } from './metrics-server.js';
import type { ProfilingOptions } from './profiling.js';
import type { Runnable, RunnableFunction } from './runnable.js';
import type { ScheduleOptions, ScheduleStore } from './schedule/schedule.js';

/** Defaults for the controllers of a manager. Mirrors `config.Controller`. */
export interface ControllerDefaults extends ControllerSettings {
  /** Map of `Kind.group` (`Pod` for the core group) → workers; the builder uses it unless another value is set. */
  readonly groupKindConcurrency?: Readonly<Record<string, number>>;
}

/** Dependencies available to added runnables, see `inject` of @kctl/controller. */
export interface ManagerDependencies {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly apiReader: Reader;
  readonly cache: ManagedCache;
  /** Only if the cluster has one. */
  readonly mapper: KindResolver;
  /** Only if the cluster has one. */
  readonly events: EventSink;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly clock: Clock;
  /** Aborted when the manager begins to stop. */
  readonly stopSignal: AbortSignal;
}

/** Options of the health server. */
export interface HealthOptions {
  /** 0: any free port. */
  readonly port: number;
  /** A Unix socket or an open descriptor in place of `host` and `port`. @default none */
  readonly listener?: ListenTarget;
  /** @default every address */
  readonly host?: string;
  /** @default '/healthz' */
  readonly livenessPath?: string;
  /** @default '/readyz' */
  readonly readinessPath?: string;
  /**
   * How long an informer that had synced may be without a watch before `/readyz/informers` fails, in ms. One that never
   * synced fails at once.
   *
   * @default 30000, and no limit while the server cannot be reached or is overloaded, because an outage of the API
   * server would otherwise take all replicas out of service, with their webhooks
   */
  readonly informerGraceMs?: number;
  /** How long each check may take before it has failed, in ms. @default 5000 */
  readonly checkTimeoutMs?: number;
  /** Adds the checks `caches` and `informers` to readiness and `leader-election` to liveness. @default true */
  readonly builtInChecks?: boolean;
}

/** Options of `createManager`. */
export interface ManagerOptions<X extends object = object> {
  /** The API server that this process works on. */
  readonly cluster: Cluster;
  /** @default nothing is written */
  readonly logger?: Logger;
  /** Destination of all measurements. @default nothing is measured */
  readonly metrics?: Metrics & Partial<MetricsExporter>;
  /** @default nothing is traced */
  readonly tracer?: Tracer;
  /** Attributes requests to the reconcile that sends them. @default requests are not counted; @kctl/runtime counts them */
  readonly requestCounter?: RequestCounter;
  /** Looks on at the controllers, e.g. the recorder of @kctl/inspection. @default none */
  readonly observer?: ReconcileObserver;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default no election, so this process leads at once */
  readonly leaderElection?: LeaderElectionOptions;
  /** @default no health endpoint */
  readonly health?: HealthOptions;
  /** @default no metrics endpoint */
  readonly metricsServer?: MetricsServerOptions;
  /**
   * Maximum duration of the stop, in ms. 0 waits for nothing, which is not a failure. Infinity or a negative number
   * means no limit.
   *
   * @default 30000
   */
  readonly gracefulShutdownTimeoutMs?: number;
  /** @default none */
  readonly controllers?: ControllerDefaults;
  /** More that can be injected, e.g. the configuration or a database. @default none */
  readonly dependencies?: X;
  /** Rights that code needs which is not a runnable, for {@link Manager.accessNeeds}. @default none */
  readonly accessNeeds?: () => readonly AccessNeed[];
  /** Runs only if {@link Manager.webhookServer} is used. @default none */
  readonly webhookServer?: WebhookServer;
  /** @default no profiling endpoint */
  readonly profiling?: ProfilingOptions;
  /** Store that remembers the last runs of schedules. @default in memory alone. @kctl/runtime uses a Lease */
  readonly scheduleStore?: ScheduleStore;
}

/** A runnable in a manager. */
export interface RunnableHandle extends AsyncDisposable {
  readonly name: string;
  /**
   * Stops it, removes it, and resolves when it has ended. The manager goes on. Concerns what this handle was returned
   * for, not the same runnable when it was added again. Idempotent.
   */
  remove(): Promise<void>;
}

/**
 * Starts, gates, watches over and stops what a process runs. Mirrors `manager.Manager`.
 *
 * @example
 * ```ts
 * import type { Manager } from '@kctl/manager';
 *
 * export function addWork(manager: Manager): void {
 *   manager.add({ name: 'greeter', needLeaderElection: false, run: async () => console.log(manager.isLeader) });
 *   manager.schedule({ name: 'sweep', every: '10m', run: ({ logger }) => logger.info('sweeping') });
 *   manager.addReadyzCheck('always', () => undefined);
 * }
 * ```
 */
export interface Manager<X extends object = object> {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly apiReader: Reader;
  readonly cache: ManagedCache;
  readonly mapper: KindResolver | undefined;
  readonly events: EventSink | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly controllerDefaults: ControllerDefaults;
  /**
   * Resolves when this process leads and its leader runnables have been started; at once after the start without
   * election. Rejects with the failure that ends the manager before. A clean stop without leadership leaves an earlier
   * read of it open, as upstream's channel is, so that a chain on it does not end the process; race it with `run`.
   * Later reads reject.
   */
  readonly elected: Promise<void>;
  readonly isLeader: boolean;
  /**
   * How long ago the lease was renewed last, in ms; undefined without election, without leadership, and if the elector
   * does not report it.
   */
  readonly leaseAgeMs: number | undefined;
  /** Asking for it has the manager run it. @throws ManagerError when the manager was given none */
  readonly webhookServer: WebhookServer;
  /** Converters behind the conversion webhook. */
  readonly converters: ConverterRegistry;
  /** Dependencies that `inject` can name. */
  readonly dependencies: ManagerDependencies & X;
  /**
   * Adds a runnable; before the start it waits for it, afterwards the runnable starts at once (a leader runnable when
   * this process leads).
   *
   * @throws ManagerError when the manager is stopping, or a controller of the same name is there already
   * @throws MissingDependencyError naming what an injected runnable needs and the manager does not have
   */
  add(runnable: Provided<Runnable | RunnableFunction, ManagerDependencies & X>): RunnableHandle;
  /**
   * Declares rights that cannot be derived, such as those of a client used outside of controllers.
   *
   * @throws TypeError naming everything that is not valid
   */
  needs(kind: AccessKind, verbs: readonly AccessVerb[], options?: AccessOptions): void;
  /**
   * The rights required by everything added so far, such as to watch, to elect a leader, to record events, and those
   * that controllers and {@link Manager.needs} declare. For `generateRbac` and `compareAccess` of @kctl/rbac.
   */
  accessNeeds(): readonly AccessNeed[];
  /**
   * Periodic work of the leader, at an interval or by a cron expression. The last occurrence is remembered by
   * `scheduleStore`. A process that takes over continues from there, and makes up, once, for runs missed meanwhile.
   * Measured as `kctl_schedule_*`.
   *
   * @throws TypeError naming the option that is not valid; ManagerError when the name is taken
   */
  schedule(options: ScheduleOptions): RunnableHandle;
  /** Whether it is paused. */
  readonly isPaused: boolean;
  /**
   * Pauses the whole operator, before the start or while it runs. Controllers start no further reconciles, and
   * schedules no further runs. Work in progress continues to its end; events are queued; leadership, caches, webhooks
   * and health stay. Shown by the metric `kctl_manager_paused`. Does nothing if it is paused.
   */
  pause(): void;
  /**
   * Continues with the queued work; each schedule that came due meanwhile runs once. Does nothing if it is not paused.
   */
  resume(): void;
  /** The controllers that were added, for what looks into them. A snapshot. */
  controllers(): readonly Controller<never>[];
  /** The other clusters that were added, after the manager's own. A snapshot. */
  clusters(): readonly Cluster[];
  /** Same as the handle's `remove`. */
  remove(runnable: Runnable): Promise<void>;
  /** Adds a liveness check. @throws ManagerError for a name that is taken */
  addHealthzCheck(name: string, check: HealthCheck): void;
  /** Adds a readiness check. @throws ManagerError for a name that is taken */
  addReadyzCheck(name: string, check: HealthCheck): void;
  /**
   * Serves another handler beside the metrics, at a path or, if that ends with a slash, at everything below it.
   *
   * @throws ManagerError after the start, or if there is no metrics server; TypeError for a value that is not a path or
   * a handler
   */
  addMetricsHandler(path: string, handler: HttpHandler): void;
  /**
   * Starts everything, resolves when `signal` was aborted and everything has stopped, rejects with the first failure
   * of anything it runs. It can be run once. Until then it keeps the process alive.
   *
   * Start order is servers → webhooks → caches (synced) → others → warm-ups → election, then leader. Stop order is
   * others → leader → caches → webhooks → servers → lease → events. The comments in `lifecycle.ts` have the reasons for
   * this order.
   *
   * @throws ManagerError when it was run before
   * @throws RunnableError, LeaderElectionLostError, StopTimeoutError; an AggregateError if the stop fails too
   */
  run(signal: AbortSignal): Promise<void>;
}
