import type * as Zlib from 'node:zlib';

/** Frames of an object are read without other information, so larger ones than this are written in several pieces. */
const leastChunk = 4096;
/**
 * From half a pool (`Buffer.poolSize`) a buffer has separate memory; less is cut from the pool, and could not be freed
 * alone.
 */
const mostPooled = 32 * 1024;

let zlib: typeof Zlib | undefined;

/** Loaded on demand instead of imported, because few programs need it. */
function loaded(): typeof Zlib {
  return (zlib ??= process.getBuiltinModule('node:zlib'));
}

/** Compresses bytes (raw DEFLATE). The window of 32 KB holds the dictionary and a block. */
export function deflate(bytes: Buffer, dictionary: Buffer | undefined): Buffer {
  return loaded().deflateRawSync(bytes, {
    level: 1,
    chunkSize: Math.max(leastChunk, bytes.length >> 2),
    ...(dictionary === undefined ? {} : { dictionary }),
  });
}

/**
 * The bytes that were compressed, of which there are `length`. The memory is the caller's alone.
 *
 * @throws Error if the frame is not valid for the length and dictionary
 */
export function inflate(frame: Buffer, length: number, dictionary: Buffer | undefined): Buffer {
  const bytes = loaded().inflateRawSync(frame, {
    // In one piece.
    chunkSize: Math.max(Math.min(Buffer.poolSize >>> 1, mostPooled), length + 64),
    ...(dictionary === undefined ? {} : { dictionary }),
  });
  if (bytes.length !== length) throw new Error(`a block of ${length} bytes has ${bytes.length} when it is read`);
  return bytes;
}
