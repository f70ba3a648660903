import { entityTooLarge } from '../protocol/status.js';
import type { ApiRequest, Reply, User } from '../protocol/api-request.js';
import { impersonationOf } from './header-lines.js';
import type { Pipeline } from './pipeline.js';
import type { Sink } from '../protocol/sink.js';

/** Options of {@link createFetch}. */
export interface InProcessOptions {
  readonly pipeline: Pipeline;
  readonly maxBodyBytes: number;
  /** The user of a request without an Authorization header. Code that holds the server object may do everything. */
  readonly user: User;
}

/** The fetch function of a server, with the same answers as over a socket, without one. */
export type InProcessFetch = (request: Request | string | URL, init?: RequestInit) => Promise<Response>;

/** Error with which fetch rejects when a connection breaks before an answer. */
function connectionLost(): TypeError {
  return new TypeError('fetch failed', { cause: new Error('the connection was cut by the server') });
}

class StreamSink implements Sink {
  readonly #closed = new AbortController();
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  #waiting: (() => void)[] = [];

  constructor(signal: AbortSignal) {
    this.readable = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          for (const resolve of this.#waiting.splice(0)) resolve();
        },
        cancel: () => this.#close(),
      },
      { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
    );
    const abort = (): void => this.destroy();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    this.closed.addEventListener('abort', () => signal.removeEventListener('abort', abort), { once: true });
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  get buffered(): number {
    return this.closed.aborted ? 0 : Math.max(0, -(this.#controller?.desiredSize ?? 0));
  }

  write(bytes: Uint8Array): void {
    if (this.closed.aborted) return;
    this.#controller?.enqueue(new Uint8Array(bytes));
  }

  async drained(): Promise<void> {
    if (this.buffered === 0) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    if (this.closed.aborted) return;
    this.#controller?.close();
    this.#close();
  }

  destroy(): void {
    if (this.closed.aborted) return;
    this.#controller?.error(new TypeError('terminated', { cause: new Error('the connection was cut') }));
    this.#close();
  }

  #close(): void {
    this.#closed.abort();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function headersOf(reply: Reply): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(reply.headers)) {
    for (const each of typeof value === 'string' ? [value] : value) headers.append(name, each);
  }
  return headers;
}

/** The one status without a body: `Response` does not even take an empty one. */
const notModified = 304;
/** The log of a pod on no node. */
const noContent = 204;

function toResponse(reply: Reply, signal: AbortSignal, isHead: boolean): Response {
  if (reply.destroy === true) throw connectionLost();
  const headers = headersOf(reply);
  if (isHead || reply.status === notModified || reply.status === noContent)
    return new Response(null, { status: reply.status, headers });
  if (reply.stream === undefined && reply.truncateAfter === undefined) {
    const { body = '' } = reply;
    return new Response(typeof body === 'string' ? body : new Uint8Array(body), { status: reply.status, headers });
  }
  const sink = new StreamSink(signal);
  const stream = reply.stream ?? ((target: Sink) => writeWhole(target, reply.body ?? ''));
  const limited = reply.truncateAfter === undefined ? sink : truncated(sink, reply.truncateAfter);
  void stream(limited).catch(() => sink.destroy());
  return new Response(sink.readable, { status: reply.status, headers });
}

function writeWhole(sink: Sink, body: string | Uint8Array): Promise<void> {
  sink.write(typeof body === 'string' ? Buffer.from(body) : body);
  sink.end();
  return Promise.resolve();
}

/** A sink that breaks after so many bytes. */
export function truncated(sink: Sink, bytes: number): Sink {
  let left = bytes;
  return {
    get buffered() {
      return sink.buffered;
    },
    closed: sink.closed,
    drained: () => sink.drained(),
    write(chunk) {
      if (left <= 0) return;
      sink.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) void sink.drained().then(() => sink.destroy());
    },
    end() {
      void sink.drained().then(() => sink.destroy());
    },
    destroy: () => sink.destroy(),
  };
}

/** The in-process transport of a pipeline. */
export function createFetch({ pipeline, maxBodyBytes, user }: InProcessOptions): InProcessFetch {
  return async (input, init) => {
    const request = new Request(typeof input === 'string' ? new URL(input, 'https://apiserver') : input, init);
    request.signal.throwIfAborted();
    const url = new URL(request.url);
    const apiRequest: ApiRequest = {
      method: request.method,
      target: `${url.pathname}${url.search}`,
      header: (name) => request.headers.get(name) ?? undefined,
      headers: () => [...request.headers],
      impersonation: () => impersonationOf(request.headers),
      readBody: async () => {
        const bytes = new Uint8Array(await request.arrayBuffer());
        if (bytes.length > maxBodyBytes) throw entityTooLarge(`Request entity too large: limit is ${maxBodyBytes}`);
        return bytes;
      },
      peer: request.headers.has('authorization') ? undefined : user,
      signal: request.signal,
    };
    const reply = await pipeline(apiRequest);
    request.signal.throwIfAborted();
    return toResponse(reply, request.signal, request.method === 'HEAD');
  };
}
