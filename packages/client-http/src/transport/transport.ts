import type { Duplex } from 'node:stream';
import { guardSinks, loggerOption, metricsOption } from '@kctl/telemetry/internal';
import type { Logger, Metrics } from '@kctl/telemetry';
import {
  booleanOption,
  clockOption,
  functionOption,
  listOption,
  numberProblem,
  objectOption,
  requireOptions,
  signalOption,
  textOption,
} from '@kctl/options';
import { anySignal, orAborted, retry, sleep, systemClock } from '@kctl/wait';
import { retryAfterOfHeader } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { collectPrefix } from '../bytes/byte-stream.js';
import type { Connection, Impersonation } from '@kctl/client/internal/connection';
import { createConnectionPools } from '../connection/connection-pools.js';
import type { ConnectionPools } from '../connection/connection-pools.js';
import type { PoolPair } from '../connection/pools.js';
import { credentialsOf, impersonationHeaders } from '../credentials/index.js';
import type { Credential, CredentialSource } from '../credentials/credential-source.js';
import { isTransportError, TransportError } from '../errors.js';
import { exchange, headerOf } from './exchange.js';
import type { Exchange, ExchangeTimeouts } from './exchange.js';
import {
  joinUrlUser,
  requireConnection,
  requireImpersonation,
  withoutUserInfo,
} from '@kctl/client/internal/connection';
import { callHook } from './guarded-hooks.js';
import { decoded } from '../bytes/content-encoding.js';
import { proxyFromEnvironment, requireProxyUrl } from '../connection/proxy.js';
import { createTurnLimiter } from './rate-limiter.js';
import type { RateLimit, TurnLimiter } from './rate-limiter.js';
import { createRequestMetrics } from './request-metrics.js';
import type { RequestMetrics } from './request-metrics.js';
import {
  AskedToWait,
  isRetryableFailure,
  isRetryableStatus,
  maxRetryAfterMs,
  transportRetryMs,
} from '../failure/retry.js';
import { defaultUserAgent } from './user-agent.js';
import { createWarningReporter } from './warnings.js';
import { safeCause } from '../failure/safe-cause.js';
import type { ServerWarning, WarnedRequest, WarningReporter } from './warnings.js';

/** Options of {@link createTransport}. */
export interface TransportOptions {
  /** The identity to impersonate. @default that of the connection */
  readonly impersonate?: Impersonation;
  /**
   * The name of this program, `name` or `name/version`. It begins the default user agent, and so names the field
   * manager of writes that name none.
   *
   * @default the name of the script that Node was started with
   */
  readonly program?: string;
  /** The whole header. @default `<program>/<version> (<os>/<arch>) kctl/<version>` */
  readonly userAgent?: string;
  /**
   * Limits requests per second on the client's side. @default no limit, because the server's priority and fairness
   * decides
   */
  readonly rateLimit?: RateLimit;
  /** How often one request is repeated at most; see the README for what is repeated. @default 10 */
  readonly maxRetries?: number;
  /**
   * ms until a request must be answered in whole. For lists, until the headers, then between two chunks. For watches,
   * until the headers. 0 is unlimited.
   *
   * @default 60_000
   */
  readonly requestTimeoutMs?: number;
  /** ms until a connection must be made, TLS included. 0: unlimited. @default 30_000 */
  readonly connectTimeoutMs?: number;
  /** Connections for requests at the same time; more requests wait their turn. Watches are not counted. @default 64 */
  readonly maxConnections?: number;
  /** Offers HTTP/2 to the server. @default false */
  readonly http2?: boolean;
  /** Requests gzip on lists. @default true, unless the server is on this machine or the connection disables it */
  readonly compression?: boolean;
  /**
   * Called with each warning of the server, and the request that it is about; errors that it throws are logged.
   * @default logs each warning once
   */
  readonly onWarning?: (warning: ServerWarning, request: WarnedRequest) => void;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** Also measures durations, sizes, rate limiting and retries. @default false */
  readonly detailedMetrics?: boolean;
  /** @default systemClock */
  readonly clock?: Clock;
  /** The environment for proxy variables, inherited by exec plugins. @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * The programs that may run as exec plugins, by path or by a name that is looked up in PATH: for kubeconfigs that others
   * write. An empty list refuses all of them.
   *
   * @default any program that the connection names
   */
  readonly execAllowlist?: readonly string[];
}

