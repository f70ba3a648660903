import type { SecureContextOptions } from 'node:tls';
import type { Logger } from '@kctl/telemetry';
import { noopLogger } from '@kctl/telemetry';
import { guardLogger, loggerOption, messageOf } from '@kctl/telemetry/internal';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import {
  booleanOption,
  clockOption,
  functionOption,
  numberProblem,
  objectOption,
  type OptionCheck,
  requireOptions,
  requireSignal,
  shownValue,
  textOption,
} from '@kctl/options';
import { aborted, keepAlive, orAborted, systemClock } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import type { ConnectionPhase } from './connection.js';
import { Connections } from './connections.js';
import { HttpServerError } from './errors.js';
import { defaultShutdownTimeoutMs } from './http-server-options.js';
import type { HttpServerOptions } from './http-server-options.js';
import type { Listener } from './listener.js';
import { createListener } from './listener.js';
import { Requests } from './requests.js';
import type { ResolvedLimits } from './server-limits.js';
import { resolveLimits } from './server-limits.js';

/** A check of the option `listener`. */
export const listenerOption: OptionCheck = (name, value) => {
  const isTarget =
    typeof value === 'object' &&
    value !== null &&
    (('path' in value && typeof value.path === 'string' && value.path !== '') ||
      ('fd' in value && Number.isInteger(value.fd)));
  return isTarget ? undefined : `${name} ${shownValue(value)} is not valid: expected { path } or { fd }`;
};

const optionNames: OptionNames<HttpServerOptions> = {
  http2: booleanOption,
  tls: objectOption('settings of TLS, with a certificate and its key'),
  onRequest: functionOption,
  name: textOption,
  host: textOption,
  port: true,
  listener: listenerOption,
  shutdownTimeoutMs: true,
  limits: objectOption('limits of connections, such as { maxConnections: 100 }'),
  logger: loggerOption,
  clock: clockOption,
};

/** A server that is bounded in time and connections, and stops within its deadline. */
export interface HttpServer {
  /** Address of the server; undefined before it listens and after a stop. For a Unix socket the path, with port 0. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
  /** Open connections, with and without requests. */
  readonly connections: number;
  /**
   * Listens and serves until the signal is aborted, then stops. It accepts no new connections and closes those without
   * a request; requests in flight finish, and their `stopping` is aborted. Connections left after `shutdownTimeoutMs`
   * are cut, and the signals of their requests are aborted. Resolves when every connection is closed.
   *
   * @throws HttpServerError if it cannot listen or is already running
   */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves once the server listens; rejects if it cannot or if the signal is aborted first. */
  waitForListening(signal?: AbortSignal): Promise<void>;
  /** Replaces certificate, key and client CA for the connections to come. @throws HttpServerError without TLS */
  setSecureContext(context: SecureContextOptions): void;
}

/**
 * Makes a server; {@link HttpServer.run} binds its port.
 *
 * @throws TypeError naming a port, a timeout or a limit that is not valid
 *
 * @example
 * ```ts
 * import { createHttpServer, readBody } from '@kctl/http-server';
 *
 * const server = createHttpServer({
 *   name: 'echo',
 *   port: 8080,
 *   onRequest: async (request, response) => {
 *     response.end(await readBody(request, { maxBytes: 1_000_000 }));
 *   },
 * });
 * const stop = new AbortController();
 * process.once('SIGTERM', () => stop.abort());
 * await server.run(stop.signal);
 * ```
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  requireOptions('createHttpServer', options, optionNames);
  const { name, port, shutdownTimeoutMs = defaultShutdownTimeoutMs } = options;
  const problem =
    numberProblem('port', port, { most: 65_535, integer: true, remedy: '0 takes any free port' }) ??
    numberProblem('shutdownTimeoutMs', shutdownTimeoutMs, { orInfinity: true }) ??
    socketProblem(options);
  if (problem !== undefined) throw new TypeError(`${name}: ${problem}`);
  return new BoundedHttpServer(options, resolveLimits(name, options.limits));
}

/** A TLS socket on a Unix socket cannot be traced to its connection, whose deadlines would not hold. */
function socketProblem({ listener, tls }: HttpServerOptions): string | undefined {
  if (listener === undefined || tls === undefined || !('path' in listener)) return undefined;
  return `listener ${JSON.stringify(listener)} is not valid with tls: a Unix socket serves plain HTTP; use host and port, or { fd } of a TCP socket`;
}

