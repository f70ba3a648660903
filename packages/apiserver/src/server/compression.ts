import { createGzip, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Reply } from '../protocol/api-request.js';
import type { Sink } from '../protocol/sink.js';

const gzipAsync = promisify(gzip);

/** Bodies below upstream's threshold stay plain. */
const threshold = 128 * 1024;
/** Upstream's level, little work for most of the gain. */
const level = 1;

function accepts(encodings: string | undefined): boolean {
  return (encodings ?? '').split(',').some((part) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(part));
}

/** Compresses long answers for those who take it; watches never. */
export async function compress(
  reply: Reply,
  encodings: string | undefined,
): Promise<Pick<Reply, 'headers' | 'body' | 'stream'>> {
  const { headers, body, stream, isLong = false } = reply;
  if (!accepts(encodings)) return reply;
  const zipped = { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' };
  if (stream === undefined) {
    const bytes = Buffer.from(body ?? '');
    return bytes.length < threshold ? reply : { headers: zipped, body: await gzipAsync(bytes, { level }) };
  }
  return isLong ? { headers: zipped, stream: (sink) => stream(gzipSink(sink)) } : reply;
}

/** A sink that compresses on its way to another. */
function gzipSink(sink: Sink): Sink {
  const zip = createGzip({ level });
  let inside = 0;
  zip.on('data', (chunk: Buffer) => sink.write(chunk));
  zip.on('end', () => sink.end());
  zip.on('error', () => sink.destroy());
  sink.closed.addEventListener('abort', () => zip.destroy(), { once: true });
  return {
    closed: sink.closed,
    get buffered() {
      return sink.buffered + inside;
    },
    write(bytes) {
      inside += bytes.length;
      zip.write(bytes, () => {
        inside -= bytes.length;
      });
    },
    async drained() {
      if (zip.writableNeedDrain && !sink.closed.aborted)
        await new Promise<void>((resolve) => {
          zip.once('drain', resolve);
          sink.closed.addEventListener('abort', () => resolve(), { once: true });
        });
      await sink.drained();
    },
    end: () => zip.end(),
    destroy: () => sink.destroy(),
  };
}
