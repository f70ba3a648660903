/** Thrown when a webhook server cannot start or is used wrongly. */
export class WebhookServerError extends Error {
  override readonly name = 'WebhookServerError';
  readonly code = 'KCTL_WEBHOOK_SERVER' as const;
}

/** Whether an error is a {@link WebhookServerError}, also one of another copy of this package. */
export function isWebhookServerError(error: unknown): error is WebhookServerError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_WEBHOOK_SERVER';
}
