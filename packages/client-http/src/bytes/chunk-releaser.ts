import { freeMemory } from '@kctl/apimachinery/internal/wire';
import type { FrameOptions } from '@kctl/client';
import { ByteStream } from './byte-stream.js';

/** Frees the memory of chunks that are no longer read. */
export interface ChunkReleaser {
  /**
   * Reports that the consumer requested more and that these chunks arrived, with the ends of so many documents. A
   * document that does not end in its chunk retains that chunk until one with an end has arrived.
   */
  took(chunks: readonly Buffer[], documents: number): void;
}

/** Less is not worth the call. */
const minBytes = 16 * 1024;

const noReleaser: ChunkReleaser = { took: () => undefined };

/**
 * Each read of a socket gets separate memory. Left to the garbage collector, a fast stream triggers it again and again,
 * over the whole heap, for nothing but these chunks, which costs a third of the work for the events.
 *
 * Nothing is freed if the body may share its memory (HTTP/2, compressed bodies, other transports).
 */
export function chunkReleaser(body: AsyncIterable<Buffer[]>, { transient = false }: FrameOptions): ChunkReleaser {
  return transient && body instanceof ByteStream && body.isExclusive ? new DetachingReleaser() : noReleaser;
}

class DetachingReleaser implements ChunkReleaser {
  /** Each once, in the order of arrival, in which chunks of one memory follow one another. */
  #spent: ArrayBufferLike[] = [];

  took(chunks: readonly Buffer[], documents: number): void {
    const before = this.#spent.length;
    let last = this.#spent.at(-1);
    const kept = last;
    for (const { buffer } of chunks) if (buffer !== last) this.#spent.push((last = buffer));
    if (documents === 0) return;
    // The parser of the connection may hold the rest of the memory that it read last; it has gone on when other came.
    const first = before > 0 && chunks[0]?.buffer === kept ? before - 1 : before;
    for (let at = 0; at < first; at++) {
      const memory = this.#spent[at];
      if (memory !== undefined && memory.byteLength >= minBytes) freeMemory(memory);
    }
    this.#spent.splice(0, first);
  }
}
