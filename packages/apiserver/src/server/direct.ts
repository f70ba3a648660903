import { entityTooLarge } from '../protocol/status.js';
import { asAuthenticated } from '../authentication/authenticator.js';
import type { ApiRequest, Reply, ReplyHeaders, User } from '../protocol/api-request.js';
import { impersonationOf } from './header-lines.js';
import { truncated } from './in-process.js';
import type { Pipeline } from './pipeline.js';
import type { Sink } from '../protocol/sink.js';

/** A request as a simulated network carries it, as plain data. */
export interface DirectRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** By their lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The requesting user, if no `authorization` header identifies one. @default the administrator */
  readonly user?: User;
  /** Aborted when the client goes away. Read when something has to wait for it, because a client may make it then. */
  readonly signal: AbortSignal;
  /**
   * Whether the client has gone away, for one that makes its signal when it is read. @default the state of the signal
   */
  readonly isGone?: () => boolean;
}

/**
 * Receives the parts of an answer, in order, which are `start`, `data` any number of times, then `end` or `destroy`.
 */
export interface DirectReceiver {
  start(status: number, headers: ReplyHeaders): void;
  data(bytes: Uint8Array): void;
  /** The answer is complete. */
  end(): void;
  /** The server cuts the connection, perhaps before `start`. */
  destroy(): void;
}

/**
 * Answers a request without socket, stream or `Response` in between, for a simulated network. Resolves when the answer
 * has ended; never rejects.
 */
export type DirectAnswer = (request: DirectRequest, receiver: DirectReceiver) => Promise<void>;

/** Options of {@link createDirectAnswer}. */
export interface DirectOptions {
  readonly pipeline: Pipeline;
  readonly maxBodyBytes: number;
  readonly administrator: User;
}

const noBytes = new Uint8Array();

export function createDirectAnswer({ pipeline, maxBodyBytes, administrator }: DirectOptions): DirectAnswer {
  return async (request, receiver) => {
    const { method, target, headers, body = noBytes, user = administrator } = request;
    const isGone = request.isGone ?? ((): boolean => request.signal.aborted);
    const apiRequest: ApiRequest = {
      method,
      target,
      header: (name) => headers[name],
      headers: () => Object.entries(headers),
      impersonation: () => (isImpersonating(headers) ? impersonationOf(Object.entries(headers)) : []),
      readBody: () =>
        body.length > maxBodyBytes
          ? Promise.reject(entityTooLarge(`Request entity too large: limit is ${maxBodyBytes}`))
          : Promise.resolve(body),
      peer: headers['authorization'] === undefined ? asAuthenticated(user) : undefined,
      get signal() {
        return request.signal;
      },
    };
    const reply = await pipeline(apiRequest);
    if (isGone() || reply.destroy === true) receiver.destroy();
    else await send(reply, { receiver, request, isHead: method === 'HEAD' });
  };
}

/** Headers are by their lower-case names. */
function isImpersonating(headers: DirectRequest['headers']): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

interface Target {
  readonly receiver: DirectReceiver;
  readonly request: DirectRequest;
  readonly isHead: boolean;
}

async function send(reply: Reply, { receiver, request, isHead }: Target): Promise<void> {
  receiver.start(reply.status, reply.headers);
  if (isHead) {
    receiver.end();
    return;
  }
  if (reply.stream === undefined && reply.truncateAfter === undefined) {
    const { body = noBytes } = reply;
    receiver.data(typeof body === 'string' ? Buffer.from(body) : body);
    receiver.end();
    return;
  }
  const sink = new DirectSink(receiver, request.signal);
  const limited = reply.truncateAfter === undefined ? sink : truncated(sink, reply.truncateAfter);
  try {
    if (reply.stream === undefined) {
      const { body = noBytes } = reply;
      limited.write(typeof body === 'string' ? Buffer.from(body) : body);
      limited.end();
    } else await reply.stream(limited);
  } catch {
    sink.destroy();
  }
}

/** Why a sink is closed; one for all, because an error costs its stack. */
const ended = new DOMException('the answer has ended', 'AbortError');

/** Hands on its input at once, because the network on the other side decides on delays. */
class DirectSink implements Sink {
  readonly #receiver: DirectReceiver;
  readonly #closed = new AbortController();
  readonly #signal: AbortSignal;
  readonly buffered = 0;
  readonly #onAbort = (): void => this.destroy();

  constructor(receiver: DirectReceiver, signal: AbortSignal) {
    this.#receiver = receiver;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  write(bytes: Uint8Array): void {
    if (!this.closed.aborted) this.#receiver.data(bytes);
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  end(): void {
    if (this.#close()) this.#receiver.end();
  }

  destroy(): void {
    if (this.#close()) this.#receiver.destroy();
  }

  #close(): boolean {
    if (this.closed.aborted) return false;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#closed.abort(ended);
    return true;
  }
}
