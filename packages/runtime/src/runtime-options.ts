import type { SelectedKinds, SelectOptions } from '@kctl/builder';
import type { Cache, CacheOptions } from '@kctl/cache';
import type { Connection, HttpClient, HttpClientOptions, KubeConfigLike } from '@kctl/client-http';
import type { DelegatingClient, DelegatingClientOptions } from '@kctl/client-delegating';
import type { Inspection, ListenOptions, RecordingOptions } from '@kctl/inspection';
import type { EventBroadcaster, EventBroadcasterOptions, EventRecorder } from '@kctl/events';
import type { RestMapper, RestMapperOptions } from '@kctl/client-http';
import type { ResourceLock } from '@kctl/leader-election';
import type { LeaderElectionOptions, Manager, ManagerOptions, OnLost } from '@kctl/manager';
import type { PrometheusMetrics } from '@kctl/metrics';
import type { WatchedNamespaces } from './namespaces.js';
import type { SelfManagedCertificatesOptions, WebhookServerOptions } from '@kctl/webhook';

/** Parts that the facade fills in itself. */
type Wired = 'logger' | 'metrics' | 'clock';

/** Which API server to work on. Of several, the first that is set counts; with none, as `kubectl` and pods find theirs. */
export interface ConnectionOptions {
  readonly connection?: Connection;
  /** A `KubeConfig` of @kubernetes/client-node. */
  readonly kubeConfig?: KubeConfigLike;
  /** Path of a kubeconfig. @default KUBECONFIG, else the pod's service account, else ~/.kube/config */
  readonly kubeconfigPath?: string;
  /** Context in the kubeconfig. @default its current-context */
  readonly context?: string;
}

