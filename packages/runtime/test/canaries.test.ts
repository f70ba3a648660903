// The whole stack: secrets are planted in every place where one can enter, with every level of the log on, and whatever
// comes out is searched for them: log lines, errors with their causes, metrics, events, and what `inspect`,
// `JSON.stringify` and spread make of every part that a program holds.
import { createServer, type RequestListener } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createApiServer } from '@kctl/apiserver';
import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { Event } from '@kctl/apimachinery/kinds/events.k8s.io/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  controllerManagedBy,
  createConsoleLogger,
  createManager,
  createOrUpdate,
  predicateFuncs,
  terminalError,
  webhookManagedBy,
  type Logger,
  type RuntimeManager,
} from '../src/index.js';

/** In every canary, and in nothing else. */
const mark = 'kanarie';
const canary = (place: string): string => `${mark}-${place}-9f8e7d6c5b4a`;
const encoded = (place: string): string => Buffer.from(canary(place)).toString('base64');

/** What has come out so far. */
class Catch {
  readonly lines: string[] = [];
  readonly values: unknown[] = [];

  readonly loggers: readonly Logger[] = (['json', 'text'] as const).map((format) =>
    createConsoleLogger({ level: 'trace', format, stackLevel: 'trace', write: (line) => this.lines.push(line) }),
  );

  /** Writes each entry as JSON and as text. */
  get logger(): Logger {
    return both(this.loggers);
  }

  add(...values: unknown[]): void {
    this.values.push(...values);
  }

  /** Runs something that may fail, and keeps the error. */
  async attempt(work: () => unknown): Promise<unknown> {
    try {
      return await work();
    } catch (error) {
      this.add(error);
      return undefined;
    }
  }

  expectNone(): void {
    const found = [...this.lines, ...this.values.flatMap((value) => forms(value))].filter(
      (text) => text.includes(mark) || text.includes(Buffer.from(mark).toString('base64').slice(0, 8)),
    );
    expect(found.map((text) => around(text))).toEqual([]);
  }
}

function both(loggers: readonly Logger[]): Logger {
  const each =
    (level: 'trace' | 'debug' | 'info' | 'warn' | 'error') =>
    (...args: Parameters<Logger['info']>): void => {
      for (const logger of loggers) logger[level](...args);
    };
  return {
    isEnabled: () => true,
    trace: each('trace'),
    debug: each('debug'),
    info: each('info'),
    warn: each('warn'),
    error: each('error'),
    child: (fields) => both(loggers.map((logger) => logger.child(fields))),
  };
}

function around(text: string): string {
  const at = Math.max(0, text.indexOf(mark));
  return text.slice(Math.max(0, at - 300), at + 100);
}

/** Every form in which a value may end in a log or a report. */
function forms(value: unknown, depth = 0): string[] {
  const shown = [inspect(value, { depth: 12, showHidden: true, maxArrayLength: 1000 })];
  try {
    shown.push(JSON.stringify({ value }));
  } catch {
    // A cycle: inspect has shown it.
  }
  if (depth > 6 || typeof value !== 'object' || value === null) return shown;
  shown.push(inspect({ ...value }, { depth: 12 }));
  if (value instanceof Error) shown.push(String(value), value.stack ?? '', ...forms(value.cause, depth + 1));
  return shown;
}

