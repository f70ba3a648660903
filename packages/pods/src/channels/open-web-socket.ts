import { createHash, randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { failureOf } from '../client.js';
import type { PodTransport } from '../client.js';
import { PodStreamError } from '../errors.js';

/** Options of {@link openWebSocket}. */
export interface OpenOptions {
  /** Path with query. */
  readonly path: string;
  /** Subprotocols, the best one first. */
  readonly protocols: readonly string[];
  /** For errors, such as `exec in pod shop/web`. */
  readonly what: string;
  readonly signal: AbortSignal | undefined;
}

/** A connection that speaks WebSocket, and the subprotocol that the server has chosen. */
export interface OpenedSocket {
  readonly socket: Duplex;
  readonly protocol: string;
}

/** The GUID of RFC 6455. */
const acceptGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/**
 * Upgrades a GET request to a WebSocket. It is sent once, because a command must not run twice.
 *
 * @throws StatusError of the server's response; PodStreamError if it switches to another protocol
 */
export async function openWebSocket(transport: PodTransport, options: OpenOptions): Promise<OpenedSocket> {
  const { path, protocols, what, signal } = options;
  const key = randomBytes(16).toString('base64');
  const response = await transport.send({
    method: 'GET',
    path,
    accept: '*/*',
    expect: 'watch',
    once: true,
    upgrade: 'websocket',
    headers: {
      'sec-websocket-key': key,
      'sec-websocket-version': '13',
      'sec-websocket-protocol': protocols.join(', '),
    },
    signal,
  });
  const { socket, headers, status } = response;
  const refuse = (reason: string): never => {
    socket?.destroy();
    throw new PodStreamError(`${what}: the server did not open a WebSocket: ${reason}`);
  };
  if (socket === undefined) {
    if (status >= 300) throw await failureOf(response, what);
    // Such as a proxy that drops the header, so the body may have no end.
    await response.body[Symbol.asyncIterator]().return?.();
    return refuse(`it answers with ${status} instead of 101: a proxy on the way may not let upgrades pass`);
  }
  const expected = createHash('sha1').update(`${key}${acceptGuid}`).digest('base64');
  if (status !== 101 || headers['sec-websocket-accept'] !== expected) refuse('its handshake is not valid');
  const chosen = headers['sec-websocket-protocol'];
  const protocol = typeof chosen === 'string' ? chosen : '';
  if (!protocols.includes(protocol))
    refuse(`it speaks ${protocol === '' ? 'no subprotocol' : protocol}: expected ${protocols.join(' or ')}`);
  return { socket, protocol };
}
