import { type Clock, type ClockTimer, systemClock } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import { BodyError } from './errors.js';
import type { HttpRequest } from './http-server-options.js';

/** Options of `readBody`. */
export interface ReadBodyOptions {
  /** Size of the largest body that is read, in bytes. A body of exactly this size is read. */
  readonly maxBytes: number;
  /** Ends the reading if it is aborted; a reason that is a BodyError is thrown as it is. @default none */
  readonly signal?: AbortSignal;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** How often the progress of a body is looked at, in ms. */
const progressMs = 10_000;
/** Minimum that must arrive in the meantime, in bytes, at 1 KiB per second. */
const leastProgress = (progressMs / 1000) * 1024;
/** Chunks below this size are copied together, because each has its overhead, and clients choose the size. */
const smallChunk = 4 * 1024;
const blockSize = 16 * 1024;

/** Reads one body, bounded in size and in time. */
export class BodyReceiver {
  readonly #request: HttpRequest;
  readonly #options: ReadBodyOptions;
  readonly #take: (bytes: number) => void;
  readonly #result = Promise.withResolvers<Buffer>();
  #chunks: Buffer[] = [];
  /** How much of the last of the chunks is filled; undefined if it is not a block. */
  #filled: number | undefined;
  #bytes = 0;
  #bytesAtLook = 0;
  #timer: ClockTimer | undefined;
  isArriving = true;

  /** @param take is called with the size of each chunk before it is kept; what it throws ends the body */
  constructor(request: HttpRequest, options: ReadBodyOptions, take: (bytes: number) => void) {
    this.#request = request;
    this.#options = options;
    this.#take = take;
    const { maxBytes, signal } = options;
    if (Number(request.headers['content-length']) > maxBytes) this.fail(this.#tooLarge());
    else if (signal?.aborted === true) this.#onAbort();
    else {
      signal?.addEventListener('abort', this.#onAbort, { once: true });
      request.on('end', this.#onEnd).on('error', this.#onCut).on('close', this.#onCut).on('data', this.#onData);
      this.#arm();
      // A request that has already ended emits nothing.
      if (request.readableEnded) this.#onEnd();
      else if (request.destroyed) this.#onCut();
    }
  }

  /** @throws BodyError */
  get body(): Promise<Buffer> {
    return this.#result.promise;
  }

  /** Reads no further, and keeps nothing of what has arrived. */
  fail(reason: BodyError): void {
    if (!this.isArriving) return;
    this.#detach();
    this.#chunks = [];
    // A request that is not read holds its client back; what answers it closes its stream or connection.
    this.#request.pause();
    this.#result.reject(reason);
  }

  readonly #onAbort = (): void => {
    const reason: unknown = this.#options.signal?.reason;
    this.fail(
      reason instanceof BodyError ? reason : new BodyError('the request ended within its body', 400, { cause: reason }),
    );
  };

  readonly #onData = (chunk: Buffer): void => {
    if (this.#bytes + chunk.length > this.#options.maxBytes) {
      this.fail(this.#tooLarge());
      return;
    }
    try {
      this.#take(chunk.length);
    } catch (error) {
      this.fail(error instanceof BodyError ? error : new BodyError('the body cannot be kept', 503, { cause: error }));
      return;
    }
    this.#bytes += chunk.length;
    this.#keep(chunk);
  };

  #keep(chunk: Buffer): void {
    const last = this.#chunks.at(-1);
    if (this.#filled !== undefined && last !== undefined && this.#filled + chunk.length <= last.length) {
      this.#filled += chunk.copy(last, this.#filled);
    } else {
      this.#closeBlock();
      const isFirst = this.#chunks.length === 0;
      if (chunk.length >= smallChunk || isFirst) this.#chunks.push(chunk);
      else {
        const block = Buffer.allocUnsafeSlow(blockSize);
        this.#chunks.push(block);
        this.#filled = chunk.copy(block);
      }
    }
  }

  #closeBlock(): void {
    if (this.#filled === undefined) return;
    const block = this.#chunks.pop();
    if (block !== undefined) this.#chunks.push(block.subarray(0, this.#filled));
    this.#filled = undefined;
  }

  readonly #onCut = (): void => this.fail(new BodyError('the client closed the connection within the body', 400));

  readonly #onEnd = (): void => {
    this.#detach();
    this.#closeBlock();
    const [only] = this.#chunks;
    this.#result.resolve(
      this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks, this.#bytes),
    );
    this.#chunks = [];
  };

  #arm(): void {
    const { clock = systemClock } = this.#options;
    this.#timer = startTimer(clock, () => this.#look(), progressMs, { keepAlive: false });
  }

  #look(): void {
    const progress = this.#bytes - this.#bytesAtLook;
    if (progress < leastProgress) {
      this.fail(new BodyError(`the body arrived too slowly: ${progress} bytes in ${progressMs} ms`, 408));
      return;
    }
    this.#bytesAtLook = this.#bytes;
    this.#arm();
  }

  #detach(): void {
    this.isArriving = false;
    this.#timer?.cancel();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    const request = this.#request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onCut);
    // Without a listener, a client that hangs up later would end the process.
    request.on('error', ignore).off('error', this.#onCut);
  }

  #tooLarge(): BodyError {
    return new BodyError(`request entity is too large; limit is ${this.#options.maxBytes} bytes`, 413);
  }
}

function ignore(): void {
  // the body has ended
}
