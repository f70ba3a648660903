import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { parseJson, stringifyJson } from '@kctl/apimachinery';
import { noopLogger, noopMetrics, type Logger, type Metrics } from '@kctl/telemetry';
import { numberProblem, systemClock, type Clock } from '@kctl/wait';
import { WebhookServerError } from '../errors.js';
import { createCertificateWatcher, type CertificateWatcher, type KeyPair } from './certificate-watcher.js';
import type { WebhookAnswer, WebhookHandler } from './handler.js';
import { BodyError, readBody } from './read-body.js';
import { createWebhookMetrics, type WebhookMetrics } from './webhook-metrics.js';

/** Options of {@link createWebhookServer}. */
export interface WebhookServerOptions {
  /** @default all interfaces */
  readonly host?: string;
  /** 0: any free port. @default 9443 */
  readonly port?: number;
  /** Folder of the certificate files. @default `<tmp>/k8s-webhook-server/serving-certs` */
  readonly certDir?: string;
  /** @default 'tls.crt' */
  readonly certName?: string;
  /** @default 'tls.key' */
  readonly keyName?: string;
  /** File in `certDir` with the CA that clients must present a certificate of. @default clients need none */
  readonly clientCaName?: string;
  /** How long a stop waits for requests in flight, in ms. @default 60000 */
  readonly shutdownTimeoutMs?: number;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** Serves webhooks over HTTPS (HTTP/2 and HTTP/1.1), with a certificate that is reloaded when its files change. */
export interface WebhookServer {
  /** Puts a handler behind a path; before or after the start. @throws WebhookServerError when the path is taken */
  register(path: string, handler: WebhookHandler): void;
  /** Whether a path has a handler. */
  has(path: string): boolean;
  /** Serves until the signal is aborted; resolves when requests in flight have ended. @throws when it cannot start */
  run(signal: AbortSignal): Promise<void>;
  /** The bound port, undefined while not serving. */
  readonly port: number | undefined;
  /** For readiness checks. @throws WebhookServerError while not serving */
  checkStarted(): void;
}

/** Mirrors `webhook.NewServer`. @throws TypeError when the port or the timeout is not valid */
export function createWebhookServer(options: WebhookServerOptions = {}): WebhookServer {
  const { port = 0, shutdownTimeoutMs = 0 } = options;
  const problem =
    numberProblem('port', port, { most: 65_535, integer: true, remedy: '0 takes any free port' }) ??
    numberProblem('shutdownTimeoutMs', shutdownTimeoutMs, { orInfinity: true });
  if (problem !== undefined) throw new TypeError(`createWebhookServer: ${problem}`);
  return new HttpsWebhookServer(options);
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = (ServerResponse & { req: IncomingMessage }) | Http2ServerResponse;

class HttpsWebhookServer implements WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #handlers = new Map<string, WebhookHandler>();
  readonly #logger: Logger;
  readonly #metrics: WebhookMetrics;
  readonly #clock: Clock;
  #server: Http2SecureServer | undefined;
  #port: number | undefined;

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    this.#logger = options.logger ?? noopLogger;
    this.#clock = options.clock ?? systemClock;
    this.#metrics = createWebhookMetrics(options.metrics ?? noopMetrics, this.#clock);
  }

  get port(): number | undefined {
    return this.#port;
  }

