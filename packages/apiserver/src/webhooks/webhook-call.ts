import type { ServiceReference } from './client-config.js';

/** One call of a webhook, for a {@link WebhookTransport}. */
export interface WebhookCall {
  /** With its path and the query `timeout`, which the webhook has for its answer. */
  readonly url: string;
  /** The Service that the host of {@link url} stands for. */
  readonly service: ServiceReference | undefined;
  /** The review, JSON. */
  readonly body: Uint8Array;
  /** Aborted when the caller waits no longer. */
  readonly signal: AbortSignal;
}

/** Answer of a webhook. */
export interface WebhookCallAnswer {
  readonly status: number;
  readonly contentType?: string | undefined;
  /** The header `Retry-After`. */
  readonly retryAfter?: string | undefined;
  readonly body: Uint8Array;
}

/** Carries calls of webhooks in place of HTTPS, e.g. through a simulated network. A rejection is a connection that failed. */
export type WebhookTransport = (call: WebhookCall) => Promise<WebhookCallAnswer>;
