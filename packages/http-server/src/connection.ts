import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock, ClockTimer } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import { trustOf } from './body-peer.js';
import type { ResolvedLimits } from './server-limits.js';

/** How long a stop waits for what a client may have sent just before, and for a client to close its side, in ms. */
const stopGraceMs = 1_000;

/**
 * `handshake`: TLS is not set up; `header`: a request header is awaited or under way; `active`: requests are served;
 * `waiting`: every request waits for the client, to send the rest of a body or to read an answer; `idle`: it waits for the
 * next request; `closing`: it was closed and the client is to follow.
 */
export type ConnectionPhase = 'handshake' | 'header' | 'active' | 'waiting' | 'idle' | 'closing';

/** A request that is under way. */
export interface OpenRequest {
  /** Returns whether nothing but the client keeps it open. */
  isWaiting(): boolean;
}

/** Dependencies of a {@link Connection}. */
export interface ConnectionParts {
  readonly clock: Clock;
  readonly limits: ResolvedLimits;
  /** Called with each deadline that passed, before the connection is cut. */
  readonly onDeadline: (phase: ConnectionPhase) => void;
}

/**
 * One accepted connection and the one deadline that it has at a time. It begins with the bare socket, so that a client
 * which never finishes a handshake is bounded as well, and holds for HTTP/1.1 and HTTP/2 alike.
 */
export class Connection {
  readonly #raw: Socket;
  readonly #parts: ConnectionParts;
  /** Socket of HTTP/1.1, either the bare socket or TLS on it. */
  #socket: Socket;
  #session: ServerHttp2Session | undefined;
  #phase: Exclude<ConnectionPhase, 'waiting'>;
  readonly #requests = new Set<OpenRequest>();
  #bytesWhenIdle = 0;
  #hasServed = false;
  #isStopping = false;
  /** When the phase began; of `active` when the last request did. Monotonic time. */
  #since: number;
  #timer: ClockTimer | undefined;

  constructor(raw: Socket, parts: ConnectionParts & { readonly isTls: boolean }) {
    this.#raw = raw;
    this.address = raw.remoteAddress ?? '';
    this.#socket = raw;
    this.#parts = parts;
    this.#phase = parts.isTls ? 'handshake' : 'header';
    this.#since = parts.clock.monotonicNow();
    this.#arm(parts.isTls ? parts.limits.handshakeTimeoutMs : parts.limits.headersTimeoutMs);
  }

  get phase(): ConnectionPhase {
    if (this.#phase !== 'active') return this.#phase;
    for (const request of this.#requests) if (!request.isWaiting()) return 'active';
    return 'waiting';
  }

  /** Since when the client has to send or to read something, in monotonic time; `Infinity` if it need not. */
  get waitsSince(): number {
    const { phase } = this;
    return phase === 'handshake' || phase === 'header' || phase === 'waiting' ? this.#since : Infinity;
  }

  /** Whether a request was served on it. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** Remote address; empty for a Unix socket. */
  readonly address: string;

  /** Whether the client has a certificate that a CA vouches for. */
  get isVerified(): boolean {
    return trustOf(this.#socket) === 'verified';
  }

  /** The TLS handshake has ended. */
  secured(socket: Socket): void {
    this.#socket = socket;
    // A stop has given it a moment already, which its first request has to arrive in.
    this.#phase = 'header';
    this.#since = this.#parts.clock.monotonicNow();
    if (!this.#isStopping) this.#arm(this.#parts.limits.headersTimeoutMs);
  }

  /** The connection speaks HTTP/2; the client's preface counts as a header. */
  upgraded(session: ServerHttp2Session): void {
    this.#session = session;
    session.once('remoteSettings', () => {
      if (this.#requests.size === 0 && !this.#isStopping) this.#enterIdle();
    });
    if (this.#isStopping) session.close();
  }

  /** A request begins. @returns false if the connection has as many as it may */
  begin(request: OpenRequest): boolean {
    if (this.#requests.size >= this.#parts.limits.maxStreamsPerConnection) return false;
    this.#requests.add(request);
    this.#since = this.#parts.clock.monotonicNow();
    if (this.#phase === 'closing') return true;
    this.#phase = 'active';
    this.#timer?.cancel();
    return true;
  }

  /** A request has ended, answered or not. `isWhole`: everything of it was received; what follows on HTTP/1.1 is the next. */
  end(request: OpenRequest, { isWhole }: { readonly isWhole: boolean }): void {
    this.#requests.delete(request);
    this.#hasServed ||= isWhole;
    if (this.#raw.destroyed) return;
    if (!isWhole) {
      // The client still sends, so it gets the answer and a moment to stop, both of which a reset would prevent.
      this.#enter('closing', stopGraceMs);
      this.#socket.end();
    } else if (this.#requests.size > 0) return;
    else if (this.#isStopping) this.#close();
    else this.#enterIdle();
  }

  /** Accepts no further requests, and closes as soon as none is in flight. */
  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    if (this.#phase === 'idle') this.#close();
    else if (this.#requests.size > 0) this.#session?.close();
    // Its first request may be on the way.
    else this.#arm(stopGraceMs);
  }

  destroy(): void {
    this.#timer?.cancel();
    // Sockets that wrap this one (TLS, HTTP/2) end with it.
    this.#raw.destroy();
  }

  /** The socket has closed. */
  closed(): void {
    this.#timer?.cancel();
  }

  #close(): void {
    this.#enter('closing', stopGraceMs);
    if (this.#session === undefined) this.#socket.destroySoon();
    else this.#session.close();
  }

  #enterIdle(): void {
    this.#bytesWhenIdle = this.#raw.bytesRead;
    this.#enter('idle', this.#parts.limits.idleTimeoutMs);
  }

  #enter(phase: 'closing' | 'header' | 'idle', timeoutMs: number): void {
    this.#phase = phase;
    this.#since = this.#parts.clock.monotonicNow();
    this.#arm(timeoutMs);
  }

  #arm(timeoutMs: number): void {
    const { clock } = this.#parts;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#raw.destroyed || timeoutMs === Infinity) return;
    this.#timer = startTimer(clock, () => this.#expire(), timeoutMs, { keepAlive: false });
  }

  #expire(): void {
    const isHeaderUnderWay = this.#phase === 'idle' && this.#raw.bytesRead > this.#bytesWhenIdle;
    if (isHeaderUnderWay && !this.#isStopping) {
      this.#enter('header', this.#parts.limits.headersTimeoutMs);
      return;
    }
    this.#parts.onDeadline(this.#phase);
    this.destroy();
  }
}
