import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { systemClock } from '@kctl/wait';

/** Kinds of clients that never send a body to its end. */
export const attackKinds = ['announced', 'arrived', 'chunked', 'streams', 'full streams', 'connections'] as const;
export type AttackKind = (typeof attackKinds)[number];

const conversionBytes = 64 * 1024 * 1024;
const admissionBytes = 7 * 1024 * 1024;
const streams = 37;

/** Clients that connect again each time the server has closed. */
export interface Attackers extends Disposable {
  /** Resolves when each has sent what it means to hold, or was refused for the first time. */
  readonly ready: Promise<unknown>;
}

/** Connects, and goes on until it is disposed. */
export function startAttackers(kind: AttackKind, port: number): Attackers {
  const ready: Promise<void>[] = [];
  const open = new Set<{ destroy(): void }>();
  let isOver = false;
  const keep = (): void => {
    if (isOver) return;
    const sent = Promise.withResolvers<undefined>();
    const connection = begin[kind](port, () => sent.resolve(undefined));
    if (ready.length < connections[kind]) ready.push(sent.promise);
    open.add(connection);
    connection.once('close', () => {
      sent.resolve(undefined);
      open.delete(connection);
      again(keep);
    });
  };
  // Of many connections, one for each that was closed: they come a tenth of a second later, and so a thousand a second.
  const again = (next: () => void): void =>
    void (kind === 'connections' ? systemClock.setTimer(next, 100, { keepAlive: false }) : setImmediate(next));
  for (let count = 0; count < connections[kind]; count++) keep();
  return {
    ready: Promise.all(ready),
    [Symbol.dispose]() {
      isOver = true;
      for (const connection of open) connection.destroy();
    },
  };
}

const connections: Readonly<Record<AttackKind, number>> = {
  announced: 4,
  // All that one address may have of the default of 256 MiB, but for three bytes.
  arrived: 3,
  chunked: 3,
  streams: 1,
  'full streams': 2,
  connections: 100,
};

type Begin = (
  port: number,
  onSent: () => void,
) => { destroy(): void; once(name: 'close', listener: () => void): unknown };

const begin: Readonly<Record<AttackKind, Begin>> = {
  announced: (port, onSent) => http1(port, { announced: conversionBytes, sent: 1 }, onSent),
  connections: (port, onSent) => http1(port, { announced: 10, sent: 1 }, onSent),
  arrived: (port, onSent) => http1(port, { announced: conversionBytes, sent: conversionBytes - 1 }, onSent),
  chunked: (port, onSent) => http1(port, { sent: conversionBytes - 1 }, onSent),
  streams: (port, onSent) => http2(port, 1, onSent),
  'full streams': (port, onSent) => http2(port, admissionBytes - 1, onSent),
};

const chunk = Buffer.alloc(64 * 1024, ' ');

function http1(
  port: number,
  { announced, sent }: { announced?: number; sent: number },
  onSent: () => void,
): ReturnType<Begin> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined).resume();
  const length = announced === undefined ? 'transfer-encoding: chunked' : `content-length: ${announced}`;
  socket.write(`POST /convert HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${length}\r\n\r\n`);
  const framed = announced === undefined;
  pump(sent, onSent, (bytes, next) => {
    if (framed) socket.write(`${bytes.length.toString(16)}\r\n`);
    socket.write(bytes, framed ? undefined : next);
    if (framed) socket.write('\r\n', next);
  });
  return socket;
}

function http2(port: number, sent: number, onSent: () => void): ReturnType<Begin> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  session.on('error', () => undefined);
  let left = streams;
  const onEnd = (): void => {
    if (--left === 0) onSent();
  };
  const open = (): void => {
    if (session.destroyed || session.closed) return;
    const headers = { ':path': '/admit', ':method': 'POST', 'content-type': 'application/json' };
    const stream = session.request({ ...headers, 'content-length': sent + 1 });
    stream.on('error', () => undefined).resume();
    stream.once('close', open).once('close', onEnd);
    pump(sent, onEnd, (bytes, next) => void stream.write(bytes, next));
  };
  for (let count = 0; count < streams; count++) open();
  return session;
}

/** Writes so many bytes, each piece after the last one has left. */
function pump(
  bytes: number,
  onSent: () => void,
  write: (piece: Buffer, next: (error?: Error | null) => void) => void,
): void {
  const piece = chunk.subarray(0, Math.min(bytes, chunk.length));
  if (piece.length === 0) {
    onSent();
    return;
  }
  write(piece, (error) => {
    if (error === undefined || error === null) pump(bytes - piece.length, onSent, write);
  });
}
