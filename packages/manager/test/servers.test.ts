import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { request } from 'node:http';
import type { LogFields, Logger } from '@kctl/telemetry';
import { noopLogger, noopMetrics } from '@kctl/telemetry';
import { systemClock } from '@kctl/wait';
import { FakeClock, settle } from '@kctl/wait/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { HealthCheck, HttpServer } from '../src/index.js';
import { createHttpServer, createManager } from '../src/index.js';
import { createHealthHandler } from '../src/health.js';
import { createMetricsServer } from '../src/metrics-server.js';
import { createProfilingServer } from '../src/profiling.js';
import { fakeCluster } from './fakes.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const host = '127.0.0.1';
const base = { logger: noopLogger, clock: systemClock, host, port: 0 };

async function serve(server: HttpServer): Promise<string> {
  const stop = new AbortController();
  const done = server.run(stop.signal);
  cleanups.push(() => {
    stop.abort();
    return done;
  });
  await Promise.race([server.waitForReady?.(stop.signal), done]);
  return `http://${host}:${server.address?.port ?? 0}`;
}

const read = async (url: string, init?: RequestInit): Promise<[number, string]> => {
  const response = await fetch(url, init);
  return [response.status, await response.text()];
};

async function silentConnection(port: number): Promise<Socket> {
  const socket = connect(port, host);
  socket.on('error', () => undefined);
  cleanups.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

describe('the stop of a manager', () => {
  it('does not wait for connections that say nothing, on its health and metrics servers', async () => {
    const addresses: { readonly port: number }[] = [];
    const logger: Logger = {
      ...noopLogger,
      info: (message, fields) => {
        if (message === 'starting server') addresses.push(fields?.['addr'] as { port: number });
      },
    };
    const metrics = { ...noopMetrics, export: async () => ({ contentType: 'text/plain', body: '' }) };
    const manager = createManager({
      cluster: fakeCluster(),
      logger,
      metrics,
      health: { host, port: 0 },
      metricsServer: { host, port: 0 },
      profiling: { port: 0 },
      gracefulShutdownTimeoutMs: 5_000,
    });
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    expect(addresses).toHaveLength(3);
    const sockets = await Promise.all(addresses.map(({ port }) => silentConnection(port)));
    stop.abort();
    await expect(done).resolves.toBeUndefined(); // 5 s of grace would have been a StopTimeoutError
    await Promise.all(sockets.map(async (socket) => socket.closed || (await once(socket, 'close'))));
  });
});

describe('a server', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('hook');
      },
    ],
    ['rejects', () => Promise.reject(new Error('hook')) as never],
  ])('serves although its hook %s, and says so', async (_how, onListening) => {
    const lines: [string, LogFields | undefined][] = [];
    const logger: Logger = { ...noopLogger, error: (message, fields) => void lines.push([message, fields]) };
    const ok = (_request: unknown, response: { end(text: string): unknown }): boolean => {
      response.end('ok');
      return true;
    };
    const url = await serve(createHttpServer({ ...base, name: 'x', logger, handlers: [ok], onListening }));
    expect(await read(url)).toEqual([200, 'ok']);
    expect(lines).toEqual([['onListening of a server failed', { name: 'x', error: new Error('hook') }]]);
  });

  it('takes a request for handled whose handler has answered, whatever it returned', async () => {
    const lines: string[] = [];
    const logger: Logger = { ...noopLogger, error: (message) => void lines.push(message) };
    const forgetful = ((_request: unknown, response: { end(text: string): unknown }): void => {
      response.end('mine');
    }) as never;
    const url = await serve(createHttpServer({ ...base, name: 'x', logger, handlers: [forgetful] }));
    expect(await read(url)).toEqual([200, 'mine']);
    expect(lines).toEqual([]);
  });
});

