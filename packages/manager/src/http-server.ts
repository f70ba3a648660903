import type { IncomingMessage, ServerResponse } from 'node:http';
import { createHttpServer as createBoundedServer } from '@kctl/http-server';
import { defaultLimits, listenerOption } from '@kctl/http-server/internal';
import type { HttpServer as BoundedServer, ListenTarget, ServerLimits, ServerTls } from '@kctl/http-server';
import { guardLogger, loggerOption, messageOf } from '@kctl/telemetry/internal';
import type { Logger } from '@kctl/telemetry';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import {
  booleanOption,
  clockOption,
  functionOption,
  listOption,
  numberProblem,
  objectOption,
  optionWithMethods,
  requireOptions,
  textOption,
} from '@kctl/options';
import type { Runnable } from './runnable.js';
import type { ServingCertificate, ServingPair } from './serving-certificate.js';

export { defaultShutdownTimeoutMs } from '@kctl/http-server/internal';
export type { ServerTls } from '@kctl/http-server';

/** Limits of every server, as in controller-runtime. */
export const maxHeaderSize: number = defaultLimits.maxHeaderBytes;
export const keepAliveTimeoutMs: number = defaultLimits.idleTimeoutMs;
export const headersTimeoutMs: number = defaultLimits.headersTimeoutMs;

/** Context of a handler beside the request. */
export interface HttpHandlerContext {
  /** Aborted when the client hangs up before the answer is written, and when a stop has reached its deadline. */
  readonly signal: AbortSignal;
  /**
   * Aborted when a stop begins. End everything that ends by itself only after long, such as a stream of events, which
   * delays the stop. A server always provides it.
   */
  readonly stopping?: AbortSignal;
}

/** Handles a request; false leaves it to the next handler. One that has begun to answer has handled it, whatever it returns. */
export type HttpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: HttpHandlerContext,
) => Promise<boolean> | boolean;

/** Options of {@link createHttpServer}. */
export interface HttpServerOptions {
  readonly name: string;
  /** @default every address */
  readonly host?: string;
  /** 0: any free port. */
  readonly port: number;
  /** A Unix socket or an open descriptor in place of `host` and `port`. Mirrors `Server.Listener`. @default none */
  readonly listener?: ListenTarget;
  readonly tls?: ServerTls;
  /** Makes it a TLS server, with certificate and key from here. */
  readonly certificate?: ServingCertificate;
  /** Called in order; a request that no handler accepts is answered with 404. */
  readonly handlers: readonly HttpHandler[];
  readonly logger: Logger;
  readonly clock: Clock;
  /** How long open requests may take after the stop began, in ms; then every connection is cut. @default 60000 */
  readonly shutdownTimeoutMs?: number;
  /** Deadlines and counts of connections, see @kctl/http-server. */
  readonly limits?: ServerLimits;
  /** Called each time it begins to listen. Its errors are logged. */
  readonly onListening?: (address: { readonly host: string; readonly port: number } | undefined) => void;
  /** Serves only while this process leads. @default false */
  readonly onlyServeWhenLeader?: boolean;
}

const optionNames: OptionNames<HttpServerOptions> = {
  name: textOption,
  host: textOption,
  port: true,
  listener: listenerOption,
  tls: objectOption('settings of TLS, with a certificate and its key'),
  certificate: optionWithMethods(['load'], 'a certificate with load()'),
  handlers: listOption('a list of handlers, which are functions', functionOption),
  logger: loggerOption,
  clock: clockOption,
  shutdownTimeoutMs: true,
  limits: objectOption('limits of connections, such as { maxConnections: 100 }'),
  onListening: functionOption,
  onlyServeWhenLeader: booleanOption,
};

