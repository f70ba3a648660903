import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, it } from 'vitest';
import { createHttpServer, readBody } from '../src/index.js';
import { selfSignedPair } from './pair.js';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const beginnings: readonly Buffer[] = [
  Buffer.alloc(0),
  preface,
  Buffer.concat([preface, Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]), // and empty settings
  Buffer.from('GET / HTTP/1.1\r\n'),
  Buffer.from('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\n'),
  Buffer.from('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n'),
  Buffer.from('CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n'),
  Buffer.from('GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'),
  Buffer.from('GET http://[::1/%zz HTTP/9.9\r\nexpect: everything\r\n\r\n'),
  Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]), // a TLS record and no more
];

/** Numbers below a limit that follow from a seed. */
function below(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => (state = (state * 48_271) % 0x7fffffff) % limit;
}

it('outlives garbage at every layer: TCP, TLS, HTTP/1.1 and HTTP/2', async () => {
  const pair = selfSignedPair();
  const stop = new AbortController();
  const server = createHttpServer({
    name: 'test server',
    host: '127.0.0.1',
    port: 0,
    http2: true,
    tls: pair,
    shutdownTimeoutMs: 100,
    onRequest: async (request, response) => {
      response.end(String((await readBody(request, { maxBytes: 1_000 })).length));
    },
  });
  const running = server.run(stop.signal);
  await server.waitForListening();
  const port = server.address?.port ?? 0;
  const pick = below(11);
  const attack = async (isTls: boolean): Promise<void> => {
    const protocol = pick(2) === 0 ? 'h2' : 'http/1.1';
    const socket: Socket = isTls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: [protocol] })
      : connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.resume();
    const closed = once(socket, 'close');
    await once(socket, isTls ? 'secureConnect' : 'connect');
    socket.write(beginnings[pick(beginnings.length)] ?? '');
    socket.write(Buffer.from(Array.from({ length: pick(200) }, () => pick(256))));
    if (pick(2) === 0) socket.end();
    else socket.destroy();
    setImmediate(() => socket.destroy());
    await closed;
  };
  for (let round = 0; round < 60; round++)
    await Promise.all(Array.from({ length: 10 }, (_, index) => attack(index % 2 === 0)));
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  const stream = session.request({ ':path': '/', ':method': 'POST' });
  stream.end('12345');
  const [chunk] = await once(stream, 'data');
  expect(String(chunk)).toBe('5');
  session.destroy();
  stop.abort();
  await running;
  expect(server.connections).toBe(0);
});
