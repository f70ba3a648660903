import { type Logger, type Metrics } from '@kctl/telemetry';
import { guardSinks, loggerOption, metricsOption } from '@kctl/telemetry/internal';
import { clockOption, numberOption, type OptionNames, requireOptions, textOption } from '@kctl/options';
import { type Clock, systemClock } from '@kctl/wait';
import { createBodyBudget, type HttpRequest, type HttpResponse } from '@kctl/http-server';
import { requireHandler, type WebhookHandler } from '../handler/handler.js';
import { WebhookEndpoint } from './webhook-endpoint.js';
import { createWebhookMetrics } from './webhook-metrics.js';

/** Options of {@link standaloneWebhook}. */
export interface StandaloneOptions {
  /** Label of the metrics. @default nothing is measured */
  readonly metricsPath?: string;
  /** @default no logs */
  readonly logger?: Logger;
  /** @default no metrics */
  readonly metrics?: Metrics;
  /** Bytes of request bodies that are in memory at a time, counted as they arrive. @default 268435456 */
  readonly maxBufferedBytes?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<StandaloneOptions> = {
  metricsPath: textOption,
  logger: loggerOption,
  metrics: metricsOption,
  maxBufferedBytes: numberOption({ least: 1, integer: true }),
  clock: clockOption,
};

/**
 * A webhook as a request listener for any server of Node: `http`, `https`, `http2`, or a framework that hands on their
 * requests with the body unread. The server is to end TLS, which API servers require, and to bound its connections.
 * The promise never rejects. Mirrors `admission.StandaloneWebhook`.
 *
 * @throws TypeError for what is not a handler, and naming an option that is not valid
 */
export function standaloneWebhook(
  handler: WebhookHandler,
  options: StandaloneOptions = {},
): (request: HttpRequest, response: HttpResponse) => Promise<void> {
  requireOptions('standaloneWebhook', options, optionNames);
  requireHandler('standaloneWebhook: the handler', handler);
  const { metricsPath, clock = systemClock, maxBufferedBytes = 256 * 1024 * 1024 } = options;
  const { logger, metrics: sink } = guardSinks(options);
  const metrics = metricsPath === undefined ? undefined : createWebhookMetrics(sink, clock);
  if (metricsPath !== undefined) metrics?.preset(metricsPath);
  const budget = createBodyBudget(maxBufferedBytes);
  const endpoint = new WebhookEndpoint(handler, { path: metricsPath ?? '', logger, clock, metrics, budget });
  return async (request, response) => {
    const hangUp = new AbortController();
    response.once('close', () => hangUp.abort(new Error('the client closed the connection')));
    await endpoint.serve(request, response, hangUp.signal);
  };
}
