import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { ServerLimits } from './server-limits.js';

/** Default time that a stop waits for requests in flight, in ms. As in controller-runtime. */
export const defaultShutdownTimeoutMs = 60_000;

/** Certificate and key as PEM, or anything else that `tls.createServer` takes. */
export type ServerTls = SecureContextOptions & TlsOptions;

/** A request over HTTP/1.1, or over HTTP/2 in the form that Node gives it for compatibility. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;

/** The answer to an {@link HttpRequest}. */
export type HttpResponse = (ServerResponse & { req: IncomingMessage }) | Http2ServerResponse;

/** Context of a request. */
export interface RequestContext {
  /** Aborted when the client hangs up before the answer is written, and when a stop has reached its deadline. */
  readonly signal: AbortSignal;
  /**
   * Aborted when a stop begins. Meant for a long-running answer, such as a stream of events, which would delay the stop
   * until its deadline.
   */
  readonly stopping: AbortSignal;
}

/**
 * Address of a server in place of a host and a port. Either a Unix socket, which is created and removed with the server
 * and serves plain HTTP, or the descriptor of a socket, for example of socket activation; over TLS, of a TCP socket.
 */
export type ListenTarget = { readonly path: string } | { readonly fd: number };

interface CommonOptions {
  /** Names the server in errors and logs. */
  readonly name: string;
  /** @default every address */
  readonly host?: string;
  /** 0: any free port. */
  readonly port: number;
  /** Takes the place of `host` and `port`. @default none */
  readonly listener?: ListenTarget;
  /** How long requests in flight may take after a stop began, in ms. @default 60000 */
  readonly shutdownTimeoutMs?: number;
  /** Deadlines and counts; every one has a default. */
  readonly limits?: ServerLimits;
  /** @default no logs */
  readonly logger?: Logger;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** Options of {@link createHttpServer} for HTTP/1.1, with or without TLS. */
export interface Http1ServerOptions extends CommonOptions {
  readonly http2?: false;
  /** Makes it an HTTPS server, with TLS 1.2 or later unless `minVersion` is set. @default plain HTTP */
  readonly tls?: ServerTls;
  /** Answers a request. A throw or a rejection is logged and answered with 500. */
  readonly onRequest: (
    request: IncomingMessage,
    response: ServerResponse & { req: IncomingMessage },
    context: RequestContext,
  ) => unknown;
}

/** Options of {@link createHttpServer} for HTTP/2 with HTTP/1.1 beside it; which of them, each client chooses. */
export interface Http2ServerOptions extends CommonOptions {
  readonly http2: true;
  /** HTTP/2 is served over TLS only, with TLS 1.2 or later unless `minVersion` is set. */
  readonly tls: ServerTls;
  /** Answers a request. A throw or a rejection is logged and answered with 500. */
  readonly onRequest: (request: HttpRequest, response: HttpResponse, context: RequestContext) => unknown;
}

/** Options of {@link createHttpServer}. */
export type HttpServerOptions = Http1ServerOptions | Http2ServerOptions;
