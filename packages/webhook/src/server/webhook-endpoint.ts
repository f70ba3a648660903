import { stringifyJson } from '@kctl/apimachinery';
import { type BodyBudget, type HeldBody, type HttpRequest, type HttpResponse } from '@kctl/http-server';
import { BodyError } from '@kctl/http-server/internal';
import { type Logger } from '@kctl/telemetry';
import { guardLogger } from '@kctl/telemetry/internal';
import { anySignal, timeoutSignal, type Clock } from '@kctl/wait';
import { clientIdentityOf } from '../handler/client-identity.js';
import type { WebhookAnswer, WebhookHandler, WebhookHttp } from '../handler/handler.js';
import { readJson, UndecodableBodyError } from '../handler/read-json.js';
import { safeError } from '../handler/safe-error.js';
import { timeoutMsOf } from './timeout.js';
import type { WebhookMetrics } from './webhook-metrics.js';

/** Dependencies of an endpoint. */
export interface EndpointParts {
  readonly path: string;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Undefined if nothing is measured. */
  readonly metrics: WebhookMetrics | undefined;
  readonly budget: BodyBudget;
}

/** The handler of the requests of a path. */
export interface Endpoint {
  /** Never rejects. */
  serve(request: HttpRequest, response: HttpResponse, signal: AbortSignal): Promise<void>;
}

/**
 * One handler behind one path, which reads a request, calls the handler within the API server's timeout, and writes its
 * answer.
 */
export class WebhookEndpoint implements Endpoint {
  readonly #handler: WebhookHandler;
  readonly #parts: EndpointParts;
  readonly #logger: Logger;

  constructor(handler: WebhookHandler, parts: EndpointParts) {
    this.#handler = handler;
    this.#parts = parts;
    this.#logger = guardLogger(parts.logger).child({ webhook: parts.path });
  }

  /** Never rejects, because any request of a client and any result of a handler becomes an answer. */
  async serve(request: HttpRequest, response: HttpResponse, signal: AbortSignal): Promise<void> {
    const finish = this.#parts.metrics?.begin(this.#parts.path);
    let code = 500;
    try {
      const answer = await this.#answer(request, signal);
      const { text, failed } = this.#encode(answer);
      code = failed ? 500 : (answer.code ?? 200);
      send(response, code, text);
    } catch (error) {
      this.#logger.error('unable to encode and write the response', { error: safeError(error) });
      code = 500;
      if ('stream' in response) response.stream.destroy();
      else response.destroy();
    } finally {
      finish?.(code);
    }
  }

  async #answer(request: HttpRequest, hangUp: AbortSignal): Promise<WebhookAnswer> {
    const { clock } = this.#parts;
    const url = request.url ?? '/';
    const timeoutMs = timeoutMsOf(url);
    using timeout = timeoutSignal(clock, timeoutMs);
    using link = anySignal([hangUp, timeout.signal]);
    using held = this.#parts.budget.hold(request);
    try {
      const body = await this.#readBody(request, { held, signal: link.signal, timeout: timeout.signal });
      const http: WebhookHttp = { headers: request.headers, peer: clientIdentityOf(request), request, timeoutMs };
      const call = (): Promise<WebhookAnswer> =>
        this.#handler.handle({
          path: this.#parts.path,
          body,
          http,
          signal: link.signal,
          logger: this.#logger,
          // A handler that fails because of the abort has not failed by itself.
          onPanic: () => link.signal.aborted || this.#panic(),
        });
      return await withinTimeout(call, link.signal, () =>
        this.#reject(`the handler did not answer within the ${timeoutMs} ms that the API server waits`, 504),
      );
    } catch (error) {
      if (error instanceof BodyError || error instanceof UndecodableBodyError) return this.#refuse(error);
      this.#panic();
      this.#logger.error('webhook handler failed', { error: safeError(error) });
      return { ...this.#reject('the webhook failed', 500), code: 500 };
    }
  }

  async #readBody(
    request: HttpRequest,
    { held, signal, timeout }: { held: HeldBody; signal: AbortSignal; timeout: AbortSignal },
  ): Promise<unknown> {
    const { clock } = this.#parts;
    const body = await held.read({ maxBytes: this.#handler.maxBodyBytes, signal, clock }).catch((error: unknown) => {
      if (!timeout.aborted) throw error;
      throw new BodyError('the body did not arrive within the time that the API server waits', 408, { cause: error });
    });
    if (body.length === 0) throw new BodyError('request body is empty', 400);
    const contentType = request.headers['content-type'] ?? '';
    if (contentType !== 'application/json')
      throw new BodyError(`contentType=${contentType.slice(0, 100)}, expected application/json`, 400);
    return readJson(body);
  }

  #refuse(error: BodyError | UndecodableBodyError): WebhookAnswer {
    const code = error instanceof BodyError ? error.httpCode : 400;
    const message = error instanceof BodyError ? 'bad request' : 'unable to decode the request';
    // Its message alone, because a client decides how often this is written.
    this.#logger.warn(message, { error: error.message, code });
    return this.#reject(error.message, code);
  }

  #reject(message: string, code: number): WebhookAnswer {
    return this.#handler.reject(message, code);
  }

  #panic(): void {
    this.#parts.metrics?.panic(this.#handler.type ?? 'admission');
  }

  #encode(answer: WebhookAnswer): { readonly text: string; readonly failed: boolean } {
    try {
      return { text: stringifyJson(answer.body), failed: false };
    } catch (error) {
      this.#logger.error('unable to encode response', { error: safeError(error) });
      return { text: stringifyJson(this.#reject('unable to encode response', 500).body), failed: true };
    }
  }
}

/** The result of the call, or that of `late` once the signal is aborted; a later rejection is dropped. */
async function withinTimeout(
  call: () => Promise<WebhookAnswer>,
  signal: AbortSignal,
  late: () => WebhookAnswer,
): Promise<WebhookAnswer> {
  const gaveUp = Promise.withResolvers<WebhookAnswer>();
  const onAbort = (): void => gaveUp.resolve(late());
  const promise = call();
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, gaveUp.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    promise.catch(() => undefined);
  }
}

function send(response: HttpResponse, code: number, text: string): void {
  if (response.destroyed || response.writableEnded) return;
  response.statusCode = code;
  response.setHeader('content-type', 'application/json');
  response.end(text);
}
