import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { Event } from '@kctl/apimachinery/kinds/events.k8s.io/v1';
import { builtInKinds } from '@kctl/apimachinery/kinds/built-in';
import {
  createCache,
  createNamespaceFollower,
  type Cache,
  type NamespaceFollowerOptions,
  type NamespaceSelection,
} from '@kctl/cache';
import { hideSecrets } from '@kctl/client/internal/connection';
import type { SelectedKinds, SelectOptions } from '@kctl/builder';
import { createDelegatingClient, type CacheView, type DelegatingClient } from '@kctl/client-delegating';
import {
  connectionFromKubeConfig,
  createHttpClient,
  createRestMapper,
  loadConnection,
  type Connection,
  type HttpClient,
  type RestMapper,
} from '@kctl/client-http';
import { defaultUserAgent } from '@kctl/client-http/internal';
import { createEventBroadcaster, type EventBroadcaster, type EventRecorder } from '@kctl/events';
import {
  createCluster,
  createManager as createBareManager,
  type Manager,
  type ManagerOptions,
  type Runnable,
} from '@kctl/manager';
import { managerOptionNames } from '@kctl/manager/internal';
import { createPrometheusMetrics, type PrometheusMetrics } from '@kctl/metrics';
import type { Inspection } from '@kctl/inspection';
import { accessTo } from '@kctl/rbac';
import { createConsoleLogger, type Logger } from '@kctl/telemetry';
import {
  functionOption,
  objectOption,
  optionProblems,
  optionWithMethods,
  requireSignal,
  textOption,
  withoutUndefined,
} from '@kctl/options';
import type { OptionCheck, OptionNames } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { createSelfManagedCertificates, createWebhookServer, type WebhookServerOptions } from '@kctl/webhook';
import { eventNeeds } from './access-needs.js';
import { countRequests } from './count-requests.js';
import { checkInspection, loadInspection, serveInspection } from './inspect.js';
import { createLeadership } from './leadership.js';
import { createLeaseScheduleStore } from './lease-schedule-store.js';
import { resolveNamespaces } from './namespaces.js';
import type {
  ConnectionOptions,
  RuntimeDependencies,
  RuntimeManager,
  RuntimeManagerOptions,
  RuntimeWebhookOptions,
} from './runtime-options.js';
import { sectionProblems } from './section-names.js';
import { selectKinds } from './select-kinds.js';

/**
 * Creates a manager with all its parts, which are a client over HTTPS, a cache of informers, a client that reads from
 * the cache and writes to the server, leader election, health and metrics. Starts nothing; one small request may be
 * needed to find credentials. Mirrors `ctrl.NewManager`.
 *
 * @throws KubeConfigError when no API server is configured; TypeError, RangeError for options that cannot be right
 *
 * @example
 * ```ts
 * import { createManager, setupSignalHandler } from '@kctl/runtime';
 *
 * const manager = await createManager({ leaderElection: { name: 'websites', namespace: 'websites-system' } });
 * manager.add(async (signal) => manager.logger.info('leads', { aborted: signal.aborted }));
 * await manager.run(setupSignalHandler());
 * ```
 */
export async function createManager<X extends object = object>(
  options: RuntimeManagerOptions<X> = {},
): Promise<RuntimeManager<X>> {
  const given = withoutUndefined(options);
  checkNames(given);
  const connection = await connectionOf(given);
  const inspection = await loadInspection(given);
  const parts = { connection, inspection };
  if (given.metrics !== undefined) return assemble(given, parts, given.metrics);
  // The process and its event loop can be measured in real time alone.
  const isReal = (given.clock ?? systemClock) === systemClock;
  const metrics = createPrometheusMetrics({
    ...{ defaultMetrics: isReal, eventLoopLag: isReal },
    ...(given.logger === undefined ? {} : { logger: given.logger }),
  });
  try {
    return assemble(given, parts, metrics);
  } catch (error) {
    metrics.close(); // it measures already
    throw error;
  }
}

/** What every part is made with. */
interface Wired {
  readonly logger: Logger;
  readonly metrics: PrometheusMetrics;
  readonly clock: Clock;
}