  register(path: string, handler: WebhookHandler): void {
    if (!path.startsWith('/')) throw new WebhookServerError(`register: path ${JSON.stringify(path)} must begin with /`);
    if (this.#handlers.has(path)) throw new WebhookServerError(`register: path ${path} has a handler already`);
    this.#handlers.set(path, handler);
    this.#metrics.preset(path);
    this.#logger.info('registering webhook', { path });
  }

  has(path: string): boolean {
    return this.#handlers.has(path);
  }

  checkStarted(): void {
    if (this.#port === undefined) throw new WebhookServerError('webhook server has not been started yet');
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#server !== undefined) throw new WebhookServerError('run: the webhook server is running already');
    if (signal.aborted) return;
    const { host, port = 9443, clientCaName, shutdownTimeoutMs = 60_000 } = this.#options;
    const certDir = this.#options.certDir ?? join(tmpdir(), 'k8s-webhook-server', 'serving-certs');
    let ca: Buffer | undefined;
    // Whole each time: what a later context leaves out is lost, and with the CA every client.
    const secure = (pair: KeyPair): SecureContextOptions => ({
      ...pair,
      minVersion: 'TLSv1.2',
      ...(ca === undefined ? {} : { ca }),
    });
    const certificates = this.#watchCertificates(certDir, (pair) => this.#server?.setSecureContext(secure(pair)));
    try {
      const pair = await certificates.load();
      if (clientCaName !== undefined) ca = await readFile(join(certDir, clientCaName));
      const mutual = ca === undefined ? {} : { requestCert: true, rejectUnauthorized: true };
      const server = createSecureServer({ ...secure(pair), ...mutual, allowHTTP1: true });
      this.#server = server;
      const open = trackConnections(server);
      const force = new AbortController();
      server.on('request', (request: Request, response: Response) => void this.#serve(request, response, force.signal));
      server.on('tlsClientError', (error) => this.#logger.debug('TLS handshake failed', { error }));
      await listen(server, port, host);
      this.#port = (server.address() as AddressInfo).port;
      this.#logger.info('serving webhook server', { host: host ?? '', port: this.#port });
      await this.#untilStopped(server, signal);
      await this.#close(server, open, { timeoutMs: shutdownTimeoutMs, force });
    } catch (error) {
      throw error instanceof WebhookServerError
        ? error
        : new WebhookServerError(`webhook server: ${error instanceof Error ? error.message : String(error)}`, {
            cause: error,
          });
    } finally {
      certificates[Symbol.dispose]();
      this.#server = undefined;
      this.#port = undefined;
    }
  }

  #watchCertificates(certDir: string, onChange: (pair: KeyPair) => void): CertificateWatcher {
    const { certName = 'tls.crt', keyName = 'tls.key', metrics = noopMetrics } = this.#options;
    return createCertificateWatcher({
      certFile: join(certDir, certName),
      keyFile: join(certDir, keyName),
      clock: this.#clock,
      logger: this.#logger,
      metrics,
      onChange,
    });
  }

  #untilStopped(server: Http2SecureServer, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (error?: Error): void => {
        signal.removeEventListener('abort', onAbort);
        server.off('error', finish);
        if (error === undefined) resolve();
        else reject(error);
      };
      const onAbort = (): void => finish();
      signal.addEventListener('abort', onAbort, { once: true });
      server.once('error', finish);
      if (signal.aborted) onAbort();
    });
  }

  /** Refuses new connections, lets requests finish, and cuts what is left after the timeout. */
  async #close(
    server: Http2SecureServer,
    open: OpenConnections,
    { timeoutMs, force }: { timeoutMs: number; force: AbortController },
  ): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    open.closeIdle();
    const timer = this.#clock.setTimer(() => {
      force.abort();
      open.destroy();
    }, timeoutMs);
    await closed;
    timer.cancel();
    this.#logger.info('webhook server has stopped');
  }

  async #serve(request: Request, response: Response, force: AbortSignal): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const handler = this.#handlers.get(path);
    if (handler === undefined) {
      send(response, 404, 'text/plain; charset=utf-8', '404 page not found\n');
      return;
    }
    const hangUp = new AbortController();
    response.once('close', () => hangUp.abort());
    const finish = this.#metrics.begin(path);
    const answer = await this.#answer(handler, request, { path, signal: AbortSignal.any([hangUp.signal, force]) });
    const code = answer.code ?? 200;
    finish(code);
    send(response, code, 'application/json', stringifyJson(answer.body));
  }

  async #answer(
    handler: WebhookHandler,
    request: Request,
    context: { path: string; signal: AbortSignal },
  ): Promise<WebhookAnswer> {
    const logger = this.#logger.child({ webhook: context.path });
    try {
      const contentType = request.headers['content-type'] ?? '';
      if (contentType !== 'application/json')
        throw new BodyError(`contentType=${contentType}, expected application/json`, 400);
      const text = (await readBody(request, handler.maxBodyBytes)).toString('utf8');
      return await handler.handle({ ...context, logger, body: parseBody(text) });
    } catch (error) {
      if (error instanceof BodyError) {
        logger.warn('bad request', { error });
        return handler.reject(error.message, error.httpCode);
      }
      this.#metrics.panic();
      logger.error('webhook handler failed', { error });
      return { ...handler.reject('the webhook failed', 500), code: 500 };
    }
  }
}

function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new BodyError(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`, 400);
  }
}

function send(response: Response, code: number, contentType: string, body: string): void {
  if (response.destroyed || response.writableEnded) return;
  response.statusCode = code;
  response.setHeader('content-type', contentType);
  response.end(body);
}

function listen(server: Http2SecureServer, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

interface OpenConnections {
  /** Ends HTTP/2 sessions once their streams are done, and idle HTTP/1.1 connections. */
  closeIdle(): void;
  destroy(): void;
}

/** `close` of an HTTP/2 server waits for ever for sessions that stay open. */
function trackConnections(server: Http2SecureServer): OpenConnections {
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  const busy = new WeakMap<Socket, number>();
  let closing = false;
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (request: Request, response: Response) => {
    if (request.httpVersionMajor !== 1) return;
    const { socket } = request as IncomingMessage;
    busy.set(socket, (busy.get(socket) ?? 0) + 1);
    response.once('close', () => {
      busy.set(socket, (busy.get(socket) ?? 1) - 1);
      if (closing && busy.get(socket) === 0) socket.end();
    });
  });
  return {
    closeIdle: () => {
      closing = true;
      for (const session of sessions) session.close();
      for (const socket of sockets) if ((busy.get(socket) ?? 0) === 0 && !isHttp2(socket)) socket.end();
    },
    destroy: () => {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function isHttp2(socket: Socket): boolean {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
}
