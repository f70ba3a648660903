// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- it declares modules, which an import would turn into augmentations
/// <reference path="./undici-files.d.ts" />
/** The parts of undici that reach a server through a proxy, by file; see `undici-parts.ts`. */
import type { Connection } from '@kctl/client/internal/connection';
import type * as index from 'undici';
import { keepAliveProbeMs } from './keep-alive.js';
import { Pool } from './undici-parts.js';
import connect from 'undici/lib/api/api-connect.js';
import proxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import Socks5ProxyAgent from 'undici/lib/dispatcher/socks5-proxy-agent.js';

export const ProxyAgent: typeof index.ProxyAgent = proxyAgent;

/** Opens streams through a SOCKS5 proxy, which resolves the names of servers. Aborted by the deadline of the tunnel itself. */
export function dialThroughSocks(proxyUrl: string, connectTimeoutMs: number): NonNullable<Connection['dial']> {
  const proxy = new Socks5ProxyAgent(proxyUrl, { connectTimeout: connectTimeoutMs });
  return async ({ host, port }) => {
    const socket = await proxy.createSocks5Connection(host, port);
    return socket.setKeepAlive(true, keepAliveProbeMs);
  };
}

/** For `clientFactory` of a `ProxyAgent`, which opens tunnels by a method that otherwise only the index adds. */
export function poolWithConnect(origin: URL, options: object): index.Pool {
  return Object.assign(new Pool(origin, options), { connect });
}
