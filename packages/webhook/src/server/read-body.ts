import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';

/** Why a body was not read. */
export class BodyError extends Error {
  readonly httpCode: number;

  constructor(message: string, httpCode: number) {
    super(message);
    this.httpCode = httpCode;
  }
}

/** Reads a whole body up to a limit. @throws BodyError 413 when it is larger, 400 when the client hangs up */
export async function readBody(request: IncomingMessage | Http2ServerRequest, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new BodyError(`request entity is too large; limit is ${maxBytes} bytes`, 413);
    chunks.push(chunk);
  }
  if (bytes === 0) throw new BodyError('request body is empty', 400);
  return Buffer.concat(chunks);
}
