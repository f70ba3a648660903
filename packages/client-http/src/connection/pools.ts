import type { Connection, RequestDispatcher } from '@kctl/client/internal/connection';
import { keepAliveProbeMs } from './keep-alive.js';

/** The material of a TLS connection, as bytes. */
export interface TlsMaterial {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
}

/** Settings shared by all pools of a client. */
export interface PoolSettings {
  readonly origin: string;
  readonly serverName?: string | undefined;
  readonly rejectUnauthorized: boolean;
  readonly proxyUrl?: string | undefined;
  /** Opens the streams that connections run on; there is no proxy then. */
  readonly dial?: Connection['dial'];
  readonly http2: boolean;
  /** Connections for requests. Watches have separate pools and open one connection each. */
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
}

/** Two pools, so that watches, which hold a connection for minutes, cannot starve requests. */
export interface PoolPair {
  readonly requests: RequestDispatcher;
  readonly watches: RequestDispatcher;
  /** For connections that switch protocols: HTTP/1.1, as API servers do not switch streams of HTTP/2. */
  readonly upgrades: RequestDispatcher;
}

/** Keeps an idle connection this long, in ms, unless the server announces less. Shorter than usual load balancers'. */
const idleConnectionMs = 30_000;

/** Makes the pools of one client. No connection is made before the first request. */
export type OpenPools = (tls: TlsMaterial) => PoolPair;

/**
 * Loads the connection code, which is half of the cost of importing this package, when the first connection is needed.
 */
export async function loadPools(settings: PoolSettings): Promise<OpenPools> {
  const dial = settings.dial ?? (await socksDial(settings));
  const newDispatcher = await loadDispatcher(dial === undefined ? settings.proxyUrl : undefined);
  const connector = dial === undefined ? undefined : (await import('./dialed.js')).dialConnector;
  const create = (given: PoolSettings, tls: TlsMaterial, connections: number | null): RequestDispatcher => {
    const [options, connect] = poolOptions(given, tls, connections);
    const connecting = dial === undefined ? undefined : connector?.(dial, given, tls);
    return newDispatcher(given.origin, options, connecting ?? connect);
  };
  return (tls) => {
    const watches = create(settings, tls, null);
    return {
      requests: create(settings, tls, settings.maxConnections),
      watches,
      upgrades: settings.http2 ? create({ ...settings, http2: false }, tls, null) : watches,
    };
  };
}

/** A tunnel is a stream as any other: TLS on it is ours. */
async function socksDial({ proxyUrl, connectTimeoutMs }: PoolSettings): Promise<Connection['dial']> {
  if (proxyUrl?.startsWith('socks') !== true) return undefined;
  const { dialThroughSocks } = await import('./undici-proxies.js');
  return dialThroughSocks(proxyUrl, connectTimeoutMs);
}

type NewDispatcher = (origin: string, options: object, connect: object) => RequestDispatcher;

/** The route to the server, direct or through a proxy. */
async function loadDispatcher(proxyUrl: string | undefined): Promise<NewDispatcher> {
  if (proxyUrl === undefined) {
    const { Pool } = await import('./undici-parts.js');
    return (origin, options, connect) => new Pool(origin, { ...options, connect });
  }
  const { poolWithConnect, ProxyAgent } = await import('./undici-proxies.js');
  return (_origin, options, requestTls) =>
    new ProxyAgent({ ...options, uri: proxyUrl, requestTls, clientFactory: poolWithConnect });
}

/** The options of a pool, and of its connections. */
function poolOptions(settings: PoolSettings, tls: TlsMaterial, connections: number | null): [object, object] {
  const { http2 } = settings;
  const connect = {
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls.key === undefined ? {} : { key: tls.key }),
    ...(settings.serverName === undefined ? {} : { servername: settings.serverName }),
    rejectUnauthorized: settings.rejectUnauthorized,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveProbeMs,
    timeout: settings.connectTimeoutMs,
  };
  const options = {
    connections,
    allowH2: http2,
    keepAliveTimeout: idleConnectionMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(http2 ? { h2Options: { pingInterval: keepAliveProbeMs } } : {}),
  };
  return [options, connect];
}