class BoundedHttpServer implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #limits: ResolvedLimits;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #listening = Promise.withResolvers<undefined>();
  #listener: Listener | undefined;
  #connections: Connections | undefined;
  #address: { readonly host: string; readonly port: number } | undefined;

  constructor(options: HttpServerOptions, limits: ResolvedLimits) {
    this.#logger = guardLogger(options.logger ?? noopLogger);
    this.#options = { ...options, logger: this.#logger };
    this.#limits = limits;
    this.#clock = options.clock ?? systemClock;
    this.#listening.promise.catch(() => undefined); // where no caller waits for it, run() reports it
  }

  get address(): { readonly host: string; readonly port: number } | undefined {
    return this.#address;
  }

  get connections(): number {
    return this.#connections?.size ?? 0;
  }

  async waitForListening(signal?: AbortSignal): Promise<void> {
    await orAborted(this.#listening.promise, signal);
  }

  setSecureContext(context: SecureContextOptions): void {
    if (this.#options.tls === undefined) throw new HttpServerError(`${this.#options.name}: it does not serve TLS`);
    this.#listener?.setSecureContext(context);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { name, port, host, tls, shutdownTimeoutMs = defaultShutdownTimeoutMs } = this.#options;
    requireSignal(`${name}: run`, signal);
    if (this.#listener !== undefined) throw new HttpServerError(`${name}: run: already running`);
    if (signal.aborted) return;
    using _alive = keepAlive();
    const parts = { clock: this.#clock, limits: this.#limits };
    const connections = new Connections({
      ...parts,
      isTls: tls !== undefined,
      onDeadline: (phase) => this.#cut(phase),
    });
    const requests = new Requests({ ...parts, name, logger: this.#logger, connections });
    try {
      const listener = createListener(this.#options, { limits: this.#limits, connections, requests });
      this.#listener = listener;
      this.#connections = connections;
      const target = this.#options.listener ?? { port, ...(host === undefined ? {} : { host }) };
      this.#address = await listener.listen(target);
      listener.onError((error) => this.#logger.error('server error', { name, error }));
      this.#listening.resolve(undefined);
      await aborted(signal);
      const closed = listener.close();
      connections.stop();
      requests.stop(new HttpServerError(`${name}: the server is stopping`));
      const timer = this.#afterMs(shutdownTimeoutMs, () => {
        requests.abort(new HttpServerError(`${name}: the server has stopped`));
        connections.destroy();
      });
      await closed;
      timer?.cancel();
    } catch (error) {
      const failure = asServerError(name, error);
      this.#listening.reject(failure);
      throw failure;
    } finally {
      connections.destroy();
      this.#listener = undefined;
      this.#connections = undefined;
      this.#address = undefined;
      this.#listening = Promise.withResolvers<undefined>();
      this.#listening.promise.catch(() => undefined);
    }
  }

  #afterMs(delayMs: number, callback: () => void): { cancel(): void } | undefined {
    if (delayMs > 0) return delayMs === Infinity ? undefined : startTimer(this.#clock, callback, delayMs);
    callback();
    return undefined;
  }

  #cut(phase: ConnectionPhase): void {
    this.#logger.debug('closing a connection at its deadline', { name: this.#options.name, phase });
  }
}

function asServerError(name: string, error: unknown): HttpServerError {
  if (error instanceof HttpServerError) return error;
  return new HttpServerError(`${name}: ${messageOf(error)}`, { cause: error });
}
