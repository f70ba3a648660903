import type { Kind, KubeObject } from '@kctl/apimachinery';
import { createApiServer } from '@kctl/apiserver';
import { createPrometheusMetrics } from '@kctl/metrics';
import { Registry } from 'prom-client';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock, settle } from '@kctl/wait/testing';
import type { Logger } from '@kctl/telemetry';
import { noopLogger, noopMetrics } from '@kctl/telemetry';
import { systemClock } from '@kctl/wait';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpHandler, HttpServer } from '../src/index.js';
import { createAccessFilter, createHttpServer, createManager, ping, stopOnSignals } from '../src/index.js';
import { createProfilingServer } from '../src/profiling.js';
import { createMetricsServer } from '../src/metrics-server.js';
import { createHealthHandler } from '../src/health.js';
import { FakeCache, fakeCluster } from './fakes.js';

const cleanups: (() => PromiseLike<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** Runs a server on a free port of the loopback interface. */
async function serve(server: HttpServer): Promise<string> {
  const stop = new AbortController();
  const done = server.run(stop.signal);
  cleanups.push(() => {
    stop.abort();
    return done;
  });
  await Promise.race([server.waitForReady?.(stop.signal), done]);
  return `http://127.0.0.1:${server.address?.port ?? 0}`;
}

const host = '127.0.0.1';
const base = { logger: noopLogger, clock: systemClock, host, port: 0 };
const read = async (url: string, init?: RequestInit): Promise<[number, string]> => {
  const response = await fetch(url, init);
  return [response.status, await response.text()];
};

describe('a listener of the caller', () => {
  it('serves health on a Unix socket, and removes it at the end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kctl-manager-'));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'health.sock');
    const server = createHttpServer({ ...base, name: 'health probe', listener: { path }, handlers: [ok] });
    const stop = new AbortController();
    const running = server.run(stop.signal);
    await server.waitForReady?.(stop.signal);
    expect(server.address).toEqual({ host: path, port: 0 });
    const code = await new Promise((resolve, reject) =>
      httpRequest({ socketPath: path, path: '/' }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end(),
    );
    expect(code).toBe(200);
    stop.abort();
    await running;
    await expect(access(path)).rejects.toThrow('ENOENT');
    const twice = createHttpServer({
      ...base,
      name: 'other',
      listener: { path: join(folder, 'none', 'x') },
      handlers: [],
    });
    await expect(twice.run(new AbortController().signal)).rejects.toThrow('error listening on {"path":');
    expect(() => createHttpServer({ ...base, name: 'bad', listener: {} as never, handlers: [] })).toThrow('listener');
  });
});

const ok: HttpHandler = (_, response) => {
  response.writeHead(200).end();
  return true;
};

describe('health endpoints', () => {
  const failures: string[] = [];
  const serveChecks = (checks: Record<string, () => void>) =>
    serve(
      createHttpServer({
        ...base,
        name: 'health probe',
        handlers: [
          createHealthHandler({
            path: '/readyz',
            checks: new Map(Object.entries(checks)),
            onFailure: (name) => failures.push(name),
          }),
        ],
      }),
    );
  const bad = (): void => {
    throw new Error('secret reason');
  };

  it('answers ok, also without any check, and each check by its path', async () => {
    const url = await serveChecks({});
    expect(await read(`${url}/readyz`)).toEqual([200, 'ok']);
    expect(await read(`${url}/readyz/`)).toEqual([200, 'ok']);
    expect(await read(`${url}/readyz/ping`)).toEqual([200, 'ok']);
    expect(await read(`${url}/readyz?verbose`)).toEqual([200, '[+]ping ok\nreadyz check passed\n']);
    expect((await read(`${url}/readyz/none`))[0]).toBe(404);
    expect((await read(`${url}/healthz`))[0]).toBe(404);
  });

  it('answers 500 with every check but no reason when one fails', async () => {
    const url = await serveChecks({ b: bad, a: () => undefined });
    const report = '[+]a ok\n[-]b failed: reason withheld\nreadyz check failed\n';
    expect(await read(`${url}/readyz`)).toEqual([500, report]);
    expect(failures.splice(0)).toEqual(['b']);
    expect((await read(`${url}/readyz/b`))[0]).toBe(500);
    expect(await read(`${url}/readyz/a`)).toEqual([200, 'ok']);
  });

  it('leaves out what is excluded, and says what it does not know', async () => {
    const url = await serveChecks({ a: () => undefined, b: bad });
    expect(await read(`${url}/readyz?exclude=b`)).toEqual([200, 'ok']);
    expect((await read(`${url}/readyz?exclude=b&exclude=x&verbose`))[1]).toBe(
      '[+]a ok\n[+]b excluded: ok\nwarn: some health checks cannot be excluded: no matches for "x"\nreadyz check passed\n',
    );
  });
});

