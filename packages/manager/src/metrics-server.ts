import type { AccessNeed } from '@kctl/rbac';
import type { Logger, Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { ListenTarget } from '@kctl/http-server';
import { ManagerError } from './errors.js';
import type { HttpHandler, HttpServer, ServerTls } from './http-server.js';
import { createHttpServer } from './http-server.js';
import type { CertificateFiles, ServingCertificate } from './serving-certificate.js';
import { createServingCertificate } from './serving-certificate.js';
import type { Runnable } from './runnable.js';
import { isLoopback } from './loopback.js';
import { targetOf } from './request-target.js';

/** As in controller-runtime. */
export const defaultMetricsPort = 8080;
export const defaultMetricsPath = '/metrics';

/** Writes all metrics in an exposition format; a `PrometheusMetrics` of @kctl/metrics is one. */
export interface MetricsExporter {
  export(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Options of the metrics server. Mirrors `metricsserver.Options`. */
export interface MetricsServerOptions extends CertificateFiles {
  /** 0: any free port. @default 8080 */
  readonly port?: number;
  /** @default every address */
  readonly host?: string;
  /** A Unix socket or an open descriptor in place of `host` and `port`. @default none */
  readonly listener?: ListenTarget;
  /** @default '/metrics' */
  readonly path?: string;
  /**
   * Serves HTTPS. The certificate is the first available of the one in `tls`, the files in `certDir` (read again when
   * they change), and a self-signed one.
   *
   * @default whether `tls` is given
   */
  readonly secureServing?: boolean;
  /** Settings of TLS, or a certificate and key as PEM. */
  readonly tls?: ServerTls;
  /** Called before every request; answers it itself and returns true to refuse it. @default no access control */
  readonly filter?: HttpHandler & { readonly accessNeeds?: readonly AccessNeed[] };
}

/** The metrics server as a runnable. */
export function createMetricsServer(options: {
  readonly server: MetricsServerOptions;
  readonly exporter: MetricsExporter;
  readonly extra: ReadonlyMap<string, HttpHandler>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly clock: Clock;
}): HttpServer & Pick<Runnable, 'accessNeeds'> {
  const { server, exporter, extra, logger, clock } = options;
  const { port = defaultMetricsPort, host, path = defaultMetricsPath, tls, filter, listener } = server;
  const serveMetrics: HttpHandler = async (request, response, context) => {
    const { pathname, search } = targetOf(request);
    if (pathname === path) {
      const { contentType, body } = await exporter.export();
      response.writeHead(200, { 'content-type': contentType }).end(body);
      return true;
    }
    if (!extra.has(pathname) && extra.has(`${pathname}/`)) {
      response.writeHead(301, { location: `${pathname}/${search}` }).end();
      return true;
    }
    const handler = extra.get(pathname) ?? extra.get(prefixOf(extra, pathname));
    return handler === undefined ? false : await handler(request, response, context);
  };
  const isOpen = filter === undefined && tls?.requestCert !== true && !isLoopback(host ?? '') && listener === undefined;
  const http = createHttpServer({
    name: 'metrics server',
    port,
    ...(host === undefined ? {} : { host }),
    ...(listener === undefined ? {} : { listener }),
    ...(tls === undefined ? {} : { tls }),
    ...certificateOf(server, options),
    handlers: filter === undefined ? [serveMetrics] : [filter, serveMetrics],
    ...(isOpen ? { onListening: (address) => warnOpen(logger, address, [path, ...extra.keys()]) } : {}),
    logger,
    clock,
  });
  return Object.assign(http, { accessNeeds: () => filter?.accessNeeds ?? [] });
}

/** The longest path with a slash at its end that begins the path; '' if not found. Mirrors Go's `ServeMux`. */
function prefixOf(extra: ReadonlyMap<string, HttpHandler>, pathname: string): string {
  let found = '';
  for (const path of extra.keys())
    if (path.endsWith('/') && path.length > found.length && pathname.startsWith(path)) found = path;
  return found;
}

function warnOpen(logger: Logger, addr: HttpServer['address'], paths: readonly string[]): void {
  logger.warn(
    'metrics are served without authentication to everything that reaches the port: set metricsServer.filter, or metricsServer.host to 127.0.0.1',
    { addr, paths },
  );
}

/** The source of the certificate, if not `tls`. @throws ManagerError for options that would mean plain HTTP */
function certificateOf(
  { secureServing, tls, certDir, certName, keyName }: MetricsServerOptions,
  parts: { readonly metrics: Metrics; readonly logger: Logger; readonly clock: Clock },
): { readonly certificate?: ServingCertificate } {
  const isSecure = secureServing ?? tls !== undefined;
  const named = Object.entries({ tls, certDir, certName, keyName }).find(([, value]) => value !== undefined)?.[0];
  if (!isSecure) {
    if (named !== undefined) throw new ManagerError(`metricsServer.${named} needs metricsServer.secureServing: true`);
    return {};
  }
  if (tls?.cert !== undefined || tls?.pfx !== undefined || tls?.SNICallback !== undefined) return {};
  const files = {
    ...(certDir === undefined ? {} : { certDir }),
    ...(certName === undefined ? {} : { certName }),
    ...(keyName === undefined ? {} : { keyName }),
  };
  return { certificate: createServingCertificate(files, parts) };
}
