/**
 * Queries of a write to the thread of the server, such as calls of webhooks, decisions of the authorizer, and tables of
 * the store.
 */
import { jsonText, type JsonObject } from '@kctl/crd/internal/engine';
import type { Random } from '@kctl/wait';
import type { Attributes } from '../authorization/attributes.js';
import type { Authorizer } from '../authorization/authorizer.js';
import type { Store } from '../storage/store.js';
import type { WebhookClientConfig } from '../webhooks/client-config.js';
import { WebhookCallError } from '../webhooks/call-error.js';
import type { WebhookCallAnswer } from '../webhooks/webhook-call.js';
import { readWebhookAnswer, type WebhookCallOptions } from '../outgoing/webhook-caller.js';
import { KnownStore, UnknownHereError } from './known-store.js';
import type { Asked, AskedCall, CallOutcome, ReviewFacts } from '../offload/long-write.js';

/** A uid in the form of version 4. */
function uidOf(random: Random): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`;
}

interface Waiting {
  readonly outcome: CallOutcome;
  readonly resolve: (answer: WebhookCallAnswer | PromiseLike<WebhookCallAnswer>) => void;
}

/**
 * The questions of one run of a write. Questions that were answered before are answered at once; any other call stays
 * open without limit, so the run is given up, and the write begins again with the answer. Runs with the same seed have
 * the same questions.
 */
export class Inquiry {
  readonly #facts: ReviewFacts;
  readonly #random: Random;
  readonly #calls: AskedCall[] = [];
  readonly #decisions = new Map<string, Attributes>();
  readonly #tables = new Set<string>();
  readonly #waiting: Waiting[] = [];
  readonly #stall = Promise.withResolvers<undefined>();
  #nextCall = 0;
  #nextUid = 0;

  constructor(facts: ReviewFacts, random: Random) {
    this.#facts = facts;
    this.#random = random;
  }

  /** Resolves once the run waits for a call that has not been answered. */
  get stalled(): Promise<undefined> {
    return this.#stall.promise;
  }

  /** Questions to be answered; undefined if the run needed nothing that it did not have. */
  get asked(): Asked | undefined {
    const [calls, decisions, tables] = [this.#calls, [...this.#decisions.values()], [...this.#tables]];
    return calls.length + decisions.length + tables.length === 0 ? undefined : { calls, decisions, tables };
  }

  newUid(): string {
    return this.#facts.uids[this.#nextUid++] ?? uidOf(this.#random);
  }

  readonly authorizer: Authorizer = {
    authorize: (attributes) => {
      const key = jsonText(attributes);
      const known = this.#facts.decisions[key];
      if (known !== undefined) return known;
      this.#decisions.set(key, attributes);
      throw new Error('the evaluation needs an answer of the authorizer');
    },
    rulesFor: () => {
      throw new UnknownHereError('what a user may do');
    },
  };

  /**
   * A store with single objects of some tables, and all objects of the requested tables. Other tables are requested.
   */
  storeOf(store: Store, partial: readonly string[]): KnownStore {
    return new KnownStore(store, {
      partial,
      whole: this.#facts.tables,
      onUnknown: (table) => void this.#tables.add(table),
    });
  }

  async post(config: WebhookClientConfig, review: unknown, options: WebhookCallOptions): Promise<JsonObject> {
    const index = this.#nextCall++;
    const outcome = this.#facts.outcomes.find((known) => known.index === index);
    if (outcome === undefined) return this.#ask({ index, config, review, options });
    if (outcome.url !== config.url) throw new Error(`call ${index} of the write goes to another webhook than before`);
    return readWebhookAnswer(await this.#inOrder(outcome));
  }

  #ask({
    index,
    config,
    review,
    options: { timeoutMs, remainingMs },
  }: {
    readonly index: number;
    readonly config: WebhookClientConfig;
    readonly review: unknown;
    readonly options: WebhookCallOptions;
  }): Promise<never> {
    const body = Buffer.from(jsonText(review));
    this.#calls.push({ index, config, body, timeoutMs, ...(remainingMs !== undefined && { remainingMs }) });
    // Questions made at the same time are sent together.
    setImmediate(() => setImmediate(() => this.#stall.resolve(undefined)));
    return new Promise(() => undefined);
  }

  /** Answers of calls that were made at the same time come in the order in which they came. */
  #inOrder(outcome: CallOutcome): Promise<WebhookCallAnswer> {
    const { promise, resolve } = Promise.withResolvers<WebhookCallAnswer>();
    if (this.#waiting.length === 0) setImmediate(() => this.#release());
    this.#waiting.push({ outcome, resolve });
    return promise;
  }

  #release(): void {
    const place = ({ outcome }: Waiting): number => this.#facts.outcomes.indexOf(outcome);
    for (const { outcome: known, resolve } of this.#waiting.splice(0).sort((a, b) => place(a) - place(b))) {
      const { outcome } = known;
      if ('answer' in outcome) resolve(outcome.answer);
      else {
        const { problem, isCanceled } = outcome;
        resolve(Promise.reject(new WebhookCallError(problem, { isCanceled })));
      }
    }
  }
}
