import type { HttpRequest } from './http-server-options.js';

/** Sender of a body. */
export interface BodyPeer {
  /** HTTP/2 session or socket. */
  readonly connection: object;
  /** Remote address; empty for a Unix socket. */
  readonly address: string;
  /**
   * `verified`: has a client certificate that a CA vouches for; `unverified`: has no valid one although the server
   * requested it; `unknown`: the server requests none.
   */
  readonly trust: 'verified' | 'unverified' | 'unknown';
}

/** Returns the sender of a request. */
export function peerOf(request: HttpRequest): BodyPeer {
  const session = 'stream' in request ? request.stream.session : undefined;
  const socket: unknown = session === undefined ? request.socket : session.socket;
  const connection = session ?? (isObject(socket) ? socket : request);
  const address: unknown = isObject(socket) ? Reflect.get(socket, 'remoteAddress') : undefined;
  return { connection, address: typeof address === 'string' ? address : '', trust: trustOf(socket) };
}

/** Returns how far a socket's peer has proved who it is. */
export function trustOf(socket: unknown): BodyPeer['trust'] {
  // Loaded here, so that a process without a server does not load it.
  const { TLSSocket } = process.getBuiltinModule('node:tls');
  // The socket of an HTTP/2 session is a proxy, which `instanceof` sees through.
  if (!(socket instanceof TLSSocket)) return 'unknown';
  if (socket.authorized) return 'verified';
  const refusal: unknown = socket.authorizationError;
  return refusal === undefined || refusal === null ? 'unknown' : 'unverified';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
