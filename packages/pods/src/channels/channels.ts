import { Readable, Writable } from 'node:stream';
import type { Clock } from '@kctl/wait';
import type { OpenedSocket } from './open-web-socket.js';
import { WebSocketConnection } from './web-socket.js';

/** Signal of v5.channel.k8s.io, which closes one channel in one direction. */
const closeSignal = 255;
/** Longest message that is sent, in bytes. */
const maxSentBytes = 32 * 1024;

/** Options of {@link Channels}. */
export interface ChannelsOptions {
  readonly clock: Clock;
  /** Called once, after what has arrived was handed out. Without an error, the server has closed it properly. */
  readonly onEnd: (error: Error | undefined) => void;
}

/**
 * Several streams over one WebSocket, in which each message begins with the number of its channel (`*.channel.k8s.io`).
 * A stream that is not read blocks the others, as in the server.
 */
export class Channels {
  readonly #connection: WebSocketConnection;
  readonly #readers = new Map<number, (data: Buffer) => boolean>();
  readonly #streams: Readable[] = [];
  readonly #full = new Set<number>();
  readonly #canClose: boolean;

  constructor({ socket, protocol }: OpenedSocket, { clock, onEnd }: ChannelsOptions) {
    this.#canClose = protocol.startsWith('v5.');
    this.#connection = new WebSocketConnection(socket, {
      clock,
      onMessage: (data) => {
        const [channel] = data;
        // Servers begin with an empty message, to show that they are there.
        if (channel === undefined || data.length < 2) return;
        if (this.#readers.get(channel)?.(data.subarray(1)) !== false) return;
        this.#full.add(channel);
        this.#connection.pause();
      },
      onEnd: (error) => {
        for (const stream of this.#streams) {
          if (error === undefined) stream.push(null);
          else stream.destroy(error);
        }
        onEnd(error);
      },
    });
  }

  /** Calls back with what arrives in a channel. A callback that returns false takes no more until {@link Channels.drained}. */
  listen(channel: number, onData: (data: Buffer) => boolean | undefined): void {
    this.#readers.set(channel, (data) => onData(data) !== false);
  }

  /** A channel that was full takes more. */
  drained(channel: number): void {
    if (this.#full.delete(channel) && this.#full.size === 0) this.#connection.resume();
  }

  /** Received data of a channel. Ends with the connection. */
  readable(channel: number): Readable {
    const stream = new Readable({ read: () => this.drained(channel) });
    // Its reader sees the error; one that does not read sees it at the end of the process.
    stream.on('error', () => undefined);
    stream.once('close', () => {
      this.#readers.set(channel, () => true);
      this.drained(channel);
    });
    this.#streams.push(stream);
    this.listen(channel, (data) => stream.push(data));
    return stream;
  }

  /** Sends to a channel. Ending it closes the channel if supported by the protocol (v5). */
  writable(channel: number): Writable {
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => this.send(channel, chunk, done),
      final: (done) => {
        if (this.#canClose) this.#connection.send(Buffer.from([closeSignal, channel]), () => done());
        else done();
      },
    });
    stream.on('error', () => undefined);
    return stream;
  }

  /** Sends data to a channel, in pieces; `done` is called when all of it is on its way. */
  send(channel: number, data: Buffer, done: (error?: Error | null) => void): void {
    const next = (from: number, error?: Error | null): void => {
      if (error !== undefined && error !== null) {
        done(error);
        return;
      }
      if (from >= data.length) {
        done();
        return;
      }
      const piece = data.subarray(from, from + maxSentBytes);
      const message = Buffer.allocUnsafe(piece.length + 1);
      message[0] = channel;
      piece.copy(message, 1);
      this.#connection.send(message, (failure) => next(from + piece.length, failure));
    };
    next(0);
  }

  close(): void {
    this.#connection.close();
  }

  destroy(error: Error | undefined): void {
    this.#connection.destroy(error);
  }
}
