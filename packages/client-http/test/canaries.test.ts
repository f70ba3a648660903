// Secrets are planted wherever one can enter, and whatever comes out is searched for them: errors with their causes,
// logs with every level on, inspect (hidden properties too), JSON, copies by spread.
import { defineKind } from '@kctl/apimachinery';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  connectionFromKubeConfig,
  createHttpClient,
  createRestMapper,
  createTransport,
  loadConnection,
} from '../src/index.js';
import type { Connection, HttpClientOptions } from '../src/index.js';
import { RecordingLogger } from './support/recording-logger.js';
import { json, startServer } from './support/server.js';
import type { Handler, TestServer } from './support/server.js';

const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });

/** In every canary, and in nothing else. */
const mark = 'kanarie';
const canary = (place: string): string => `${mark}-${place}-9f8e7d6c5b4a`;

let server: TestServer;
let directory: string;
let seen: unknown[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kctl-canary-'));
});
afterAll(() => rm(directory, { recursive: true }));
beforeEach(async () => {
  seen = [];
  server = await startServer((_request, response) => json(response, { metadata: { name: 'n' } }));
});
afterEach(() => server[Symbol.asyncDispose]());

const write = async (name: string, text: string): Promise<string> => {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
};

/** Every form in which a value may end in a log or a report. */
function forms(value: unknown, depth = 0): string[] {
  const shown = [inspect(value, { depth: Infinity, showHidden: true }), inspect([{ value }], { depth: Infinity })];
  try {
    shown.push(JSON.stringify({ value }) ?? '');
  } catch {
    // A cycle: inspect has shown it.
  }
  if (depth > 6 || typeof value !== 'object' || value === null) return shown;
  shown.push(...forms({ ...value }, 9));
  if (value instanceof Error) {
    shown.push(String(value), value.stack ?? '', ...forms(value.cause, depth + 1));
    const own = Object.getOwnPropertyNames(value).map((name) => [name, Reflect.get(value, name) as unknown]);
    shown.push(...forms(Object.fromEntries(own.filter(([name]) => name !== 'cause')), 9));
  }
  return shown;
}

function expectNoCanary(...values: unknown[]): void {
  for (const text of values.flatMap((value) => forms(value))) {
    expect(text).not.toContain(mark);
    expect(text).not.toContain(Buffer.from(mark).toString('base64').slice(0, 8));
    expect(text).not.toContain([...Buffer.from(mark)].join(', '));
    expect(text).not.toContain(Buffer.from(mark).toString('hex').match(/../g)?.join(' '));
  }
}

/** Calls every verb that talks to the server, and keeps what comes out. */
async function runAll(connection: Connection, options: HttpClientOptions = {}): Promise<void> {
  const logger = new RecordingLogger();
  await using client = createHttpClient({ connection, logger, environment: {}, maxRetries: 1, ...options });
  const secret = { metadata: { name: 'n' }, data: { password: canary('request-body') } };
  const calls = [
    () => client.get(Node, { name: 'n' }),
    () => client.list(Node),
    () => client.create(Node, secret),
    () => client.update(Node, secret),
    () => client.patch(Node, { name: 'n' }, { type: 'merge', body: secret }),
    () => client.delete(Node, { name: 'n' }),
    async () => {
      for await (const event of await client.watch(Node)) if (event.type === 'ERROR') return event;
      return undefined;
    },
    async () => {
      for await (const _ of await client.listFrames(Node));
    },
    () => createRestMapper({ transport: client.transport, logger }).kindForResource('gadgets'),
  ];
  for (const call of calls)
    await call().then(
      () => undefined,
      (error: unknown) => seen.push(error),
    );
  seen.push(client, client.transport, ...logger.lines);
}

const user = { token: canary('token') };

