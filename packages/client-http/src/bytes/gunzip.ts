import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ByteStream } from './byte-stream.js';
import { errorCode } from '../failure/explain-failure.js';
import { leavable } from './leavable.js';

/** The default of 16 KiB is three times slower (performance.md 5). */
const chunkSize = 256 * 1024;

/** Decompresses a body while it arrives. A truncated or corrupt one rejects with what `explain` makes of it. */
export function gunzip(source: ByteStream, explain: Explain): AsyncIterableIterator<Buffer[], undefined> {
  return leavable(unzipped(source, explain), () => discard(source));
}

type Explain = (reason: 'truncated' | 'corrupt', cause: unknown) => Error;

function discard(source: ByteStream): void {
  source.discard(new DOMException('the body was not read to its end', 'AbortError'));
}

async function* unzipped(source: ByteStream, explain: Explain): AsyncGenerator<Buffer[], void, undefined> {
  const unzip = process.getBuiltinModule('node:zlib').createGunzip({ chunkSize });
  const fed = pipeline(Readable.from(chunksOf(source)), unzip);
  fed.catch(() => undefined);
  try {
    for await (const chunk of unzip) if (Buffer.isBuffer(chunk)) yield [chunk];
    await fed;
  } catch (error) {
    const code = errorCode(error) ?? '';
    throw code.startsWith('Z_') ? explain(code === 'Z_BUF_ERROR' ? 'truncated' : 'corrupt', error) : error;
  } finally {
    unzip.destroy();
    discard(source);
  }
}

async function* chunksOf(source: ByteStream): AsyncGenerator<Buffer, void> {
  for await (const batch of source) yield* batch;
}