function assemble<X extends object>(
  options: RuntimeManagerOptions<X>,
  { connection: given, inspection }: { readonly connection: Connection; readonly inspection: Inspection | undefined },
  metrics: PrometheusMetrics,
): RuntimeManager<X> {
  const { connection, requestCounter } = countRequests(observed(given, inspection), inspection?.requestCounter);
  const clock = options.clock ?? systemClock;
  const wired = { logger: options.logger ?? createConsoleLogger({ now: () => clock.now() }), metrics, clock };
  const stack = createStack(options, { connection, inspection, wired });
  const { liveClient, leadership, cache, client, mapper, events, recorders, scheduleStore, watched } = stack;
  const { inspection: served, webhook, dependencies } = options;
  const shownConnection = hideSecrets(connection);
  const parts = { cache, client, apiReader: liveClient, liveClient, mapper, events, metrics };
  // A spread of generic objects loses nothing. Those of the user come last, as in the bare manager.
  const injected = {
    ...{ ...parts, connection: shownConnection },
    ...withoutUndefined(dependencies ?? {}),
  } as RuntimeDependencies & X;
  const manager = createBareManager<RuntimeDependencies & X>({
    webhookServer: createWebhookServer({ ...webhookOptions(webhook, liveClient, wired), ...wired }),
    requestCounter,
    ...(inspection === undefined ? {} : { observer: inspection.observer }),
    ...bareOptions(options),
    ...wired,
    ...(scheduleStore === undefined ? {} : { scheduleStore }),
    dependencies: injected,
    accessNeeds: () => [...eventNeeds([...recorders], cache.namespacesFor(Event)), ...(options.accessNeeds?.() ?? [])],
    cluster: createCluster({ client, apiReader: liveClient, cache, mapper, events }),
    ...(leadership === undefined ? {} : { leaderElection: leadership.options }),
  });
  if (watched !== undefined && 'selection' in watched)
    manager.add(followNamespaces(watched.selection, { cache, client: liveClient, ...wired }));
  if (inspection !== undefined && served !== undefined)
    serveInspection(manager, inspection, served, options.metricsServer);
  const run = runOnce(manager.run.bind(manager), async () => {
    metrics.close();
    await Promise.all([liveClient[Symbol.asyncDispose](), leadership?.dispose()]);
  });
  if (!hasParts(manager, { cache, client, mapper }))
    throw new TypeError('unreachable: the manager has another cache, client or mapper than it was given');
  return Object.assign(manager, {
    liveClient,
    connection: shownConnection,
    metrics,
    recorder: (controller: string): EventRecorder => events.recorder(controller),
    select: (selection: SelectOptions): SelectedKinds => selectKinds(stack, selection),
    run,
    inspection,
  });
}

/** The parts below the manager, from the connection up. Writes of the client are fenced by leadership and observed. */
function createStack(
  options: RuntimeManagerOptions,
  {
    connection,
    inspection,
    wired,
  }: {
    readonly connection: Connection;
    readonly inspection: Inspection | undefined;
    readonly wired: Wired;
  },
) {
  const { newCache = createCache, newClient = createDelegatingClient, newMapper = createRestMapper, http } = options;
  const { namespaces, leaderElection } = options;
  const watched =
    namespaces === undefined
      ? undefined
      : resolveNamespaces(namespaces, { own: connection.namespace, environment: process.env });
  const liveClient = createHttpClient({ ...withoutUndefined(http ?? {}), ...wired, connection });
  const broadcaster = createEventBroadcaster({
    ...withoutUndefined(options.events ?? {}),
    ...wired,
    client: liveClient,
  });
  const userAgent = http?.userAgent ?? defaultUserAgent({ program: http?.program });
  const leadership =
    leaderElection === undefined
      ? undefined
      : createLeadership(withoutUndefined(leaderElection), { connection, events: broadcaster, userAgent, ...wired });
  const scopes = watched !== undefined && 'scopes' in watched ? watched.scopes : undefined;
  const cache = newCache({
    ...withoutUndefined(options.cache ?? {}),
    ...(scopes === undefined ? {} : { defaultNamespaces: scopes }),
    ...wired,
    client: liveClient,
  });
  const fenced = leadership === undefined ? liveClient : leadership.fence(liveClient);
  const writer = inspection?.observeWrites(fenced) ?? fenced;
  const clientOf = (view: CacheView): DelegatingClient =>
    newClient({ ...withoutUndefined(options.client ?? {}), ...wired, cache: view, client: writer });
  const client = clientOf(cache);
  const { clock, logger } = wired;
  const lease = leadership?.lease;
  const scheduleStore =
    options.scheduleStore ??
    (lease === undefined
      ? undefined
      : createLeaseScheduleStore({
          client: writer,
          namespace: lease.namespace,
          name: `${lease.name}-schedules`,
          clock,
        }));
  const mapper = newMapper({ transport: liveClient.transport, kinds: builtInKinds, clock, logger });
  const recorders = new Set<string>();
  const events = noteRecorders(broadcaster, recorders);
  return { liveClient, leadership, cache, client, clientOf, mapper, events, recorders, scheduleStore, watched };
}

/** Options that go on to the bare manager as they are. */
function bareOptions<X extends object>({
  inspection: _inspection,
  http: _http,
  cache: _cache,
  client: _client,
  webhook: _webhook,
  leaderElection: _leaderElection,
  dependencies: _dependencies,
  newCache: _newCache,
  newClient: _newClient,
  newMapper: _newMapper,
  namespaces: _namespaces,
  events: _events,
  ...bare
}: RuntimeManagerOptions<X>) {
  return withoutConnection(bare);
}

