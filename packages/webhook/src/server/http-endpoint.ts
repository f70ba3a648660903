import type { HttpRequest, HttpResponse } from '@kctl/http-server';
import { type Logger } from '@kctl/telemetry';
import { guardLogger } from '@kctl/telemetry/internal';
import { safeError } from '../handler/safe-error.js';
import type { Endpoint, EndpointParts } from './webhook-endpoint.js';

/** Context of a {@link WebhookHttpHandler} besides the request. */
export interface WebhookHttpContext {
  /** With the path as `webhook`. */
  readonly logger: Logger;
  /** Aborted when the client hangs up, and when a stop has reached its deadline. */
  readonly signal: AbortSignal;
}

/**
 * Answers a request by itself, over HTTP/1.1 or HTTP/2. An error that it throws is logged, and answered with 500 if it
 * has answered nothing.
 */
export type WebhookHttpHandler = (
  request: HttpRequest,
  response: HttpResponse,
  context: WebhookHttpContext,
) => void | Promise<void>;

/** A function behind a path, measured as webhooks are. */
export class HttpEndpoint implements Endpoint {
  readonly #handler: WebhookHttpHandler;
  readonly #parts: Pick<EndpointParts, 'path' | 'metrics'>;
  readonly #logger: Logger;

  constructor(handler: WebhookHttpHandler, parts: EndpointParts) {
    this.#handler = handler;
    this.#parts = parts;
    this.#logger = guardLogger(parts.logger).child({ webhook: parts.path });
  }

  async serve(request: HttpRequest, response: HttpResponse, signal: AbortSignal): Promise<void> {
    const { metrics, path } = this.#parts;
    const finish = metrics?.begin(path);
    try {
      await this.#handler(request, response, { logger: this.#logger, signal });
    } catch (error) {
      this.#logger.error('HTTP handler failed', { error: safeError(error) });
      if (response.headersSent) response.destroy();
      else {
        response.statusCode = 500;
        response.end();
      }
    } finally {
      finish?.(response.statusCode);
    }
  }
}
