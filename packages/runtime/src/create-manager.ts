import { builtInKinds } from '@kctl/apimachinery/kinds/built-in';
import { createCache, type Cache } from '@kctl/cache';
import { createDelegatingClient, type DelegatingClient } from '@kctl/client-delegating';
import {
  connectionFromKubeConfig,
  createHttpClient,
  createRestMapper,
  defaultUserAgent,
  loadConnection,
  type Connection,
} from '@kctl/client-http';
import { createEventBroadcaster, type EventRecorder } from '@kctl/events';
import { createCluster, createManager as createBareManager, type Manager } from '@kctl/manager';
import { createPrometheusMetrics, type PrometheusMetrics } from '@kctl/metrics';
import { createConsoleLogger } from '@kctl/telemetry';
import { systemClock } from '@kctl/wait';
import { createWebhookServer } from '@kctl/webhook';
import { Registry } from 'prom-client';
import { createLeadership } from './leadership.js';
import type { ConnectionOptions, RuntimeManager, RuntimeManagerOptions } from './runtime-options.js';

/**
 * Makes a manager with everything behind it: a client over HTTPS, a cache of informers, a client that reads from the
 * cache and writes to the server, leader election, health and metrics. Starts nothing; one small request may be needed
 * to find credentials. Mirrors `ctrl.NewManager`.
 *
 * @throws KubeConfigError when no API server is configured; TypeError, RangeError for options that cannot be right
 */
export async function createManager(options: RuntimeManagerOptions = {}): Promise<RuntimeManager> {
  const connection = await findConnection(options);
  if (options.metrics !== undefined) return assemble(options, connection, options.metrics);
  const metrics = createPrometheusMetrics({ registry: new Registry(), defaultMetrics: true, eventLoopLag: true });
  try {
    return assemble(options, connection, metrics);
  } catch (error) {
    metrics.close(); // it measures already
    throw error;
  }
}

function assemble(options: RuntimeManagerOptions, connection: Connection, metrics: PrometheusMetrics): RuntimeManager {
  const { http, cache: cacheOptions, client: clientOptions, webhook, leaderElection, ...rest } = options;
  const logger = options.logger ?? createConsoleLogger();
  const clock = options.clock ?? systemClock;
  const wired = { logger, metrics, clock };

  const liveClient = createHttpClient({ ...http, ...wired, connection });
  const events = createEventBroadcaster({ ...wired, client: liveClient });
  const userAgent = http?.userAgent ?? defaultUserAgent({ program: http?.program });
  const leadership =
    leaderElection === undefined
      ? undefined
      : createLeadership(leaderElection, { connection, events, userAgent, ...wired });
  const cache = createCache({ ...cacheOptions, ...wired, client: liveClient });
  const writer = leadership === undefined ? liveClient : leadership.fence(liveClient);
  const client = createDelegatingClient({ ...clientOptions, ...wired, cache, client: writer });
  const mapper = createRestMapper({ transport: liveClient.transport, kinds: builtInKinds, clock });
  const manager = createBareManager({
    webhookServer: createWebhookServer({ ...webhook, ...wired }),
    ...withoutConnection(rest),
    ...wired,
    cluster: createCluster({ client, apiReader: liveClient, cache, mapper, events }),
    ...(leadership === undefined ? {} : { leaderElection: leadership.options }),
  });
  const runBare = manager.run.bind(manager);
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      await runBare(signal);
    } finally {
      metrics.close();
      await Promise.all([liveClient[Symbol.asyncDispose](), leadership?.dispose()]);
    }
  };
  const recorder = (controller: string): EventRecorder => events.recorder(controller);
  if (!hasParts(manager, { cache, client }))
    throw new TypeError('unreachable: the manager has another cache or client than it was given');
  return Object.assign(manager, { liveClient, metrics, recorder, run });
}

/** The manager knows its parts by what it needs of them; here they are known as what they are. */
function hasParts(manager: Manager, parts: Parts): manager is Manager & Parts {
  return manager.cache === parts.cache && manager.client === parts.client;
}

interface Parts {
  readonly cache: Cache;
  readonly client: DelegatingClient;
}

async function findConnection({
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