/** Notes the names of controllers that record events, for which rights are needed. */
function noteRecorders(events: EventBroadcaster, names: Set<string>): EventBroadcaster {
  return {
    recorder: (controller, instance) => {
      names.add(controller);
      return events.recorder(controller, instance);
    },
    run: (signal) => events.run(signal),
    flush: () => events.flush(),
  };
}

/** Ends the parts after the run. */
function runOnce(
  runBare: (signal: AbortSignal) => Promise<void>,
  endParts: () => Promise<void>,
): (signal: AbortSignal) => Promise<void> {
  let wasRun = false;
  return async (signal) => {
    // A call that the manager refuses must not take the client away from a run that is in progress or still to come.
    if (wasRun) {
      await runBare(signal);
      return;
    }
    requireSignal('manager.run', signal);
    wasRun = true;
    try {
      await runBare(signal);
    } finally {
      await endParts();
    }
  };
}

/** The connection whose requests inspection sees, too. */
function observed(connection: Connection, inspection: Inspection | undefined): Connection {
  const { observe } = connection;
  if (inspection === undefined || (observe !== undefined && typeof observe !== 'function')) return connection;
  return {
    ...connection,
    observe: (request) => {
      inspection.observeRequest(request);
      observe?.(request);
    },
  };
}

/** Options of the webhook server; with certificates that it makes itself, these as its source. */
function webhookOptions(options: RuntimeWebhookOptions = {}, client: HttpClient, wired: Wired): WebhookServerOptions {
  const { selfManagedCertificates, ...rest } = withoutUndefined(options);
  if (selfManagedCertificates === undefined) return rest;
  // The live client, because a cache would list every Secret, and a fence would stop replicas that do not lead.
  const certificates = { ...withoutUndefined(selfManagedCertificates), ...wired, client };
  return { ...rest, certificate: createSelfManagedCertificates(certificates) };
}

/** Keeps the cache to the namespaces that a selection chooses. */
function followNamespaces(
  selection: NamespaceSelection,
  parts: Omit<NamespaceFollowerOptions, keyof NamespaceSelection>,
): Runnable {
  const reason = 'namespaces of the cache';
  return Object.assign(createNamespaceFollower({ ...selection, ...parts }), {
    accessNeeds: () => [accessTo(Namespace, ['list', 'watch'], { reason })],
  });
}

/** The manager declares the parts that it needs; here they have their full types. */
function hasParts<M extends Manager>(manager: M, parts: Parts): manager is M & Parts {
  return manager.cache === parts.cache && manager.client === parts.client && manager.mapper === parts.mapper;
}

interface Parts {
  readonly cache: Cache;
  readonly client: DelegatingClient;
  readonly mapper: RestMapper;
}

/** null leaves a part out, as undefined does. */
const sectionOption: OptionCheck = (name, value) =>
  value === null ? undefined : objectOption('an object of options')(name, value);

/** The facade's own options, which a bare manager does not have. */
const ownNames = {
  connection: objectOption('a connection, such as await loadConnection()'),
  kubeConfig: optionWithMethods(
    ['getCurrentContext', 'getCurrentCluster', 'getCurrentUser'],
    'a KubeConfig of @kubernetes/client-node',
  ),
  kubeconfigPath: textOption,
  context: textOption,
  http: true,
  cache: true,
  client: true,
  events: sectionOption,
  newCache: functionOption,
  newClient: functionOption,
  newMapper: functionOption,
  namespaces: true,
  webhook: true,
  inspection: true,
} satisfies OptionNames<Omit<RuntimeManagerOptions, keyof ManagerOptions>>;

/** @throws TypeError naming every option that is not known, and the nearest one that is */
function checkNames(options: RuntimeManagerOptions): void {
  const { cluster: _cluster, ...bare } = managerOptionNames;
  const problems = optionProblems(options, { ...bare, ...ownNames });
  if (problems.length === 0) problems.push(...sectionProblems(options), ...checkInspection(options));
  if (options.namespaces !== undefined && options.cache?.defaultNamespaces !== undefined)
    problems.push('give namespaces or cache.defaultNamespaces, not both');
  if (problems.length > 0) throw new TypeError(`createManager: ${problems.join('; ')}`);
}

/** The connection that is given, or the one that this process has. */
async function connectionOf({
  connection,
  kubeConfig,
  kubeconfigPath,
  context,
}: ConnectionOptions): Promise<Connection> {
  if (connection !== undefined) return connection;
  if (kubeConfig !== undefined) return connectionFromKubeConfig(kubeConfig);
  return await loadConnection({
    ...(kubeconfigPath === undefined ? {} : { path: kubeconfigPath }),
    ...(context === undefined ? {} : { context }),
  });
}

function withoutConnection<O extends ConnectionOptions>({
  connection: _connection,
  kubeConfig: _kubeConfig,
  kubeconfigPath: _path,
  context: _context,
  ...rest
}: O): Omit<O, keyof ConnectionOptions> {
  return rest;
}