describe('a health check', () => {
  const serveChecks = async (checks: Record<string, HealthCheck>, clock = new FakeClock()) => {
    const failures: string[] = [];
    const handler = createHealthHandler({
      path: '/healthz',
      checks: new Map(Object.entries(checks)),
      onFailure: (name, error) => failures.push(`${name}: ${String(error)}`),
      checkTimeoutMs: 2_000,
      clock,
    });
    const url = await serve(createHttpServer({ ...base, name: 'health probe', handlers: [handler] }));
    return { url, failures, clock };
  };

  it('that hangs fails at its deadline, and is not begun again before it has ended', async () => {
    let [begun, aborted] = [0, 0];
    const end = Promise.withResolvers<undefined>();
    const hung: HealthCheck = async (_request, signal) => {
      begun++;
      signal.addEventListener('abort', () => aborted++);
      await end.promise;
    };
    const t = await serveChecks({ hung, well: () => undefined });
    const first = read(`${t.url}/healthz`);
    while (begun === 0) await settle();
    await t.clock.advance(2_000);
    expect(await first).toEqual([500, '[-]hung failed: reason withheld\n[+]well ok\nhealthz check failed\n']);
    expect((await read(`${t.url}/healthz/hung`))[0]).toBe(500);
    expect([begun, aborted]).toEqual([1, 1]);
    expect(t.failures).toHaveLength(2);
    expect(t.failures[0]).toContain('hung: Error: the check has not answered within 2000 ms');
    end.resolve(undefined);
    await settle();
    expect(await read(`${t.url}/healthz/hung`)).toEqual([200, 'ok']);
    expect(begun).toBe(2);
  });

  it.each(['/healthz/%zz', '/healthz/%', '/healthz/%E0%A4%A', '/healthz/..%2f', '/healthz/%00'])(
    'that does not exist is not found: %s',
    async (path) => {
      const { url } = await serveChecks({});
      expect((await read(`${url}${path}`))[0]).toBe(404);
    },
  );

  it.each(['//', '//evil/healthz', '*', 'http://[/healthz', '/healthz?%zz'])(
    'is asked for by any request target without failing: %s',
    async (path) => {
      const { url } = await serveChecks({});
      const { port } = new URL(url);
      const status = await new Promise<number>((resolve, reject) => {
        const raw = connect(Number(port), host, () =>
          raw.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
        );
        raw.once('data', (data) => resolve(Number(data.toString().split(' ')[1])));
        raw.once('error', reject);
      });
      expect(status).toBeLessThan(500);
    },
  );
});

describe('profiling', () => {
  it.each([
    ['another host', { host: 'attacker.example:6060' }],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'https://attacker.example' }],
    ['an opaque origin', { origin: 'null' }],
  ])('refuses requests of %s', async (_, headers) => {
    const { port } = new URL(await serve(createProfilingServer(base)));
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request({ host, port, path: '/debug/pprof/profile?seconds=0.01', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });

  it('takes one profile or snapshot at a time, and the next as soon as the client has hung up', async () => {
    const clock = new FakeClock();
    const url = await serve(createProfilingServer({ ...base, clock }));
    const hangUp = new AbortController();
    const first = fetch(`${url}/debug/pprof/profile?seconds=300`, { signal: hangUp.signal }).catch(() => 'hung up');
    while ((await read(`${url}/debug/pprof/heap?probe`))[0] !== 409) await settle();
    expect((await read(`${url}/debug/pprof/profile?seconds=1`))[0]).toBe(409);
    hangUp.abort();
    expect(await first).toBe('hung up');
    // Until the server has noticed, it answers 409.
    let next = 409;
    while (next === 409) {
      const asked = read(`${url}/debug/pprof/profile?seconds=0.01`);
      await Promise.race([asked, clock.advance(10).then(() => settle())]);
      for (let turn = 0; turn < 50; turn++) await clock.advance(10);
      [next] = await asked;
    }
    expect(next).toBe(200);
  });
});

describe('metrics without authentication', () => {
  const warningsOf = async (options: object): Promise<(string | LogFields | undefined)[][]> => {
    const warnings: (string | LogFields | undefined)[][] = [];
    const server = createMetricsServer({
      server: { port: 0, ...options },
      exporter: { export: async () => ({ contentType: 'text/plain', body: '' }) },
      extra: new Map([['/debug', () => true]]),
      metrics: noopMetrics,
      logger: { ...noopLogger, warn: (message, fields) => void warnings.push([message, fields]) },
      clock: systemClock,
    });
    await serve(server);
    return warnings;
  };

  it('are announced when they are served to every address, with what is open', async () => {
    const [warning] = await warningsOf({});
    expect(warning?.[0]).toContain('without authentication');
    expect(warning?.[1]).toMatchObject({ paths: ['/metrics', '/debug'] });
  });

  it.each([{ host }, { host: 'localhost' }, { filter: () => false }])('are not announced with %o', async (options) => {
    expect(await warningsOf(options)).toEqual([]);
  });
});
