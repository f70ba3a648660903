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
  /** Who the client's certificate says it is; undefined without a client certificate that was verified. */
  readonly peer: ClientIdentity | undefined;
  /** Node's own request; its body has been read. */
  readonly request: HttpRequest;
  /** How long the API server waits, in ms: its `timeout` query parameter, 30 s at most. */
  readonly timeoutMs: number;
}

/** A request that reached a webhook path, its body already parsed. */
export interface WebhookRequest {
  readonly path: string;
  /** The JSON body. */
  readonly body: unknown;
  /**
   * Aborted when the API server hangs up, when its timeout has passed, and when the server stops hard. What is answered
   * after that reaches no client.
   */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The HTTP side; undefined where a handler is called without it, in a unit test for example. */
  readonly http?: WebhookHttp;
  /** Counts a handler that threw. The server gives it. */
  readonly onPanic?: () => void;
}

/** What a webhook answers: a status code and a JSON body. */
export interface WebhookAnswer {
  /** @default 200 */
  readonly code?: number;
  readonly body: unknown;
}

/**
 * What stands behind a path. A handler answers in its review's own terms also when it fails: it should not reject; if
 * it does, the server answers 500 and counts a panic.
 */
export interface WebhookHandler {
  /** The largest body that is read, in bytes; a larger one is refused with 413. */
  readonly maxBodyBytes: number;
  /** Which metric counts its panics. @default 'admission' */
  readonly type?: 'admission' | 'conversion' | 'authentication';
  /** What it serves, for webhook configurations; undefined for what does not say. */
  readonly target?: AdmissionTarget;
  /** What it converts by: of a conversion webhook alone. */
  readonly converter?: Converter;
  handle(request: WebhookRequest): Promise<WebhookAnswer>;
  /** The answer to a request that never became one: wrong content type, empty or broken body. */
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