describe('no secret comes out', () => {
  const bodies: [string, Handler][] = [
    ['text that is not JSON', (_r, response) => json(response, `${canary('body')} is not JSON`)],
    ['JSON that ends too early', (_r, response) => json(response, `{"metadata":{"name":"${canary('body')}`)],
    ['JSON with a wrong escape', (_r, response) => json(response, `{"items":["\\x${canary('body')}"]}`)],
    [
      'a list with a broken item',
      (_r, response) => json(response, `{"kind":"NodeList","items":[{"metadata":{"name":"${canary('body')}"},}]}`),
    ],
    [
      'a list with a broken envelope',
      (_r, response) => json(response, `{"kind":"NodeList","items":[],"metadata":{"${canary('body')}"}}`),
    ],
    [
      'a large list with a broken envelope',
      (_r, response) =>
        json(
          response,
          `{"kind":"NodeList","items":[${`{"metadata":{"name":"${'x'.repeat(1000)}"}},`.repeat(400)}{}],"x":${canary('body')}}`,
        ),
    ],
    [
      'a frame that is not an event',
      (_r, response) => json(response, `{"type":"${canary('body')}","object":{"data":"${canary('body')}"}}\n`),
    ],
    ['half a frame', (_r, response) => json(response, `{"type":"ADDED","object":{"data":"${canary('body')}`)],
    [
      'JSON that is not a Status, as an error',
      (_r, response) => json(response, { data: { color: canary('body') } }, 500),
    ],
    [
      'an echo of the request, as an error',
      (request, response) =>
        response.writeHead(502).end(`got ${JSON.stringify(request.headers)} password=${canary('body')}`),
    ],
    [
      'a redirect with a token',
      (_r, response) =>
        response.writeHead(302, { location: `https://a:${canary('body')}@b/c?code=${canary('body')}` }).end(),
    ],
    [
      'gzip that is corrupt',
      (_r, response) =>
        response
          .writeHead(200, { 'content-encoding': 'gzip' })
          .end(Buffer.concat([gzipSync(canary('body')).subarray(0, 20), Buffer.from(canary('body'))])),
    ],
    ['a 401', (_r, response) => json(response, { kind: 'Status', status: 'Failure', code: 401 }, 401)],
    ['a 503 with Retry-After', (_r, response) => json(response, {}, 503, { 'retry-after': '0' })],
    ['a broken connection', (request) => void request.message.socket.resetAndDestroy()],
    [
      'an answer that is not HTTP',
      (request) => void request.message.socket.end(`${canary('body')} is not HTTP\r\n\r\n`),
    ],
    [
      'a header that is not valid',
      (request) => void request.message.socket.end(`HTTP/1.1 200 OK\r\nx${canary('body')}\0: y\r\n\r\n`),
    ],
  ];

  it.each(bodies)('of %s', async (_what, handler) => {
    server.handler = handler;
    await runAll({ server: server.url, user });
    expect(seen.length).toBeGreaterThan(3);
    expectNoCanary(...seen);
  });

  it('of connections that cannot be made: URLs, proxies, TLS material', async () => {
    const password = encodeURIComponent(canary('url'));
    for (const connection of [
      { server: `http://joe:${password}@127.0.0.1:1` },
      { server: `https://joe:${password}@127.0.0.1:1` },
      { server: server.url, proxyUrl: `http://joe:${password}@127.0.0.1:1` },
      { server: server.url, proxyUrl: `https://joe:${password}@127.0.0.1:1` },
      { server: server.url, proxyUrl: `socks5://joe:${password}@127.0.0.1:1` },
      { server: server.url, proxyUrl: 'http://127.0.0.1:1', proxyUser: { name: 'joe', password: canary('url') } },
      { server: server.url, proxyUrl: `http://joe:${password}@${new URL(server.url).host}` },
      {
        server: server.url.replace('http:', 'https:'),
        user: { certificate: canary('pem'), key: canary('pem') },
        ca: canary('pem'),
      },
      { server: server.url.replace('http:', 'https:'), user: { keyFile: await write('key', canary('pem')) } },
      { server: server.url, user: { token: `${canary('token')}\n${canary('token')}` } },
      { server: server.url, user: { username: canary('name'), password: canary('password') } },
    ])
      await runAll({ user, ...connection });
    for (const bad of [
      { server: `joe:${canary('url')}@nowhere` },
      { server: `https://joe:${canary('url')}/${canary('url')}@nowhere` },
      { server: `ftp://joe:${canary('url')}@nowhere` },
      { server: server.url, proxyUrl: `http://joe:${canary('url')}/${canary('url')}@nowhere` },
      { server: server.url, proxyUrl: `http://joe:${canary('url')}%zz@nowhere` },
    ])
      try {
        createTransport(bad, { environment: {} });
      } catch (error) {
        seen.push(error);
      }
    expectNoCanary(...seen);
  });

  const plugin = async (name: string, program: string): Promise<string> => await write(`${name}.cjs`, program);
  const plugins: [string, string][] = [
    ['prints what is not JSON', `console.log(process.argv[2] + ' ${canary('exec-output')}')`],
    [
      'prints another kind',
      `console.log(JSON.stringify({ kind: '${canary('exec-output')}', token: '${canary('exec-output')}' }))`,
    ],
    [
      'prints another version',
      `console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: '${canary('exec-output')}' }))`,
    ],
    [
      'prints a bad time',
      `console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status: { token: '${canary('exec-output')}', expirationTimestamp: '${canary('exec-output')}' } }))`,
    ],
    [
      'prints a key alone',
      `console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status: { token: 'x', clientKeyData: '${canary('exec-output')}' } }))`,
    ],
    [
      'complains',
      `console.error('refused: ' + process.argv[2] + ' ' + process.env.AWS_SECRET + ' token=${canary('exec-output')} Bearer ${canary('exec-output')}'); process.exit(3)`,
    ],
    [
      'gives a token that the server refuses',
      `console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status: { token: '${canary('exec-output')}' } }))`,
    ],
  ];

  it.each(plugins)('of an exec plugin that %s', async (what, program) => {
    const script = await plugin(what.replaceAll(' ', '-'), program);
    const exec = {
      command: process.execPath,
      args: [script, canary('exec-args')],
      env: [{ name: 'AWS_SECRET', value: canary('exec-env') }],
      provideClusterInfo: true,
    };
    server.handler = (_request, response) => json(response, { kind: 'Status', status: 'Failure', code: 401 }, 401);
    await runAll({ server: server.url, user: { exec } });
    await runAll({ server: server.url, user: { exec: { ...exec, command: join(directory, 'no-such-program') } } });
    expectNoCanary(...seen);
  });

  it('of an identity provider and of an auth provider', async () => {
    const oidc = {
      issuerUrl: server.url.replace('://', `://joe:${encodeURIComponent(canary('issuer'))}@`),
      clientId: 'id',
      clientSecret: canary('client-secret'),
      refreshToken: canary('refresh-token'),
    };
    for (const answer of [
      canary('issuer-answer'),
      { token_endpoint: `${server.url}/token` },
      { error: 'invalid_grant', error_description: `${canary('refresh-token')} of ${canary('client-secret')}` },
    ]) {
      server.handler = (request, response) =>
        json(response, answer, request.url.pathname === '/token' || 'error' in Object(answer) ? 400 : 200);
      await runAll({ server: server.url, user: { oidc } });
    }
    const quoting = (): Promise<string> => {
      JSON.parse(`${canary('provider')} is not JSON`);
      return Promise.resolve('');
    };
    await runAll({ server: server.url, user: { provider: { authorization: quoting } } });
    const failing = (): Promise<string> =>
      Promise.reject(new Error(`Failed: Unexpected token 'k', "${canary('provider')}" is not valid JSON`));
    await runAll({ server: server.url, user: { provider: { authorization: failing } } });
    expectNoCanary(...seen);
  });

  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const kubeConfigText = `
apiVersion: v1
kind: Config
current-context: main
clusters:
- name: c
  cluster: { server: 'https://joe:${canary('url')}@127.0.0.1:1/x', proxy-url: 'http://joe:${canary('proxy')}@127.0.0.1:1' }
contexts:
- { name: main, context: { cluster: c, user: u } }
- { name: exec, context: { cluster: c, user: e } }
- { name: oidc, context: { cluster: c, user: o } }
- { name: none, context: { cluster: c } }
users:
- name: u
  user: { token: ${canary('token')}, username: u, password: ${canary('password')}, client-key-data: ${base64(canary('key'))}, client-certificate-data: ${base64('c')} }
- name: e
  user:
    exec: { apiVersion: client.authentication.k8s.io/v1, command: no-such-program, args: [--token, ${canary('exec-args')}], env: [{ name: A, value: ${canary('exec-env')} }] }
- name: o
  user:
    auth-provider: { name: oidc, config: { idp-issuer-url: 'https://127.0.0.1:1', client-id: i, client-secret: ${canary('client')}, id-token: ${canary('id')}, refresh-token: ${canary('refresh')} } }
`;

  it.each(['main', 'exec', 'oidc', 'none'])(
    'of a kubeconfig: the connection of context %s, and copies of it',
    async (context) => {
      const path = await write('config', kubeConfigText);
      const kubeConfig = new KubeConfig();
      kubeConfig.loadFromFile(path);
      kubeConfig.setCurrentContext(context);
      for (const connection of [await loadConnection({ path, context }), connectionFromKubeConfig(kubeConfig)]) {
        const { user: own, proxyUser } = connection;
        seen.push(connection, { ...connection }, { ...connection, namespace: 'x' }, Object.assign({}, connection));
        seen.push(
          [connection],
          new Map([['c', connection]]),
          own?.exec,
          { ...own?.exec, env: own?.exec?.env },
          proxyUser,
        );
        // What is hidden is still there for a caller that asks for it by name.
        expect(proxyUser?.password).toBe(canary('proxy'));
        if (context === 'none') expect([own?.username, own?.password]).toEqual(['joe', canary('url')]);
        if (context === 'exec') expect(own?.exec?.args).toEqual(['--token', canary('exec-args')]);
        expect(structuredClone(connection).user?.token).toBe(own?.token);
        await runAll(connection);
      }
      for (const value of seen)
        for (const text of [inspect(value, { depth: Infinity, showHidden: true }), JSON.stringify(value) ?? ''])
          expect(text).not.toContain(mark);
    },
  );

  it('of a kubeconfig that cannot be read', async () => {
    for (const [index, broken] of [
      kubeConfigText.replace('clusters:', `clusters: ${canary('yaml')}: [`),
      kubeConfigText.replace('users:', `users: *${canary('alias')}\nx:`),
      kubeConfigText.replace('users:', `users: !${canary('tag')} {}\nx:`),
      kubeConfigText.replace('users:', `${canary('dup')}: 1\n${canary('dup')}: 2\nusers:`),
      kubeConfigText.replace('users:', `users: "\\q${canary('escape')}"\nx:`),
      `{"kind":"Config","users":[{"token":"${canary('json')}"`,
      canary('text'),
      kubeConfigText.replace(/certificate-data: \S+ /, `certificate-data: "!!!" `),
      kubeConfigText.replace("server: '", `server: 'x`),
    ].entries()) {
      const path = await write(`broken-${index}`, broken);
      await loadConnection({ path }).then(
        (connection) => runAll(connection).catch((error: unknown) => seen.push(error)),
        (error: unknown) => seen.push(error),
      );
    }
    expect(seen.length).toBeGreaterThan(8);
    expectNoCanary(...seen);
  });
});