const secretOf = (name: string) => ({
  metadata: { name, namespace: 'default', annotations: { 'ex.io/note': 'x' } },
  data: { password: encoded('data') },
  stringData: { more: canary('string-data') },
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Runs a manager until something is so, and keeps what its end says. */
async function runUntil(caught: Catch, manager: RuntimeManager, isDone: () => void | Promise<void>): Promise<void> {
  const stop = new AbortController();
  const running = manager.run(stop.signal).catch((error: unknown) => caught.add(error));
  try {
    await eventually(async () => isDone(), { timeoutMs: 20_000 });
  } finally {
    stop.abort();
    await running;
  }
  caught.add(
    manager,
    manager.client,
    manager.liveClient,
    manager.cache,
    manager.metrics,
    await manager.metrics.registry.metrics(),
  );
}

/** What comes out of a manager whose API server answers with this body, to a list or a watch. */
async function answered(body: string): Promise<Catch> {
  const caught = new Catch();
  let count = 0;
  const url = await listen((request, response) => {
    const isWatch = (request.url ?? '').includes('watch=');
    const isOurs = body.includes('"type"') === isWatch;
    if (isOurs) count++;
    const list = '{"kind":"SecretList","metadata":{"resourceVersion":"5"},"items":[]}';
    response.writeHead(200, { 'content-type': 'application/json' }).end(isOurs ? body : isWatch ? '' : list);
  });
  const manager = await createManager({
    connection: {
      server: url.replace('//', `//joe:${canary('url')}@`),
      user: { username: 'joe', password: canary('password') },
    },
    logger: caught.logger,
  });
  controllerManagedBy(manager)
    .for(Secret)
    .complete(() => Promise.resolve());
  await runUntil(caught, manager, () => {
    expect(count).toBeGreaterThan(0);
    expect(caught.lines.some((line) => /"level":"(warn|error)"/.test(line))).toBe(true);
  });
  return caught;
}

describe('no secret comes out', () => {
  it('of Secrets that pass through caches, controllers, writes and events', async () => {
    const caught = new Catch();
    await using environment = await createEnvironment({ server: 'embedded', embedded: { logger: caught.logger } });
    const { client } = environment;
    for (const name of ['error', 'syntax', 'terminal', 'write', 'thrown']) await client.create(Secret, secretOf(name));
    const manager = await createManager({ connection: environment.connection, logger: caught.logger });
    manager.cache.addIndex(Secret, 'poison', {
      object: () => {
        throw new Error('no index');
      },
    });
    manager.cache.addIndex(Secret, 'garbage', { object: ({ data }) => [Object(data ?? {}) as unknown as string] });
    const recorder = manager.recorder('canary');
    const seen = new Set<string>();
    controllerManagedBy(manager)
      .for(Secret)
      .withEventFilter(
        predicateFuncs({
          create: ({ object }) => {
            if (object.metadata.name === 'filtered') throw new Error('no filter');
            return true;
          },
        }),
      )
      .complete(async (key, { logger, signal }) => {
        const secret = await manager.client.get(Secret, key, { signal });
        seen.add(key.name);
        logger.debug('reading', { secret, list: [secret], nested: { secret } });
        recorder.warning(secret, 'Failed', 'it failed');
        if (key.name === 'syntax') JSON.parse(Buffer.from(secret.data?.['password'] ?? '', 'base64').toString());
        if (key.name === 'terminal') throw terminalError(new Error('no more', { cause: { secret } }));
        if (key.name === 'thrown') throw Object.assign(new Error('with an object'), { secret, object: secret });
        if (key.name === 'write') {
          const { data = {} } = secret;
          await caught.attempt(() => manager.client.create(Secret, { metadata: { ...key }, data }));
          await caught.attempt(() =>
            manager.client.update(Secret, { metadata: { ...key, resourceVersion: '1' }, data: { ...data } }),
          );
          await caught.attempt(() =>
            manager.client.patch(Secret, key, { type: 'merge', body: { data: { password: canary('not-base64') } } }),
          );
          await caught.attempt(() =>
            createOrUpdate(manager.client, Secret, key, {
              mutate: (draft) => {
                draft.data = { password: encoded('mutate') };
                throw new Error('no mutation');
              },
            }),
          );
        }
        throw new Error('failed');
      });
    await runUntil(caught, manager, async () => {
      await client.create(Secret, secretOf(`filtered`)).catch(() => undefined);
      expect([...seen].sort()).toEqual(expect.arrayContaining(['error', 'syntax', 'terminal', 'thrown', 'write']));
      const { items } = await client.list(Event, { namespace: 'default' });
      expect(items.length).toBeGreaterThan(0);
    });
    caught.add((await client.list(Event, { namespace: 'default' })).items);
    expect(caught.lines.some((line) => line.includes('Reconciler error'))).toBe(true);
    caught.expectNone();
  });

  const answers: readonly (readonly [string, string])[] = [
    ['text', `${canary('body')} is not JSON`],
    ['a list with a broken item', `{"kind":"SecretList","items":[{"data":{"a":${canary('body')}}}]}`],
    ['a list that ends early', `{"kind":"SecretList","items":[{"data":{"a":"${canary('body')}`],
    ['a list of something else', `{"kind":"SecretList","metadata":{},"items":["${canary('body')}"]}`],
    ['an item without metadata', `{"kind":"SecretList","metadata":{},"items":[{"data":{"a":"${canary('body')}"}}]}`],
    ['a broken event', `{"type":"ADDED","object":{"metadata":{"name":"x"},"data":${canary('body')}}}\n`],
    ['an event of no type', `{"type":"${canary('body')}","object":{"data":{"a":"${canary('body')}"}}}\n`],
  ];

  it('of an API server that answers garbage', async () => {
    const catches = await Promise.all(answers.map(([, body]) => answered(body)));
    for (const [index, caught] of catches.entries()) {
      expect(caught.lines.length, answers[index]?.[0]).toBeGreaterThan(0);
      caught.expectNone();
    }
  });

  it('of kubeconfigs that cannot be used', async () => {
    const caught = new Catch();
    const directory = await mkdtemp(join(tmpdir(), 'kctl-canaries-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'false', args: [canary('args')] };
    const config = (user: object, cluster: object = { server: 'https://127.0.0.1:1' }): string =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'it',
        clusters: [{ name: 'it', cluster }],
        users: [{ name: 'it', user }],
        contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
      });
    const texts = [
      `users: [{name: it, user: {token: ${canary('yaml')}}`,
      `{"users":[{"user":{"token":${canary('json')}}}]}`,
      `users: "${canary('yaml')}"`,
      `- ${canary('yaml')}`,
      canary('yaml'),
      config({ token: { a: canary('token') } }),
      config({ token: canary('token'), 'client-key-data': canary('key') }),
      config({ username: 'joe', password: [canary('password')] }),
      config({ username: 'joe', password: canary('password') }),
      config({ exec: { ...exec, env: [{ name: 'A', value: canary('env') }], interactiveMode: 'Never' } }),
      config({ exec: { ...exec, env: canary('env') } }),
      config({}, { server: `https://joe:${canary('url')}@127.0.0.1:1` }),
      config({}, { server: `${canary('url')}@://x` }),
      config({}, { server: 'https://127.0.0.1:1', 'proxy-url': `http://joe:${canary('proxy')}@127.0.0.1:1` }),
      config({}, { server: 'https://127.0.0.1:1', 'proxy-url': `joe:${canary('proxy')}@127.0.0.1` }),
      config({ 'client-certificate-data': encoded('pem'), 'client-key-data': encoded('pem') }),
    ];
    for (const [index, text] of texts.entries()) {
      const kubeconfigPath = join(directory, `config-${index}`);
      await writeFile(kubeconfigPath, text);
      await caught.attempt(async () => {
        const manager = await createManager({ kubeconfigPath, logger: caught.logger });
        caught.add(manager, manager.client, manager.liveClient);
        await caught.attempt(() => manager.liveClient.get(ConfigMap, { namespace: 'a', name: 'b' }));
      });
    }
    expect(caught.values.length).toBeGreaterThan(texts.length);
    caught.expectNone();
  });

  it('of what is sent to the webhook server of a manager', async () => {
    const caught = new Catch();
    await using environment = await createEnvironment({ server: 'embedded' });
    const manager = await createManager({
      connection: environment.connection,
      logger: caught.logger,
      webhook: {
        host: '127.0.0.1',
        port: 0,
        selfManagedCertificates: { secret: { name: 'tls', namespace: 'default' }, dnsNames: ['localhost'] },
      },
    });
    const [path = ''] = webhookManagedBy(manager)
      .for(Secret)
      .withValidator({
        validateCreate: (secret) => {
          if (secret.metadata.name === 'syntax') JSON.parse(secret.stringData?.['more'] ?? '');
          throw Object.assign(new Error('refused'), { secret });
        },
      })
      .complete();
    const review = (name: string): string =>
      JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        request: {
          uid: 'u',
          operation: 'CREATE',
          kind: { group: '', version: 'v1', kind: 'Secret' },
          resource: { group: '', version: 'v1', resource: 'secrets' },
          userInfo: {},
          object: { apiVersion: 'v1', kind: 'Secret', ...secretOf(name) },
        },
      });
    caught.add(manager.webhookServer);
    let isSent = false;
    await runUntil(caught, manager, async () => {
      manager.webhookServer.checkStarted();
      if (isSent) return;
      isSent = true;
      for (const body of [
        canary('body'),
        `{"a":${canary('body')}`,
        review('a'),
        review('syntax'),
        review('x').slice(1),
      ])
        caught.add(await post(manager.webhookServer.port ?? 0, path, body));
    });
    const { data = {} } = await environment.client.get(Secret, { namespace: 'default', name: 'tls' });
    for (const [name, value] of Object.entries(data)) {
      const text = Buffer.from(value, 'base64').toString();
      if (!text.includes('PRIVATE KEY')) continue;
      const line = text.split('\n')[1] ?? name;
      expect([...caught.lines, ...caught.values.flatMap((one) => forms(one))].join('\n')).not.toContain(line);
    }
    caught.expectNone();
  });

  it('of what is sent to the embedded API server, and of what it keeps on its disk', async () => {
    const caught = new Catch();
    const dataDir = await mkdtemp(join(tmpdir(), 'kctl-canaries-'));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const tokens = [{ token: canary('static-token'), user: 'static' }];
    const start = async () => {
      const server = createApiServer({ listen: false, dataDir, tokens, logger: caught.logger });
      await server.start();
      return server;
    };
    const server = await start();
    const secrets = '/api/v1/namespaces/default/secrets';
    const send = async (method: string, path: string, body: string, headers: Record<string, string> = {}) => {
      const response = await server.fetch(path, {
        method,
        body,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${canary('static-token')}`, ...headers },
      });
      await response.text();
      return response.status;
    };
    expect(await send('POST', secrets, JSON.stringify({ apiVersion: 'v1', kind: 'Secret', ...secretOf('a') }))).toBe(
      201,
    );
    for (const body of [canary('body'), `{"data":${canary('body')}}`, '{"data":{"a":"', '[]', `"${canary('body')}"`]) {
      await send('POST', secrets, body);
      await send('PUT', `${secrets}/a`, body);
      await send('PATCH', `${secrets}/a`, body, { 'content-type': 'application/merge-patch+json' });
      await send('PATCH', `${secrets}/a?fieldManager=m`, body, { 'content-type': 'application/apply-patch+yaml' });
      await send('DELETE', `${secrets}/b`, body);
    }
    await send('GET', secrets, '', { authorization: `Bearer ${canary('unknown-token')}` }).catch(() => undefined);
    const { token, journal } = server;
    caught.add(server, journal.requests(), journal.responses(), token === '' ? token : undefined);
    await server.stop();
    const files = (await readdir(dataDir)).filter((file) => file.includes('.json'));
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      const path = join(dataDir, file);
      const text = await readFile(path, 'utf8');
      await writeFile(path, text.replace('"', canary('disk')));
      expect(await caught.attempt(start)).toBeUndefined();
      await writeFile(path, text);
    }
    caught.expectNone();
    expect(caught.lines.join('\n')).not.toContain(token);
  });
});

function post(port: number, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        rejectUnauthorized: false,
        agent: false,
        servername: 'localhost',
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve(text));
      },
    );
    request.on('error', reject);
    request.setHeader('content-type', 'application/json');
    request.end(body);
  });
}
