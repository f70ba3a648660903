import type { Logger } from '@kctl/telemetry';

/** A request that reached a webhook path, its body already parsed. */
export interface WebhookRequest {
  readonly path: string;
  /** The JSON body. */
  readonly body: unknown;
  /** Aborted when the API server hangs up or the server stops hard. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
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
  /** The largest body that is read, in bytes; a larger one is answered with 413. */
  readonly maxBodyBytes: number;
  handle(request: WebhookRequest): Promise<WebhookAnswer>;
  /** The answer to a request that never became one: wrong content type, empty or broken body. */
  reject(message: string, code: number): WebhookAnswer;
}
