/** How much may be queued before the sender must pause, in bytes. */
const highWaterMark = 256 * 1024;

/** Flow control of the source of a {@link ByteStream}. */
export interface ByteSource {
  pause(): void;
  resume(): void;
  /** Releases the connection of a stream that is not read to its end. */
  abort(reason: Error): void;
}

interface Waiter {
  resolve(result: IteratorResult<Buffer[], undefined>): void;
  reject(error: Error): void;
}

/**
 * A response body. Chunks that arrived together are returned together, so that a consumer pays for one promise per
 * batch. The source is paused while more than 256 KiB waits. Ends cleanly only when the server ended the body cleanly;
 * a broken connection rejects. The chunks belong to the consumer.
 */
export class ByteStream implements AsyncIterable<Buffer[]>, AsyncIterator<Buffer[], undefined> {
  readonly #source: ByteSource;
  readonly #onSettled: () => void;
  #chunks: Buffer[] = [];
  #queuedBytes = 0;
  #isPaused = false;
  #isEnded = false;
  #error: Error | undefined;
  #waiter: Waiter | undefined;
  /** Bytes received so far. */
  receivedBytes = 0;
  /** Whether there are no other views of the memory of its chunks, once a chunk of other memory has followed. */
  readonly isExclusive: boolean;

  constructor(source: ByteSource, onSettled: () => void, isExclusive = false) {
    this.#source = source;
    this.#onSettled = onSettled;
    this.isExclusive = isExclusive;
  }

  /** Whether a reader waits for a chunk. */
  get isStarving(): boolean {
    return this.#waiter !== undefined;
  }

  push(chunk: Buffer): void {
    if (this.#isEnded) return;
    this.receivedBytes += chunk.length;
    const waiter = this.#waiter;
    if (waiter !== undefined) {
      this.#waiter = undefined;
      waiter.resolve({ done: false, value: [chunk] });
      return;
    }
    this.#chunks.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes > highWaterMark && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
  }

  end(): void {
    if (!this.#settle()) return;
    this.#waiter?.resolve({ done: true, value: undefined });
    this.#waiter = undefined;
  }

  fail(error: Error): void {
    if (!this.#settle()) return;
    this.#error = error;
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter === undefined) return;
    this.#error = undefined;
    waiter.reject(error);
  }

  next(): Promise<IteratorResult<Buffer[], undefined>> {
    if (this.#chunks.length > 0) {
      const value = this.#chunks;
      this.#chunks = [];
      this.#queuedBytes = 0;
      if (this.#isPaused) {
        this.#isPaused = false;
        this.#source.resume();
      }
      return Promise.resolve({ done: false, value });
    }
    const error = this.#error;
    if (error !== undefined) {
      this.#error = undefined;
      return Promise.reject(error);
    }
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  /** Gives the rest up and releases the connection. */
  return(): Promise<IteratorResult<Buffer[], undefined>> {
    this.discard(new DOMException('the body was not read to its end', 'AbortError'));
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Like {@link return}, with a reason. A waiting read rejects with it. */
  discard(reason: Error): void {
    this.#chunks = [];
    this.#queuedBytes = 0;
    this.#error = undefined;
    if (this.#isEnded) return;
    this.fail(reason);
    this.#source.abort(reason);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #settle(): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.#onSettled();
    return true;
  }
}

/** The start of a stream, and whether it was all of it. */
export interface Prefix {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

/** Reads at most this many bytes of a stream. One that is longer is given up, with its connection. */
export async function collectPrefix(stream: AsyncIterable<readonly Uint8Array[]>, maxBytes: number): Promise<Prefix> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const batch of stream) {
    for (const chunk of batch) {
      chunks.push(chunk);
      size += chunk.length;
    }
    if (size > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isWhole: false };
  }
  return { bytes: Buffer.concat(chunks), isWhole: true };
}

/** Reads a stream to its end into one buffer. */
export async function collect(stream: AsyncIterable<readonly Uint8Array[]>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const batch of stream) chunks.push(...batch);
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined && Buffer.isBuffer(first) ? first : Buffer.concat(chunks);
}