/** A server as a runnable. Mirrors `manager.Server`. */
export interface HttpServer extends Runnable {
  readonly name: string;
  /** Its address, once it is ready. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
}

/** Makes a server; it binds its port when it is run. @throws TypeError when the port or the timeout is not valid */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  requireOptions('createHttpServer', options, optionNames);
  const { name, port, shutdownTimeoutMs = 0 } = options;
  const problem =
    numberProblem('port', port, { most: 65_535, integer: true, remedy: '0 takes any free port' }) ??
    numberProblem('shutdownTimeoutMs', shutdownTimeoutMs, { orInfinity: true });
  if (problem !== undefined) throw new TypeError(`${name}: ${problem}`);
  return new HttpServerRunnable(options);
}

class HttpServerRunnable implements HttpServer {
  readonly name: string;
  readonly group: 'servers' | 'leader';
  readonly #options: HttpServerOptions;
  #listening = Promise.withResolvers<undefined>();
  #server: BoundedServer | undefined;

  constructor(options: HttpServerOptions) {
    this.name = options.name;
    this.group = options.onlyServeWhenLeader === true ? 'leader' : 'servers';
    this.#options = { ...options, logger: guardLogger(options.logger) };
  }

  get address(): { readonly host: string; readonly port: number } | undefined {
    return this.#server?.address;
  }

  waitForReady(): Promise<void> {
    return this.#listening.promise;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { logger, certificate } = this.#options;
    using _certificate = certificate;
    const server = await this.#create();
    this.#server = server;
    const onStop = (): void => logger.info('shutting down server', { name: this.name });
    signal.addEventListener('abort', onStop, { once: true });
    try {
      const ended = server.run(signal);
      // If it cannot listen, run() reports the reason.
      void server.waitForListening().then(
        () => {
          logger.info('starting server', { name: this.name, addr: this.address });
          void this.#announce();
          this.#listening.resolve(undefined);
        },
        () => undefined,
      );
      await ended;
    } catch (error) {
      const { host = '', port, listener } = this.#options;
      const where = listener === undefined ? `${host}:${port}` : JSON.stringify(listener);
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const why = messageOf(cause);
      throw new Error(`error listening on ${where}: ${why}`, { cause });
    } finally {
      signal.removeEventListener('abort', onStop);
      this.#server = undefined;
      this.#listening = Promise.withResolvers();
    }
  }

  /** Never rejects, because a failing hook must neither end the process nor keep the server from being ready. */
  async #announce(): Promise<void> {
    const { logger, onListening } = this.#options;
    try {
      const announced: unknown = onListening?.(this.address);
      await announced; // it may be an async function
    } catch (error) {
      logger.error('onListening of a server failed', { name: this.name, error });
    }
  }

  async #create(): Promise<BoundedServer> {
    const { tls, certificate, host, port, listener, logger, clock, shutdownTimeoutMs, limits } = this.#options;
    const common = {
      name: this.name,
      port,
      logger,
      clock,
      onRequest: (request: IncomingMessage, response: ServerResponse, context: HttpHandlerContext) =>
        this.#serve(request, response, context),
      ...(host === undefined ? {} : { host }),
      ...(listener === undefined ? {} : { listener }),
      ...(limits === undefined ? {} : { limits }),
      ...(shutdownTimeoutMs === undefined ? {} : { shutdownTimeoutMs }),
    };
    if (tls === undefined && certificate === undefined) return createBoundedServer(common);
    // Complete each time, because fields that a later context leaves out would be lost, a client CA for example.
    const secure = (pair?: ServingPair): ServerTls => ({ minVersion: 'TLSv1.2', ...tls, ...pair });
    const pair = await certificate?.load((next) => server.setSecureContext(secure(next)));
    const server = createBoundedServer({ ...common, tls: secure(pair) });
    return server;
  }

  async #serve(request: IncomingMessage, response: ServerResponse, context: HttpHandlerContext): Promise<void> {
    for (const handler of this.#options.handlers)
      if ((await handler(request, response, context)) || response.headersSent) return;
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('not found\n');
  }
}
