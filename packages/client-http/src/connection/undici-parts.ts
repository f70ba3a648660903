// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- it declares modules, which an import would turn into augmentations
/// <reference path="./undici-files.d.ts" />
/**
 * The parts of undici that carry requests, by file: its index also loads fetch, WebSocket, EventSource, caches, mocks and
 * interceptors, which together cost each process 80 files, 50 ms and 14 MB. And in the place of `undici`, Bun puts a stub
 * that makes no connections.
 */
import '@kctl/telemetry/require-in-bundles'; // before a CommonJS package
import type * as index from 'undici';
import connect from 'undici/lib/api/api-connect.js';
import pool from 'undici/lib/dispatcher/pool.js';
import proxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import socks5ProxyAgent from 'undici/lib/dispatcher/socks5-proxy-agent.js';

export const Pool: typeof index.Pool = pool;
export const ProxyAgent: typeof index.ProxyAgent = proxyAgent;
export const Socks5ProxyAgent: typeof index.Socks5ProxyAgent = socks5ProxyAgent;

/** For `clientFactory` of a `ProxyAgent`, which opens tunnels by a method that otherwise only the index adds. */
export function poolWithConnect(origin: URL, options: object): index.Pool {
  return Object.assign(new Pool(origin, options), { connect });
}