/** The Lease of one scope of a manager. */
export interface ElectionLease {
  readonly namespace: string;
  readonly name: string;
  /** Who this process is. */
  readonly identity: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Parts to make a custom lock with, see {@link RuntimeLeaderElectionOptions.newLock}. */
export interface LockParts {
  readonly lease: ElectionLease;
  /** Dedicated to the election, so its requests never wait behind others. */
  readonly client: HttpClient;
}

/** Coordinated election (KEP-4355), in which the server chooses the leader among the candidates. */
export interface CoordinatedElectionOptions {
  /** Semantic version of this program, e.g. `1.4.0`. */
  readonly binaryVersion: string;
  /** The version it behaves like; not above `binaryVersion`. @default binaryVersion */
  readonly emulationVersion?: string;
  /** @default 'OldestEmulationVersion' */
  readonly strategy?: string;
}

/** Leader election by a Lease. */
export interface RuntimeLeaderElectionOptions extends Pick<LeaderElectionOptions, 'rejoinTimeoutMs'> {
  /**
   * Consequence of a lost lease. By default a process that lost it because the API server did not answer stays, and
   * competes again, because an exit would not help, and its webhooks and caches are still good. One that stalled, or
   * whose lease is held by another process, ends as with `exit`, as in controller-runtime, and `run` rejects with
   * LeaderElectionLostError.
   *
   * @default 'rejoin-after-outage'
   */
  readonly onLost?: OnLost;
  /** Name of the Lease. Runnables with a `leaderElectionScope` compete for `<name>-<scope>`. */
  readonly name: string;
  /** Namespace of the Lease. @default that of the connection, i.e. of the pod or of the context */
  readonly namespace?: string;
  /** Who this process is; unique. With `coordinated`, the name of its LeaseCandidate. @default `<hostname>_<uuid>` */
  readonly identity?: string;
  /** @default 15000 */
  readonly leaseDurationMs?: number;
  /** @default 10000 */
  readonly renewDeadlineMs?: number;
  /** @default 2000 */
  readonly retryPeriodMs?: number;
  /** Gives the lease back after everything has stopped. @default true */
  readonly releaseOnCancel?: boolean;
  /**
   * Thread that renews the lease. With `main` it is this event loop, which must be free for a moment in each
   * `renewDeadlineMs`. With `worker` it is a thread with separate connections and a separate clock, for processes that
   * compute for longer than that.
   *
   * @default 'main'
   */
  readonly renewIn?: 'main' | 'worker';
  /**
   * With `renewIn: 'worker'`: how long this event loop may be busy before the thread stops renewing and the fence
   * closes, in ms. Any value is safe; a longer one keeps the lease of a process that hangs for longer.
   *
   * @default renewDeadlineMs
   */
  readonly mainStallLimitMs?: number;
  /** Labels of the Lease. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The API server that has the Lease. Mirrors `LeaderElectionConfig`. @default that of the manager */
  readonly connection?: Connection;
  /**
   * Makes the lock of a scope; not with `renewIn: 'worker'`. Mirrors `LeaderElectionResourceLockInterface`.
   *
   * @default a Lease
   */
  readonly newLock?: (parts: LockParts) => ResourceLock;
  /** @default off, so candidates compete by themselves */
  readonly coordinated?: CoordinatedElectionOptions;
}

/** Address at which `createManager` serves its records of the controllers, and options of the recording. */
export type RuntimeInspectionOptions = RecordingOptions &
  (
    | (Pick<ListenOptions, 'port' | 'host' | 'onListening'> & { readonly behindMetrics?: false })
    | {
        /**
         * Serves it beside the metrics, at `/debug/kctl/`, behind their filter or client certificates; readers need the
         * verb `get` on the non-resource URL `/debug/kctl/*`. With neither, the metrics must be served on a loopback
         * address, and requests that name another host are refused with 403.
         */
        readonly behindMetrics: true;
      }
  );

/** Options of the webhook server of `createManager`. */
export interface RuntimeWebhookOptions extends Omit<WebhookServerOptions, Wired> {
  /**
   * The server makes its certificate itself and keeps it in a Secret, instead of reading files. Every replica takes part,
   * leader or not.
   *
   * @default files in `certDir`
   */
  readonly selfManagedCertificates?: Omit<SelfManagedCertificatesOptions, Wired | 'client'>;
}

/**
 * Options of `createManager`. `X`: more that can be injected.
 *
 * @example
 * ```ts
 * import { createManager, type RuntimeManagerOptions } from '@kctl/runtime';
 *
 * const options: RuntimeManagerOptions = { health: { port: 8081 }, metricsServer: { port: 8080 } };
 * const manager = await createManager(options);
 * ```
 */
export interface RuntimeManagerOptions<X extends object = object>
  extends ConnectionOptions,
    Omit<ManagerOptions<X>, 'cluster' | 'leaderElection' | 'metrics'> {
  /** Timeouts, rate limit, user agent, … of requests. */
  readonly http?: Omit<HttpClientOptions, Wired | 'connection' | 'kubeConfig' | 'transport'>;
  /** The namespaces that the cache holds. @default those of `cache`, and without them all */
  readonly namespaces?: WatchedNamespaces;
  /** Namespaces, selectors, transforms, … of the cache. */
  readonly cache?: Omit<CacheOptions, Wired | 'client'>;
  /** Uncached kinds, read-your-own-writes, … of the client. */
  readonly client?: Omit<DelegatingClientOptions, Wired | 'cache' | 'client'>;
  /** Queue, burst, API version, `onEvent`, … of the recorder of Events. */
  readonly events?: Omit<EventBroadcasterOptions, Wired | 'client'>;
  /** Mirrors `Options.NewCache`. @default `createCache` */
  readonly newCache?: (options: CacheOptions) => Cache;
  /** Mirrors `Options.NewClient`: its writes are fenced already. @default `createDelegatingClient` */
  readonly newClient?: (options: DelegatingClientOptions) => DelegatingClient;
  /** Mirrors `Options.MapperProvider`. @default `createRestMapper` */
  readonly newMapper?: (options: RestMapperOptions) => RestMapper;
  /** The webhook server that `webhookManagedBy` registers with; it runs only if a webhook is registered. */
  readonly webhook?: RuntimeWebhookOptions;
  /** @default no election, so this process leads at once */
  readonly leaderElection?: RuntimeLeaderElectionOptions;
  /** @default prom-client with a separate registry; with the process's default metrics if `clock` is the system's */
  readonly metrics?: PrometheusMetrics;
  /**
   * Records why each object is reconciled, what the runs write and what that leads to, and serves it with a page:
   * `{ port: 8082 }` on a loopback address, reached by a port-forward, or `{ behindMetrics: true }`. Needs @kctl/inspection
   * to be there.
   *
   * @default off, which costs nothing
   */
  readonly inspection?: RuntimeInspectionOptions;
}

/**
 * Dependencies that can be injected into everything that is added, beside {@link ManagerDependencies}, with the types
 * that the parts have here.
 */
export interface RuntimeDependencies {
  readonly cache: Cache;
  readonly client: DelegatingClient;
  readonly apiReader: HttpClient;
  readonly liveClient: HttpClient;
  readonly mapper: RestMapper;
  readonly events: EventBroadcaster;
  readonly metrics: PrometheusMetrics;
  readonly connection: Connection;
}

/**
 * A manager with the whole stack behind it.
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { controllerManagedBy, type RuntimeManager } from '@kctl/runtime';
 *
 * export function addSettings(manager: RuntimeManager): void {
 *   controllerManagedBy(manager)
 *     .for(ConfigMap)
 *     .reconcile(async ({ metadata: { name } }, { logger }) => logger.info('seen', { name }));
 * }
 * ```
 */
export interface RuntimeManager<X extends object = object> extends Manager<RuntimeDependencies & X> {
  /** Informers by kind, with indexes, namespaces and informers on loan. */
  readonly cache: Cache;
  /** Reads from the cache, writes to the server; fenced. Also `client.live`, and `client.vanished(kind)`. */
  readonly client: DelegatingClient;
  /** Records of the controllers; undefined unless the option `inspection` is set. */
  readonly inspection: Inspection | undefined;
  /**
   * Sends requests and watches directly to the server. Not fenced, so for reads, and for writes that need no
   * leadership.
   */
  readonly liveClient: HttpClient;
  /**
   * Address of the server and identity of this process, for further clients, e.g. of `@kctl/pods`. Their requests in a
   * reconcile are counted with its other requests.
   */
  readonly connection: Connection;
  /** Kinds by name, resources by name, and all resources that the server serves. */
  readonly mapper: RestMapper;
  readonly metrics: PrometheusMetrics;
  /** Records Events in the name of a controller, e.g. `example.com/widgets`. They are flushed at the stop. */
  recorder(controller: string): EventRecorder;
  /**
   * Adds informers of some kinds that hold the objects with a label alone, and a client that reads these kinds from them.
   * `dependents` of the builder has the kinds of children so.
   */
  select(options: SelectOptions): SelectedKinds;
}
