import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { numberProblem } from '@kctl/wait';
import { aborted, untilAborted } from './until-aborted.js';
import type { Runnable } from './runnable.js';
import type { ServingCertificate, ServingPair } from './serving-certificate.js';

/** Limits of every server, as in controller-runtime. */
export const maxHeaderSize: number = 1 << 20;
export const keepAliveTimeoutMs = 90_000;
export const headersTimeoutMs = 32_000;
export const defaultShutdownTimeoutMs = 60_000;

/** Handles a request; false leaves it to the next handler. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean;

/** TLS of a server: certificate and key as PEM, or anything else that `tls.createServer` takes. */
export type ServerTls = SecureContextOptions & TlsOptions;

/** Options of {@link createHttpServer}. */
export interface HttpServerOptions {
  readonly name: string;
  /** @default every address */
  readonly host?: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls?: ServerTls;
  /** Makes it a TLS server, with certificate and key from here. */
  readonly certificate?: ServingCertificate;
  /** Asked in order; what none takes is answered with 404. */
  readonly handlers: readonly HttpHandler[];
  readonly logger: Logger;
  readonly clock: Clock;
  /** How long open requests may take after the stop began, in ms. @default 60000 */
  readonly shutdownTimeoutMs?: number;
  /** Serves only while this process leads. @default false */
  readonly onlyServeWhenLeader?: boolean;
}

/** A server as a runnable. Mirrors `manager.Server`. */
export interface HttpServer extends Runnable {
  readonly name: string;
  /** Where it listens, once it is ready. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
}

/** Makes a server; it binds its port when it is run. @throws TypeError when the port or the timeout is not valid */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { name, port, shutdownTimeoutMs = defaultShutdownTimeoutMs } = options;
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
  readonly #listening = Promise.withResolvers<undefined>();
  #address: { readonly host: string; readonly port: number } | undefined;

  constructor(options: HttpServerOptions) {
    this.name = options.name;
    this.group = options.onlyServeWhenLeader === true ? 'leader' : 'servers';
    this.#options = options;
  }

  get address(): { readonly host: string; readonly port: number } | undefined {
    return this.#address;
  }

  waitForReady(): Promise<void> {
    return this.#listening.promise;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { logger, clock, certificate, shutdownTimeoutMs = defaultShutdownTimeoutMs } = this.#options;
    using _certificate = certificate;
    const server = await this.#create();
    await this.#listen(server);
    logger.info('Starting server', { name: this.name, addr: this.#address });
    this.#listening.resolve(undefined);
    const failed = new Promise<never>((_resolve, reject) => server.on('error', reject));
    try {
      await Promise.race([aborted(signal), failed]);
    } finally {
      logger.info('Shutting down server with timeout', { name: this.name, timeoutMs: shutdownTimeoutMs });
      const deadline = new AbortController();
      const timer = clock.setTimer(() => deadline.abort(), shutdownTimeoutMs);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await untilAborted(closed, deadline.signal);
      timer.cancel();
      server.closeAllConnections();
      this.#address = undefined;
    }
  }

  async #create(): Promise<Server> {
    const { tls, certificate } = this.#options;
    const listener: RequestListener = (request, response) => void this.#serve(request, response);
    let server: Server;
    if (tls === undefined && certificate === undefined) server = createServer({ maxHeaderSize }, listener);
    else {
      // Whole each time: what a later context leaves out would be lost, a client CA for example.
      const secure = (pair?: ServingPair): ServerTls => ({ minVersion: 'TLSv1.2', ...tls, ...pair });
      const pair = await certificate?.load((next) => secureServer.setSecureContext(secure(next)));
      const secureServer = createTlsServer({ ...secure(pair), maxHeaderSize }, listener);
      server = secureServer;
    }
    server.keepAliveTimeout = keepAliveTimeoutMs;
    server.headersTimeout = headersTimeoutMs;
    return server;
  }

  async #listen(server: Server): Promise<void> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const onError = (error: Error): void =>
        reject(new Error(`error listening on ${host ?? ''}:${port}: ${error.message}`, { cause: error }));
      server.once('error', onError);
      server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
        server.off('error', onError);
        resolve();
      });
    });
    const address = server.address();
    if (typeof address === 'object' && address !== null) this.#address = { host: address.address, port: address.port };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      for (const handler of this.#options.handlers) if (await handler(request, response)) return;
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('not found\n');
    } catch (error) {
      this.#options.logger.error('a request handler failed', { name: this.name, url: request.url, error });
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end('internal server error\n');
    }
  }
}
