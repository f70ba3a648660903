// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- it declares a module, which an import would turn into an augmentation
/// <reference path="./ws.d.ts" />
import type { Duplex } from 'node:stream';
import type { Clock, ClockTimer } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import { Receiver, Sender } from 'ws';
import { PodStreamError } from '../errors.js';

/** Longest message that is taken, in bytes. Servers send 32 KiB at most. */
const maxMessageBytes = 16 * 1024 * 1024;
/** client-go's numbers, a ping each 5 s, and the end after twelve without a response. */
const pingMs = 5_000;
const silenceMs = 61_000;
/** How long the server may take to close the connection after our close frame, in ms. */
const closeMs = 2_000;

const noBytes = Buffer.alloc(0);

/** Options of {@link WebSocketConnection}. */
export interface WebSocketOptions {
  readonly clock: Clock;
  readonly onMessage: (data: Buffer) => void;
  /** Called once. Without an error, the server has closed it properly. */
  readonly onEnd: (error: Error | undefined) => void;
}

/**
 * Messages over a connection that has been upgraded, on the client's side of RFC 6455. Pings detect a dead connection.
 */
export class WebSocketConnection {
  readonly #socket: Duplex;
  readonly #options: WebSocketOptions;
  readonly #receiver = new Receiver({ isServer: false, maxPayload: maxMessageBytes });
  readonly #sender;
  #isEnded = false;
  #isClosing = false;
  #isPaused = false;
  #timer: ClockTimer | undefined;
  #lastReceived: number;

  constructor(socket: Duplex, options: WebSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#sender = new Sender(socket, {});
    this.#lastReceived = options.clock.monotonicNow();
    this.#receiver
      .on('message', (data) => options.onMessage(data))
      .on('ping', (data) => this.#sender.pong(data, true, ignore))
      .on('conclude', (code: number, reason: Buffer) => this.#onClose(code, reason))
      .on('error', (error: Error) =>
        this.destroy(
          new PodStreamError(`the server sent what is not a WebSocket frame: ${error.message}`, { cause: error }),
        ),
      )
      .on('drain', () => this.#flow());
    socket
      .on('data', (chunk: Buffer) => {
        this.#lastReceived = options.clock.monotonicNow();
        if (!this.#receiver.write(chunk)) socket.pause();
      })
      .on('end', () => this.#end(new PodStreamError('the connection to the server ended')))
      .on('close', () => this.#end(new PodStreamError('the connection to the server was lost')))
      .on('error', (error: Error) =>
        this.#end(new PodStreamError(`the connection to the server was lost: ${error.message}`, { cause: error })),
      );
    this.#arm();
  }

  /** Sends one message; `done` is called when it is on its way. */
  send(data: Buffer, done: (error?: Error | null) => void): void {
    if (this.#isEnded || this.#isClosing) done(new PodStreamError('the connection to the server is closed'));
    else this.#sender.send(data, { binary: true, compress: false, fin: true, mask: true }, done);
  }

  /** Takes no more messages until `resume`; some that have arrived may still come. */
  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    // The silence so far was ours, since data received meanwhile is read from now on.
    if (this.#isPaused) this.#lastReceived = this.#options.clock.monotonicNow();
    this.#isPaused = false;
    this.#flow();
  }

  /** Sends a close frame, and closes the connection when the server has replied, or after 2 s. */
  close(): void {
    if (this.#isEnded || this.#isClosing) return;
    this.#isClosing = true;
    this.#timer?.cancel();
    this.resume();
    this.#sender.close(1000, '', true, ignore);
    this.#timer = startTimer(this.#options.clock, () => this.destroy(undefined), closeMs, { keepAlive: false });
  }

  /** Cuts the connection. */
  destroy(error: Error | undefined): void {
    this.#end(error);
    this.#socket.destroy();
  }

  #flow(): void {
    if (!this.#isPaused && !this.#receiver.writableNeedDrain) this.#socket.resume();
  }

  #onClose(code: number, reason: Buffer): void {
    if (!this.#isClosing) this.#sender.close(1000, '', true, ignore);
    // 1005: no code was given.
    const isProper = this.#isClosing || code === 1000 || code === 1005;
    const why = reason.length === 0 ? '' : `: ${reason.toString()}`;
    this.#end(isProper ? undefined : new PodStreamError(`the server closed the stream with code ${code}${why}`));
    this.#socket.end();
    this.#timer = startTimer(this.#options.clock, () => this.#socket.destroy(), closeMs, { keepAlive: false });
    this.#socket.once('close', () => this.#timer?.cancel());
  }

  #end(error: Error | undefined): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#timer?.cancel();
    this.#options.onEnd(this.#isClosing ? undefined : error);
  }

  #arm(): void {
    const { clock } = this.#options;
    this.#timer = startTimer(
      clock,
      () => {
        // Unread data cannot show that the server is alive.
        if (!this.#isPaused && clock.monotonicNow() - this.#lastReceived > silenceMs) {
          this.destroy(new PodStreamError(`the server did not answer pings for ${silenceMs / 1000} s`));
          return;
        }
        this.#sender.ping(noBytes, true, ignore);
        this.#arm();
      },
      pingMs,
      { keepAlive: false },
    );
  }
}

function ignore(): void {
  // A write that fails is followed by the end of the connection.
}