describe('the health server of a manager', () => {
  it('answers before the caches have synced, knows what is not ready, and says why an informer is not', async () => {
    const clock = new FakeClock();
    const cache = new FakeCache([], false);
    const registry = new Registry();
    const metrics = createPrometheusMetrics({ registry });
    const ports: number[] = [];
    const logger: Logger = {
      ...noopLogger,
      info: (_message, fields) => {
        const address = fields?.['addr'];
        if (typeof address === 'object' && address !== null && 'port' in address) ports.push(Number(address.port));
      },
    };
    const manager = createManager({
      cluster: fakeCluster(cache),
      clock,
      metrics,
      logger,
      health: { host, port: 0 },
      metricsServer: { host, port: 0 },
    });
    manager.addReadyzCheck('ping', ping);
    for (const path of ['/extra', '/', '/debug/', '/debug/deep/'])
      manager.addMetricsHandler(path, (_request, response) => {
        response.end(path);
        return true;
      });
    metrics.counter({ name: 'hello_total', help: 'Hello.' }).with({}).inc();
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    while (ports.length < 2) await settle();
    const [metricsUrl, healthUrl] = ports.map((port) => `http://127.0.0.1:${port}`);
    expect(await read(`${healthUrl}/healthz`)).toEqual([200, 'ok']);
    expect(await read(`${healthUrl}/readyz`)).toEqual([
      500,
      '[-]caches failed: reason withheld\n[+]informers ok\n[+]ping ok\nreadyz check failed\n',
    ]);
    cache.synced.resolve(undefined);
    await manager.elected;
    expect(await read(`${healthUrl}/readyz`)).toEqual([200, 'ok']);
    const kind = { group: '', version: 'v1', kind: 'Pod' };
    const trouble = { reason: 'forbidden', message: 'no' };
    const informers = async (phase: string): Promise<number> => {
      cache.reports = [{ kind, state: { phase }, trouble }];
      return (await read(`${healthUrl}/readyz/informers`))[0];
    };
    expect(await informers('retrying')).toBe(200);
    await clock.advance(30_000);
    expect(await informers('listing')).toBe(200);
    await clock.advance(1);
    expect(await informers('retrying')).toBe(500);
    expect(await informers('watching')).toBe(200);
    expect(await informers('retrying')).toBe(200);
    expect((await read(`${metricsUrl}/metrics`))[1]).toContain('hello_total 1');
    // As Go's ServeMux: what is exact goes first, then the longest path with a slash at its end.
    expect(await read(`${metricsUrl}/extra`)).toEqual([200, '/extra']);
    expect(await read(`${metricsUrl}/`)).toEqual([200, '/']);
    expect(await read(`${metricsUrl}/metrics/`)).toEqual([200, '/']);
    expect(await read(`${metricsUrl}/debug/x`)).toEqual([200, '/debug/']);
    expect(await read(`${metricsUrl}/debug/deep/x`)).toEqual([200, '/debug/deep/']);
    expect(await read(`${metricsUrl}/debug/deep`)).toEqual([200, '/debug/deep/']); // by a redirect
    const { url } = await fetch(`${metricsUrl}/debug/deep?key=a%2Fb&limit=2`);
    expect(url).toBe(`${metricsUrl}/debug/deep/?key=a%2Fb&limit=2`);
    expect(() => manager.addMetricsHandler('/late', () => true)).toThrow('already been created');
    stop.abort();
    await done;
    await expect(fetch(`${healthUrl}/healthz`)).rejects.toThrow();
  });

  it.each([
    ['/health', '/health/ready'],
    ['/health/live', '/health'],
  ])('serves liveness at %s and readiness at %s, one below the other', async (livenessPath, readinessPath) => {
    const listening = Promise.withResolvers<number>();
    const logger: Logger = {
      ...noopLogger,
      info: (_message, fields) => {
        const address = fields?.['addr'];
        if (typeof address === 'object' && address !== null && 'port' in address)
          listening.resolve(Number(address.port));
      },
    };
    const health = { host, port: 0, livenessPath, readinessPath, builtInChecks: false };
    const manager = createManager({ cluster: fakeCluster(), logger, health });
    manager.addHealthzCheck('alive', () => undefined);
    manager.addReadyzCheck('prepared', () => undefined);
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    const url = `http://${host}:${await listening.promise}`;
    expect((await read(`${url}${livenessPath}?verbose`))[1]).toContain('[+]alive ok');
    expect((await read(`${url}${readinessPath}?verbose`))[1]).toContain('[+]prepared ok');
    expect(await read(`${url}${readinessPath}/prepared`)).toEqual([200, 'ok']);
    stop.abort();
    await done;
  });

  it('fails the run when its port is taken', async () => {
    const taken = createHttpServer({ ...base, name: 'first', handlers: [] });
    await serve(taken);
    const manager = createManager({
      cluster: fakeCluster(),
      health: { host, port: taken.address?.port ?? 0 },
    });
    await expect(manager.run(new AbortController().signal)).rejects.toThrow(/error listening on 127\.0\.0\.1:\d+/);
  });
});

