// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- it declares modules, which an import would turn into augmentations
/// <reference path="./undici-files.d.ts" />
/** The parts of undici that reach a server through a proxy, by file; see `undici-parts.ts`. */
import type * as index from 'undici';
import { Pool } from './undici-parts.js';
import connect from 'undici/lib/api/api-connect.js';
import proxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import socks5ProxyAgent from 'undici/lib/dispatcher/socks5-proxy-agent.js';

export const ProxyAgent: typeof index.ProxyAgent = proxyAgent;
export const Socks5ProxyAgent: typeof index.Socks5ProxyAgent = socks5ProxyAgent;

/** For `clientFactory` of a `ProxyAgent`, which opens tunnels by a method that otherwise only the index adds. */
export function poolWithConnect(origin: URL, options: object): index.Pool {
  return Object.assign(new Pool(origin, options), { connect });
}
