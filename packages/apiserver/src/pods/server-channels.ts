// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- it declares a module, which an import would turn into an augmentation
/// <reference path="./ws.d.ts" />
import { Readable, Writable } from 'node:stream';
import type { ServerSocket } from 'ws';
import type { Upgrade } from '../protocol/api-request.js';

/** Longest message that is taken, in bytes, as upstream. */
const maxMessageBytes = 32 * 1024 * 1024;
/** Signal of v5.channel.k8s.io that the client has closed a channel. */
const closeSignal = 255;

/** The server's side of streams over one WebSocket, each message beginning with the number of its channel. */
export interface ServerChannels {
  /** Ends what arrives when the client closes the channel (v5) or is gone. */
  readable(channel: number): Readable;
  writable(channel: number): Writable;
  /** Sends one message. */
  send(channel: number, data: Buffer | string): void;
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal;
  /** Closes the connection after what has been sent. */
  close(code: number): void;
}

/** Chooses one of the protocols that a client offers, the client's first. Undefined if it offers no known protocol. */
export function chooseProtocol(offered: string | undefined, known: readonly string[]): string | undefined {
  return (offered ?? '')
    .split(',')
    .map((protocol) => protocol.trim())
    .find((protocol) => known.includes(protocol));
}

/** Opens the WebSocket, in a protocol that the client has offered, or in none (''). */
export async function openChannels({ request, socket, head }: Upgrade, protocol: string): Promise<ServerChannels> {
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    handleProtocols: () => (protocol === '' ? false : protocol),
  });
  return await new Promise((resolve, reject) => {
    const lost = (): void => reject(new Error('the client has closed the connection'));
    if (socket.destroyed) lost();
    socket.once('close', lost);
    server.handleUpgrade(request, socket, head, (opened) => {
      socket.off('close', lost);
      resolve(new SocketChannels(opened, protocol));
    });
  });
}

class SocketChannels implements ServerChannels {
  readonly #socket: ServerSocket;
  readonly #gone = new AbortController();
  readonly #readers = new Map<number, Readable>();
  readonly #full = new Set<number>();

  constructor(socket: ServerSocket, protocol: string) {
    this.#socket = socket;
    const hasCloseSignal = protocol.startsWith('v5.');
    socket
      .on('message', (data) => {
        const [channel = -1, closed = -1] = data;
        if (hasCloseSignal && channel === closeSignal) {
          this.#readers.get(closed)?.push(null);
          this.#readers.delete(closed);
        } else if (data.length > 1 && this.#readers.get(channel)?.push(data.subarray(1)) === false) {
          this.#full.add(channel);
          socket.pause();
        }
      })
      .on('error', () => undefined)
      .on('close', () => {
        for (const reader of this.#readers.values()) reader.push(null);
        this.#readers.clear();
        this.#gone.abort();
      });
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  readable(channel: number): Readable {
    const drained = (): void => {
      if (this.#full.delete(channel) && this.#full.size === 0) this.#socket.resume();
    };
    const stream = new Readable({ read: drained });
    stream.once('close', () => {
      this.#readers.delete(channel);
      drained();
    });
    this.#readers.set(channel, stream);
    return stream;
  }

  writable(channel: number): Writable {
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        // A client that is gone takes nothing; the script sees that by its signal.
        this.#socket.send(framed(channel, chunk), () => done());
      },
    });
    stream.on('error', () => undefined);
    return stream;
  }

  send(channel: number, data: Buffer | string): void {
    this.#socket.send(framed(channel, Buffer.from(data)), () => undefined);
  }

  close(code: number): void {
    this.#socket.close(code);
    // Further data from the client is not waited for.
    this.#socket.resume();
  }
}

function framed(channel: number, data: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([channel]), data]);
}