/** The checks of a transport's options, for what makes one. */
export const transportOptionNames: OptionNames<TransportOptions> = {
  impersonate: objectOption('whom to act as, such as { userName: "jane" }'),
  program: textOption,
  userAgent: textOption,
  rateLimit: objectOption('requests per second, such as { qps: 20, burst: 30 }'),
  maxRetries: true,
  requestTimeoutMs: true,
  connectTimeoutMs: true,
  maxConnections: true,
  http2: booleanOption,
  compression: booleanOption,
  onWarning: functionOption,
  logger: loggerOption,
  metrics: metricsOption,
  detailedMetrics: booleanOption,
  clock: clockOption,
  environment: objectOption('variables by their names, such as process.env'),
  execAllowlist: listOption('a list of programs', textOption),
};

/** One request. */
export interface TransportRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** Path below the server's address, with query. */
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string | Uint8Array;
  /** The kind of answer, which decides on pool, timeouts, compression and retries. @default 'object' */
  readonly expect?: 'object' | 'list' | 'watch';
  /**
   * Whether the request is not idempotent, for example because executing it twice creates two objects. Then it is
   * repeated after a 429 alone, because a 5xx may come from a server that had already begun. @default false
   */
  readonly once?: boolean;
  /** How often it is repeated at most. @default that of the transport */
  readonly maxRetries?: number;
  /**
   * Further headers, by their lower-case names. Those of the transport win (credentials, impersonation, user agent).
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The protocol to switch the connection to, such as `websocket`. The answer has the connection if the server
   * switches; any other answer is an ordinary one. Only for GET, and over HTTP/1.1.
   */
  readonly upgrade?: string;
  readonly signal?: AbortSignal | undefined;
}

/** An answer. Read the body to its end, or leave its iteration, because until then it holds a connection. */
export interface TransportResponse {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfterMs: number | undefined;
  /** The destination of a redirect. Redirects are not followed. */
  readonly location?: string | undefined;
  /** All headers, by their lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Buffer[]>;
  /** The connection after an upgrade. It belongs to the caller; disposing the transport destroys it. */
  readonly socket?: Duplex;
}

/** Requests to one API server, authenticated, limited, measured, and repeated if that is safe. */
export interface Transport extends AsyncDisposable {
  /** `https://host:port/prefix`, without user information. */
  readonly server: string;
  /** Sends a request; resolves with any status below 600 when its headers are there. @throws TransportError */
  send(request: TransportRequest): Promise<TransportResponse>;
}

/**
 * Makes a transport. Nothing is read or opened before the first request.
 *
 * @throws TypeError naming each option that is not valid, and each field of the connection without which requests would
 *   be those of another user
 */
export function createTransport(connection: Connection, options: TransportOptions = {}): Transport {
  requireOptions('createTransport', options, transportOptionNames);
  requireConnection(connection);
  requireImpersonation('impersonate', options.impersonate);
  return new HttpTransport(connection, options);
}

class HttpTransport implements Transport {
  readonly server: string;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #headers: Readonly<Record<string, string | string[]>>;
  readonly #options: TransportOptions;
  readonly #observe: Connection['observe'];
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #metrics: RequestMetrics;
  readonly #credentials: CredentialSource;
  readonly #pools: ConnectionPools;
  readonly #limiter: TurnLimiter | undefined;
  readonly #compress: boolean;
  readonly #warnings: WarningReporter;
  readonly #closed = new AbortController();
  /** Connections that were upgraded and are not closed yet. */
  readonly #sockets = new Set<Duplex>();

