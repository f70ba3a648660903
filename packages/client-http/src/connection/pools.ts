import type { RequestDispatcher } from '@kctl/client/connection';
import { Pool, poolWithConnect, ProxyAgent, Socks5ProxyAgent } from './undici-parts.js';

/** What a TLS connection needs, as bytes. */
export interface TlsMaterial {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
}

/** What all pools of a client share. */
export interface PoolSettings {
  readonly origin: string;
  readonly serverName?: string | undefined;
  readonly rejectUnauthorized: boolean;
  readonly proxyUrl?: string | undefined;
  readonly http2: boolean;
  /** Connections for requests. Watches have pools of their own and open one each. */
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

/** Probes a silent connection after this many ms; libuv then gives it up after ten unanswered probes, a second apart. */
const keepAliveProbeMs = 30_000;
/** Keeps an idle connection this long, in ms, unless the server announces less. Shorter than usual load balancers'. */
const idleConnectionMs = 30_000;

/** Opens the pools. No connection is made before the first request. */
export function createPoolPair(settings: PoolSettings, tls: TlsMaterial): PoolPair {
  const watches = createPool(settings, tls, null);
  return {
    requests: createPool(settings, tls, settings.maxConnections),
    watches,
    upgrades: settings.http2 ? createPool({ ...settings, http2: false }, tls, null) : watches,
  };
}

function createPool(settings: PoolSettings, tls: TlsMaterial, connections: number | null): RequestDispatcher {
  const { origin, proxyUrl, http2 } = settings;
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
  if (proxyUrl === undefined) return new Pool(origin, { ...options, connect });
  if (proxyUrl.startsWith('socks')) return new Socks5ProxyAgent(proxyUrl, { ...options, requestTls: connect });
  return new ProxyAgent({ ...options, uri: proxyUrl, requestTls: connect, clientFactory: poolWithConnect });
}
