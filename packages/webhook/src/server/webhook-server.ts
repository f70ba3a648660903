import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import {
  type BodyBudget,
  createBodyBudget,
  createHttpServer,
  type HttpRequest,
  type HttpResponse,
  type HttpServer,
  type ListenTarget,
  type ServerLimits,
  type ServerTls,
} from '@kctl/http-server';
import { defaultShutdownTimeoutMs, listenerOption } from '@kctl/http-server/internal';
import { certificateBundleProblem } from '@kctl/client/internal/connection';
import type { AccessNeed } from '@kctl/rbac';
import { type Logger, type Metrics } from '@kctl/telemetry';
import { guardSinks, loggerOption, messageOf, metricsOption } from '@kctl/telemetry/internal';
import {
  booleanOption,
  clockOption,
  functionOption,
  numberProblem,
  objectOption,
  type OptionNames,
  optionWithMethods,
  requireOptions,
  requireSignal,
  shownValue,
  textOption,
} from '@kctl/options';
import { type Clock, systemClock } from '@kctl/wait';
import { expiryOf } from '../certificates/certificate-state.js';
import { expiryMetric } from '../certificates/self-managed.js';
import { WebhookServerError } from '../errors.js';
import {
  callbackCertificates,
  fileCertificates,
  loadClientCa,
  type CertificateSource,
} from '../certificates/certificate-source.js';
import { requireNoPromise, requirePair } from '../certificates/require-pair.js';
import type { PemPair } from '../certificates/issue.js';
import type { KeyPair } from '../certificates/certificate-watcher.js';
import { clientIdentityOf, isAllowedClient, type AllowedClients } from '../handler/client-identity.js';
import { requireHandler, type WebhookHandler } from '../handler/handler.js';
import { HttpEndpoint, type WebhookHttpHandler } from './http-endpoint.js';
import { type Endpoint, WebhookEndpoint } from './webhook-endpoint.js';
import { createWebhookMetrics, type WebhookMetrics } from './webhook-metrics.js';

/** The port of a server that names none. As upstream. */
const defaultPort = 9443;
const defaultMaxBodyBytes = 256 * 1024 * 1024;

