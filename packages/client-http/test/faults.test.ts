import { defineKind } from '@kctl/apimachinery';
import { FakeClock } from '@kctl/wait/testing';
import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createHttpClient, isTransportError } from '../src/index.js';
import type { HttpClient, HttpClientOptions } from '../src/index.js';
import { RecordingLogger } from './support/recording-logger.js';
import { failure, json, startServer } from './support/server.js';
import type { SeenRequest, TestServer } from './support/server.js';

const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });
const node = (name: string): { metadata: { name: string } } => ({ metadata: { name } });

let server: TestServer;
const clients: HttpClient[] = [];

const open = (options: HttpClientOptions = {}): HttpClient => {
  const client = createHttpClient({ connection: { server: server.url }, ...options });
  clients.push(client);
  return client;
};
const turn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await turn();
};
const answer = (response: ServerResponse): void => json(response, { apiVersion: 'v1', kind: 'Node', ...node('n') });
const reset = (request: SeenRequest): void => void request.message.socket.resetAndDestroy();

beforeEach(async () => {
  server = await startServer((_request, response) => answer(response));
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe('repeating requests', () => {
  it.each([429, 500, 503])('repeats a %d with Retry-After in seconds, also a create', async (code) => {
    const clock = new FakeClock();
    server.handler = (_request, response) =>
      server.requests.length === 1 ? failure(response, code, {}, { 'retry-after': '3' }) : answer(response);
    const created = open({ clock }).create(Node, node('n'));
    await until(() => clock.nextTimerInMs === 3000);
    expect(server.requests).toHaveLength(1);
    await clock.advance(3000);
    await expect(created).resolves.toMatchObject({ kind: 'Node' });
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'POST']);
    expect(server.requests[1]?.body).toBe(server.requests[0]?.body);
    await until(() => clock.pendingTimers === 0);
  });

  it('repeats what may not be executed twice only where it surely was not executed', async () => {
    const clock = new FakeClock();
    const client = open({ clock });
    const writes = [
      () => client.create(Node, { metadata: { generateName: 'n-' } }),
      () => client.create(Node, { metadata: { name: '', generateName: 'n-' } }),
      () => client.subResource(Node, 'eviction').create({ name: 'n' }, node('n')),
      () => client.patch(Node, { name: 'n' }, { type: 'json', operations: [{ op: 'add', path: '/list/-', value: 1 }] }),
    ];
    for (const write of writes) {
      server.requests.length = 0;
      server.handler = (_request, response) => failure(response, 504, {}, { 'retry-after': '1' });
      await expect(write()).rejects.toMatchObject({ httpCode: 504 });
      expect(server.requests).toHaveLength(1);
      server.handler = (_request, response) =>
        server.requests.length === 2 ? failure(response, 429, {}, { 'retry-after': '0' }) : answer(response);
      const written = write();
      await until(() => clock.pendingTimers > 0 && server.requests.length === 2);
      while (server.requests.length === 2) {
        await clock.advance(0);
        await turn();
      }
      await written;
      expect(server.requests).toHaveLength(3);
    }
  });

  it('never repeats a write whose connection was lost before its body was sent, or in the middle of it', async () => {
    const big = { metadata: { name: 'n', annotations: { big: 'x'.repeat(16 * 1024 * 1024) } } };
    const client = open();
    let seen = 0;
    for (const afterBytes of [0, 64 * 1024]) {
      server.onHeaders = (message) => {
        seen++;
        let read = 0;
        if (afterBytes === 0) message.socket.resetAndDestroy();
        else
          message.on(
            'data',
            (chunk: Buffer) => (read += chunk.length) > afterBytes && message.socket.resetAndDestroy(),
          );
        return true;
      };
      await expect(client.create(Node, big)).rejects.toMatchObject({ failure: 'reset', maybeSent: true });
    }
    expect(seen).toBe(2);
    server.onHeaders = () => false;
    await expect(client.get(Node, { name: 'n' })).resolves.toBeDefined();
  });

  it('understands Retry-After as a date', async () => {
    const clock = new FakeClock();
    const date = new Date(clock.now() + 7000).toUTCString();
    server.handler = (_request, response) =>
      server.requests.length === 1 ? failure(response, 429, {}, { 'retry-after': date }) : answer(response);
    const got = open({ clock }).get(Node, { name: 'n' });
    await until(() => clock.nextTimerInMs === 7000);
    await clock.advance(7000);
    await expect(got).resolves.toBeDefined();
  });

  it.each([429, 503])('does not repeat a %d without Retry-After, or with one that makes no sense', async (code) => {
    for (const headers of [{}, { 'retry-after': 'soon' }, { 'retry-after': '-1' }] as Record<string, string>[]) {
      server.handler = (_request, response) => failure(response, code, {}, headers);
      await expect(open().get(Node, { name: 'n' })).rejects.toMatchObject({ code: 'KCTL_STATUS', httpCode: code });
    }
    expect(server.requests).toHaveLength(3);
  });

  it('gives up after maxRetries, and at once when the server asks for more than a minute', async () => {
    server.handler = (_request, response) => failure(response, 429, {}, { 'retry-after': '0' });
    await expect(open({ maxRetries: 3 }).get(Node, { name: 'n' })).rejects.toMatchObject({ httpCode: 429 });
    expect(server.requests).toHaveLength(4);
    server.handler = (_request, response) => failure(response, 429, {}, { 'retry-after': '3600' });
    await expect(open().get(Node, { name: 'n' })).rejects.toMatchObject({
      status: { details: { retryAfterSeconds: 3600 } },
    });
    expect(server.requests).toHaveLength(5);
  });

  it('repeats a read whose connection was lost, after a second, but never a write', async () => {
    const clock = new FakeClock();
    const client = open({ clock });
    server.handler = (request, response) => (server.requests.length === 1 ? reset(request) : answer(response));
    const got = client.get(Node, { name: 'n' });
    await until(() => clock.nextTimerInMs === 1000);
    await clock.advance(1000);
    await expect(got).resolves.toBeDefined();
    server.handler = reset;
    for (const write of [
      () => client.create(Node, node('n')),
      () => client.update(Node, node('n')),
      () => client.delete(Node, { name: 'n' }),
    ])
      await expect(write()).rejects.toMatchObject({ code: 'KCTL_TRANSPORT', failure: 'reset', maybeSent: true });
    expect(server.requests).toHaveLength(5);
  });

  it('never repeats a watch, whose owner decides, nor a refused connection', async () => {
    server.handler = reset;
    await expect(open().watch(Node)).rejects.toMatchObject({ failure: 'reset' });
    expect(server.requests).toHaveLength(1);
    await server[Symbol.asyncDispose]();
    await expect(open().get(Node, { name: 'n' })).rejects.toMatchObject({ failure: 'unreachable', maybeSent: false });
  });

  it('stops waiting when the signal is aborted', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    server.handler = (_request, response) => failure(response, 503, {}, { 'retry-after': '30' });
    const got = open({ clock }).get(Node, { name: 'n' }, { signal: controller.signal });
    await until(() => clock.nextTimerInMs === 30_000);
    controller.abort(new Error('stop'));
    await expect(got).rejects.toThrow('stop');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('half-open and slow servers', () => {
  it('gives a request that is never answered up, and its connection with it', async () => {
    const clock = new FakeClock();
    server.handler = () => undefined;
    const got = open({ clock, requestTimeoutMs: 5000 }).update(Node, node('n'));
    got.catch(() => undefined);
    await until(() => server.requests.length === 1);
    await clock.advance(5000);
    await expect(got).rejects.toMatchObject({ failure: 'timeout', maybeSent: true });
    await expect(got).rejects.toThrow(`PUT /api/v1/nodes/n failed at ${server.url}: no complete answer within 5000 ms`);
    await until(() => server.sockets.size === 0);
  });

  it('gives a list up whose body stops half-way, but not one that is slow', async () => {
    const clock = new FakeClock();
    let send: ((text: string) => void) | undefined;
    server.handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      send = (text) => response.write(text);
      send('{"kind":"NodeList",');
    };
    const frames = await open({ clock, requestTimeoutMs: 5000 }).listFrames(Node);
    const items: string[] = [];
    const reading = (async () => {
      for await (const batch of frames) items.push(...batch.map(String));
    })();
    reading.catch(() => undefined);
    await turn();
    await clock.advance(4000);
    send?.('"items":[{"metadata":{"name":"a"}},');
    await until(() => items.length === 1);
    await clock.advance(4000);
    send?.('{"metadata":{"name":"b"}}');
    await until(() => items.length === 2);
    await clock.advance(5000);
    await expect(reading).rejects.toMatchObject({ failure: 'timeout' });
    await expect(frames.metadata).rejects.toMatchObject({ failure: 'timeout' });
    expect(items).toEqual(['{"metadata":{"name":"a"}}', '{"metadata":{"name":"b"}}']);
  });

  it('gives a watch without headers up, and leaves one that is quiet to its owner', async () => {
    const clock = new FakeClock();
    const client = open({ clock, requestTimeoutMs: 5000 });
    server.handler = () => undefined;
    const never = client.watch(Node);
    never.catch(() => undefined);
    await until(() => server.requests.length === 1);
    await clock.advance(5000);
    await expect(never).rejects.toMatchObject({ failure: 'timeout' });
    server.handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
    };
    await using stream = await client.watch(Node);
    expect(stream).toBeDefined();
    expect(clock.pendingTimers).toBe(0);
  });

  it('rejects a truncated list', async () => {
    server.handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"kind":"NodeList","items":[{"metadata":{"name":"a"}}', () => response.destroy());
    };
    await expect(open().list(Node)).rejects.toMatchObject({ failure: 'reset' });
    server.handler = (_request, response) => json(response, '{"kind":"NodeList","items":[{"metadata":{"name":"a"}}');
    await expect(open().list(Node)).rejects.toMatchObject({ code: 'KCTL_DECODE' });
    const frames = await open().listFrames(Node);
    const read = async (): Promise<void> => {
      for await (const _batch of frames);
    };
    await expect(read()).rejects.toMatchObject({ code: 'KCTL_DECODE' });
  });
});

describe('connections', () => {
  it('are kept, and watches cannot starve requests', async () => {
    server.handler = (request, response) => {
      if (!request.url.searchParams.has('watch')) {
        answer(response);
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
    };
    const client = open({ maxConnections: 1 });
    const watches = await Promise.all(Array.from({ length: 20 }, () => client.watch(Node)));
    for (let n = 0; n < 50; n++) await client.get(Node, { name: 'n' });
    expect(server.connections()).toBe(21);
    for (const watch of watches) await watch[Symbol.asyncDispose]();
    await until(() => server.sockets.size <= 1);
  });

  it('reject at once when aborted while they wait for a turn', async () => {
    const client = open({ maxConnections: 1 });
    const waiting: ServerResponse[] = [];
    server.handler = (_request, response) => void waiting.push(response);
    const first = client.get(Node, { name: 'n' });
    await until(() => waiting.length === 1);
    const controller = new AbortController();
    const second = client.get(Node, { name: 'n' }, { signal: controller.signal });
    await turn();
    controller.abort(new Error('no longer wanted'));
    await expect(second).rejects.toThrow('no longer wanted');
    waiting.forEach(answer);
    await expect(first).resolves.toBeDefined();
    expect(server.requests).toHaveLength(1);
  });

  it('are all closed by dispose, which fails what runs on them', async () => {
    const client = open();
    server.handler = () => undefined;
    const got = client.update(Node, node('n'));
    got.catch(() => undefined);
    await until(() => server.requests.length === 1);
    await client[Symbol.asyncDispose]();
    await expect(got).rejects.toMatchObject({ code: 'KCTL_TRANSPORT', failure: 'closed' });
    await until(() => server.sockets.size === 0);
    await expect(client.get(Node, { name: 'n' })).rejects.toMatchObject({ failure: 'closed', maybeSent: false });
  });

  it('do not outlive the client while they wait to be repeated', async () => {
    const clock = new FakeClock();
    const client = open({ clock });
    server.handler = (_request, response) => failure(response, 429, {}, { 'retry-after': '60' });
    const got = client.get(Node, { name: 'n' });
    got.catch(() => undefined);
    await until(() => clock.nextTimerInMs === 60_000);
    await client[Symbol.asyncDispose]();
    await expect(got).rejects.toMatchObject({ code: 'KCTL_TRANSPORT', failure: 'closed' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('leave no listener on a long-lived signal', async () => {
    const controller = new AbortController();
    const add = vi.spyOn(controller.signal, 'addEventListener');
    const remove = vi.spyOn(controller.signal, 'removeEventListener');
    const client = open();
    for (let n = 0; n < 5; n++) await client.get(Node, { name: 'n' }, { signal: controller.signal });
    server.handler = (_request, response) => json(response, '{"type":"ADDED","object":{"metadata":{"name":"n"}}}\n');
    for await (const _event of await client.watch(Node, { signal: controller.signal }));
    expect(add).toHaveBeenCalledTimes(6);
    expect(remove).toHaveBeenCalledTimes(6);
  });
});

describe('answers', () => {
  it('are asked for compressed, and decompressed, for lists only', async () => {
    const items = Array.from({ length: 5000 }, (_, n) => node(`node-${n}`));
    server.handler = (request, response) => {
      const text = JSON.stringify({ kind: 'NodeList', metadata: { resourceVersion: '1' }, items });
      if (request.headers['accept-encoding'] !== 'gzip') {
        json(response, text);
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(text));
    };
    const list = await open({ compression: true }).list(Node);
    expect(list.items).toHaveLength(5000);
    expect(list.items[4999]).toMatchObject({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-4999' } });
    expect(server.requests[0]?.headers['accept-encoding']).toBe('gzip');
    await open().list(Node);
    expect(server.requests[1]?.headers['accept-encoding']).toBeUndefined();
  });

  it('that are compressed and truncated are rejected', async () => {
    server.handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify({ kind: 'NodeList', items: [] })).subarray(0, 20));
    };
    await expect(open({ compression: true }).list(Node)).rejects.toThrow();
  });

  it('that are compressed pages for people hold no connection', async () => {
    server.handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' });
      response.write(gzipSync('<html>')); // and no end
    };
    const client = open({ compression: true, maxConnections: 1 });
    await expect(client.list(Node)).rejects.toThrow('text/html');
    server.handler = (_request, response) => answer(response);
    await expect(client.get(Node, { name: 'n' })).resolves.toMatchObject(node('n'));
  });

  it('bring warnings with them', async () => {
    const onWarning = vi.fn();
    server.handler = (_request, response) =>
      json(response, { metadata: { name: 'n' } }, 200, {
        warning: '299 - "use v2, \\"v1\\" is gone" "Sat, 25 Aug 2012 23:34:45 GMT", 299 kube "two", 199 x "not for us"',
      });
    await open({ onWarning }).get(Node, { name: 'n' });
    expect(onWarning.mock.calls.map(([warning]: unknown[]) => warning)).toEqual([
      { code: 299, agent: '-', text: 'use v2, "v1" is gone' },
      { code: 299, agent: 'kube', text: 'two' },
    ]);
  });

  it('bring warnings in UTF-8, and hand out what is not as it is', async () => {
    const texts: string[] = [];
    const client = open({ onWarning: ({ text }) => texts.push(text) });
    for (const text of [Buffer.from('größer als 🎉').toString('latin1'), 'gr\u00f6\u00dfer']) {
      server.handler = (_request, response) =>
        json(response, { metadata: { name: 'n' } }, 200, { warning: `299 - "${text}"` });
      await client.get(Node, { name: 'n' });
    }
    expect(texts).toEqual(['größer als 🎉', 'größer']);
  });

  it('bring warnings that name their request, and are logged once, whatever other texts came', async () => {
    let text = 'first';
    server.handler = (_request, response) =>
      json(response, { metadata: { name: 'n' } }, 200, { warning: `299 - "${text}"` });
    const logger = new RecordingLogger();
    const requests: unknown[] = [];
    await open({ onWarning: (_warning, request) => requests.push(request) }).get(Node, { name: 'n' });
    expect(requests).toEqual([{ method: 'GET', path: '/api/v1/nodes/n' }]);
    const client = open({ logger });
    for (text of ['first', 'first', ...Array.from({ length: 1000 }, (_, index) => `w${index}`), 'first'])
      await client.get(Node, { name: 'n' });
    const warnings = logger.lines.filter(({ level }) => level === 'warn');
    expect(warnings).toHaveLength(1001);
    expect(warnings[0]).toMatchObject({ message: 'first', fields: { method: 'GET', path: '/api/v1/nodes/n' } });
  });

  it('are noted in one debug line each, without the query', async () => {
    server.handler = (_request, response) => json(response, { metadata: { name: 'n' } });
    const logger = new RecordingLogger();
    await open({ logger }).get(Node, { name: 'n' }, { resourceVersion: '0' });
    expect(logger.lines.filter(({ message }) => message === 'request')).toEqual([
      {
        level: 'debug',
        message: 'request',
        fields: { method: 'GET', path: '/api/v1/nodes/n', status: 200, ms: expect.any(Number) },
      },
    ]);
  });

  it("are counted by client-go's names", async () => {
    const counted: string[] = [];
    const sizes: number[] = [];
    const family = (name: string) => ({
      with: (labels: Readonly<Record<string, string>>) => {
        const note = (): void => void counted.push(`${name} ${Object.values(labels).join(' ')}`);
        const observe = (value: number): void => {
          note();
          if (name === 'rest_client_request_size_bytes') sizes.push(value);
        };
        return { inc: note, observe, set: note, dec: note };
      },
      remove: () => undefined,
    });
    const metrics = {
      counter: ({ name }: { name: string }) => family(name),
      gauge: ({ name }: { name: string }) => family(name),
      histogram: ({ name }: { name: string }) => family(name),
      onCollect: () => () => undefined,
    };
    const client = open({ metrics });
    await client.get(Node, { name: 'n' });
    const detailed = open({ metrics, detailedMetrics: true });
    const before = counted.length;
    const named = { ...node('n'), metadata: { name: 'n', labels: { city: 'Köln' } } };
    await detailed.create(Node, named);
    expect(sizes).toEqual([Buffer.byteLength(server.requests.at(-1)?.body ?? '')]);
    expect(
      counted
        .splice(before)
        .map((line) => line.split(' ', 2).join(' '))
        .sort(),
    ).toEqual([
      'rest_client_request_duration_seconds POST',
      'rest_client_request_size_bytes POST',
      'rest_client_requests_total 200',
      'rest_client_response_size_bytes POST',
    ]);
    server.handler = (_request, response) => failure(response, 409);
    await client.update(Node, node('n')).catch(() => undefined);
    server.handler = reset;
    await client.update(Node, node('n')).catch(() => undefined);
    const host = `127.0.0.1:${server.port}`;
    expect(counted).toEqual([
      `rest_client_requests_total 200 GET ${host}`,
      `rest_client_requests_total 409 PUT ${host}`,
      `rest_client_requests_total <error> PUT ${host}`,
    ]);
  });
});

describe('rate limit', () => {
  it('lets a burst through and then one in 1/qps seconds, but the first attempt of a watch at once', async () => {
    const clock = new FakeClock();
    const client = open({ clock, rateLimit: { qps: 2, burst: 3 }, requestTimeoutMs: 0 });
    const got = Array.from({ length: 5 }, () => client.get(Node, { name: 'n' }));
    await Promise.all(got.slice(0, 3));
    expect(server.requests).toHaveLength(3);
    server.handler = (_request, response) => json(response, '');
    for await (const _event of await client.watch(Node));
    expect(server.requests).toHaveLength(4);
    server.handler = (_request, response) => answer(response);
    await clock.advance(500);
    await got[3];
    expect(server.requests).toHaveLength(5);
    await clock.advance(500);
    await got[4];
    expect(() => open({ rateLimit: { qps: 0 } })).toThrow('rateLimit.qps 0 is not valid');
  });
});

describe('options', () => {
  it.each([
    [{ maxRetries: NaN }, 'maxRetries NaN is not valid: expected an integer ≥ 0 or Infinity; 0 never repeats'],
    [{ requestTimeoutMs: -1 }, 'requestTimeoutMs -1 is not valid: expected a number of ms ≥ 0; 0 means no limit'],
    [{ connectTimeoutMs: NaN }, 'connectTimeoutMs NaN is not valid'],
    [{ maxConnections: 0 }, 'maxConnections 0 is not valid: expected an integer ≥ 1'],
    [{ rateLimit: { qps: 1, burst: NaN } }, 'rateLimit.burst NaN is not valid'],
    [{ rateLimit: { qps: 1, brust: 5 } as never }, 'unknown option "rateLimit.brust": did you mean "burst"?'],
    [{ rateLimit: 5 as never }, 'expected requests per second, such as { qps: 20, burst: 30 }'],
  ])('%o are refused when the client is made', (options, problem) => {
    expect(() => open(options)).toThrow(problem);
  });
});

describe('random faults', () => {
  it('cause no duplicate create, no hang and no unhandled rejection, and leave no socket behind', {
    timeout: 300_000,
  }, async () => {
    const seed = Number(process.env['KCTL_SEED'] ?? 4711);
    let state = seed;
    const random = (): number => {
      state = (state * 1664525 + 1013904223) % 2 ** 32;
      return state / 2 ** 32;
    };
    const created = new Map<string, number>();
    let faults = 0;
    // Before the body was read: reset, or half-open, so that only the deadline ends it.
    server.onHeaders = (message) => {
      const dice = random();
      if (dice < 0.02) message.socket.resetAndDestroy();
      else if (dice >= 0.022) return false;
      faults++;
      return true;
    };
    server.handler = (request, response) => {
      const dice = random();
      if (dice < 0.04) {
        faults++;
        reset(request);
        return;
      }
      if (dice < 0.07) {
        faults++;
        failure(response, 429, {}, { 'retry-after': '0' });
        return;
      }
      if (dice < 0.09) {
        faults++;
        failure(response, 503, {}, dice < 0.08 ? { 'retry-after': '1' } : {});
        return;
      }
      if (request.method === 'POST') {
        const { metadata } = JSON.parse(request.body) as { metadata: { name: string } };
        created.set(metadata.name, (created.get(metadata.name) ?? 0) + 1);
      }
      if (dice < 0.12) {
        faults++;
        reset(request);
        return;
      }
      if (dice < 0.14) {
        faults++;
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
        return void response.write('{"metadata":', () => response.destroy());
      }
      if (dice < 0.16) return void setImmediate(() => answer(response));
      answer(response);
    };
    const clock = new FakeClock();
    const listeners = process.listenerCount('exit') + process.listenerCount('warning');
    const client = open({ clock, maxConnections: 16, requestTimeoutMs: 600_000 });
    const outcomes = { ok: 0, transport: 0, status: 0 };
    const total = 10_000;
    let next = 0;
    let running = 16;
    const worker = async (): Promise<void> => {
      while (next < total) {
        const n = next++;
        try {
          if (n % 2 === 0) await client.create(Node, node(`n-${n}`));
          else await client.get(Node, { name: `n-${n}` });
          outcomes.ok++;
        } catch (error) {
          if (isTransportError(error)) outcomes.transport++;
          else outcomes.status++;
        }
      }
      running--;
    };
    const workers = Array.from({ length: running }, worker);
    while (running > 0) {
      clock.advanceSync(1000);
      await turn();
    }
    await Promise.all(workers);
    expect(outcomes.ok + outcomes.transport + outcomes.status).toBe(total);
    expect(faults).toBeGreaterThan(500);
    expect([...created.values()].filter((times) => times > 1)).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
    await client[Symbol.asyncDispose]();
    await until(() => server.sockets.size === 0);
    expect(process.listenerCount('exit') + process.listenerCount('warning')).toBe(listeners);
  });
});
