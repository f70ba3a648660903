import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { Connection, type ConnectionParts, type ConnectionPhase } from './connection.js';

/** Identifies an open connection of one server, the same on a socket and on what wraps it. */
type Endpoints = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** In which order connections make room for a new one. `active` and `closing` ones never do. */
const sacrifices: readonly ConnectionPhase[] = ['handshake', 'header', 'idle'];

/** All connections of a server, from the moment they are accepted. */
export class Connections {
  readonly #parts: ConnectionParts & { readonly isTls: boolean };
  /** In the order in which they were accepted. */
  readonly #open = new Map<string, Connection>();
  /** By bare socket, TLS socket and HTTP/2 session. */
  readonly #by = new WeakMap<object, Connection>();
  #isStopping = false;
  #isLocal = false;
  #accepted = 0;

  constructor(parts: ConnectionParts & { readonly isTls: boolean }) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The server listens on a Unix socket: its connections have no addresses to tell them apart by. */
  setLocal(): void {
    this.#isLocal = true;
  }

  /** Takes in a connection that was accepted, before anything was read from it. */
  accept(raw: Socket): void {
    const key = this.#isLocal ? `local ${++this.#accepted}` : keyOf(raw);
    if (key === undefined || this.#open.has(key) || !this.#makeRoom()) {
      raw.destroy();
      return;
    }
    const connection = new Connection(raw, this.#parts);
    this.#open.set(key, connection);
    this.#by.set(raw, connection);
    raw.once('close', () => {
      connection.closed();
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
    if (this.#isStopping) connection.stop();
  }

  /** The connection that a request's socket or HTTP/2 session belongs to. */
  of(carrier: object): Connection | undefined {
    return this.#by.get(carrier);
  }

  /** A TLS handshake has ended. */
  secured(socket: Socket): void {
    const connection = this.#find(socket);
    // After Node's own listeners, which take no destroyed socket.
    if (connection === undefined) process.nextTick(() => socket.destroy());
    else {
      this.#by.set(socket, connection);
      connection.secured(socket);
    }
  }

  /** An HTTP/2 session begins. */
  upgraded(session: ServerHttp2Session): void {
    if (session.destroyed) return;
    const connection = this.#find(session.socket);
    if (connection === undefined) session.destroy();
    else {
      this.#by.set(session, connection);
      connection.upgraded(session);
    }
  }

  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#open.values()) connection.stop();
  }

  destroy(): void {
    for (const connection of this.#open.values()) connection.destroy();
  }

  #find(socket: Endpoints): Connection | undefined {
    const key = keyOf(socket);
    return key === undefined ? undefined : this.#open.get(key);
  }

  #makeRoom(): boolean {
    if (this.#open.size < this.#parts.limits.maxConnections) return true;
    for (const phase of sacrifices) {
      for (const [key, connection] of this.#open) {
        if (connection.phase !== phase) continue;
        this.#open.delete(key);
        connection.destroy();
        return true;
      }
    }
    return false;
  }
}

/** Undefined where the peer has gone already. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Endpoints): string | undefined {
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return `${remoteAddress} ${remotePort} ${localAddress ?? ''} ${localPort ?? 0}`;
}
