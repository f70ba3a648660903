import { connect as connectHttp2, constants, type ClientHttp2Session } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApiServer, type ApiServer, type ApiServerOptions } from '../src/index.js';
import { BodyRoom, type RoomedBody } from '../src/server/peers/body-room.js';
import { readBody } from '../src/server/peers/read-body.js';
import { Strangers } from '../src/server/peers/strangers.js';
import { configMap, configMaps } from './harness.js';

async function start(options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = createApiServer({ stopGraceMs: 200, ...options });
  await server.start();
  onTestFinished(() => server.stop());
  return server;
}

function http2(server: ApiServer): ClientHttp2Session {
  const session = connectHttp2(server.url, { ca: server.certificateAuthority });
  session.on('error', () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

const bearer = (server: ApiServer) => ({ authorization: `Bearer ${server.token}` });
const post = { ':method': 'POST', ':path': configMaps, 'content-type': 'application/json' };

interface Sending {
  readonly status: Promise<number>;
  /** Code of the reset of the stream. */
  readonly closed: Promise<number>;
}

/** Begins a request whose body never ends. */
function beginBody(session: ClientHttp2Session, headers: Record<string, string>, body: string): Sending {
  const stream = session.request({ ...post, ...headers });
  stream.on('error', () => undefined);
  stream.write(body);
  stream.resume();
  return {
    status: new Promise((resolve) => stream.once('response', (answer) => resolve(Number(answer[':status'])))),
    closed: new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode))),
  };
}

async function create(server: ApiServer, session: ClientHttp2Session, name: string): Promise<number> {
  const stream = session.request({ ...post, ...bearer(server) });
  stream.end(JSON.stringify(configMap(name)));
  stream.resume();
  return new Promise((resolve, reject) => {
    stream.once('response', (answer) => resolve(Number(answer[':status'])));
    stream.once('error', reject);
  });
}

describe('peers that are not authenticated', () => {
  it('hold no stream of HTTP/2 with a body that does not end, and their session is closed', async () => {
    const server = await start();
    const [stranger, client] = [http2(server), http2(server)];
    const goneAway = new Promise((resolve) => stranger.once('goaway', resolve));
    const sendings = Array.from({ length: 50 }, () => beginBody(stranger, { 'content-length': '3000000' }, 'x'));
    for (const { status, closed } of sendings) {
      expect(await status).toBe(401);
      expect(await closed).toBe(constants.NGHTTP2_NO_ERROR);
    }
    await goneAway;
    expect(await create(server, client, 'a')).toBe(201);
    expect(client.closed).toBe(false);
  });

  it('hold no connection of HTTP/1.1 with a body that does not end', async () => {
    const server = await start();
    const { port } = new URL(server.url);
    const ends = Array.from({ length: 10 }, () => {
      const socket = connectTls({ port: Number(port), host: '127.0.0.1', ca: server.certificateAuthority });
      onTestFinished(() => void socket.destroy());
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('error', () => undefined);
      socket.write(`POST ${configMaps} HTTP/1.1\r\nhost: a\r\ncontent-length: 3000000\r\n\r\nx`);
      return new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
    });
    for (const end of ends) expect(await end).toMatch(/^HTTP\/1.1 401 /);
    expect(await create(server, http2(server), 'a')).toBe(201);
  });

  it('make room for those that are, by the bytes that have arrived', async () => {
    const server = await start({ anonymous: true, authorization: 'AlwaysAllow', maxBodyBytes: 1_000 });
    const strangers = [http2(server), http2(server), http2(server)];
    const sendings = strangers.flatMap((session) =>
      Array.from({ length: 60 }, () => beginBody(session, {}, 'x'.repeat(900))),
    );
    let refused = 0;
    for (const { status } of sendings) void status.then((code) => (refused += Number(code === 429)));
    // 128 bodies of 1,000 bytes have room, and strangers have half of it: 71 bodies of 900 bytes.
    await expect.poll(() => refused, { timeout: 300_000 }).toBe(180 - 71);
    const client = http2(server);
    for (let count = 0; count < 20; count++) expect(await create(server, client, `c-${count}`)).toBe(201);
  });

  it('are bounded in number: the oldest connection gives way', async () => {
    const server = await start();
    const { port } = new URL(server.url);
    const sockets: Socket[] = [];
    let closed = 0;
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (let count = 0; count < 1_050; count++) {
      const socket = connectTcp(Number(port), '127.0.0.1');
      socket.on('error', () => undefined).once('close', () => (closed += 1));
      await new Promise((resolve) => socket.once('connect', resolve));
      sockets.push(socket);
    }
    await expect.poll(() => closed, { timeout: 300_000 }).toBe(50);
    expect(sockets.slice(0, 50).every((socket) => socket.destroyed)).toBe(true);
    expect(await create(server, http2(server), 'a')).toBe(201);
  });
});

/** A socket as {@link Strangers} sees it. */
function fakeSocket(remotePort: number) {
  const onClose: (() => void)[] = [];
  const socket = {
    remoteAddress: '10.0.0.1',
    remotePort,
    isDestroyed: false,
    once: (_event: string, listener: () => void) => onClose.push(listener),
    destroy() {
      socket.isDestroyed = true;
      for (const listener of onClose.splice(0)) listener();
    },
  };
  return socket as typeof socket & Pick<Socket, 'destroy' | 'once'>;
}

