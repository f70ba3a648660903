// What is made of answers that are not what was asked for, and of hooks that fail while one comes in.
import {
  defineKind,
  isConflict,
  isForbidden,
  isNoKindMatch,
  isNotFound,
  isStatusError,
  metadataOnly,
} from '@kctl/apimachinery';
import { Secret } from '@kctl/apimachinery/kinds/core/v1';
import { FakeClock } from '@kctl/wait/testing';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient, isDecodeError, isTransportError } from '../src/index.js';
import type { HttpClient, HttpClientOptions } from '../src/index.js';
import { RecordingLogger } from './support/recording-logger.js';
import { failure, json, startServer } from './support/server.js';
import type { TestServer } from './support/server.js';

const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });
const Pod = defineKind({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });
const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };

let server: TestServer;
const clients: HttpClient[] = [];
const open = (options: HttpClientOptions = {}): HttpClient => {
  const client = createHttpClient({ connection: { server: server.url }, ...options });
  clients.push(client);
  return client;
};
const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => undefined,
    (error: unknown) => error,
  );

beforeEach(async () => {
  server = await startServer((_request, response) => json(response, node));
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe('an answer with status 200', () => {
  const own = { metadata: { name: 'n', uid: 'u', resourceVersion: '1' } };
  it.each([
    ['another kind', { ...own, apiVersion: 'v1', kind: 'Pod' }],
    ['another group', { ...own, apiVersion: 'example.com/v1', kind: 'Node' }],
    ['another version', { ...own, apiVersion: 'v2', kind: 'Node' }],
    ['a list', { apiVersion: 'v1', kind: 'NodeList', metadata: {}, items: [] }],
    ['a Status', { apiVersion: 'v1', kind: 'Status', status: 'Success', metadata: {} }],
    ['a kind of its own', { ...own, apiVersion: 'v1', kind: 5 }],
  ])('that is of %s is refused by each read', async (_what, answer) => {
    server.handler = (_request, response) => json(response, answer);
    for (const kind of [Node, metadataOnly(Node)]) {
      const error = await failureOf(open({}).get(kind, { name: 'n' }));
      expect(isDecodeError(error)).toBe(true);
      expect(error).toHaveProperty(
        'message',
        expect.stringContaining(`the response is a ${JSON.stringify(answer.kind)}`),
      );
    }
  });

  it('that leaves apiVersion and kind out, or is metadata alone, is taken', async () => {
    server.handler = (_request, response) => json(response, own);
    expect(await open({}).get(Node, { name: 'n' })).toEqual({ ...own, apiVersion: 'v1', kind: 'Node' });
    const partial = { ...own, apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' };
    server.handler = (_request, response) => json(response, partial);
    expect(await open({}).get(metadataOnly(Node), { name: 'n' })).toHaveProperty('kind', 'Node');
    expect(isDecodeError(await failureOf(open({}).get(Node, { name: 'n' })))).toBe(true);
  });

  it('that is a Status of a failure is that failure, for every verb', async () => {
    const client = open({});
    const status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', metadata: {}, reason: 'Conflict', code: 409 };
    server.handler = (_request, response) => json(response, status);
    for (const work of [
      client.get(Node, { name: 'n' }),
      client.create(Node, node),
      client.delete(Node, { name: 'n' }),
      client.deleteAllOf(Node),
      client.list(Node),
      client.subResource(Node, 'scale').get({ name: 'n' }),
    ])
      expect(isConflict(await failureOf(work))).toBe(true);
  });

  it('that is a Status of success stands for what was created: the server has done it', async () => {
    const status = { apiVersion: 'v1', kind: 'Status', status: 'Success', metadata: {}, code: 201 };
    server.handler = (_request, response) => json(response, status, 201);
    expect(await open({}).create(Node, node)).toEqual(status);
  });
});

describe('a Status whose members are not of their types', () => {
  const guards = [isConflict, isForbidden, isNotFound] as const;
  it.each([
    ['no code and no reason', {}],
    ['a code of 0', { code: 0 }],
    ['a code that is a text', { code: '409' }],
    ['a message that is a number', { message: 5 }],
    ['a message that is an object', { message: { secret: 'a' }, reason: ['x'] }],
    ['details that are a text', { details: 'widgets' }],
    ['details that are null', { details: null, metadata: null }],
    ['causes that are an object', { details: { name: 'n', causes: { message: 'a' } } }],
    ['causes that are null', { details: { name: 'n', causes: [null, 'a', { message: 7, field: 'spec' }] } }],
  ])('is the failure that the HTTP status says: %s', async (_what, members) => {
    for (const [index, code] of [409, 403, 404].entries()) {
      server.handler = (_request, response) =>
        json(
          response,
          { kind: 'Status', status: 'Failure', message: 'said', details: { name: 'n' }, ...members },
          code,
        );
      for (const kind of [Node, Secret]) {
        const key = { namespace: 'ns', name: 'n' };
        const error: unknown = await open({})
          .get(kind, key)
          .catch((thrown: unknown) => thrown);
        if (code === 404 && !isStatusError(error)) {
          expect(isNoKindMatch(error)).toBe(true);
          continue;
        }
        expect(guards.map((guard) => guard(error))).toEqual(guards.map((_, at) => at === index));
        if (!isStatusError(error)) throw new Error('it is not a StatusError');
        expect(error.httpCode).toBe(code);
        expect(error.message).toEqual(expect.any(String));
        for (const { field, message = '' } of error.status.details?.causes ?? [])
          expect([field, message]).toEqual(['spec', '']);
      }
    }
  });
});

describe('a hook that fails', () => {
  const boom = (): never => {
    throw new Error('boom');
  };
  const warning = { warning: '299 - "old"' };
  const verbs: [string, (client: HttpClient) => Promise<unknown>][] = [
    ['create', (client) => client.create(Node, { metadata: { name: 'n' } })],
    ['update', (client) => client.update(Node, node)],
    ['patch', (client) => client.patch(Node, { name: 'n' }, { type: 'merge', body: {} })],
    ['delete', (client) => client.delete(Node, { name: 'n' })],
    ['get', (client) => client.get(Node, { name: 'n' })],
  ];

  it.each(verbs)('onWarning: %s returns its answer, and the connection is used again', async (_verb, call) => {
    server.handler = (_request, response) => json(response, node, 200, warning);
    const rejecting: () => unknown = () => Promise.reject(new Error('boom'));
    for (const onWarning of [boom, rejecting]) {
      const logger = new RecordingLogger();
      const before = server.connections();
      const client = open({ onWarning, logger, maxConnections: 1 });
      await expect(call(client)).resolves.toMatchObject({ kind: 'Node' });
      await expect(call(client)).resolves.toMatchObject({ kind: 'Node' });
      expect(server.connections() - before).toBe(1);
      const reported = logger.lines.filter(({ level }) => level !== 'debug');
      expect(reported.map(({ level, message, fields }) => [level, message, String(fields?.['error'])])).toEqual([
        ['error', 'onWarning failed', 'Error: boom'],
        ['error', 'onWarning failed', 'Error: boom'],
      ]);
    }
  });

  it('a logger or a metric costs no request', async () => {
    server.handler = (_request, response) => json(response, node, 200, warning);
    const logger = Object.fromEntries(
      ['isEnabled', 'trace', 'debug', 'info', 'warn', 'error', 'child'].map((name) => [name, boom]),
    ) as never;
    const metrics = {
      counter: () => ({ with: boom, remove: boom }),
      histogram: () => ({ with: () => ({ observe: boom }), remove: boom }),
      gauge: boom,
      onCollect: boom,
    };
    const client = open({ logger, metrics, detailedMetrics: true });
    for (const [, call] of verbs) await expect(call(client)).resolves.toMatchObject({ kind: 'Node' });
    const reported = new RecordingLogger();
    await open({ logger: reported, metrics, detailedMetrics: true }).get(Node, { name: 'n' });
    const lines = reported.lines.filter(({ level }) => level !== 'debug');
    expect(new Set(lines.map(({ message }) => message))).toEqual(
      new Set(['The metrics sink failed, measurements are lost; later failures are not logged', 'old']),
    );
  });
});

describe('a 404', () => {
  const get = async (client: HttpClient = open()): Promise<unknown> => await failureOf(client.get(Node, { name: 'n' }));

  it.each([
    [{ message: 'admission webhook "w" denied the request: no such flavour' }],
    [{ message: 'the object is on the moon', details: {} }],
    [{ message: 'unable to find container', reason: 'NotFound', details: { kind: 'pods' } }],
  ])("keeps the server's message, also without details.name: %j", async (fields) => {
    server.handler = (_request, response) => failure(response, 404, fields);
    const error = await get();
    expect(isNotFound(error)).toBe(true);
    expect(String(error)).toContain(fields.message);
  });

  it.each([
    [
      'a Status',
      JSON.stringify({
        kind: 'Status',
        status: 'Failure',
        message: 'the server could not find the requested resource',
        reason: 'NotFound',
        details: {},
        code: 404,
      }),
    ],
    ['text', '404 page not found\n'],
    ['nothing', ''],
  ])('that an API server gives to an unknown URL (%s) says that the kind is not served', async (_what, body) => {
    server.handler = (_request, response) => response.writeHead(404).end(body);
    const error = await get();
    expect(isNoKindMatch(error)).toBe(true);
    expect(isNotFound(error)).toBe(false);
    expect(String(error)).not.toContain('it answered');
    expect(error instanceof Error && isStatusError(error.cause)).toBe(true);
  });

  it('of something that is not an API server is not the end of an object, and is quoted', async () => {
    server.handler = (_request, response) => response.writeHead(404).end('no route: ask the gateway team');
    const error = await get();
    expect(isNotFound(error)).toBe(false);
    expect(String(error)).toContain('(it answered: no route: ask the gateway team)');
    server.handler = (_request, response) => json(response, { data: { password: 'c2VjcmV0' } }, 404);
    expect(String(await get())).toMatch(/it answered: JSON of \d+ characters that is not a Status/);
  });
});

describe('the body of an error', () => {
  const long = 'x'.repeat(5 * 1024 * 1024);

  it.each([
    ['text', long],
    ['a Status', JSON.stringify({ kind: 'Status', status: 'Failure', message: long, code: 403 })],
    ['compressed text', gzipSync(long)],
  ])('is read up to 1 MiB: %s', async (_what, body) => {
    server.handler = (_request, response) => {
      if (Buffer.isBuffer(body)) response.setHeader('content-encoding', 'gzip');
      response.writeHead(403).end(body);
    };
    const error = await failureOf(open().get(Node, { name: 'n' }));
    expect(isForbidden(error)).toBe(true);
    expect(String(error)).toContain('cut: the answer is longer than 1 MiB');
    expect(String(error).length).toBeLessThan(3000);
  });

  it('that never ends does not outlive the deadline, whatever was asked for', async () => {
    const clock = new FakeClock();
    server.handler = (_request, response) => {
      response.writeHead(403, { 'content-type': 'text/plain' });
      response.write('you must not');
    };
    const client = open({ clock, requestTimeoutMs: 1000 });
    for (const call of [() => client.get(Node, { name: 'n' }), () => client.list(Node), () => client.watch(Node)]) {
      const failed = failureOf(call());
      const asked = server.requests.length;
      while (server.requests.length === asked || clock.nextTimerInMs !== 1000)
        await new Promise((resolve) => setImmediate(resolve));
      let error: unknown;
      void failed.then((reason) => (error = reason));
      while (error === undefined) {
        await clock.advance(1000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect([isForbidden(error), isTransportError((error as Error).cause)]).toEqual([true, true]);
    }
  });

  it('that breaks off still says what its status code says', async () => {
    server.handler = (_request, response) => {
      response.writeHead(409, { 'content-length': '1000' });
      response.write('conf');
      setImmediate(() => response.destroy());
    };
    const error = await failureOf(open().update(Node, node));
    expect(isStatusError(error) && error.status.code).toBe(409);
    expect(String(error)).toContain('the answer broke off');
  });
});

describe('messages', () => {
  const expectMessage = async (
    call: (client: HttpClient) => unknown,
    ...texts: (string | RegExp)[]
  ): Promise<unknown> => {
    const error = await failureOf(Promise.resolve().then(async () => await call(open({ compression: true }))));
    for (const text of texts) expect(String(error)).toMatch(text);
    return error;
  };

  it.each([
    ['truncated', (bytes: Buffer) => bytes.subarray(0, 20)],
    ['corrupt', (bytes: Buffer) => Buffer.concat([Buffer.from('nonsense'), bytes])],
  ])('of gzip that is %s say what is wrong with which request', async (what, damage) => {
    server.handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(damage(gzipSync(JSON.stringify({ kind: 'NodeList', items: [] }))));
    };
    const error = await expectMessage(
      (client) => client.list(Node),
      `GET /api/v1/nodes failed at ${server.url}: the gzip-compressed answer is ${what}`,
    );
    expect(isTransportError(error) && error.failure).toBe('malformed');
  });

  it.each(['gzip', 'GZIP', 'GZip', ' gzip ', 'x-gzip', 'X-GZIP', 'gzip, identity', 'identity,gzip', ',gzip'])(
    'of an answer with Content-Encoding %j are none',
    async (encoding) => {
      server.handler = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding });
        response.end(gzipSync(JSON.stringify({ kind: 'NodeList', metadata: {}, items: [node] })));
      };
      expect((await open({}).list(Node)).items).toHaveLength(1);
    },
  );

  it.each(['identity', 'Identity', '', ' identity , identity'])(
    'of an answer that is not encoded, %j, are none',
    async (encoding) => {
      server.handler = (_request, response) => json(response, node, 200, { 'content-encoding': encoding });
      expect(await open({}).get(Node, { name: 'n' })).toMatchObject(node);
    },
  );

  it.each(['br', 'deflate', 'gzip, gzip', 'zstd'])(
    'of an answer with Content-Encoding %j name it',
    async (encoding) => {
      server.handler = (_request, response) => json(response, node, 200, { 'content-encoding': encoding });
      const error = await expectMessage(
        (client) => client.get(Node, { name: 'n' }),
        `GET /api/v1/nodes/n failed at ${server.url}: the answer is encoded as "${encoding}": expected gzip or no encoding`,
      );
      expect(isTransportError(error) && error.failure).toBe('malformed');
    },
  );

  it('made by the client name namespace and object', async () => {
    server.handler = (_request, response) => response.writeHead(502).end('upstream');
    const key = { namespace: 'shop', name: 'web-0' };
    const merge = { type: 'merge', body: {} } as const;
    await expectMessage((client) => client.get(Pod, key), 'GET pods "shop/web-0": http');
    await expectMessage((client) => client.patch(Pod, key, merge), 'PATCH pods "shop/web-0": http');
    await expectMessage((client) => client.status(Pod).patch(key, merge), 'PATCH pods "shop/web-0": http');
    await expectMessage((client) => client.subResource(Pod, 'log').get(key), 'GET pods "shop/web-0": http');
    await expectMessage((client) => client.list(Pod, { namespace: 'shop' }), 'GET pods in namespace "shop": http');
    await expectMessage((client) => client.watch(Pod, { namespace: 'shop' }), 'GET pods in namespace "shop": http');
    await expectMessage((client) => client.list(Pod), 'GET pods: http');
    await expectMessage((client) => client.deleteAllOf(Pod, { namespace: 'shop' }), 'DELETE pods in namespace "shop"');
    await expectMessage((client) => client.get(Node, { name: 'n' }), 'GET nodes "n": http');
    server.handler = (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{');
    await expectMessage((client) => client.get(Pod, key), 'get v1, Kind=Pod "shop/web-0": cannot decode the answer');
    await expectMessage((client) => client.delete(Pod, key), 'delete v1, Kind=Pod "shop/web-0": cannot decode');
    await expectMessage(
      (client) => client.list(Pod, { namespace: 'shop' }),
      'list of v1, Kind=Pod in namespace "shop": cannot decode the answer',
    );
  });

  it.each([301, 302, 303, 307, 308])('of a redirect %d say where it leads', async (code) => {
    server.handler = (_request, response) =>
      response.writeHead(code, { location: 'https://user:pass@login.example.com/sso?state=s3cret#x' }).end();
    const error = await expectMessage(
      (client) => client.get(Node, { name: 'n' }),
      `answered ${code}, a redirect to https://`,
      'login.example.com/sso: is a proxy or a login page in front of the API server?',
    );
    expect(String(error)).not.toMatch(/pass|s3cret/);
    server.handler = (_request, response) => response.writeHead(code).end();
    await expectMessage((client) => client.list(Node), `answered ${code}, a redirect without a Location`);
  });

  it('of HTML with status 200 say what is in front of the server', async () => {
    server.handler = (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>Sign in</html>');
    for (const call of [
      (client: HttpClient) => client.get(Node, { name: 'n' }),
      (client: HttpClient) => client.create(Node, { metadata: { name: 'n' } }),
      (client: HttpClient) => client.list(Node),
      (client: HttpClient) => client.list(metadataOnly(Node)),
      (client: HttpClient) => client.listFrames(Node),
      (client: HttpClient) => client.watch(Node),
    ]) {
      const error = await expectMessage(
        call,
        'the answer is text/html; charset=utf-8, not JSON: is a proxy or a login page in front of the API server?',
      );
      expect(isDecodeError(error)).toBe(true);
    }
  });

  it('of a missing namespace name the object and the remedy, for every verb, before a request is made', async () => {
    const key = { name: 'a' } as never;
    const made = { metadata: { name: 'a' } };
    for (const call of [
      (client: HttpClient) => client.get(Pod, key),
      (client: HttpClient) => client.patch(Pod, key, { type: 'merge', body: {} }),
      (client: HttpClient) => client.delete(Pod, key),
      (client: HttpClient) => client.update(Pod, made),
      (client: HttpClient) => client.status(Pod).update(made),
      (client: HttpClient) => client.status(Pod).patch(key, { type: 'merge', body: {} }),
      (client: HttpClient) => client.subResource(Pod, 'log').get(key),
    ])
      await expectMessage(call, /Pod "a": namespace is not set: pods live in a namespace: pass \{ namespace, name \}/);
    await expectMessage((client) => client.create(Pod, made), /create Pod: metadata\.namespace is not set/);
    expect(server.requests).toHaveLength(0);
  });

  it('of text that is not Unicode name the field and the value', async () => {
    const bad = 'a\ud800';
    for (const [call, field] of [
      [(client: HttpClient) => client.get(Node, { name: bad }), 'name'],
      [(client: HttpClient) => client.get(Pod, { namespace: bad, name: 'a' }), 'namespace'],
      [(client: HttpClient) => client.list(Node, { labelSelector: bad }), 'labelSelector'],
      [(client: HttpClient) => client.list(Node, { continue: bad }), 'continue'],
      [(client: HttpClient) => client.create(Node, { metadata: { name: 'n' } }, { fieldOwner: bad }), 'fieldManager'],
    ] as const) {
      const error = await expectMessage(call, `${field} "a\\ud800" is not valid: expected`);
      expect(error).toBeInstanceOf(TypeError);
    }
    for (const name of [5, null, {}])
      await expectMessage((client) => client.get(Pod, { namespace: name as never, name: 'a' }), /namespace/);
  });
});
