import { Dispatcher, Pool, ProxyAgent, Socks5ProxyAgent } from 'undici/index.js';
import { expect, it } from 'vitest';
import * as parts from './undici-parts.js';
import * as proxies from './undici-proxies.js';

it('are the classes of the index', () => {
  expect(parts.Pool).toBe(Pool);
  expect(proxies.ProxyAgent).toBe(ProxyAgent);
  // Not in its types: what dials through SOCKS calls it.
  expect(Reflect.get(Socks5ProxyAgent.prototype, 'createSocks5Connection')).toBeTypeOf('function');
});

it('open tunnels as every dispatcher does once the index is loaded', async () => {
  const pool = proxies.poolWithConnect(new URL('http://127.0.0.1:1'), {});
  expect(pool.connect).toBe(Dispatcher.prototype.connect);
  await pool.destroy();
});
