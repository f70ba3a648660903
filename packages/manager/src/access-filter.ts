import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { inspect } from 'node:util';
import type { KubeObject } from '@kctl/apimachinery';
import { defineKind, isStatusError } from '@kctl/apimachinery';
import type { Writer } from '@kctl/client';
import { type AccessNeed, accessTo } from '@kctl/rbac';
import { describeError } from '@kctl/telemetry';
import { loggerOption } from '@kctl/telemetry/internal';
import type { Logger } from '@kctl/telemetry';
import type { OptionNames } from '@kctl/options';
import type { Clock, Random } from '@kctl/wait';
import { clockOption, functionOption, optionWithMethods, requireOptions } from '@kctl/options';
import { orAborted, sleep, systemRandom } from '@kctl/wait';
import { guardedRandom, startTimer } from '@kctl/wait/internal';
import type { HttpHandler } from './http-server.js';
import { targetOf } from './request-target.js';
import { ReviewMemory } from './review-memory.js';

interface TokenReview extends KubeObject {
  spec: { token: string };
  status?: { authenticated?: boolean; error?: string; user?: UserInfo };
}

interface UserInfo {
  username?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

interface SubjectAccessReview extends KubeObject {
  spec: {
    user?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
    nonResourceAttributes: { path: string; verb: string };
  };
  status?: { allowed?: boolean; denied?: boolean; reason?: string };
}

const tokenReviews = defineKind<TokenReview>()({
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  scope: 'Cluster',
});
const accessReviews = defineKind<SubjectAccessReview>()({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  scope: 'Cluster',
});

/** As in controller-runtime's `WithAuthenticationAndAuthorization`. */
const reviewTimeoutMs = 10_000;
const tokenTtlMs = 60_000;
/** Accepted tokens that are remembered as such for longer. */
const maxAccepted = 1024;
const allowTtlMs = 300_000;
const denyTtlMs = 30_000;
/** Maximum number of concurrent reviews. Without a limit, guessed tokens become as many requests. */
const maxReviews = 32;
/**
 * Additional reviews for an address that has fewer than this, so that guesses from one address leave room for the
 * tokens of others.
 */
const reviewsPerAddress = 4;
const retry = { firstMs: 500, factor: 1.5, jitter: 0.2, steps: 5 };

/** Options of {@link createAccessFilter}. */
export interface AccessFilterOptions {
  /** May create TokenReviews and SubjectAccessReviews. */
  readonly client: Pick<Writer, 'create'>;
  readonly logger: Logger;
  readonly clock: Clock;
  /** @default Math.random */
  readonly random?: Random;
}

const optionNames: OptionNames<AccessFilterOptions> = {
  client: optionWithMethods(['create'], 'a client, such as createHttpClient({ … }) of @kctl/client-http'),
  logger: loggerOption,
  clock: clockOption,
  random: functionOption,
};

/**
 * Lets a request pass whose bearer token the API server accepts (TokenReview) and whose user may do the HTTP method, in
 * lower case, on the path (SubjectAccessReview on a non-resource URL). 401 without a valid token, 403
 * `Authorization denied for user X`, 500 if the API server cannot be reached, 503 if reviews of 32 unknown tokens are
 * in progress; the token of another address, and one that was accepted before, finds room beside them. Tokens are
 * remembered for 1 min (as hashes), an allowance for 5 min, a refusal for 30 s. Mirrors
 * `filters.WithAuthenticationAndAuthorization`.
 *
 * @example
 * ```ts
 * import { createAccessFilter } from '@kctl/manager';
 * import { createManager } from '@kctl/runtime';
 * import { systemClock } from '@kctl/wait';
 *
 * const filter = createAccessFilter({ client, logger, clock: systemClock });
 * const manager = await createManager({ metricsServer: { port: 8443, filter } });
 * ```
 */
export function createAccessFilter(options: AccessFilterOptions): AccessFilterHandler {
  requireOptions('createAccessFilter', options, optionNames);
  const filter = new AccessFilter(options);
  const handle: HttpHandler = async (request, response) => {
    const refusal = await filter.judge(request);
    if (refusal === undefined) return false;
    response.writeHead(refusal.status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${refusal.message}\n`);
    return true;
  };
  return Object.assign(handle, { accessNeeds: reviewNeeds });
}

/** The handler of {@link createAccessFilter}, with the rights that it needs. */
export type AccessFilterHandler = HttpHandler & { readonly accessNeeds: readonly AccessNeed[] };

/** A test has to send a request with a token to the metrics for these to be used. */
const when = 'metrics are requested with a token that was not seen before';
const reviewNeeds: readonly AccessNeed[] = [
  accessTo(tokenReviews, ['create'], { reason: 'createAccessFilter', when }),
  accessTo(accessReviews, ['create'], { reason: 'createAccessFilter', when }),
];

interface Refusal {
  readonly status: 401 | 403 | 500 | 503;
  readonly message: string;
}

class AccessFilter {
  readonly #options: AccessFilterOptions;
  readonly #random: Random;
  readonly #users: ReviewMemory<UserInfo | undefined>;
  readonly #decisions: ReviewMemory<boolean>;
  /** Reviews of tokens that were never accepted. */
  readonly #guesses = new ReviewSlots();
  /** Reviews about who was authenticated, now or before. */
  readonly #known = new ReviewSlots();
  /** Hashes of tokens that were accepted once, the latest last. */
  readonly #accepted = new Set<string>();

  constructor(options: AccessFilterOptions) {
    this.#options = options;
    this.#random = guardedRandom(options.random ?? systemRandom, (error) =>
      options.logger.error('random failed, Math.random is used instead', { error }),
    );
    this.#users = new ReviewMemory(options.clock);
    this.#decisions = new ReviewMemory(options.clock);
  }

  async judge(request: IncomingMessage): Promise<Refusal | undefined> {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) return { status: 401, message: 'Unauthorized' };
    try {
      const user = await this.#authenticate(token, addressOf(request));
      if (user === undefined) return { status: 401, message: 'Unauthorized' };
      const path = targetOf(request).pathname;
      const verb = (request.method ?? 'GET').toLowerCase();
      return (await this.#authorize(user, path, verb))
        ? undefined
        : { status: 403, message: `Authorization denied for user ${user.username ?? ''}` };
    } catch (error) {
      if (error instanceof TooManyReviewsError) return { status: 503, message: error.message };
      this.#options.logger.error('failed to authenticate or authorize a request', {
        error: withoutToken(error, token),
      });
      return { status: 500, message: 'Authentication failed' };
    }
  }

  #authenticate(token: string, address: string): Promise<UserInfo | undefined> {
    const key = createHash('sha256').update(token).digest('hex');
    return this.#users.getOrAsk(key, async () => {
      using _slot = this.#accepted.has(key) ? this.#known.take('') : this.#guesses.take(address);
      const review = await this.#review((signal) =>
        this.#options.client.create(tokenReviews, { metadata: {}, spec: { token } }, { signal }),
      );
      const user = review.status?.authenticated === true ? (review.status.user ?? {}) : undefined;
      if (user !== undefined) this.#remember(key);
      return { value: user, isPositive: user !== undefined, ttlMs: tokenTtlMs };
    });
  }

  #authorize(user: UserInfo, path: string, verb: string): Promise<boolean> {
    const { username = '', uid, groups, extra } = user;
    const spec: SubjectAccessReview['spec'] = {
      user: username,
      ...(uid === undefined ? {} : { uid }),
      ...(groups === undefined ? {} : { groups }),
      ...(extra === undefined ? {} : { extra }),
      nonResourceAttributes: { path, verb },
    };
    return this.#decisions.getOrAsk(JSON.stringify(spec), async () => {
      using _slot = this.#known.take(username);
      const review = await this.#review((signal) =>
        this.#options.client.create(accessReviews, { metadata: {}, spec }, { signal }),
      );
      const value = review.status?.allowed === true && review.status.denied !== true;
      return { value, isPositive: value, ttlMs: value ? allowTtlMs : denyTtlMs };
    });
  }

  #remember(key: string): void {
    this.#accepted.delete(key);
    this.#accepted.add(key);
    const [oldest] = this.#accepted;
    if (this.#accepted.size > maxAccepted && oldest !== undefined) this.#accepted.delete(oldest);
  }

  /** Calls the API server, with retries if they may help, for at most {@link reviewTimeoutMs}. */
  async #review<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const deadline = new AbortController();
    const timer = startTimer(
      clock,
      () => deadline.abort(new Error(`no answer within ${reviewTimeoutMs} ms`)),
      reviewTimeoutMs,
      { keepAlive: false },
    );
    try {
      for (let step = 1, delay = retry.firstMs; ; step++, delay *= retry.factor) {
        try {
          return await orAborted(ask(deadline.signal), deadline.signal); // a client may ignore its signal
        } catch (error) {
          if (step === retry.steps || deadline.signal.aborted || !mayPass(error)) throw error;
        }
        await sleep(delay * (1 + retry.jitter * this.#random()), { clock, signal: deadline.signal, keepAlive: false });
      }
    } finally {
      timer.cancel();
    }
  }
}

/** The error for a log, either as it is or, if an API server's answer repeats the token, its message without it. */
function withoutToken(error: unknown, token: string): unknown {
  const text = inspect(error, { depth: Infinity, showHidden: true });
  return text.includes(token) ? describeError(error).message.replaceAll(token, '[token]') : error;
}

/** Counts reviews that are under way. */
class ReviewSlots {
  readonly #byHolder = new Map<string, number>();
  #count = 0;

  /** @throws TooManyReviewsError */
  take(holder: string): Disposable {
    const held = this.#byHolder.get(holder) ?? 0;
    const isFull = this.#count >= maxReviews && held >= reviewsPerAddress;
    if (isFull || this.#count >= 2 * maxReviews)
      throw new TooManyReviewsError('too many reviews are under way, try again later');
    this.#add(holder, 1);
    return { [Symbol.dispose]: () => this.#add(holder, -1) };
  }

  #add(holder: string, count: number): void {
    this.#count += count;
    const held = (this.#byHolder.get(holder) ?? 0) + count;
    if (held > 0) this.#byHolder.set(holder, held);
    else this.#byHolder.delete(holder);
  }
}

function addressOf(request: IncomingMessage): string {
  const socket: { readonly remoteAddress?: string | undefined } | undefined = request.socket;
  return socket?.remoteAddress ?? '';
}

class TooManyReviewsError extends Error {}

/** Whether the same request may succeed later. A missing permission or an invalid review does not go away by itself. */
function mayPass(error: unknown): boolean {
  if (!isStatusError(error)) return true;
  const { httpCode } = error;
  return httpCode === 0 || httpCode >= 500 || httpCode === 429 || httpCode === 408;
}