/** Options of {@link createWebhookServer}. */
export interface WebhookServerOptions {
  /** @default every address */
  readonly host?: string;
  /** The descriptor of a TCP socket that is open, in place of `host` and `port`. @default none */
  readonly listener?: Extract<ListenTarget, { readonly fd: number }>;
  /** 0 selects any free port; −1 turns the server off, so that it registers handlers and serves none. @default 9443 */
  readonly port?: number;
  /** Folder of the certificate files. @default `<tmp>/k8s-webhook-server/serving-certs` */
  readonly certDir?: string;
  /** @default 'tls.crt' */
  readonly certName?: string;
  /** @default 'tls.key' */
  readonly keyName?: string;
  /** The source of the certificate instead of files, such as `createSelfManagedCertificates` of this package. */
  readonly certificate?: CertificateSource;
  /**
   * Called for each TLS handshake with the server name that the client requests, instead of files. For clients that
   * request no name it is called without a name, at the start and every 10 s. Mirrors `GetCertificate` in upstream's
   * `TLSOpts`.
   */
  readonly getCertificate?: (serverName: string | undefined) => KeyPair | PemPair | Promise<KeyPair | PemPair>;
  /** Settings of TLS: `minVersion`, `ciphers`, `crl` … Certificate, key and client CA come from the other options. */
  readonly tls?: ServerTls;
  /** Serves HTTP/2 beside HTTP/1.1. @default true */
  readonly http2?: boolean;
  /**
   * File in `certDir` with the CA that clients must present a certificate of; read again when it changes.
   *
   * @default clients need none
   */
  readonly clientCaName?: string;
  /**
   * Which of the clients that the CA vouches for may call, as common names, DNS names or URIs, or as a function. Others
   * are answered with 403. Needs `clientCaName`, or `tls.ca` with `tls.requestCert`.
   *
   * @default every one
   */
  readonly allowedClients?: AllowedClients;
  /** Deadlines and counts of connections; every one has a default. */
  readonly limits?: ServerLimits;
  /**
   * Bytes of request bodies that are in memory at a time, counted as they arrive. Bodies that do not arrive to their end
   * make room for others, as in `createBodyBudget` of @kctl/http-server; what finds no room is refused with 503.
   *
   * @default 268435456
   */
  readonly maxBufferedBytes?: number;
  /** How long a stop waits for requests in flight, in ms. @default 60000 */
  readonly shutdownTimeoutMs?: number;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<WebhookServerOptions> = {
  host: textOption,
  port: true,
  listener: listenerOption,
  certDir: textOption,
  certName: textOption,
  keyName: textOption,
  certificate: optionWithMethods(['load'], 'a source, such as createSelfManagedCertificates({ … })'),
  getCertificate: functionOption,
  tls: objectOption('settings of TLS, such as { minVersion: "TLSv1.3" }'),
  http2: booleanOption,
  clientCaName: textOption,
  allowedClients: true,
  limits: objectOption('limits of connections, such as { maxConnections: 100 }'),
  maxBufferedBytes: true,
  shutdownTimeoutMs: true,
  logger: loggerOption,
  metrics: metricsOption,
  clock: clockOption,
};

/** Serves webhooks over HTTPS (HTTP/2 and HTTP/1.1), with a certificate that is reloaded when its files change. */
export interface WebhookServer {
  /**
   * Registers a handler at a path, before or after the start. A function answers requests of any kind by itself, as an
   * `http.Handler` does upstream, without limits of bodies except those it sets, and without a webhook configuration.
   *
   * @throws WebhookServerError when the path is taken, or one that no request has; TypeError for a value that is not a
   * handler
   */
  register(path: string, handler: WebhookHandler | WebhookHttpHandler): void;
  /** Whether a path has a handler. */
  has(path: string): boolean;
  /** The handlers by their paths, for `webhookConfigurations`. */
  readonly webhooks?: ReadonlyMap<string, WebhookHandler>;
  /** Serves until the signal is aborted; resolves when requests in flight have ended. @throws when it cannot start */
  run(signal: AbortSignal): Promise<void>;
  /** The bound port, undefined while not serving. */
  readonly port: number | undefined;
  /** Whether it is off (port −1): `run` returns at once, and `checkStarted` passes. @default false */
  readonly isDisabled?: boolean;
  /** For readiness checks. @throws WebhookServerError while not serving */
  checkStarted(): void;
  /** The rights that its certificates need. @default none */
  accessNeeds?(): readonly AccessNeed[];
}

/**
 * Mirrors `webhook.NewServer`. @throws TypeError naming an option that is not valid
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createWebhookServer, defaultingWebhook } from '@kctl/webhook';
 *
 * const server = createWebhookServer({ port: 9443, certDir: '/certificates' });
 * server.register('/default-settings', defaultingWebhook(ConfigMap, (draft) => (draft.data ??= {})));
 * await server.run(signal);
 * ```
 */
export function createWebhookServer(options: WebhookServerOptions = {}): WebhookServer {
  requireOptions('createWebhookServer', options, optionNames);
  const { port = defaultPort, shutdownTimeoutMs = defaultShutdownTimeoutMs, maxBufferedBytes = 1 } = options;
  const problem =
    numberProblem('port', port, { least: -1, most: 65_535, integer: true, remedy: '0 takes any free port, -1 none' }) ??
    numberProblem('shutdownTimeoutMs', shutdownTimeoutMs, { orInfinity: true }) ??
    numberProblem('maxBufferedBytes', maxBufferedBytes, { least: 1, integer: true }) ??
    contradictionIn(options);
  if (problem !== undefined) throw new TypeError(`createWebhookServer: ${problem}`);
  return new HttpsWebhookServer(options);
}

function contradictionIn({
  allowedClients,
  clientCaName,
  tls,
  certificate,
  getCertificate,
  listener,
}: WebhookServerOptions): string | undefined {
  const verifies = clientCaName !== undefined || (tls?.requestCert === true && tls.rejectUnauthorized !== false);
  if (allowedClients !== undefined && !verifies)
    return 'allowedClients needs clientCaName: without it clients present no certificate';
  if (certificate !== undefined && getCertificate !== undefined)
    return 'certificate and getCertificate cannot be combined: give one of them';
  if (listener !== undefined && 'path' in listener)
    return 'listener.path is not valid: webhooks are served over TLS, on TCP: use host and port, or { fd }';
  return undefined;
}

class HttpsWebhookServer implements WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly webhooks = new Map<string, WebhookHandler>();
  readonly #logger: Logger;
  readonly #sink: Metrics;
  readonly #metrics: WebhookMetrics;
  readonly #clock: Clock;
  readonly #budget: BodyBudget;
  #server: HttpServer | undefined;
  #isRunning = false;

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    const { logger, metrics } = guardSinks(options);
    this.#logger = logger;
    this.#clock = options.clock ?? systemClock;
    this.#sink = metrics;
    this.#metrics = createWebhookMetrics(this.#sink, this.#clock);
    this.#budget = createBodyBudget(options.maxBufferedBytes ?? defaultMaxBodyBytes);
  }

  get port(): number | undefined {
    return this.#server?.address?.port;
  }

  accessNeeds(): readonly AccessNeed[] {
    return this.#options.certificate?.accessNeeds?.() ?? [];
  }

  get isDisabled(): boolean {
    return this.#options.port === -1;
  }

  register(path: string, handler: WebhookHandler | WebhookHttpHandler): void {
    requirePath(path);
    if (typeof handler !== 'function') requireHandler(`register: the handler of ${path}`, handler, ', or a function');
    if (this.#endpoints.has(path)) throw new WebhookServerError(`register: path ${path} has a handler already`);
    const parts = { logger: this.#logger, clock: this.#clock, metrics: this.#metrics, budget: this.#budget };
    if (typeof handler === 'function') this.#endpoints.set(path, new HttpEndpoint(handler, { path, ...parts }));
    else {
      this.#endpoints.set(path, new WebhookEndpoint(handler, { path, ...parts }));
      this.webhooks.set(path, handler);
    }
    this.#metrics.preset(path);
    this.#logger.info(this.isDisabled ? 'Webhook is disabled' : 'Registering webhook', { path });
  }

  has(path: string): boolean {
    return this.#endpoints.has(path);
  }

  checkStarted(): void {
    if (!this.isDisabled && this.port === undefined)
      throw new WebhookServerError('webhook server has not been started yet');
    if (!this.isDisabled) requireNoPromise('certificate.check', this.#options.certificate?.check?.());
  }

  async run(signal: AbortSignal): Promise<void> {
    requireSignal('WebhookServer.run', signal);
    if (this.#isRunning) throw new WebhookServerError('run: the webhook server is already running');
    if (signal.aborted) return;
    this.#isRunning = true;
    const ended = new AbortController();
    try {
      if (this.isDisabled) {
        this.#logger.info('webhook server is disabled');
        return;
      }
      this.#logger.info('Starting webhook server');
      await this.#serve(signal, ended);
    } catch (error) {
      if (signal.aborted && this.#server === undefined) return; // stopped before it had its certificate
      if (error instanceof WebhookServerError) throw error;
      throw new WebhookServerError(`webhook server: ${messageOf(error)}`, { cause: error });
    } finally {
      ended.abort();
      this.#server = undefined;
      this.#isRunning = false;
    }
  }

  async #serve(signal: AbortSignal, ended: AbortController): Promise<void> {
    const { host, port = defaultPort, listener, shutdownTimeoutMs = defaultShutdownTimeoutMs, limits } = this.#options;
    const secure = await this.#secureUnless(signal, ended);
    const common = {
      name: 'webhook server',
      port,
      shutdownTimeoutMs,
      logger: this.#logger,
      clock: this.#clock,
      ...(host === undefined ? {} : { host }),
      ...(listener === undefined ? {} : { listener }),
      ...(limits === undefined ? {} : { limits }),
    };
    const onRequest = (request: HttpRequest, response: HttpResponse, context: { signal: AbortSignal }): Promise<void> =>
      this.#dispatch(request, response, context.signal);
    const server = createHttpServer(
      this.#options.http2 === false
        ? { ...common, tls: secure, onRequest }
        : { ...common, tls: secure, http2: true, onRequest },
    );
    this.#server = server;
    const running = server.run(signal);
    server.waitForListening().then(
      () => this.#logger.info('Serving webhook server', { host: host ?? '', port: this.port }),
      () => undefined,
    );
    const onStop = (): void =>
      this.#logger.info('Shutting down webhook server with timeout', { timeoutMs: shutdownTimeoutMs });
    signal.addEventListener('abort', onStop, { once: true });
    try {
      await running;
    } finally {
      signal.removeEventListener('abort', onStop);
    }
  }

  /**
   * {@link #secure}, given up when the signal is aborted, because a source may wait for an API server that does not
   * answer.
   */
  async #secureUnless(signal: AbortSignal, ended: AbortController): Promise<ServerTls> {
    const gaveUp = Promise.withResolvers<never>();
    const onAbort = (): void => {
      ended.abort(signal.reason);
      gaveUp.reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const secure = this.#secure(ended.signal);
    secure.catch(() => undefined); // it may fail after it was given up
    try {
      return await Promise.race([secure, gaveUp.promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** TLS settings with the first certificate; later ones are put in place while the server runs. */
  async #secure(ended: AbortSignal): Promise<ServerTls> {
    const { tls, clientCaName, certDir = defaultCertDir, getCertificate } = this.#options;
    const { logger, clock } = { logger: this.#logger, clock: this.#clock };
    for (const given of [tls?.ca ?? []].flat()) requireBundle('tls.ca', given);
    let ca: Buffer | undefined;
    let pair: KeyPair | undefined;
    // Whole each time, because fields that a later context omits are lost, and with the CA every client.
    const context = (): SecureContextOptions => ({
      minVersion: 'TLSv1.2',
      ...tls,
      ...(pair === undefined ? {} : { cert: pair.cert, key: pair.key }),
      ...(ca === undefined ? {} : { ca }),
    });
    const replace = (): void => this.#server?.setSecureContext(context());
    const use = (given: KeyPair): void => {
      const next = requirePair('the source of the certificate', given);
      requireBundle('the serving certificate', next.cert);
      const last = pair;
      pair = next;
      try {
        replace();
      } catch (error) {
        pair = last; // what is not a certificate must not be in the next context either
        throw error;
      }
      // A callback has one for each name, so the expiry of that for no name does not represent the others.
      if (getCertificate === undefined)
        this.#sink
          .gauge(expiryMetric)
          .with({ certificate: 'serving' })
          .set((expiryOf(next.cert) ?? 0) / 1000);
    };
    use(await this.#source().load(use, ended));
    if (clientCaName !== undefined) {
      const onChange = (next: Buffer): void => {
        const last = ca;
        ca = next;
        try {
          replace();
        } catch (error) {
          ca = last; // with it every later certificate would fail
          throw error;
        }
      };
      ca = await loadClientCa(join(certDir, clientCaName), onChange, { clock, logger, signal: ended });
    }
    return {
      ...tls,
      ...context(),
      ...(ca === undefined ? {} : { requestCert: true, rejectUnauthorized: true }),
      ...(getCertificate === undefined ? {} : { SNICallback: this.#byServerName(getCertificate, context) }),
    };
  }

  #source(): CertificateSource {
    const { certificate, getCertificate, certDir = defaultCertDir } = this.#options;
    const { certName = 'tls.crt', keyName = 'tls.key' } = this.#options;
    if (certificate !== undefined) return certificate;
    if (getCertificate !== undefined)
      return callbackCertificates(async () => requirePair('getCertificate', await getCertificate(undefined)), {
        clock: this.#clock,
        logger: this.#logger,
      });
    return fileCertificates(
      { certDir, certName, keyName },
      { clock: this.#clock, logger: this.#logger, metrics: this.#sink },
    );
  }

  #byServerName(
    getCertificate: NonNullable<WebhookServerOptions['getCertificate']>,
    context: () => SecureContextOptions,
  ): NonNullable<ServerTls['SNICallback']> {
    return (serverName, done) => {
      void (async (): Promise<SecureContext> => {
        const { cert, key } = requirePair('getCertificate', await getCertificate(serverName));
        requireBundle(`the certificate for ${shownValue(serverName)}`, cert);
        return createSecureContext({ ...context(), cert, key });
      })().then(
        (secureContext) => done(null, secureContext),
        (error: unknown) => {
          this.#logger.error('getCertificate failed', { serverName, error });
          done(new Error('no certificate'));
        },
      );
    };
  }

  async #dispatch(request: HttpRequest, response: HttpResponse, signal: AbortSignal): Promise<void> {
    const { allowedClients } = this.#options;
    if (allowedClients !== undefined && !isAllowedClient(allowedClients, clientIdentityOf(request))) {
      const client = clientIdentityOf(request)?.commonName;
      this.#logger.warn('refused a client that is not in allowedClients', { client });
      plain(response, 403, 'Forbidden\n');
      return;
    }
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const endpoint = this.#endpoints.get(path);
    if (endpoint === undefined) plain(response, 404, '404 page not found\n');
    else await endpoint.serve(request, response, signal);
  }
}

/** @throws WebhookServerError */
function requirePath(path: unknown): void {
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw new WebhookServerError(`register: path ${shownValue(path)} must begin with /`);
  if (/[?#]/.test(path))
    throw new WebhookServerError(`register: path ${shownValue(path)} must not have a query or a fragment`);
}

/** @throws WebhookServerError for certificates that TLS would read in part */
function requireBundle(what: string, bundle: string | Uint8Array): void {
  const problem = certificateBundleProblem(bundle);
  if (problem !== undefined) throw new WebhookServerError(`${what} ${problem}`);
}

function plain(response: HttpResponse, code: number, text: string): void {
  response.statusCode = code;
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.end(text);
}

const defaultCertDir = join(tmpdir(), 'k8s-webhook-server', 'serving-certs');
