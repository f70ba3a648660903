import { Transform } from 'node:stream';
import { PodStreamError } from '../errors.js';

const blockBytes = 512;
/** Longest extended header, in bytes, which has names and attributes of one entry. */
const maxHeaderBytes = 1024 * 1024;
/** Types of entries whose content tar-stream reads as a whole, which are pax headers, and GNU's long names. */
const headerTypes = new Set(['x', 'g', 'L', 'K']);

/**
 * Passes a tar archive on, and fails at an extended header that is too long, because it would be kept in memory as a
 * whole.
 */
export function limitHeaders(): Transform {
  let block = Buffer.alloc(0);
  /** Bytes of content and padding up to the next header. */
  let skip = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let at = 0;
      while (at < chunk.length) {
        if (skip > 0) {
          const taken = Math.min(skip, chunk.length - at);
          skip -= taken;
          at += taken;
          continue;
        }
        const taken = chunk.subarray(at, at + blockBytes - block.length);
        block = Buffer.concat([block, taken]);
        at += taken.length;
        if (block.length < blockBytes) continue;
        const size = sizeOf(block);
        const type = String.fromCharCode(block[156] ?? 0);
        if (headerTypes.has(type) && !(size <= maxHeaderBytes)) {
          done(
            new PodStreamError(`the container sent a tar header of ${size} bytes: at most ${maxHeaderBytes} are read`),
          );
          return;
        }
        skip = Math.ceil(size / blockBytes) * blockBytes;
        block = Buffer.alloc(0);
      }
      done(null, chunk);
    },
  });
}

/** The size field, in octal digits, or as a binary number if its first bit is set. */
function sizeOf(header: Buffer): number {
  const field = header.subarray(124, 136);
  if (((field[0] ?? 0) & 0x80) !== 0) return field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
  const size = Number.parseInt(field.toString('latin1').replaceAll('\0', ' ').trim() || '0', 8);
  return Number.isNaN(size) ? 0 : size;
}
