import { connect as connectHttp2, constants, type ClientHttp2Session } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { once } from 'node:events';
import type { Logger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createHttpServer,
  readBody,
  type HttpRequest,
  type HttpResponse,
  type HttpServer,
  type RequestContext,
  type ServerLimits,
} from '../src/index.js';
import { defaultLimits } from '../src/internal/index.js';
import { selfSignedPair } from './pair.js';

type Handler = (request: HttpRequest, response: HttpResponse, context: RequestContext) => unknown;

interface Running {
  readonly server: HttpServer;
  readonly port: number;
  readonly clock: FakeClock;
  readonly stop: () => Promise<void>;
}

const kinds = ['HTTP/1.1', 'HTTP/1.1 over TLS', 'HTTP/2'] as const;
type ServerKind = (typeof kinds)[number];

let pair: { readonly cert: string; readonly key: string };
const cleanUps: (() => unknown)[] = [];

beforeAll(async () => {
  pair = selfSignedPair();
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(
  kind: ServerKind,
  onRequest: Handler,
  options: { limits?: ServerLimits; shutdownTimeoutMs?: number; logger?: Logger } = {},
): Promise<Running> {
  const clock = new FakeClock();
  const common = { name: 'test server', host: '127.0.0.1', port: 0, clock, onRequest, ...options };
  const server = createHttpServer(
    kind === 'HTTP/2'
      ? { ...common, http2: true, tls: pair }
      : { ...common, ...(kind === 'HTTP/1.1' ? {} : { tls: pair }) },
  );
  const abort = new AbortController();
  const running = server.run(abort.signal);
  await server.waitForListening();
  const port = server.address?.port ?? 0;
  const stop = async (): Promise<void> => {
    abort.abort();
    await running;
  };
  cleanUps.push(async () => {
    abort.abort();
    await until(() => clock.pendingTimers > 0 || server.address === undefined);
    while (server.address !== undefined) {
      clock.advanceSync(120_000);
      await turn();
    }
    await running;
  });
  return { server, port, clock, stop };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

/** A connection on which HTTP/1.1 or nothing is spoken; `closed` resolves with all that the server wrote. */
async function dial(running: Running, secure = false): Promise<{ socket: Socket; closed: Promise<string> }> {
  const socket = secure
    ? connectTls({ port: running.port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
    : connect(running.port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  cleanUps.push(() => socket.destroy());
  await once(socket, secure ? 'secureConnect' : 'connect');
  return { socket, closed };
}

async function dialHttp2(running: Running): Promise<ClientHttp2Session> {
  const session = connectHttp2(`https://127.0.0.1:${running.port}`, { rejectUnauthorized: false });
  session.on('error', () => undefined);
  cleanUps.push(() => session.destroy());
  await Promise.all([once(session, 'connect'), once(session, 'remoteSettings')]);
  return session;
}

/** Sends a header and one byte of a body of ten; `closed` resolves when the server has closed the connection. */
async function beginBody(running: Running, kind: ServerKind): Promise<{ readonly closed: Promise<unknown> }> {
  if (kind === 'HTTP/2') {
    const session = await dialHttp2(running);
    const stream = session.request({ ':path': '/', ':method': 'POST' });
    stream.on('error', () => undefined);
    stream.write('a');
    return { closed: once(session, 'close') };
  }
  const { socket, closed } = await dial(running, kind !== 'HTTP/1.1');
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\na');
  return { closed };
}

const isOpen = async (closed: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    closed.then(() => false),
    turn()
      .then(turn)
      .then(() => true),
  ]);

const answer: Handler = (_request, response) => response.end('ok');

describe('stop', () => {
  it.each(kinds)('ends within its deadline with a connection that says nothing (%s)', async (kind) => {
    // Node 26 closes connections that have not sent a request when it stops listening.
    const closesAtOnce = kind === 'HTTP/1.1' && Number(process.versions.node.split('.')[0]) >= 26;
    const running = await start(kind, answer, { shutdownTimeoutMs: 500 });
    const { closed } = await dial(running);
    await until(() => running.server.connections === 1);
    const stopped = running.stop();
    await turn();
    running.clock.advanceSync(499);
    if (!closesAtOnce) expect(await isOpen(closed)).toBe(true);
    running.clock.advanceSync(1);
    await closed;
    await stopped;
    expect(running.server.connections).toBe(0);
    expect(running.clock.pendingTimers).toBe(0);
  });

  it.each(kinds)(
    'gives what a silent connection may just have sent a second, whatever its deadline (%s)',
    async (kind) => {
      const running = await start(kind, answer, { shutdownTimeoutMs: Infinity });
      const { closed } = await dial(running);
      await until(() => running.server.connections === 1);
      const stopped = running.stop();
      await turn();
      running.clock.advanceSync(1_000);
      await closed;
      await stopped;
    },
  );

  it('gives a client that ends its handshake meanwhile no more than that second', async () => {
    const running = await start('HTTP/1.1 over TLS', answer, { shutdownTimeoutMs: Infinity });
    const { socket } = await dial(running);
    await until(() => running.server.connections === 1);
    const stopped = running.stop();
    await turn();
    const secure = connectTls({ socket, rejectUnauthorized: false });
    secure.on('error', () => undefined);
    await once(secure, 'session'); // the server sends its ticket when its side of the handshake has ended
    expect(running.clock.nextTimerInMs).toBeLessThanOrEqual(1_000);
    running.clock.advanceSync(1_000);
    await stopped;
    expect(running.clock.pendingTimers).toBe(0);
  });

  it('answers a request of a client that ends its handshake meanwhile', async () => {
    const running = await start('HTTP/1.1 over TLS', answer, { shutdownTimeoutMs: Infinity });
    const { socket } = await dial(running);
    await until(() => running.server.connections === 1);
    const stopped = running.stop();
    await turn();
    const secure = connectTls({ socket, rejectUnauthorized: false });
    secure.on('error', () => undefined);
    secure.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    const [answered] = await once(secure, 'data');
    expect(String(answered)).toMatch(/^HTTP\/1.1 200/);
    await stopped;
  });

  it.each(kinds)('lets a request in flight finish, then ends at once (%s)', async (kind) => {
    const entered = Promise.withResolvers<() => void>();
    const running = await start(kind, async (_request, response) => {
      await new Promise<void>((resolve) => entered.resolve(resolve));
      response.end('done');
    });
    const text = get(running, kind);
    const finish = await entered.promise;
    const stopped = running.stop();
    await turn();
    finish();
    expect(await text).toContain('done');
    await stopped;
    expect(running.clock.pendingTimers).toBe(0);
  });

  it.each(kinds)(
    'cuts a handler that ignores its signal at the deadline, and aborts that signal (%s)',
    async (kind) => {
      const entered = Promise.withResolvers<AbortSignal>();
      const running = await start(
        kind,
        (_request, _response, { signal }) => {
          entered.resolve(signal);
          return new Promise(() => undefined);
        },
        { shutdownTimeoutMs: 2_000 },
      );
      const text = get(running, kind);
      const signal = await entered.promise;
      const stopped = running.stop();
      await turn();
      running.clock.advanceSync(1_999);
      expect(signal.aborted).toBe(false);
      running.clock.advanceSync(1);
      await stopped;
      expect(String(signal.reason)).toContain('test server: the server has stopped');
      await text;
    },
  );

  it.each(kinds)(
    'tells a handler when it begins, which ends a stream of events before the deadline (%s)',
    async (kind) => {
      const entered = Promise.withResolvers<undefined>();
      const running = await start(kind, async (_request, response, { signal, stopping }) => {
        entered.resolve(undefined);
        await new Promise<void>((resolve) => stopping.addEventListener('abort', () => resolve(), { once: true }));
        response.end(`ended: ${String(stopping.reason)}, cut: ${signal.aborted}`);
      });
      const text = get(running, kind);
      await entered.promise;
      await running.stop();
      expect(await text).toContain('HttpServerError: test server: the server is stopping, cut: false');
      expect(running.clock.pendingTimers).toBe(0);
    },
  );

  it.each(kinds)('closes idle connections at once (%s)', async (kind) => {
    const running = await start(kind, answer);
    if (kind === 'HTTP/2') {
      const session = await dialHttp2(running);
      await getHttp2(session);
      const closed = once(session, 'close');
      await running.stop();
      await closed;
    } else {
      const { socket, closed } = await dial(running, kind !== 'HTTP/1.1');
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      await once(socket, 'data');
      await running.stop();
      expect(await closed).toContain('ok');
    }
    expect(running.clock.pendingTimers).toBe(0);
  });

  it('runs again after a stop, and not twice at a time', async () => {
    const running = await start('HTTP/1.1', answer);
    await expect(running.server.run(new AbortController().signal)).rejects.toThrow('already running');
    await running.stop();
    const abort = new AbortController();
    const second = running.server.run(abort.signal);
    await running.server.waitForListening();
    abort.abort();
    await second;
  });
});

async function get(running: Running, kind: ServerKind): Promise<string> {
  if (kind === 'HTTP/2') return getHttp2(await dialHttp2(running));
  const { socket, closed } = await dial(running, kind !== 'HTTP/1.1');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  return closed;
}

function getHttp2(session: ClientHttp2Session): Promise<string> {
  return new Promise((resolve) => {
    const stream = session.request({ ':path': '/' });
    let text = '';
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    stream.on('error', () => undefined);
    stream.once('close', () => resolve(text));
    stream.end();
  });
}

describe('deadlines', () => {
  it.each(['HTTP/1.1 over TLS', 'HTTP/2'] as const)('of a handshake that is never begun (%s)', async (kind) => {
    const running = await start(kind, answer);
    const { closed } = await dial(running);
    await until(() => running.server.connections === 1);
    running.clock.advanceSync(defaultLimits.handshakeTimeoutMs - 1);
    expect(await isOpen(closed)).toBe(true);
    running.clock.advanceSync(1);
    expect(await closed).toBe('');
  });

  it.each(kinds)('of a header that trickles in (%s)', async (kind) => {
    const running = await start(kind, answer);
    const { socket, closed } = await dial(running, kind !== 'HTTP/1.1');
    await until(() => running.clock.nextTimerInMs === defaultLimits.headersTimeoutMs); // the server's side of TLS
    socket.write('GET / HTTP/1.1\r\nx-a: ');
    for (let byte = 0; byte < 31; byte++) {
      running.clock.advanceSync(1_000);
      socket.write('b');
      await turn();
    }
    expect(await isOpen(closed)).toBe(true);
    running.clock.advanceSync(1_000);
    await closed;
  });

  it('of an HTTP/2 client that says nothing after the handshake', async () => {
    const running = await start('HTTP/2', answer);
    const socket = connectTls({
      port: running.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
    });
    socket.on('error', () => undefined);
    socket.resume();
    cleanUps.push(() => socket.destroy());
    const closed = once(socket, 'close');
    await once(socket, 'secureConnect');
    await until(() => running.clock.nextTimerInMs === defaultLimits.headersTimeoutMs);
    running.clock.advanceSync(defaultLimits.headersTimeoutMs);
    await closed;
  });

  it.each(kinds)('of a body that trickles in (%s)', async (kind) => {
    let failure: unknown;
    const entered = Promise.withResolvers<undefined>();
    const failed = Promise.withResolvers<undefined>();
    const running = await start(kind, async (request) => {
      entered.resolve(undefined);
      await readBody(request, { maxBytes: 1_000 }).catch((error: unknown) => (failure = error));
      failed.resolve(undefined);
    });
    let closed: Promise<unknown>;
    if (kind === 'HTTP/2') {
      const stream = (await dialHttp2(running)).request({ ':path': '/', ':method': 'POST' });
      stream.on('error', () => undefined);
      closed = once(stream, 'close');
      stream.write('a');
    } else {
      const dialled = await dial(running, kind !== 'HTTP/1.1');
      closed = dialled.closed;
      dialled.socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\na');
    }
    await entered.promise;
    running.clock.advanceSync(defaultLimits.bodyTimeoutMs - 1);
    expect(await isOpen(closed)).toBe(true);
    running.clock.advanceSync(1);
    await closed;
    await failed.promise;
    expect(failure).toMatchObject({ code: 'KCTL_HTTP_BODY', httpCode: 400 });
  });

  it.each(kinds)('of an answer that the client does not read (%s)', async (kind) => {
    const written = Promise.withResolvers<undefined>();
    const running = await start(kind, (_request, response) => {
      response.end(Buffer.alloc(64 << 20));
      written.resolve(undefined);
    });
    if (kind === 'HTTP/2') {
      const stream = (await dialHttp2(running)).request({ ':path': '/' });
      stream.on('error', () => undefined);
      await written.promise;
      await turn();
      running.clock.advanceSync(defaultLimits.responseTimeoutMs);
      stream.resume();
      await once(stream, 'close');
      expect(stream.rstCode).not.toBe(constants.NGHTTP2_NO_ERROR);
    } else {
      const { socket } = await dial(running, kind !== 'HTTP/1.1');
      socket.pause();
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      await written.promise;
      await turn();
      running.clock.advanceSync(defaultLimits.responseTimeoutMs);
      await until(() => running.server.connections === 0);
    }
  });

  it.each(kinds)('of a connection without requests (%s)', async (kind) => {
    const running = await start(kind, answer);
    let closed: Promise<unknown>;
    if (kind === 'HTTP/2') {
      const session = await dialHttp2(running);
      await getHttp2(session);
      closed = once(session, 'close');
    } else {
      const { socket, closed: ended } = await dial(running, kind !== 'HTTP/1.1');
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      await once(socket, 'data');
      closed = ended;
    }
    await until(() => running.clock.nextTimerInMs === defaultLimits.idleTimeoutMs);
    running.clock.advanceSync(defaultLimits.idleTimeoutMs - 1);
    expect(await isOpen(closed)).toBe(true);
    running.clock.advanceSync(1);
    await closed;
    await until(() => running.server.connections === 0);
  });

  it('does not cut a header that began in time on a kept connection, and bounds it', async () => {
    const running = await start('HTTP/1.1', answer);
    const { socket, closed } = await dial(running);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'data');
    await until(() => running.clock.nextTimerInMs === defaultLimits.idleTimeoutMs);
    running.clock.advanceSync(defaultLimits.idleTimeoutMs - 1);
    socket.write('GET / HT');
    await turn();
    await turn();
    await turn();
    running.clock.advanceSync(1);
    expect(await isOpen(closed)).toBe(true);
    running.clock.advanceSync(defaultLimits.headersTimeoutMs);
    await closed;
  });
});

describe('counts', () => {
  it.each(kinds)(
    'of connections: the oldest without a request makes room, one with a request never (%s)',
    async (kind) => {
      const entered = Promise.withResolvers<() => void>();
      const running = await start(
        kind,
        async (_request, response) => {
          await new Promise<void>((resolve) => entered.resolve(resolve));
          response.end('done');
        },
        { limits: { maxConnections: 2 } },
      );
      const text = get(running, kind);
      const finish = await entered.promise;
      const first = await dial(running);
      await until(() => running.server.connections === 2);
      const second = connect(running.port, '127.0.0.1');
      second.on('error', () => undefined);
      cleanUps.push(() => second.destroy());
      await first.closed;
      expect(running.server.connections).toBeLessThanOrEqual(2);
      finish();
      expect(await text).toContain('done');
    },
  );

  it.each(kinds)('of connections: one whose body does not arrive makes room, a new one does not (%s)', async (kind) => {
    let begun = 0;
    const running = await start(
      kind,
      async (request, response) => {
        begun++;
        await readBody(request, { maxBytes: 100, clock: new FakeClock() }).catch(() => undefined);
        response.end('done');
      },
      { limits: { maxConnections: 2 } },
    );
    const slow = [await beginBody(running, kind), await beginBody(running, kind)];
    await until(() => begun === 2);
    running.clock.advanceSync(1_000);
    expect(await get(running, kind)).toContain('done');
    await slow[0]?.closed;
  });

  it('of connections: that of the address with the most makes room', async () => {
    const running = await start('HTTP/1.1', answer, { limits: { maxConnections: 3 } });
    const from = async (localAddress: string): Promise<{ socket: Socket; isOpen: () => boolean }> => {
      const socket = connect({ port: running.port, host: '127.0.0.1', localAddress });
      socket.on('error', () => undefined);
      cleanUps.push(() => socket.destroy());
      await once(socket, 'connect');
      return { socket, isOpen: () => !socket.destroyed };
    };
    const honest = await from('127.0.0.2');
    await until(() => running.server.connections === 1);
    const many: { readonly isOpen: () => boolean }[] = [];
    for (let count = 0; count < 10; count++) many.push(await from('127.0.0.3'));
    await until(() => many.filter(({ isOpen }) => isOpen()).length === 2);
    expect(honest.isOpen()).toBe(true);
  });

  it('refuses a connection where all have requests', async () => {
    const entered = Promise.withResolvers<() => void>();
    const running = await start(
      'HTTP/1.1',
      async (_request, response) => {
        await new Promise<void>((resolve) => entered.resolve(resolve));
        response.end('done');
      },
      { limits: { maxConnections: 1 } },
    );
    const text = get(running, 'HTTP/1.1');
    const finish = await entered.promise;
    const refused = connect(running.port, '127.0.0.1');
    refused.on('error', () => undefined);
    await once(refused, 'close');
    finish();
    expect(await text).toContain('done');
  });

  it('of streams on an HTTP/2 connection', async () => {
    let atOnce = 0;
    let most = 0;
    const gate = Promise.withResolvers<undefined>();
    const running = await start(
      'HTTP/2',
      async (_request, response) => {
        most = Math.max(most, ++atOnce);
        await gate.promise;
        atOnce--;
        response.end('ok');
      },
      { limits: { maxStreamsPerConnection: 3 } },
    );
    const session = await dialHttp2(running);
    expect(session.remoteSettings.maxConcurrentStreams).toBe(3);
    const answers = Array.from({ length: 9 }, () => getHttp2(session));
    await until(() => atOnce === 3);
    gate.resolve(undefined);
    await Promise.all(answers);
    expect(most).toBe(3);
  });

  it('of pipelined requests on an HTTP/1.1 connection', async () => {
    const running = await start('HTTP/1.1', () => new Promise(() => undefined), {
      limits: { maxStreamsPerConnection: 3 },
    });
    const { socket, closed } = await dial(running);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(4));
    await closed;
  });

  it('of header bytes: answers 431', async () => {
    const running = await start('HTTP/1.1', answer, { limits: { maxHeaderBytes: 2_000 } });
    const { socket, closed } = await dial(running);
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\nx-a: ${'b'.repeat(3_000)}\r\n\r\n`);
    expect(await closed).toContain('431');
  });

  it.each([
    [{ port: -2 }, 'port -2 is not valid'],
    [{ shutdownTimeoutMs: Number.NaN }, 'shutdownTimeoutMs NaN is not valid'],
    [{ limits: { idleTimeoutMs: 0 } }, 'limits: idleTimeoutMs 0 is not valid'],
    [{ limits: { maxConnections: 0 } }, 'limits: maxConnections 0 is not valid'],
    [{ limits: Object.fromEntries([['maxStreams', 3]]) }, 'maxStreams is not a limit'],
  ])('refuses options that cannot be: %j', (options, message) => {
    expect(() => createHttpServer({ name: 's', port: 0, onRequest: answer, ...options })).toThrow(message);
  });
});

describe('requests', () => {
  it.each(kinds)('answers 500 when a handler throws, without a word of why (%s)', async (kind) => {
    const running = await start(kind, () => {
      throw new Error('canary');
    });
    const text = await get(running, kind);
    expect(text).toContain('internal server error');
    expect(text).not.toContain('canary');
  });

  it.each(kinds)('answers 500 where the handler fails and so does the log (%s)', async (kind) => {
    const fail = (): never => {
      throw new Error('canary');
    };
    const logger = { trace: fail, debug: fail, info: fail, warn: fail, error: fail, isEnabled: fail, child: fail };
    const running = await start(kind, fail, { logger });
    expect(await get(running, kind)).toContain('internal server error');
  });

  it.each(kinds)('aborts the signal when the client hangs up, and not otherwise (%s)', async (kind) => {
    const signals: AbortSignal[] = [];
    const running = await start(kind, (request, response, { signal }) => {
      signals.push(signal);
      if (request.url === '/') response.end('ok');
    });
    await get(running, kind);
    if (kind === 'HTTP/2') {
      const session = await dialHttp2(running);
      session.request({ ':path': '/hang' }).on('error', () => undefined);
      await until(() => signals.length === 2);
      session.destroy();
    } else {
      const { socket } = await dial(running, kind !== 'HTTP/1.1');
      socket.write('GET /hang HTTP/1.1\r\nhost: x\r\n\r\n');
      await until(() => signals.length === 2);
      socket.destroy();
    }
    await until(() => signals[1]?.aborted === true);
    expect(signals[0]?.aborted).toBe(false);
  });

  it.each(kinds)('reads a body of exactly the limit, and refuses one byte more (%s)', async (kind) => {
    const running = await start(kind, async (request, response) => {
      try {
        response.end(`read ${(await readBody(request, { maxBytes: 1_000 })).length}`);
      } catch (error) {
        response.statusCode = error instanceof Error && 'httpCode' in error ? Number(error.httpCode) : 500;
        response.end(String(error));
      }
    });
    const send = async (bytes: number, isChunked: boolean): Promise<string> => {
      if (kind === 'HTTP/2') {
        const length = isChunked ? {} : { 'content-length': bytes };
        const stream = (await dialHttp2(running)).request({ ':path': '/', ':method': 'POST', ...length });
        let text = '';
        stream.on('response', (headers) => (text += String(headers[':status'])));
        stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
        stream.on('error', () => undefined);
        stream.end(Buffer.alloc(bytes));
        await once(stream, 'close');
        return text;
      }
      const { socket, closed } = await dial(running, kind !== 'HTTP/1.1');
      const head = isChunked ? 'transfer-encoding: chunked' : `content-length: ${bytes}`;
      socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${head}\r\n\r\n`);
      const text = 'a'.repeat(bytes);
      socket.write(isChunked ? `${bytes.toString(16)}\r\n${text}\r\n0\r\n\r\n` : text);
      return closed;
    };
    for (const isChunked of [false, true]) {
      expect(await send(1_000, isChunked)).toContain('read 1000');
      expect(await send(1_001, isChunked)).toMatch(/413[^]*limit is 1000 bytes/);
    }
  });

  it('names the address that it cannot listen on', async () => {
    const running = await start('HTTP/1.1', answer);
    const second = createHttpServer({ name: 'second', host: '127.0.0.1', port: running.port, onRequest: answer });
    const listening = second.waitForListening();
    await expect(second.run(new AbortController().signal)).rejects.toThrow(
      `second: listen on 127.0.0.1:${running.port}`,
    );
    await expect(listening).rejects.toThrow('EADDRINUSE');
  });

  it('replaces its certificate for the connections to come', async () => {
    const running = await start('HTTP/2', answer);
    const fingerprint = async (): Promise<string> => {
      const socket = connectTls({ port: running.port, host: '127.0.0.1', rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    };
    const before = await fingerprint();
    running.server.setSecureContext(selfSignedPair());
    expect(await fingerprint()).not.toBe(before);
  });
});