describe('Strangers', () => {
  it('closes a connection without a request, and none that is served or known', () => {
    const clock = new FakeClock();
    const strangers = new Strangers({ maxCount: 10, clock });
    const [silent, served, known] = [fakeSocket(1), fakeSocket(2), fakeSocket(3)];
    for (const socket of [silent, served, known]) strangers.accept(socket);
    const end = strangers.begin(served);
    strangers.know(known);
    clock.advanceSync(30_000);
    expect([silent.isDestroyed, served.isDestroyed, known.isDestroyed]).toEqual([true, false, false]);
    end();
    clock.advanceSync(30_000);
    expect([served.isDestroyed, known.isDestroyed, strangers.size, clock.pendingTimers]).toEqual([true, false, 0, 0]);
  });

  it('makes room by the oldest connection without a request first', () => {
    const strangers = new Strangers({ maxCount: 2, clock: new FakeClock() });
    const sockets = [1, 2, 3, 4].map(fakeSocket);
    const destroyed = (): boolean[] => sockets.map(({ isDestroyed }) => isDestroyed);
    const [first, second, third, fourth] = sockets;
    if (!first || !second || !third || !fourth) throw new Error('four sockets');
    strangers.accept(first);
    strangers.begin(first);
    strangers.accept(second);
    strangers.accept(third);
    expect(destroyed()).toEqual([false, true, false, false]);
    strangers.begin(third);
    strangers.accept(fourth);
    expect(destroyed()).toEqual([true, true, false, false]);
  });
});

describe('BodyRoom', () => {
  const body = (room: BodyRoom, connection: object, isKnown: boolean) => {
    const found: { evicted: boolean; body: RoomedBody } = {
      evicted: false,
      body: room.enter({ connection, isKnown }, () => (found.evicted = true)),
    };
    return found;
  };

  it('takes room from strangers first, then from the connection that holds most', () => {
    const room = new BodyRoom(1_000);
    const [first, second] = [body(room, {}, true), body(room, {}, true)];
    const [third, stranger] = [body(room, {}, true), body(room, {}, false)];
    first.body.take(450);
    second.body.take(300);
    stranger.body.take(100);
    third.body.take(200);
    expect([first.evicted, second.evicted, stranger.evicted, room.heldBytes]).toEqual([false, false, true, 950]);
    third.body.take(100);
    expect([first.evicted, second.evicted, room.heldBytes]).toEqual([true, false, 600]);
  });

  it('gives one connection, and all strangers together, a half', () => {
    const room = new BodyRoom(1_000);
    const connection = {};
    const [one, two] = [body(room, connection, true), body(room, connection, true)];
    one.body.take(400);
    one.body.complete();
    expect(() => two.body.take(101)).toThrow(/too many request bodies/);
    const [left, right] = [body(room, {}, false), body(room, {}, false)];
    left.body.take(300);
    right.body.take(100);
    expect(() => left.body.take(101)).toThrow(/too many request bodies/);
    expect(room.heldBytes).toBe(800);
  });

  it('always takes one body alone, and nothing from one that is complete', () => {
    const room = new BodyRoom(10);
    const [large, late] = [body(room, {}, true), body(room, {}, true)];
    large.body.take(100);
    large.body.complete();
    expect(() => late.body.take(1)).toThrow(/too many request bodies/);
    large.body.release();
    late.body.release();
    expect(room.heldBytes).toBe(0);
  });
});

describe('readBody', () => {
  function reading() {
    const stream = new Readable({ read: () => undefined });
    const room = new BodyRoom(1 << 20);
    const clock = new FakeClock();
    const gone = new AbortController();
    const request = Object.assign(stream, { headers: {}, complete: false }) as never;
    const sender = { connection: {}, isKnown: true };
    const body = readBody(request, { limit: 1 << 20, room, sender, signal: gone.signal, clock });
    return { stream, room, clock, gone, body };
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('ends with 504 for a body that stands still, and not for one that goes on', async () => {
    const { stream, room, clock, body } = reading();
    const outcome = body.catch((error: unknown) => error);
    for (const bytes of [10 * 1_024, 10 * 1_024, 10 * 1_024 - 1]) {
      stream.push(Buffer.alloc(bytes));
      await turn();
      clock.advanceSync(bytes === 10 * 1_024 ? 10_000 : 9_999);
    }
    expect(await Promise.race([outcome, turn()])).toBeUndefined();
    clock.advanceSync(1);
    expect(await outcome).toMatchObject({ status: { code: 504, reason: 'Timeout' } });
    expect([room.heldBytes, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('joins chunks of every size in order, and counts them until the request ends', async () => {
    const { stream, room, gone, body } = reading();
    const sizes = [1, 2, 4_096, 3, 16_000, 1, 4_095, 4_095, 4_095, 4_095, 4_095, 7];
    const whole = Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index + 1)));
    for (const [index, size] of sizes.entries()) stream.push(Buffer.alloc(size, index + 1));
    stream.push(null);
    expect(whole.equals(await body)).toBe(true);
    expect(room.heldBytes).toBe(whole.length);
    gone.abort();
    expect(room.heldBytes).toBe(0);
  });

  it('ends with the request', async () => {
    const { stream, room, gone, body } = reading();
    const outcome = body.catch((error: unknown) => error);
    stream.push(Buffer.alloc(100));
    await turn();
    expect(room.heldBytes).toBe(100);
    gone.abort();
    expect(await outcome).toMatchObject({ status: { code: 400 } });
    expect(room.heldBytes).toBe(0);
  });
});
