import { jsonText, type JsonObject } from '@kctl/crd/internal/engine';
import { WebhookCallError } from '../../webhooks/call-error.js';
import type { WebhookClientConfig } from '../../webhooks/client-config.js';
import {
  readWebhookAnswer,
  type WebhookCallOptions,
  type WebhookConnections,
  type WriteCaller,
} from '../../outgoing/webhook-caller.js';
import { isLongBody } from '../../codecs/long-body.js';
import type { CallOutcome } from '../../offload/long-write.js';

/** Thrown when a webhook has made a short object long; the rest runs in another thread. */
export class LongAnswerError extends Error {
  override readonly name = 'LongAnswerError';

  constructor() {
    super('the answer of a webhook is long');
  }
}

/** Calls the mutating webhooks of one write, and keeps what they answered for a second beginning in another thread. */
export class NotedCalls implements WriteCaller {
  readonly #connections: WebhookConnections;
  readonly uids: string[] = [];
  readonly outcomes: CallOutcome[] = [];

  constructor(connections: WebhookConnections) {
    this.#connections = connections;
  }

  restart(): void {
    this.uids.length = 0;
    this.outcomes.length = 0;
  }

  newUid(): string {
    const uid = this.#connections.newUid();
    this.uids.push(uid);
    return uid;
  }

  async post(config: WebhookClientConfig, review: unknown, options: WebhookCallOptions): Promise<JsonObject> {
    const index = this.outcomes.length;
    const { url } = config;
    try {
      const answer = await this.#connections.exchange(config, Buffer.from(jsonText(review)), options);
      this.outcomes.push({ index, url, outcome: { answer } });
      if (isLongBody(answer.body)) throw new LongAnswerError();
      return await readWebhookAnswer(answer);
    } catch (error) {
      if (error instanceof WebhookCallError && this.outcomes.length === index)
        this.outcomes.push({ index, url, outcome: { problem: error.message, isCanceled: error.isCanceled } });
      throw error;
    }
  }
}