describe('createHttpServer', () => {
  it('answers 500 for a handler that fails, and lets open requests finish', async () => {
    const gate = Promise.withResolvers<undefined>();
    const asked = Promise.withResolvers<undefined>();
    const broken: HttpHandler = (incoming) => {
      if (incoming.url === '/broken') throw new Error('boom');
      return false;
    };
    const slow: HttpHandler = async (_incoming, response) => {
      asked.resolve(undefined);
      await gate.promise;
      response.end('done');
      return true;
    };
    const server = createHttpServer({ ...base, name: 'test', handlers: [broken, slow] });
    const stop = new AbortController();
    const done = server.run(stop.signal);
    await server.waitForReady?.(stop.signal);
    const url = `http://127.0.0.1:${server.address?.port ?? 0}`;
    expect((await read(`${url}/broken`))[0]).toBe(500);
    const answer = read(`${url}/slow`);
    await asked.promise;
    stop.abort();
    gate.resolve(undefined);
    expect(await answer).toEqual([200, 'done']);
    await done;
  });
});

describe('createAccessFilter', () => {
  function setUp() {
    const clock = new FakeClock();
    const asked: string[] = [];
    const state = { failures: 0 };
    const filter = createAccessFilter({
      clock,
      logger: noopLogger,
      random: () => 0,
      client: {
        create: async <K extends Kind>(kind: K, object: unknown) => {
          asked.push(kind.kind);
          if (state.failures-- > 0) throw new Error('down');
          const { spec } = object as { spec: { token?: string; user?: string; nonResourceAttributes?: object } };
          const status =
            kind.kind === 'TokenReview'
              ? { authenticated: spec.token !== 'bad', user: { username: spec.token, groups: ['g'] } }
              : { allowed: spec.user === 'jane' };
          return { metadata: {}, spec, status } as KubeObject as never;
        },
      },
    });
    const exporter = { export: async () => ({ contentType: 'text/plain', body: 'numbers' }) };
    const server = createMetricsServer({
      server: { host, port: 0, filter },
      exporter,
      extra: new Map(),
      metrics: noopMetrics,
      logger: noopLogger,
      clock: systemClock,
    });
    const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    return { clock, asked, state, server, as };
  }

  it('asks for a token the server knows and for the permission on the path', async () => {
    const t = setUp();
    const url = `${await serve(t.server)}/metrics`;
    expect((await read(url))[0]).toBe(401);
    expect((await read(url, t.as('bad')))[0]).toBe(401);
    expect(await read(url, t.as('joe'))).toEqual([403, 'Authorization denied for user joe\n']);
    expect(await read(url, t.as('jane'))).toEqual([200, 'numbers']);
  });

  it('remembers tokens for 1 min, an allowance for 5 min, a refusal for 30 s', async () => {
    const t = setUp();
    const url = `${await serve(t.server)}/metrics`;
    const ask = async (token: string): Promise<string[]> => {
      await read(url, t.as(token));
      return t.asked.splice(0);
    };
    const [token, access] = ['TokenReview', 'SubjectAccessReview'];
    expect(await ask('jane')).toEqual([token, access]);
    expect(await ask('joe')).toEqual([token, access]);
    expect(await ask('jane')).toEqual([]);
    await t.clock.advance(30_000);
    expect(await ask('joe')).toEqual([access]);
    await t.clock.advance(30_000);
    expect(await ask('jane')).toEqual([token]);
    await t.clock.advance(240_000);
    expect(await ask('jane')).toEqual([token, access]);
  });

  it('tries again, and answers 500 when the server cannot be asked', async () => {
    const t = setUp();
    const url = `${await serve(t.server)}/metrics`;
    t.state.failures = 2;
    const answer = read(url, t.as('jane'));
    while (t.asked.length < 1) await settle();
    await t.clock.advance(500 + 750);
    expect((await answer)[0]).toBe(200);
    t.state.failures = 99;
    t.asked.length = 0;
    const failing = read(url, t.as('other'));
    while (t.asked.length < 1) await settle();
    await t.clock.advance(10_000);
    expect((await failing)[0]).toBe(500);
    expect(t.asked.length).toBe(5);
  });
});

