import type { Logger } from '@kctl/telemetry';
import type { Clock, ClockTimer } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import type { Connection, OpenRequest } from './connection.js';
import type { Connections } from './connections.js';
import type { HttpRequest, HttpResponse, RequestContext } from './http-server-options.js';
import type { ResolvedLimits } from './server-limits.js';

/** Error codes of HTTP/2: RFC 9113, section 7. */
const http2NoError = 0x0;
const http2Cancel = 0x8;

/** Dependencies of {@link Requests}. */
export interface RequestsParts {
  readonly name: string;
  readonly clock: Clock;
  readonly limits: ResolvedLimits;
  readonly connections: Connections;
  readonly logger: Logger;
}

/** Requests of a server, each with a signal, a deadline for its body and one for its answer. */
export class Requests {
  readonly #parts: RequestsParts;
  readonly #open = new Map<HttpResponse, AbortController>();
  readonly #stopping = new AbortController();

  constructor(parts: RequestsParts) {
    this.#parts = parts;
  }

  /** Lets a handler answer a request. Never throws; the failure of a handler is logged and answered with 500. */
  serve<Q extends HttpRequest, R extends HttpResponse>(
    request: Q,
    response: R,
    onRequest: (request: Q, response: R, context: RequestContext) => unknown,
  ): void {
    const connection = this.#connectionOf(request);
    let isAnswered = false;
    const open: OpenRequest = { isWaiting: () => isAnswered || !hasWholeBody(request) };
    if (connection?.begin(open) !== true) {
      connection?.destroy();
      destroy(response);
      return;
    }
    const controller = new AbortController();
    this.#open.set(response, controller);
    const deadline = this.#boundBody(request, connection);
    response.once('close', () => {
      this.#open.delete(response);
      deadline.cancel();
      connection.end(open, { isWhole: hasWholeBody(request) || 'stream' in request });
      if (!isWritten(response)) controller.abort(new Error('the client closed the connection'));
    });
    closeStreamAfter(request);
    const stopping = this.#stopping.signal;
    if (stopping.aborted) announceClose(response);
    void this.#run(() => onRequest(request, response, { signal: controller.signal, stopping }), {
      request,
      response,
    }).then(() => {
      isAnswered = true;
      deadline.answer();
    });
  }

  /** From now on, answers announce that their connection is closed; handlers are notified that a stop has begun. */
  stop(reason: Error): void {
    for (const response of this.#open.keys()) announceClose(response);
    this.#stopping.abort(reason);
  }

  /** Aborts the signal of every open request. */
  abort(reason: Error): void {
    for (const controller of this.#open.values()) controller.abort(reason);
  }

  #connectionOf(request: HttpRequest): Connection | undefined {
    const carrier = 'stream' in request ? request.stream.session : request.socket;
    return carrier === undefined ? undefined : this.#parts.connections.of(carrier);
  }

  #boundBody(request: HttpRequest, connection: Connection): { cancel(): void; answer(): void } {
    const { clock, limits } = this.#parts;
    let timer: ClockTimer | undefined;
    let isClosed = false;
    const arm = (timeoutMs: number, isDue: () => boolean): void => {
      timer?.cancel();
      if (timeoutMs === Infinity || isClosed) return;
      timer = startTimer(clock, () => isDue() && cut(request, connection), timeoutMs, { keepAlive: false });
    };
    if (!hasWholeBody(request)) arm(limits.bodyTimeoutMs, () => !hasWholeBody(request));
    return {
      cancel: () => {
        isClosed = true;
        timer?.cancel();
      },
      answer: () => arm(limits.responseTimeoutMs, () => true),
    };
  }

  async #run(
    handle: () => unknown,
    { request, response }: { request: HttpRequest; response: HttpResponse },
  ): Promise<void> {
    try {
      await handle();
    } catch (error) {
      const { name, logger } = this.#parts;
      // The path alone, because a query may contain a token.
      const path = (request.url ?? '').split('?', 1)[0];
      logger.error('request handler failed', { name, path, error });
      fail(response);
    }
  }
}

/** Whether everything of a body has arrived, or been read. */
function hasWholeBody(request: HttpRequest): boolean {
  return request.complete || ('stream' in request && request.stream.endAfterHeaders);
}

/** Ends one request at its deadline, which ends its stream on HTTP/2 and its connection on HTTP/1.1. */
function cut(request: HttpRequest, connection: Connection): void {
  if ('stream' in request) {
    request.stream.close(http2Cancel);
    request.stream.destroy();
  } else connection.destroy();
}

/**
 * Ends a stream that is answered before its body is complete, per RFC 9113, section 8.1. It would stay open otherwise.
 */
function closeStreamAfter(request: HttpRequest): void {
  if (!('stream' in request)) return;
  const { stream } = request;
  stream.once('finish', () => {
    if (!hasWholeBody(request)) stream.close(http2NoError);
  });
}

/** Whether the whole answer was handed to the operating system. */
function isWritten(response: HttpResponse): boolean {
  if (!('stream' in response)) return response.writableFinished;
  // An aborted stream finishes as well.
  return !response.stream.aborted && response.stream.rstCode === http2NoError;
}

function announceClose(response: HttpResponse): void {
  if (!('stream' in response) && !response.headersSent) response.setHeader('connection', 'close');
}

function fail(response: HttpResponse): void {
  try {
    if (response.headersSent) destroy(response);
    else {
      response.statusCode = 500;
      response.setHeader('content-type', 'text/plain; charset=utf-8');
      response.end('internal server error\n');
    }
  } catch {
    destroy(response); // a header that the handler set cannot be written, or the stream has gone
  }
}

function destroy(response: HttpResponse): void {
  if ('stream' in response) response.stream.destroy();
  else response.destroy();
}