  constructor(connection: Connection, options: TransportOptions) {
    const { clock = systemClock, environment = process.env } = options;
    const { logger, metrics } = guardSinks(options);
    const url = parseServer(connection.server);
    checkOptions(options);
    if (connection.observe !== undefined && typeof connection.observe !== 'function')
      throw new TypeError('connection.observe is not a function: expected one that takes { method, path, status }');
    if (connection.newDispatcher !== undefined && typeof connection.newDispatcher !== 'function')
      throw new TypeError('connection.newDispatcher is not a function: expected one that makes a dispatcher');
    if (connection.dial !== undefined && typeof connection.dial !== 'function')
      throw new TypeError('connection.dial is not a function: expected one that opens a stream to { host, port }');
    this.#options = options;
    this.#observe = connection.observe;
    this.#warnings = createWarningReporter(options.onWarning, logger);
    this.#clock = clock;
    this.#logger = logger;
    this.server = withoutUserInfo(connection.server).replace(/\/+$/, '');
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#metrics = createRequestMetrics(metrics, url.host, options.detailedMetrics === true);
    this.#limiter = options.rateLimit === undefined ? undefined : createTurnLimiter(options.rateLimit, clock);
    this.#credentials = credentialsOf(connection, {
      clock,
      logger,
      environment,
      execAllowlist: options.execAllowlist,
    });
    const isLocal = /^(localhost|127\.|\[::1\])/.test(url.hostname);
    this.#compress = options.compression ?? (!isLocal && connection.disableCompression !== true);
    this.#headers = {
      'user-agent': options.userAgent ?? defaultUserAgent({ program: options.program }),
      ...impersonationHeaders(options.impersonate ?? connection.user?.impersonate),
    };
    this.#pools = createConnectionPools({
      connection,
      clock,
      logger,
      settings: {
        origin: url.origin,
        serverName: connection.tlsServerName,
        rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
        proxyUrl: requireProxyUrl(
          joinUrlUser(connection.proxyUrl, connection.proxyUser) ??
            proxyFromEnvironment(connection.server, environment),
        ),
        dial: connection.dial,
        http2: options.http2 ?? false,
        maxConnections: options.maxConnections ?? 64,
        connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
      },
    });
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const { method, path, signal, expect = 'object', once = false, upgrade } = request;
    // Every verb and every discovery comes by here.
    const misuse = signal === undefined ? undefined : signalOption('signal', signal);
    if (misuse !== undefined) throw new TypeError(`${method} ${pathOf(path)}: ${misuse}`);
    const maxRetries = request.maxRetries ?? this.#options.maxRetries ?? 10;
    return await retry(
      async (attempt) => {
        if (attempt > 1 || expect !== 'watch') await this.#takeTurn(method, signal);
        const response = await this.#sendWithCredentials(request);
        const waitMs = isRetryableStatus(response.status, once) ? response.retryAfterMs : undefined;
        if (waitMs === undefined || waitMs > maxRetryAfterMs || attempt > maxRetries) return response;
        await discardBody(response);
        throw new AskedToWait(response.status, waitMs);
      },
      {
        maxAttempts: maxRetries + 1,
        isRetriable: (error) =>
          error instanceof AskedToWait ||
          (expect !== 'watch' && upgrade === undefined && isRetryableFailure(error, method)),
        pause: (error) => {
          const isAsked = error instanceof AskedToWait;
          this.#metrics.retried(method, isAsked ? String(error.status) : '<error>');
          return this.#pause(isAsked ? error.waitMs : transportRetryMs, request, isAsked ? error.message : error);
        },
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort(this.#disposedError('', ''));
    this.#credentials.close?.();
    for (const socket of this.#sockets) socket.destroy(this.#disposedError('', ''));
    await this.#pools.destroy();
  }

  async #pause(waitMs: number, request: TransportRequest, reason: unknown): Promise<void> {
    const { method, path, signal } = request;
    this.#logger.debug('repeating a request', { method, path: pathOf(path), waitMs, reason });
    using link = anySignal([signal, this.#closed.signal]);
    await sleep(waitMs, { clock: this.#clock, signal: link.signal });
  }

  async #takeTurn(method: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#limiter === undefined) return;
    using link = anySignal([signal, this.#closed.signal]);
    const waitedMs = await this.#limiter.wait(link.signal);
    this.#metrics.waited(method, waitedMs / 1000);
    if (waitedMs > 1000) this.#logger.info('waited for the client-side rate limit', { method, waitedMs });
  }

  /** One attempt; a 401 or a failed handshake looks for newer credentials and files, once. */
  async #sendWithCredentials(request: TransportRequest): Promise<TransportResponse> {
    const { signal } = request;
    const credential = await this.#patiently(this.#credentials.get(), signal);
    const route: Route = { pools: undefined };
    try {
      const response = await this.#attempt(request, credential, route);
      if (response.status !== 401) return response;
      const renewal = this.#credentials.refresh(credential).catch((error: unknown) => {
        this.#logger.warn('cannot renew the credentials that the server refused', { error });
        return false;
      });
      const isRenewed = await this.#patiently(renewal, signal);
      if (!isRenewed && !(await this.#pools.reload(credential, route.pools).catch(() => false))) return response;
      await discardBody(response);
    } catch (error) {
      if (!isTransportError(error) || error.failure !== 'tls') throw error;
      if (!(await this.#pools.reload(credential, route.pools).catch(() => false))) throw error;
    }
    return await this.#attempt(request, await this.#patiently(this.#credentials.get(), signal), route);
  }

  /** Waits for what goes on for others too (a plugin, an issuer), but no longer than caller and client want. */
  async #patiently<T>(work: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (!(work instanceof Promise)) return work;
    using link = anySignal([signal, this.#closed.signal]);
    return await orAborted(work, link.signal);
  }

  async #attempt(request: TransportRequest, credential: Credential, route: Route): Promise<TransportResponse> {
    const { method, path, body, signal, expect = 'object' } = request;
    const startedAt = this.#clock.monotonicNow();
    const seconds = (): number => (this.#clock.monotonicNow() - startedAt) / 1000;
    try {
      const pools = (route.pools = await this.#pools.get(credential));
      if (this.#closed.signal.aborted) throw this.#disposedError(method, path);
      const answer = await exchange(
        {
          origin: this.#origin,
          method,
          path: this.#prefix + path,
          headers: this.#headersFor(request, credential),
          ...(body === undefined ? {} : { body }),
          upgrade: request.upgrade,
        },
        {
          dispatcher:
            request.upgrade !== undefined ? pools.upgrades : expect === 'watch' ? pools.watches : pools.requests,
          timeouts: this.#timeoutsFor(expect),
          clock: this.#clock,
          signal,
          hasExclusiveReads: this.#options.http2 !== true,
          onEnd: (bytes) => this.#metrics.received(method, bytes),
        },
      );
      this.#metrics.answered(method, String(answer.status), seconds());
      this.#tell(method, path, answer.status);
      if (body !== undefined) this.#metrics.sized(method, Buffer.byteLength(body));
      if (answer.socket !== undefined) this.#adopt(answer.socket);
      this.#note(request, seconds(), { status: answer.status });
      this.#warnings.report(answer.headers, { method, path: pathOf(path) });
      return this.#toResponse(answer, request);
    } catch (error) {
      this.#metrics.answered(method, '<error>', seconds());
      this.#tell(method, path, undefined);
      this.#note(request, seconds(), { error });
      throw error;
    }
  }

  /** Ends the connection with the transport. */
  #adopt(socket: Duplex): void {
    if (this.#closed.signal.aborted) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    // Its owner sees how it ends; one without an owner yet must not end the process.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #toResponse({ status, headers, body, socket }: Exchange, { method, path }: TransportRequest): TransportResponse {
    const explain = (reason: string, cause: unknown): TransportError =>
      new TransportError(
        {
          failure: 'malformed',
          method,
          server: this.server,
          path: pathOf(path),
          maybeSent: true,
          message: `${method} ${pathOf(path)} failed at ${this.server}: ${reason}`,
        },
        { cause: safeCause(cause) },
      );
    return {
      status,
      contentType: headerOf(headers, 'content-type') ?? '',
      retryAfterMs: retryAfterOfHeader(headerOf(headers, 'retry-after'), this.#clock.now()),
      location: headerOf(headers, 'location'),
      headers,
      ...(socket === undefined ? {} : { socket }),
      body: decoded(body, headers, explain),
    };
  }

  #headersFor(request: TransportRequest, credential: Credential): Record<string, string | string[]> {
    const { accept = 'application/json', contentType, body, expect } = request;
    const headers: Record<string, string | string[]> = { ...request.headers, accept, ...this.#headers };
    if (body !== undefined) headers['content-type'] = contentType ?? 'application/json';
    if (expect === 'list' && this.#compress) headers['accept-encoding'] = 'gzip';
    if (credential.authorization !== undefined) headers['authorization'] = credential.authorization;
    return headers;
  }

  #timeoutsFor(expect: 'object' | 'list' | 'watch'): ExchangeTimeouts {
    const ms = this.#options.requestTimeoutMs ?? 60_000;
    if (expect === 'object') return { headersMs: 0, idleMs: 0, totalMs: ms, errorMs: ms };
    return { headersMs: ms, idleMs: expect === 'list' ? ms : 0, totalMs: 0, errorMs: ms };
  }

  #tell(method: string, path: string, status: number | undefined): void {
    const observe = this.#observe;
    if (observe === undefined) return;
    callHook(
      () => observe({ method, path: this.#prefix + path, status }),
      (error) => this.#logger.error('connection.observe failed', { error }),
    );
  }

  /** One debug line for each attempt. */
  #note({ method, path }: TransportRequest, seconds: number, outcome: { status: number } | { error: unknown }): void {
    if (!this.#logger.isEnabled('debug')) return;
    this.#logger.debug('request', { method, path: pathOf(path), ...outcome, ms: Math.round(seconds * 1000) });
  }

  #disposedError(method: string, path: string): TransportError {
    return new TransportError({
      failure: 'closed',
      method,
      server: this.server,
      path: pathOf(path),
      maybeSent: false,
      message: `${method} ${pathOf(path)} the client was disposed`.trim(),
    });
  }
}

/** The pools that an attempt went through. */
interface Route {
  pools: PoolPair | undefined;
}

/** A short rest is read, so that the connection can be used again; a long one is not worth it. In bytes. */
const maxDiscarded = 64 * 1024;

async function discardBody(response: TransportResponse): Promise<void> {
  try {
    await collectPrefix(response.body, maxDiscarded);
  } catch {
    // The answer is thrown away, so it does not matter that the connection broke while it was read.
  }
}

function pathOf(path: string): string {
  return path.split('?', 1)[0] ?? path;
}

function checkOptions({ maxRetries, requestTimeoutMs, connectTimeoutMs, maxConnections }: TransportOptions): void {
  const problems = [
    numberProblem('maxRetries', maxRetries ?? 0, { integer: true, orInfinity: true, remedy: '0 never repeats' }),
    numberProblem('requestTimeoutMs', requestTimeoutMs ?? 0, { remedy: '0 means no limit' }),
    numberProblem('connectTimeoutMs', connectTimeoutMs ?? 0, { remedy: '0 means no limit' }),
    numberProblem('maxConnections', maxConnections ?? 1, { least: 1, integer: true }),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new TypeError(`client options: ${problems.join('; ')}`);
}

function parseServer(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new TypeError(
      `connection.server ${JSON.stringify(withoutUserInfo(server))} is not valid: expected https://host:port`,
    );
  return url;
}
