// One request over one connection to a port of a pod, by Node's HTTP client.
import type { IncomingMessage } from 'node:http';
import { duplexPair, type Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { nodeHttp } from '../../protocol/node-http.js';

/** A request as the pod receives it. */
export interface Forwarded {
  readonly scheme: 'http' | 'https';
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

/** Sends a request to what takes connections. Resolves with the answer's headers; the abort ends both. */
export async function forwardRequest(
  accept: (connection: Duplex) => void,
  { scheme, method, path, headers, body, signal }: Forwarded,
): Promise<IncomingMessage> {
  const [near, far] = duplexPair();
  for (const side of [near, far]) side.on('error', () => undefined);
  // As on a socket, one side sees that the other has gone; what was sent before an orderly end is still read.
  near.once('close', () => far.destroy());
  far.once('close', () => {
    if (!far.writableFinished) near.destroy(new Error('EOF'));
  });
  try {
    accept(far);
    // As upstream, the certificate of a pod is not verified, because its address is trusted.
    const connection = scheme === 'https' ? connect({ socket: near, rejectUnauthorized: false }) : near;
    return await new Promise((resolve, reject) => {
      const request = nodeHttp.request({ method, path, headers, signal, createConnection: () => connection });
      if (body.length > 0) request.setHeader('content-length', body.length);
      request.once('response', resolve).once('error', reject).end(body);
    });
  } catch (error) {
    near.destroy();
    far.destroy();
    throw error;
  }
}
