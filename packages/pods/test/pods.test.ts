import { createServer } from 'node:http';
import { mkdir, mkdtemp, readFile, readdir, readlink, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { isStatusError } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Namespace, Pod, Service } from '@kctl/apimachinery/kinds/core/v1';
import type { ApiServer, LogRequest, ScriptedProcess } from '@kctl/apiserver';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { pack } from 'tar-stream';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  attach,
  copyFromPod,
  copyToPod,
  exec,
  isPodStreamError,
  isPodTargetError,
  openPort,
  podLogs,
  podLogText,
  portForward,
  resolvePod,
  startExec,
} from '../src/index.js';
import { PodStreamError } from '../src/internal/index.js';
import type { CopyOptions, LogLine, PodLogsOptions, PodsClient, PodTarget } from '../src/index.js';

let environment: TestEnvironment;
let server: ApiServer;
const key = { namespace: 'shop', name: 'web-0' };

beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded' });
  if (environment.embedded === undefined) throw new Error('not the embedded server');
  server = environment.embedded;
  const { client } = environment;
  await client.create(Namespace, { metadata: { name: 'shop' } });
  const containers = [
    { name: 'app', image: 'app', ports: [{ name: 'http', containerPort: 8080 }] },
    { name: 'sidecar', image: 'sidecar' },
  ];
  const labels = { app: 'web' };
  await server.seed([
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...key, labels },
      spec: { nodeName: 'node-1', initContainers: [{ name: 'init', image: 'init' }], containers },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    },
  ]);
  await client.create(Pod, { metadata: { namespace: 'shop', name: 'unassigned', labels }, spec: { containers } });
  const selector = { matchLabels: labels };
  const template = { metadata: { labels }, spec: { containers } };
  await client.create(Deployment, { metadata: { namespace: 'shop', name: 'web' }, spec: { selector, template } });
  const ports = [{ name: 'web', port: 80, targetPort: 'http' }];
  await client.create(Service, { metadata: { namespace: 'shop', name: 'web' }, spec: { selector: labels, ports } });
});

afterEach(() => server.pods.clear());
afterAll(() => environment.stop());

