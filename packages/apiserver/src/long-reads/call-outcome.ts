import { WebhookCallError } from '../webhooks/call-error.js';
import type { WebhookConnections } from '../outgoing/webhook-caller.js';
import type { AskedCall, CallOutcome } from '../offload/long-write.js';

/** Makes a call that another thread waits for. */
export async function callOutcome(
  webhooks: Pick<WebhookConnections, 'exchange'>,
  { index, config, body, timeoutMs, remainingMs }: AskedCall,
  signal?: AbortSignal,
): Promise<CallOutcome> {
  const { url } = config;
  const limits = { timeoutMs, ...(remainingMs !== undefined && { remainingMs }), ...(signal && { signal }) };
  try {
    return { index, url, outcome: { answer: await webhooks.exchange(config, body, limits) } };
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    return { index, url, outcome: { problem: error.message, isCanceled: error.isCanceled } };
  }
}