describe('TLS', () => {
  it('serves metrics over HTTPS', async () => {
    const authority = createApiServer({ listen: false });
    await authority.start();
    const { cert, key } = authority.issueClientCertificate('localhost');
    await authority.stop();
    const exporter = { export: async () => ({ contentType: 'text/plain', body: 'numbers' }) };
    const server = createMetricsServer({
      server: { host, port: 0, tls: { cert, key } },
      exporter,
      extra: new Map(),
      metrics: noopMetrics,
      logger: noopLogger,
      clock: systemClock,
    });
    await serve(server);
    const body = await new Promise<string>((resolve, reject) => {
      const options = { host, port: server.address?.port, path: '/metrics', rejectUnauthorized: false };
      request(options, (response) => {
        response.setEncoding('utf8');
        response.on('data', resolve);
      })
        .on('error', reject)
        .end();
    });
    expect(body).toBe('numbers');
  });
});

describe('profiling', () => {
  it('takes CPU profiles and heap snapshots', async () => {
    const url = await serve(createProfilingServer(base));
    const [status, body] = await read(`${url}/debug/pprof/profile?seconds=0.05`);
    expect([status, Object.keys(JSON.parse(body) as object)]).toEqual([
      200,
      expect.arrayContaining(['nodes', 'samples']),
    ]);
    expect((await read(`${url}/debug/pprof/profile?seconds=x`))[0]).toBe(400);
    const heap = await fetch(`${url}/debug/pprof/heap`);
    const reader = heap.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value).slice(0, 12)).toBe('{"snapshot":');
    await reader?.cancel();
  });
});

describe('a stop of the profiling server', () => {
  it('ends the profile that is being taken instead of waiting for it', async () => {
    const clock = new FakeClock(); // the second never passes
    const stop = new AbortController();
    const server = createProfilingServer({ ...base, clock });
    const done = server.run(stop.signal);
    await Promise.race([server.waitForReady?.(stop.signal), done]);
    const url = `http://${host}:${server.address?.port ?? 0}/debug/pprof/profile?seconds=1`;
    const cut = expect(fetch(url)).rejects.toThrow();
    while (clock.nextTimerInMs !== 1_000) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await done;
    await cut;
  });
});

describe('stopOnSignals', () => {
  it('aborts on the first signal and exits on the second', () => {
    const listeners = new Map<string, () => void>();
    const exits: number[] = [];
    const target = {
      on: (signal: string, listener: () => void) => listeners.set(signal, listener),
      off: (signal: string) => listeners.delete(signal),
      exit: (code: number) => void exits.push(code),
    };
    const stop = stopOnSignals(target);
    listeners.get('SIGTERM')?.();
    expect([stop.signal.aborted, exits]).toEqual([true, []]);
    listeners.get('SIGINT')?.();
    expect(exits).toEqual([1]);
    stop[Symbol.dispose]();
    expect(listeners.size).toBe(0);
  });
});
