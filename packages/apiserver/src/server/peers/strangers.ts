import type { Socket } from 'node:net';
import { systemClock, type Clock, type ClockTimer } from '@kctl/wait';

/** Longest time of a connection that was not authenticated without a request, in ms, handshake and header included. */
const idleMs = 30_000;

/** Identifies an open connection, the same on a socket and on what wraps it. */
type Endpoints = Pick<Socket, 'remoteAddress' | 'remotePort'>;

interface Stranger {
  readonly socket: Pick<Socket, 'destroy'>;
  requests: number;
  timer: ClockTimer | undefined;
  isOpen: boolean;
}

/**
 * Connections on which no request was authenticated yet. They are bounded in number and in time. Beyond `maxCount` the
 * oldest one is closed, first of those without a request, and one that has no request for 30 s is closed as well.
 */
export class Strangers {
  readonly #maxCount: number;
  readonly #clock: Clock;
  /** In the order in which they were accepted. */
  readonly #open = new Map<string, Stranger>();

  constructor({ maxCount, clock = systemClock }: { readonly maxCount: number; readonly clock?: Clock }) {
    this.#maxCount = maxCount;
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes in a connection that was accepted. */
  accept(socket: Pick<Socket, 'destroy' | 'once'> & Endpoints): void {
    const key = keyOf(socket);
    if (key === undefined) {
      socket.destroy();
      return;
    }
    if (this.#open.size >= this.#maxCount) this.#makeRoom();
    const stranger: Stranger = { socket, requests: 0, timer: undefined, isOpen: true };
    this.#open.set(key, stranger);
    this.#arm(stranger);
    socket.once('close', () => {
      if (this.#open.get(key) === stranger) this.#remove(key, stranger);
    });
  }

  /** A request on a connection was authenticated. */
  know(socket: Endpoints): void {
    const key = keyOf(socket);
    const stranger = key === undefined ? undefined : this.#open.get(key);
    if (key !== undefined && stranger !== undefined) this.#remove(key, stranger);
  }

  /** A request begins. @returns what is called when it ends */
  begin(socket: Endpoints): () => void {
    const stranger = this.#open.get(keyOf(socket) ?? '');
    if (stranger === undefined) return () => undefined;
    stranger.requests += 1;
    stranger.timer?.cancel();
    return () => {
      stranger.requests -= 1;
      if (stranger.requests === 0 && stranger.isOpen) this.#arm(stranger);
    };
  }

  #arm(stranger: Stranger): void {
    stranger.timer = this.#clock.setTimer(() => stranger.socket.destroy(), idleMs, { keepAlive: false });
  }

  #makeRoom(): void {
    const [first] = this.#open;
    let victim = first;
    for (const entry of this.#open) {
      if (entry[1].requests > 0) continue;
      victim = entry;
      break;
    }
    if (victim === undefined) return;
    const [key, stranger] = victim;
    this.#remove(key, stranger);
    stranger.socket.destroy();
  }

  #remove(key: string, stranger: Stranger): void {
    stranger.isOpen = false;
    stranger.timer?.cancel();
    this.#open.delete(key);
  }
}

/** Undefined if the peer has gone already. */
function keyOf({ remoteAddress, remotePort }: Endpoints): string | undefined {
  return remoteAddress === undefined || remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`;
}
