import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { Connection, type ConnectionParts, type ConnectionPhase } from './connection.js';

/** Identifies an open connection of one server, the same on a socket and on what wraps it. */
type Endpoints = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** In which order connections of one address make room for a new one. `active` and `closing` ones never do. */
const sacrifices: readonly ConnectionPhase[] = ['handshake', 'header', 'idle', 'waiting'];

/** How long a connection waits for its client before it makes room first, in ms. */
const stallMs = 1_000;

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

  /** Marks the server as listening on a Unix socket, whose connections have no addresses to distinguish them. */
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
    const victim = this.#victim();
    if (victim === undefined) return false;
    const [key, connection] = victim;
    this.#open.delete(key);
    connection.destroy();
    return true;
  }

  /**
   * The first one to evict. The criteria in order are no verified certificate, the address with the most connections, a
   * client that has let a second pass, no served request, the time it has waited for its client, the phase, and its
   * age.
   */
  #victim(): [string, Connection] | undefined {
    const counts = new Map<string, number>();
    for (const { address } of this.#open.values()) counts.set(address, (counts.get(address) ?? 0) + 1);
    const now = this.#parts.clock.monotonicNow();
    let first: { readonly rank: readonly number[]; readonly entry: [string, Connection] } | undefined;
    for (const entry of this.#open) {
      const [, connection] = entry;
      const phase = sacrifices.indexOf(connection.phase);
      if (phase < 0) continue;
      const { isVerified, address, waitsSince, hasServed } = connection;
      const isPatient = now - waitsSince < stallMs;
      const count = counts.get(address) ?? 0;
      const rank = [Number(isVerified), -count, Number(isPatient), Number(hasServed), waitsSince, phase];
      if (first === undefined || isBefore(rank, first.rank)) first = { rank, entry };
    }
    return first?.entry;
  }
}

/** Whether a list of numbers comes before another one of the same length. */
function isBefore(left: readonly number[], right: readonly number[]): boolean {
  const place = left.findIndex((number, index) => number !== right[index]);
  return place >= 0 && (left[place] ?? 0) < (right[place] ?? 0);
}

/** Undefined if the peer has already disconnected. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Endpoints): string | undefined {
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return `${remoteAddress} ${remotePort} ${localAddress ?? ''} ${localPort ?? 0}`;
}