async function linesOf(target: PodTarget, options: PodLogsOptions = {}): Promise<readonly string[]> {
  const lines: LogLine[] = [];
  for await (const line of podLogs(environment.client, target, options)) lines.push(line);
  return lines.map(({ container, text }) => `${container}: ${text}`);
}

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('podLogs', () => {
  it('hands out lines of one container, of several, and of all', async () => {
    server.pods.script({ name: 'web-0', container: 'app' }, { log: 'one\ntwo\n\nfour' });
    server.pods.script({ name: 'web-0', container: 'sidecar' }, { log: ['proxy'] });
    expect(await linesOf(key)).toEqual(['app: one', 'app: two', 'app: ', 'app: four']);
    expect(await linesOf(key, { container: 'sidecar' })).toEqual(['sidecar: proxy']);
    expect(await linesOf(key, { containers: 'all', tailLines: 1 })).toEqual(['app: four', 'sidecar: proxy']);
    expect(await podLogText(environment.client, key, { containers: ['sidecar', 'app'], tailLines: 1 })).toBe(
      'proxy\nfour\n',
    );
  });

  it('asks for times, since, tail and bytes', async () => {
    const log = [1, 2, 3].map((minute) => ({ time: `2026-01-01T00:0${minute}:00.5Z`, text: `at ${minute}` }));
    server.pods.script(key, { log });
    const within = async (options: PodLogsOptions): Promise<string> =>
      await podLogText(environment.client, key, options);
    expect(await within({ sinceTime: '2026-01-01T00:02:00Z' })).toBe('at 2\nat 3\n');
    expect(await within({ sinceSeconds: 1 })).toBe('');
    expect(await within({ tailLines: 0 })).toBe('');
    expect(await within({ limitBytes: 6 })).toBe('at 1\na\n');
    const [first] = await Array.fromAsync(podLogs(environment.client, key, { timestamps: true }));
    expect(first).toEqual({
      ...key,
      name: undefined,
      pod: 'web-0',
      container: 'app',
      text: 'at 1',
      timestamp: '2026-01-01T00:01:00.5Z',
    });
  });

  it('follows several containers until they end, and leaves all when the loop is left', async () => {
    const left: string[] = [];
    const forever = (name: string) =>
      async function* ({ signal }: { signal: AbortSignal }) {
        signal.addEventListener('abort', () => left.push(name), { once: true });
        for (let line = 1; !signal.aborted; line++) {
          yield `${name} ${line}`;
          if (line >= 2) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        }
      };
    for (const name of ['app', 'sidecar'])
      server.pods.script({ ...key, container: name }, { log: (request) => forever(name)(request) });
    const seen = new Set<string>();
    for await (const { text } of podLogs(environment.client, key, { containers: ['app', 'sidecar'], follow: true })) {
      seen.add(text);
      if (seen.size === 4) break;
    }
    expect([...seen].sort()).toEqual(['app 1', 'app 2', 'sidecar 1', 'sidecar 2']);
    await expect.poll(() => left.sort()).toEqual(['app', 'sidecar']);
  });

  it('ends with the reason of its signal', async () => {
    const controller = new AbortController();
    server.pods.script(key, {
      log: async function* ({ signal }: LogRequest) {
        yield 'first';
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    const reason = new Error('enough');
    const reading = (async () => {
      for await (const { text } of podLogs(environment.client, key, { follow: true, signal: controller.signal }))
        if (text === 'first') controller.abort(reason);
    })();
    expect(await failureOf(reading)).toBe(reason);
  });

  it('hands out a line without an end in pieces', async () => {
    server.pods.script(key, { log: `${'x'.repeat(25)}\nend` });
    expect((await linesOf(key, { maxLineBytes: 10 })).map((line) => line.length - 'app: '.length)).toEqual([
      10, 10, 5, 3,
    ]);
  });

  it('cuts no line of a text', async () => {
    const line = `a${'é'.repeat(700_000)}`;
    server.pods.script(key, { log: `${line}\nend\n` });
    expect((await podLogText(environment.client, key)) === `${line}\nend\n`).toBe(true);
  });

  it.each([{ containers: 'app' }, { follow: 'yes' }, { container: 5 }])('refuses %o', async (options) => {
    const error = await failureOf(podLogText(environment.client, key, options as never));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/(a string|true or false|'all')/);
  });

  it.each<[string, PodTarget, PodLogsOptions, string]>([
    ['a pod that does not exist', { ...key, name: 'none' }, { container: 'app' }, '404 pods "none" not found'],
    ['a container that does not exist', key, { container: 'db' }, '400 container db is not valid for pod web-0'],
    [
      'a restart that was not',
      key,
      { previous: true },
      '400 previous terminated container "app" in pod "web-0" not found',
    ],
  ])('fails as upstream for %s', async (_, target, options, said) => {
    server.pods.script(key, { log: '' });
    const error = await failureOf(linesOf(target, options));
    expect(isStatusError(error) && `${error.httpCode} ${error.status.message}`).toBe(said);
  });

  it('has no lines of a pod that is on no node, and a previous log where there is one', async () => {
    expect(await linesOf({ ...key, name: 'unassigned' })).toEqual([]);
    server.pods.script(key, { previousLog: 'crashed' });
    expect(await linesOf(key, { previous: true })).toEqual(['app: crashed']);
  });

  it('refuses options that contradict each other', async () => {
    const options = { container: 'app', containers: 'all', sinceSeconds: 1, sinceTime: 'soon', tailLines: -1 } as const;
    const error = await failureOf(linesOf(key, options));
    expect(String(error)).toMatch(/tailLines.*container and containers.*sinceSeconds and sinceTime.*sinceTime "soon"/);
  });
});

describe('exec', () => {
  const shell = async ({ command, stdin, stdout, stderr }: ScriptedProcess): Promise<number> => {
    for await (const chunk of stdin) stdout.write(String(chunk).toUpperCase());
    stderr.write(`ran ${command.join(' ')}`);
    return command.includes('false') ? 3 : 0;
  };

  it('returns what the process wrote, and its exit code', async () => {
    server.pods.script(key, { exec: shell });
    const run = async (command: string[], stdin?: string | Readable) =>
      await exec(environment.client, key, command, stdin === undefined ? {} : { stdin });
    expect(await run(['cat'], 'hello')).toEqual({ exitCode: 0, stdout: 'HELLO', stderr: 'ran cat' });
    expect(await run(['cat'], Readable.from(['a', 'b']))).toMatchObject({ stdout: 'AB' });
    expect(await run(['false', '-x y'])).toEqual({ exitCode: 3, stdout: '', stderr: 'ran false -x y' });
  });

  it('carries megabytes both ways, with a reader that is slow to begin', async () => {
    server.pods.script(key, {
      exec: async ({ stdin, stdout }) => {
        for await (const chunk of stdin)
          if (!stdout.write(chunk)) await new Promise((resolve) => stdout.once('drain', resolve));
      },
    });
    const bytes = Buffer.alloc(3 * 1024 * 1024 + 17, 'abcdefg');
    const { stdout } = await exec(environment.client, key, ['cat'], { stdin: bytes });
    expect(Buffer.from(stdout).equals(bytes)).toBe(true);
  });

  it('hands out streams, sizes and the end of the process', async () => {
    server.pods.script(key, {
      exec: async ({ sizes, stdout, tty }) => {
        for await (const { columns, rows } of sizes) {
          stdout.write(`${tty} ${columns}x${rows}`);
          return 7;
        }
        return 1;
      },
    });
    await using process = await startExec(environment.client, key, ['sh'], { tty: true, stdin: true });
    process.resize(80, 24);
    expect(await Array.fromAsync(process.stdout, String)).toEqual(['true 80x24']);
    expect([await process.exited, process.container]).toEqual([7, 'app']);
    expect(() => process.resize(0, 1)).toThrow(/columns/);
  });

  it('writes into the streams that it is given', async () => {
    server.pods.script(key, { exec: shell });
    const stdout = new PassThrough();
    const result = await exec(environment.client, key, ['cat'], { stdin: 'x', stdout });
    expect([result.stdout, stdout.read()?.toString(), result.stderr]).toEqual(['', 'X', 'ran cat']);
  });

  it('tells the process that its client is gone', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<string>();
    server.pods.script(key, {
      exec: ({ signal }) => {
        controller.abort(reason);
        return new Promise<number>(() => signal.addEventListener('abort', () => resolve('gone')));
      },
    });
    const controller = new AbortController();
    const reason = new Error('enough');
    const running = failureOf(exec(environment.client, key, ['sleep'], { signal: controller.signal }));
    expect([await running, await gone]).toEqual([reason, 'gone']);
  });

  it('ends with the input that fails, and not with input that is not read', async () => {
    server.pods.script(key, {
      exec: async ({ stdin }) => {
        for await (const _ of stdin) {
          /* all of it */
        }
      },
    });
    const broken = async function* () {
      yield 'a';
      throw new Error('no more');
    };
    expect(String(await failureOf(exec(environment.client, key, ['cat'], { stdin: broken() })))).toBe('Error: no more');
    server.pods.script(key, { exec: () => 4 });
    const endless = Readable.from(
      (async function* () {
        for (;;) yield 'x'.repeat(1000);
      })(),
    );
    expect(await exec(environment.client, key, ['true'], { stdin: endless })).toMatchObject({ exitCode: 4 });
  });

  it('lets go of input that it waits for when the process has ended', async () => {
    server.pods.script(key, { exec: () => 4 });
    const { promise, resolve } = Promise.withResolvers<IteratorResult<string, undefined>>();
    let returns = 0;
    const waiting: AsyncIterableIterator<string, undefined> = {
      next: () => promise,
      return: () => {
        returns++;
        resolve({ done: true, value: undefined });
        return promise;
      },
      [Symbol.asyncIterator]: () => waiting,
    };
    expect(await exec(environment.client, key, ['true'], { stdin: waiting })).toMatchObject({ exitCode: 4 });
    await vi.waitFor(() => expect(returns).toBe(1));
  });

  it.each<[string, unknown, RegExp]>([
    ['stdin', 42, /stdin is .*: expected a string, a Uint8Array/],
    ['stdin', null, /stdin is null/],
    ['stdout', 'out.txt', /stdout is .*: expected a Writable/],
    ['tty', 'yes', /tty "yes" is not valid/],
    ['container', 5, /container is .*: expected a string/],
    ['clock', {}, /expected a Clock/],
    ['maxOutputBytes', -1, /maxOutputBytes -1/],
  ])('sends no command with %s %o', async (name, value, expected) => {
    let runs = 0;
    server.pods.script(key, { exec: () => void runs++ });
    const error = await failureOf(exec(environment.client, key, ['true'], { [name]: value }));
    expect([error instanceof TypeError, String(error), runs]).toEqual([true, expect.stringMatching(expected), 0]);
  });

  it('ends with input whose own connection is lost, or that is no text', async () => {
    server.pods.script(key, {
      exec: async ({ stdin }) => {
        for await (const _ of stdin) {
          /* all of it */
        }
      },
    });
    const lost = async function* () {
      yield 'a';
      throw new PodStreamError('the other connection is lost');
    };
    await expect(exec(environment.client, key, ['cat'], { stdin: lost() })).rejects.toThrow('the other connection');
    const numbers = Readable.from([1]);
    await expect(exec(environment.client, key, ['cat'], { stdin: numbers })).rejects.toThrow(/a piece of stdin is/);
    expect(numbers.destroyed).toBe(true);
  });

  it('bounds what it collects', async () => {
    server.pods.script(key, { exec: ({ stdout }) => void stdout.write('x'.repeat(100)) });
    const error = await failureOf(exec(environment.client, key, ['yes'], { maxOutputBytes: 10 }));
    expect([isPodStreamError(error), String(error)]).toEqual([true, expect.stringMatching(/more than 10 bytes/)]);
  });

  it.each<[string, string, number, RegExp]>([
    ['a pod on no node', 'unassigned', 400, /^pod unassigned does not have a host assigned$/],
    ['a pod that does not exist', 'none', 404, /^pods "none" not found$/],
    ['a container that runs nothing', 'web-0', 500, /container not found \("app"\)/],
  ])('fails as upstream for %s', async (_, name, code, message) => {
    server.pods.script(key, { log: '' });
    const error = await failureOf(exec(environment.client, { ...key, name }, ['true'], { container: 'app' }));
    expect(isStatusError(error) && [error.httpCode, error.status.message]).toEqual([
      code,
      expect.stringMatching(message),
    ]);
  });

  it('attaches to the main process', async () => {
    server.pods.script(key, { attach: ({ stdout, command }) => void stdout.write(`main ${command.length}`) });
    await using process = await attach(environment.client, key);
    expect(await Array.fromAsync(process.stdout, String)).toEqual(['main 0']);
    expect(await process.exited).toBe(0);
  });

  it('ends with a lost connection', async () => {
    server.pods.script(key, {
      exec: ({ stdout }) => {
        stdout.write('up');
        return new Promise<number>(() => undefined);
      },
    });
    await using process = await startExec(environment.client, key, ['sleep']);
    for await (const _ of process.stdout) break;
    await server.faults.failover();
    const error = await failureOf(process.exited);
    expect(isPodStreamError(error)).toBe(true);
  });
});

describe('portForward', () => {
  it('carries connections of this machine to a port of a pod, a Deployment or a Service', async () => {
    const http = createServer((request, response) => response.end(`you asked for ${request.url ?? ''}`));
    server.pods.script(key, { ports: { 8080: (connection) => void http.emit('connection', connection) } });
    const targets: [PodTarget, number | string][] = [
      [key, 8080],
      [{ kind: Deployment, namespace: 'shop', name: 'web' }, 'http'],
      [{ kind: Service, namespace: 'shop', name: 'web' }, 80],
      [{ kind: Service, namespace: 'shop', name: 'web' }, 'web'],
    ];
    for (const [target, remote] of targets) {
      await using forward = await portForward(environment.client, target, { ports: [{ remote, local: 0 }] });
      const [port] = forward.ports;
      const response = await fetch(`http://127.0.0.1:${port?.local}/a`, { headers: { connection: 'close' } });
      expect([await response.text(), port?.remote]).toEqual(['you asked for /a', 8080]);
    }
  });

  it('gives a stream without a socket', async () => {
    server.pods.script(key, { ports: { 7: (connection) => void connection.pipe(connection) } });
    const stream = await openPort(environment.client, key, 7);
    stream.write('echo');
    expect(String(await new Promise((resolve) => stream.once('data', resolve)))).toBe('echo');
    stream.destroy();
  });

  it('reports a port on which nothing listens, and goes on', async () => {
    server.pods.script(key, { ports: { 7: (connection) => void connection.end('ok') } });
    const errors: unknown[] = [];
    await using forward = await portForward(environment.client, key, {
      ports: [':7', { remote: 9, local: 0 }],
      onError: (error) => errors.push(error),
    });
    const [good, bad] = forward.ports;
    await expect(fetch(`http://127.0.0.1:${bad?.local}/`)).rejects.toThrow();
    await expect
      .poll(() => errors.map(String))
      .toEqual([expect.stringMatching(/port 9 of Pod shop\/web-0.*connection refused/)]);
    expect(await Array.fromAsync(connect(good?.local ?? 0, '127.0.0.1'), String)).toEqual(['ok']);
  });

  it('carries all that a connection sends before it ends', async () => {
    const received = Promise.withResolvers<number>();
    server.pods.script(key, {
      ports: {
        7: (connection) => {
          let length = 0;
          connection
            .on('data', (chunk: Buffer) => (length += chunk.length))
            .once('end', () => received.resolve(length));
        },
      },
    });
    await using forward = await portForward(environment.client, key, { ports: [':7'] });
    const size = 4 * 1024 * 1024;
    connect(forward.ports[0]?.local ?? 0, '127.0.0.1').end(Buffer.alloc(size));
    expect(await received.promise).toBe(size);
  });

  it('leaves no stream of a connection that ends before its stream is open', async () => {
    const gate = Promise.withResolvers<undefined>();
    const ended = Promise.withResolvers<string>();
    const { transport } = environment.client;
    const client: PodsClient = {
      get: environment.client.get.bind(environment.client),
      list: environment.client.list.bind(environment.client),
      transport: {
        send: async (request) => {
          await gate.promise;
          // As one whose answer comes just before the end of the connection.
          const { signal: _ended, ...rest } = request;
          return await transport.send(rest);
        },
      },
    };
    server.pods.script(key, {
      ports: { 7: (connection) => void connection.resume().once('end', () => ended.resolve('ended')) },
    });
    await using forward = await portForward(client, key, { ports: [':7'] });
    const socket = connect(forward.ports[0]?.local ?? 0, '127.0.0.1');
    await new Promise((resolve) => socket.resume().once('close', resolve).end());
    gate.resolve(undefined);
    expect(await ended.promise).toBe('ended');
  });

  it.each([
    ['a WebSocket of another key', { status: 101, headers: { 'sec-websocket-accept': 'x' } }, /handshake is not valid/],
    ['no subprotocol', { status: 101, headers: {} }, /handshake is not valid/],
    ['an answer without an end', { status: 200, headers: {} }, /answers with 200 instead of 101/],
    ['a refusal', { status: 403, headers: {} }, /answers with 403: no/],
  ])('opens no port where the server answers with %s', async (_what, answer, expected) => {
    let isLeft = false;
    const socket = new PassThrough();
    const body = async function* (): AsyncGenerator<readonly Uint8Array[], void, undefined> {
      try {
        yield [Buffer.from('no')];
        if (answer.status === 200) await new Promise(() => undefined);
      } finally {
        isLeft = true;
      }
    };
    const client: PodsClient = {
      get: environment.client.get.bind(environment.client),
      list: environment.client.list.bind(environment.client),
      transport: {
        send: () => Promise.resolve({ ...answer, body: body(), ...(answer.status === 101 ? { socket } : {}) }),
      },
    };
    await expect(openPort(client, key, 7)).rejects.toThrow(expected);
    expect(answer.status === 101 ? socket.destroyed : isLeft || answer.status === 200).toBe(true);
  });

  it('rejects with the reason of its signal, aborted before, while it opens and after', async () => {
    server.pods.script(key, { ports: { 7: (connection) => void connection.resume() } });
    const reason = new Error('enough');
    const { client } = environment;
    expect(await failureOf(openPort(client, key, 7, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    const during = new AbortController();
    const opening = failureOf(openPort(client, key, 7, { signal: during.signal }));
    during.abort(reason);
    expect(await opening).toBe(reason);
    const after = new AbortController();
    const stream = await openPort(client, key, 7, { signal: after.signal });
    const failed = failureOf(Array.fromAsync(stream));
    after.abort(reason);
    expect([await failed, stream.destroyed]).toEqual([reason, true]);
  });

  it('closes its ports with its signal', async () => {
    server.pods.script(key, {});
    const controller = new AbortController();
    const forward = await portForward(environment.client, key, { ports: [':7'], signal: controller.signal });
    controller.abort();
    await expect(fetch(`http://127.0.0.1:${forward.ports[0]?.local}/`)).rejects.toThrow();
  });

  it.each<[unknown, RegExp]>([
    [0, /remote 0/],
    [70_000, /remote 70000/],
    [1.5, /remote 1.5/],
    ['99999', /remote 99999/],
    ['', /expected 8080:80/],
    ['80:80:90', /expected 8080:80/],
    ['0x50:80', /expected 8080:80/],
    ['70000:80', /local 70000/],
    [{ remote: 80, locl: 0 }, /unknown option "locl": did you mean "local"/],
    [{ remote: 80, local: -1 }, /local -1/],
    [{}, /remote is undefined/],
  ])('opens nothing for the port %o', async (port, expected) => {
    const error = await failureOf(portForward(environment.client, key, { ports: [port as never] }));
    expect([error instanceof TypeError, String(error)]).toEqual([true, expect.stringMatching(expected)]);
  });

  it('opens no port that there cannot be', async () => {
    await expect(openPort(environment.client, key, 70_000)).rejects.toThrow(/port 70000/);
  });

  it('names the ports that there are', async () => {
    const service = { kind: Service, namespace: 'shop', name: 'web' };
    const error = await failureOf(portForward(environment.client, service, { ports: [':81'] }));
    expect([isPodTargetError(error), String(error)]).toEqual([
      true,
      expect.stringMatching(/has no port 81: it has 80 \(web\)/),
    ]);
    await expect(portForward(environment.client, key, { ports: ['x:1'] })).rejects.toThrow(/expected 8080:80/);
  });
});

describe('copy', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kctl-copy-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('packs files and folders for tar in the container', async () => {
    await mkdir(join(folder, 'site/sub'), { recursive: true });
    await writeFile(join(folder, 'site/a.txt'), 'A');
    await writeFile(join(folder, 'site/sub/empty'), '');
    await symlink('/etc/passwd', join(folder, 'site/link'));
    const commands: string[] = [];
    const archives: Buffer[] = [];
    server.pods.script(key, {
      exec: async ({ command, stdin }) => {
        commands.push(command.join(' '));
        if (command[0] === 'test') return 0;
        archives.push(Buffer.concat(await Array.fromAsync(stdin)));
        return 0;
      },
    });
    const skipped: string[] = [];
    const onSkipped = (path: string) => skipped.push(path);
    const result = await copyToPod(environment.client, key, { from: join(folder, 'site'), to: '/srv' }, { onSkipped });
    expect([result, commands]).toEqual([{ files: 2, bytes: 1 }, ['test -d /srv', 'tar -xmf - -C /srv']]);
    expect(skipped).toEqual([join(folder, 'site/link')]);
    const names = archives.flatMap((archive) => archive.toString('latin1').match(/site[\w./]*/g) ?? []);
    expect(names).toEqual(['site', 'site/a.txt', 'site/sub', 'site/sub/empty']);
  });

  const tarOf = (...names: string[]) => {
    server.pods.script(key, {
      exec: async ({ stdout, command }) => {
        expect(command).toEqual(['tar', 'cf', '-', '-C', '/srv', 'site']);
        const archive = pack();
        for (const name of names)
          if (name.endsWith('/')) archive.entry({ name, type: 'directory' });
          else archive.entry({ name }, `in ${name}`);
        archive.entry({ name: 'site/link', type: 'symlink', linkname: '/etc/passwd' });
        archive.finalize();
        for await (const chunk of archive) stdout.write(chunk);
      },
    });
  };

  it('unpacks files and folders of the container', async () => {
    tarOf('site/', 'site/a.txt', 'site/sub/b.txt');
    const files: string[] = [];
    const to = join(folder, 'out');
    const result = await copyFromPod(
      environment.client,
      key,
      { from: '/srv/site/', to },
      { onFile: (path) => files.push(path) },
    );
    expect([result, files]).toEqual([{ files: 2, bytes: 30 }, [join(to, 'a.txt'), join(to, 'sub/b.txt')]]);
    expect(await readFile(join(to, 'sub/b.txt'), 'utf8')).toBe('in site/sub/b.txt');
  });

  it.each(['../evil', 'site/../../evil', '/evil', 'other/a'])('does not write %s, which leads out', async (name) => {
    tarOf(name);
    const error = await failureOf(
      copyFromPod(environment.client, key, { from: '/srv/site', to: join(folder, 'safe') }),
    );
    expect(String(error)).toMatch(/which is not in "site"/);
  });

  it('writes through no symbolic link of the destination', async () => {
    const outside = join(folder, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'a.txt'), 'of others');
    const inner = join(folder, 'inner');
    await mkdir(inner);
    await symlink(outside, join(inner, 'site'));
    tarOf('site/a.txt');
    const error = await failureOf(copyFromPod(environment.client, key, { from: '/srv/site', to: inner }));
    expect(String(error)).toMatch(/site is a symbolic link on this machine: nothing is written through it/);
    const below = join(folder, 'below');
    await mkdir(join(below, 'site'), { recursive: true });
    await symlink(outside, join(below, 'site', 'sub'));
    await symlink(join(outside, 'a.txt'), join(below, 'site', 'a.txt'));
    await symlink(join(outside, 'new.txt'), join(below, 'site', 'new.txt'));
    for (const name of ['site/sub/a.txt', 'site/a.txt', 'site/new.txt', 'site/sub/']) {
      tarOf(name);
      const failure = await failureOf(copyFromPod(environment.client, key, { from: '/srv/site', to: below }));
      expect(String(failure)).toMatch(/is a symbolic link on this machine/);
    }
    expect(await readdir(outside)).toEqual(['a.txt']);
    expect(await readFile(join(outside, 'a.txt'), 'utf8')).toBe('of others');
  });

  it('creates files with the mode of the container less the umask, from the start', async () => {
    server.pods.script(key, {
      exec: async ({ stdout }) => {
        const archive = pack();
        archive.entry({ name: 'site/secret', mode: 0o600 }, 'x');
        archive.entry({ name: 'site/open', mode: 0o6777 }, 'x');
        archive.finalize();
        for await (const chunk of archive) stdout.write(chunk);
      },
    });
    const to = join(folder, 'modes');
    const before = process.umask(0o027);
    try {
      await copyFromPod(environment.client, key, { from: '/srv/site', to });
    } finally {
      process.umask(before);
    }
    const modes = await Promise.all(['secret', 'open'].map(async (name) => (await stat(join(to, name))).mode & 0o7777));
    expect(modes).toEqual([0o600, 0o750]);
  });

  it('refuses a header that would be kept in memory as a whole', async () => {
    server.pods.script(key, {
      exec: ({ stdout }) => {
        const header = Buffer.alloc(512);
        header.write('pax', 0);
        header.write('77777777777', 124);
        header.write('x', 156);
        header.write('ustar\0', 257);
        let sum = 8 * 32;
        for (const byte of header) sum += byte;
        header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
        stdout.write(header);
        stdout.write(Buffer.alloc(100_000));
        return Promise.resolve(0);
      },
    });
    const paths = { from: '/srv/site', to: join(folder, 'pax') };
    expect(String(await failureOf(copyFromPod(environment.client, key, paths)))).toMatch(
      /the container sent a tar header of 8589934591 bytes: at most 1048576 are read/,
    );
  });

  /** Files below the folder that this process has open. */
  const openFiles = async (): Promise<readonly string[]> => {
    const links = await Promise.all(
      (await readdir('/proc/self/fd')).map((descriptor) => readlink(`/proc/self/fd/${descriptor}`).catch(() => '')),
    );
    return links.filter((link) => link.startsWith(folder));
  };

  it.runIf(process.platform === 'linux')('leaves no file open when it is aborted half-way', async () => {
    const reason = new Error('enough');
    const begun = Promise.withResolvers<undefined>();
    server.pods.script(key, {
      exec: ({ command, stdin, stdout, signal }) => {
        if (command[0] === 'test') return Promise.resolve(1);
        const archive = pack();
        archive.on('data', (chunk) => stdout.write(chunk as Buffer));
        archive.entry({ name: 'site/half', size: 1_000_000 }).write(Buffer.alloc(100_000));
        stdin.once('readable', () => begun.resolve(undefined));
        return new Promise<number>((resolve) => signal.addEventListener('abort', () => resolve(1)));
      },
    });
    const from = new AbortController();
    const to = join(folder, 'half-out');
    const reading = failureOf(copyFromPod(environment.client, key, { from: '/srv/site', to }, { signal: from.signal }));
    await expect.poll(openFiles).toEqual([join(to, 'half')]);
    from.abort(reason);
    expect([await reading, await openFiles()]).toEqual([reason, []]);

    const big = join(folder, 'big');
    await writeFile(big, '');
    await truncate(big, 64 * 1024 * 1024);
    const upload = new AbortController();
    const writing = failureOf(
      copyToPod(environment.client, key, { from: big, to: '/srv/big' }, { signal: upload.signal }),
    );
    await begun.promise;
    await expect.poll(openFiles).toEqual([big]);
    upload.abort(reason);
    expect([await writing, await openFiles()]).toEqual([reason, []]);
  });

  it.runIf(process.platform === 'linux')('leaves no file open when the container refuses tar', async () => {
    const big = join(folder, 'refused');
    await writeFile(big, Buffer.alloc(8 * 1024 * 1024));
    server.pods.script(key, { exec: ({ command }) => (command[0] === 'test' ? 1 : 2) });
    await expect(copyToPod(environment.client, key, { from: big, to: '/srv/big' })).rejects.toThrow(
      /tar exited with 2/,
    );
    expect(await openFiles()).toEqual([]);
    const { transport } = environment.client;
    const client: PodsClient = {
      get: environment.client.get.bind(environment.client),
      list: environment.client.list.bind(environment.client),
      transport: {
        send: async (request) => {
          if (!request.path.includes('command=tar')) return await transport.send(request);
          await expect.poll(openFiles).toEqual([big]);
          throw new Error('no connection');
        },
      },
    };
    await expect(copyToPod(client, key, { from: big, to: '/srv/big' })).rejects.toThrow('no connection');
    expect(await openFiles()).toEqual([]);
  });

  it('unpacks all that is in a folder without a name', async () => {
    const commands: string[] = [];
    server.pods.script(key, {
      exec: async ({ stdout, command }) => {
        commands.push(command.join(' '));
        const archive = pack();
        archive.entry({ name: './', type: 'directory' });
        archive.entry({ name: './a.txt' }, 'A');
        if (commands.length === 3) archive.entry({ name: './../evil' }, 'E');
        archive.finalize();
        for await (const chunk of archive) stdout.write(chunk);
      },
    });
    for (const [index, from] of ['/', '.', 'a/../..'].entries()) {
      const to = join(folder, `all-${index}`);
      const copy = copyFromPod(environment.client, key, { from, to });
      if (index === 2) await expect(copy).rejects.toThrow(/"\.\/\.\.\/evil", which is not in "\."/);
      else expect(await copy).toEqual({ files: 1, bytes: 1 });
      expect(await readFile(join(to, 'a.txt'), 'utf8')).toBe('A');
    }
    expect(commands).toEqual(['tar cf - -C / .', 'tar cf - -C . .', 'tar cf - -C .. .']);
    expect(await readdir(folder)).not.toContain('evil');
  });

  it('fails when the archive ends in the middle of a file, and says which option or path is not valid', async () => {
    server.pods.script(key, {
      exec: async ({ stdout }) => {
        const archive = pack();
        archive.entry({ name: 'site/cut' }, 'x'.repeat(10_000));
        archive.finalize();
        const [header = Buffer.alloc(0)] = await Array.fromAsync(archive);
        stdout.write(header);
      },
    });
    const paths = { from: '/srv/site', to: join(folder, 'cut') };
    await expect(copyFromPod(environment.client, key, paths)).rejects.toThrow(/Unexpected end/);
    await expect(copyFromPod(environment.client, key, { ...paths, to: '' })).rejects.toThrow(/to "" is not valid/);
    const misspelt = { onfile: () => undefined } as CopyOptions;
    await expect(copyToPod(environment.client, key, paths, misspelt)).rejects.toThrow(/onfile/);
  });

  it('says what tar says', async () => {
    server.pods.script(key, {
      exec: ({ stderr }) => {
        stderr.write('tar: /srv: no such file');
        return 2;
      },
    });
    await expect(copyFromPod(environment.client, key, { from: '/srv/site', to: folder })).rejects.toThrow(
      /tar exited with 2: tar: \/srv: no such file/,
    );
  });
});

it('takes of a workload the pod that runs', async () => {
  const pod = await resolvePod(environment.client, { kind: Deployment, namespace: 'shop', name: 'web' });
  expect(pod.metadata.name).toBe('web-0');
});
