import type { IncomingHttpHeaders } from 'node:http';
import { shownType } from '@kctl/options';
import type { HttpRequest } from '@kctl/http-server';
import type { Logger } from '@kctl/telemetry';
import type { Converter } from './converter.js';
import type { AdmissionTarget } from './registration.js';
import type { ClientIdentity } from './client-identity.js';

/** How a request reached the server. */
export interface WebhookHttp {
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** The identity in the client's certificate; undefined without a client certificate that was verified. */
  readonly peer: ClientIdentity | undefined;
  /** Node's own request; its body has been read. */
  readonly request: HttpRequest;
  /** The API server's timeout, in ms, from its `timeout` query parameter, 30 s at most. */
  readonly timeoutMs: number;
}

/** A request that reached a webhook path, its body already parsed. */
export interface WebhookRequest {
  readonly path: string;
  /** The JSON body. */
  readonly body: unknown;
  /**
   * Aborted when the API server hangs up, when its timeout has passed, and when the server stops hard. An answer after
   * that reaches no client.
   */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The HTTP side; undefined if a handler is called without it, in a unit test for example. */
  readonly http?: WebhookHttp;
  /** Counts a handler that threw. The server gives it. */
  readonly onPanic?: () => void;
}

/** A webhook's answer, with a status code and a JSON body. */
export interface WebhookAnswer {
  /** @default 200 */
  readonly code?: number;
  readonly body: unknown;
}

/**
 * The handler of a path. A handler answers in its review's terms even when it fails, and should not reject; if it does,
 * the server answers 500 and counts a panic.
 */
export interface WebhookHandler {
  /** The largest body that is read, in bytes; a larger one is refused with 413. */
  readonly maxBodyBytes: number;
  /** Which metric counts its panics. @default 'admission' */
  readonly type?: 'admission' | 'conversion' | 'authentication';
  /** The served kinds and verbs, for webhook configurations; undefined for a handler that does not state them. */
  readonly target?: AdmissionTarget;
  /** The converter, for a conversion webhook alone. */
  readonly converter?: Converter;
  handle(request: WebhookRequest): Promise<WebhookAnswer>;
  /** The answer to a request that could not be read, because of a wrong content type, or an empty or broken body. */
  reject(message: string, code: number): WebhookAnswer;
}

/** @throws TypeError naming what is not a handler; `others` is what else may stand there */
export function requireHandler(what: string, handler: unknown, others = ''): asserts handler is WebhookHandler {
  const isHandler =
    typeof handler === 'object' &&
    handler !== null &&
    'handle' in handler &&
    typeof handler.handle === 'function' &&
    'reject' in handler &&
    typeof handler.reject === 'function';
  if (!isHandler)
    throw new TypeError(`${what} is ${shownType(handler)}: expected one such as validatingWebhook(…)${others}`);
}
