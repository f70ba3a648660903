import { BodyError } from './errors.js';
import type { HttpRequest } from './http-server-options.js';

/** Options of {@link readBody}. */
export interface ReadBodyOptions {
  /** The largest body that is read, in bytes: one of exactly this size is, one byte more is not. */
  readonly maxBytes: number;
}

/**
 * Reads a whole body, empty or not. What is too large is refused by its declared length before it is sent, and
 * otherwise at the first byte that is too many; no more than `maxBytes` and one chunk are held.
 *
 * @throws BodyError with `httpCode` 413 when the body is too large, 400 when the client hangs up within it
 */
export async function readBody(request: HttpRequest, { maxBytes }: ReadBodyOptions): Promise<Buffer> {
  const tooLarge = (): BodyError => new BodyError(`request entity is too large; limit is ${maxBytes} bytes`, 413);
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof BodyError ? error : new BodyError('the client closed the connection within the body', 400);
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes);
}
