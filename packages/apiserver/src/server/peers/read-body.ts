import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { systemClock, type Clock, type ClockTimer } from '@kctl/wait';
import { badRequest, entityTooLarge } from '../../protocol/status.js';
import { timedOut } from '../../protocol/http-statuses.js';
import type { BodyRoom, BodySender, RoomedBody } from './body-room.js';

/** A request over HTTP/1.1, or over HTTP/2 in the form that Node gives it for compatibility. */
export type AnyRequest = IncomingMessage | Http2ServerRequest;

/** Options of {@link readBody}. */
export interface ReadBodyOptions {
  /** The largest body that is read, in bytes. */
  readonly limit: number;
  readonly room: BodyRoom;
  readonly sender: BodySender;
  /** Aborted when the request has ended, answered or not, because the body is in memory until then. */
  readonly signal: AbortSignal;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** How often the progress of a body is looked at, in ms. */
const progressMs = 10_000;
/** Bytes that have to arrive in the meantime, at 1 KiB a second. */
const leastProgress = (progressMs / 1000) * 1024;

/**
 * Chunks below this size are copied together, because each keeps the buffer of its socket, and clients choose the size.
 */
const smallChunk = 4 * 1024;
const blockSize = 16 * 1024;

/** Whether everything of a body has arrived, or been read. */
export function hasWholeBody(request: AnyRequest): boolean {
  return request.complete || ('stream' in request && request.stream.endAfterHeaders);
}

/**
 * Reads a whole body. It counts in the room from the arrival of its bytes to the end of the request.
 *
 * @throws StatusError 413 beyond the limit, 504 if less than 10 KiB arrive in 10 s, 429 if other bodies leave no room, 400
 * if the request ends within it
 */
export function readBody(request: AnyRequest, options: ReadBodyOptions): Promise<Uint8Array> {
  return new BodyReader(request, options).body;
}

class BodyReader {
  readonly #request: AnyRequest;
  readonly #options: ReadBodyOptions;
  readonly #result = Promise.withResolvers<Uint8Array>();
  readonly #counted: RoomedBody;
  #chunks: Buffer[] = [];
  /** Filled bytes of the last chunk; undefined if that one is not a block. */
  #filled: number | undefined;
  #bytes = 0;
  #bytesAtLook = 0;
  #timer: ClockTimer | undefined;
  #isDone = false;

  constructor(request: AnyRequest, options: ReadBodyOptions) {
    this.#request = request;
    this.#options = options;
    const { room, sender, signal } = options;
    this.#counted = room.enter(sender, (reason) => this.#fail(reason));
    signal.addEventListener('abort', this.#onCut, { once: true });
    this.#arm();
    if (signal.aborted || request.destroyed) this.#onCut();
    else if (request.readableEnded) this.#onEnd();
    else request.on('end', this.#onEnd).on('error', this.#onCut).on('close', this.#onCut).on('data', this.#onData);
  }

  get body(): Promise<Uint8Array> {
    return this.#result.promise;
  }

  readonly #onData = (chunk: Buffer): void => {
    const { limit } = this.#options;
    if (this.#bytes + chunk.length > limit) {
      this.#fail(entityTooLarge(`Request entity too large: limit is ${limit}`));
      return;
    }
    try {
      this.#counted.take(chunk.length);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#bytes += chunk.length;
    this.#keep(chunk);
  };

  #keep(chunk: Buffer): void {
    const last = this.#chunks.at(-1);
    if (this.#filled !== undefined && last !== undefined && this.#filled + chunk.length <= last.length) {
      this.#filled += chunk.copy(last, this.#filled);
      return;
    }
    this.#closeBlock();
    // Most bodies are one chunk, which is not copied.
    if (chunk.length >= smallChunk || this.#chunks.length === 0) {
      this.#chunks.push(chunk);
      return;
    }
    const block = Buffer.allocUnsafeSlow(blockSize);
    this.#chunks.push(block);
    this.#filled = chunk.copy(block);
  }

  #closeBlock(): void {
    if (this.#filled === undefined) return;
    const block = this.#chunks.pop();
    if (block !== undefined) this.#chunks.push(block.subarray(0, this.#filled));
    this.#filled = undefined;
  }

  readonly #onEnd = (): void => {
    if (!this.#settle()) return;
    this.#counted.complete();
    this.#closeBlock();
    const [only] = this.#chunks;
    this.#result.resolve(this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks));
    this.#chunks = [];
  };

  readonly #onCut = (): void => {
    this.#fail(badRequest('unexpected EOF'));
    this.#counted.release();
  };

  /** Reads no further, and keeps nothing of what has arrived. */
  #fail(reason: unknown): void {
    if (!this.#settle()) return;
    this.#chunks = [];
    this.#counted.release();
    // A request that is not read holds its client back; what answers it ends its stream or connection.
    this.#request.pause();
    this.#result.reject(reason);
  }

  #settle(): boolean {
    if (this.#isDone) return false;
    this.#isDone = true;
    this.#timer?.cancel();
    this.#request.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onCut).off('close', this.#onCut);
    return true;
  }

  #arm(): void {
    const { clock = systemClock } = this.#options;
    this.#timer = clock.setTimer(() => this.#look(), progressMs, { keepAlive: false });
  }

  #look(): void {
    if (this.#bytes - this.#bytesAtLook < leastProgress) {
      this.#fail(timedOut());
      return;
    }
    this.#bytesAtLook = this.#bytes;
    this.#arm();
  }
}
