import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { HttpHandler, HttpServer, ServerTls } from './http-server.js';
import { createHttpServer } from './http-server.js';

/** As in controller-runtime. */
export const defaultMetricsPort = 8080;
export const defaultMetricsPath = '/metrics';

/** Writes all metrics in a text format; a `PrometheusMetrics` of @kctl/metrics is one. */
export interface MetricsExporter {
  export(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Where metrics are served. Mirrors `metricsserver.Options`. */
export interface MetricsServerOptions {
  /** 0: any free port. @default 8080 */
  readonly port?: number;
  /** @default every address */
  readonly host?: string;
  /** @default '/metrics' */
  readonly path?: string;
  /** @default plain HTTP */
  readonly tls?: ServerTls;
  /** Asked before every request: answers it itself and returns true to refuse it. @default everybody may read */
  readonly filter?: HttpHandler;
}

/** The metrics server as a runnable. */
export function createMetricsServer(options: {
  readonly server: MetricsServerOptions;
  readonly exporter: MetricsExporter;
  readonly extra: ReadonlyMap<string, HttpHandler>;
  readonly logger: Logger;
  readonly clock: Clock;
}): HttpServer {
  const { server, exporter, extra, logger, clock } = options;
  const { port = defaultMetricsPort, host, path = defaultMetricsPath, tls, filter } = server;
  const serveMetrics: HttpHandler = async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const handler = extra.get(pathname);
    if (handler !== undefined) return handler(request, response);
    if (pathname !== path) return false;
    const { contentType, body } = await exporter.export();
    response.writeHead(200, { 'content-type': contentType }).end(body);
    return true;
  };
  return createHttpServer({
    name: 'metrics server',
    port,
    ...(host === undefined ? {} : { host }),
    ...(tls === undefined ? {} : { tls }),
    handlers: filter === undefined ? [serveMetrics] : [filter, serveMetrics],
    logger,
    clock,
  });
}
