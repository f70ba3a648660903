import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
import { messageOf } from '@kctl/telemetry/internal';
import { anySignal, orAborted, sleep, type Clock } from '@kctl/wait';
import { isObject, jsonText, type JsonObject, goQuoted } from '@kctl/crd/internal/engine';
import { parseYamlBody } from '../codecs/body.js';
import { nodeHttps } from '../protocol/node-http.js';
import { noObjectText } from '../protocol/go-text.js';
import { JsonSyntaxError, scanJson } from '../json/strict-json.js';
import type { WebhookCallAnswer, WebhookTransport } from '../webhooks/webhook-call.js';
import { answerProblem, connectionProblem, failureOf, WebhookCallError } from '../webhooks/call-error.js';
import { checkCertificateNames } from './certificate-names.js';
import { resolveService, type ServiceResolver, type WebhookClientConfig } from '../webhooks/client-config.js';

/** Options of {@link createWebhookCaller}. */
export interface WebhookCallerOptions {
  readonly clock: Clock;
  /** @default HTTPS */
  readonly transport?: WebhookTransport | undefined;
  /** How Services become addresses. @default none does */
  readonly resolveService?: ServiceResolver | undefined;
  /** Largest answer that is read, in bytes. @default 16777216 */
  readonly maxAnswerBytes?: number;
}

/** Options of one call. */
export interface WebhookCallOptions {
  /** How long the call may take, in ms. The webhook receives it as `?timeout=`, in whole seconds. */
  readonly timeoutMs: number;
  /** Remaining time of the request that the call is made for, in ms; {@link signal} ends it. @default no end */
  readonly remainingMs?: number;
  /** Ends the call with the request that it is made for. */
  readonly signal?: AbortSignal;
}

/** Calls webhooks over HTTPS, of admission and of conversion. Connections are kept for the next call. */
export interface WebhookCaller {
  /**
   * POSTs a review and resolves with the JSON object that was answered.
   *
   * @throws WebhookCallError when there is no answer in time, or one that is not a JSON object with status 2xx
   */
  post(config: WebhookClientConfig, review: unknown, options: WebhookCallOptions): Promise<JsonObject>;
  /** Identifier for a review. */
  newUid(): string;
}

/** Calls the webhooks of one write, from its beginning on. */
export interface WriteCaller extends WebhookCaller {
  /** Restarts the write; its webhooks are called again. */
  restart(): void;
}

/** A {@link WebhookCaller} that holds connections, and carries reviews that another thread has written. */
export interface WebhookConnections extends WebhookCaller {
  /**
   * POSTs the JSON of a review and resolves with what came back, whatever it is.
   *
   * @throws WebhookCallError when there is no answer in time
   */
  exchange(config: WebhookClientConfig, body: Uint8Array, options: WebhookCallOptions): Promise<WebhookCallAnswer>;
  /** Closes all connections that are kept. Calls may follow, which open new ones. */
  close(): void;
}

interface Call {
  readonly config: WebhookClientConfig;
  readonly url: URL;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

interface Target {
  readonly url: URL;
  readonly agent: Agent;
  readonly host: string;
  readonly port: number;
  readonly servername: string | undefined;
}

const maxAgents = 200;
const maxRetries = 10;
const headers = {
  accept: 'application/json, */*',
  'content-type': 'application/json',
  'user-agent': 'kube-apiserver-admission',
} as const;

class HttpsWebhookCaller implements WebhookConnections {
  readonly #options: WebhookCallerOptions;
  /** By CA and server name, least recently used first. */
  readonly #agents = new Map<string, Agent>();

  constructor(options: WebhookCallerOptions) {
    this.#options = options;
  }

  async post(config: WebhookClientConfig, review: unknown, options: WebhookCallOptions): Promise<JsonObject> {
    return readWebhookAnswer(await this.exchange(config, Buffer.from(jsonText(review)), options));
  }

  newUid(): string {
    return randomUUID();
  }

  async exchange(
    config: WebhookClientConfig,
    body: Uint8Array,
    options: WebhookCallOptions,
  ): Promise<WebhookCallAnswer> {
    const { timeoutMs, remainingMs = Infinity, signal } = options;
    using link = anySignal([signal]);
    const timer = this.#options.clock.setTimer(() => link.abort(new Error(late)), timeoutMs);
    const url = `${config.url}?timeout=${Math.ceil(Math.min(timeoutMs, remainingMs) / 1000)}s`;
    const call = { config, url: new URL(url), body, signal: link.signal };
    try {
      return await this.#send(call);
    } catch (error) {
      const isCanceled = signal?.aborted === true;
      const problem = isCanceled ? 'context canceled' : link.signal.aborted ? late : problemOf(error);
      throw new WebhookCallError(`Post ${goQuoted(url)}: ${problem}`, { isCanceled });
    } finally {
      timer.cancel();
    }
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  /** Sends, and sends again if the webhook requests it by `Retry-After`. */
  async #send(call: Call): Promise<WebhookCallAnswer> {
    const { clock, transport } = this.#options;
    const { body, signal, config, url } = call;
    for (let attempt = 0; ; attempt++) {
      const answer =
        transport === undefined
          ? await this.#exchange(await this.#target(call), body, signal)
          : await orAborted(transport({ url: url.href, service: config.service, body, signal }), signal);
      const seconds = answer.retryAfter;
      const isBusy = answer.status === 429 || answer.status >= 500;
      if (!isBusy || seconds === undefined || !/^\d+$/.test(seconds) || attempt === maxRetries) return answer;
      await sleep(Number(seconds) * 1000, { clock, signal });
    }
  }

  async #target({ config, url, signal }: Call): Promise<Target> {
    const { service, certificateAuthority } = config;
    const servername = service === undefined ? undefined : url.hostname;
    const agent = this.#agent(certificateAuthority, servername);
    if (service !== undefined) {
      const { host, port } = await orAborted(resolveService(this.#options.resolveService, service), signal);
      return { url, agent, servername, host, port };
    }
    const host = url.hostname.replace(/^\[|\]$/g, '');
    return { url, agent, servername, host, port: url.port === '' ? 443 : Number(url.port) };
  }

  /**
   * The agent of a CA and a server name. Connections are never shared between those that trust different authorities.
   */
  #agent(certificateAuthority: string | undefined, servername: string | undefined): Agent {
    const key = `${servername ?? ''}\n${certificateAuthority ?? ''}`;
    const known = this.#agents.get(key);
    this.#agents.delete(key);
    const agent =
      known ??
      new nodeHttps.Agent({
        keepAlive: true,
        maxFreeSockets: 25,
        checkServerIdentity: checkCertificateNames,
        ...(certificateAuthority !== undefined && {
          ca: certificateAuthority,
          // As in Go, a trusted certificate vouches for itself, whether it is an authority or not. envtest relies on
          // it.
          allowPartialTrustChain: true,
        }),
      });
    this.#agents.set(key, agent);
    const [oldest] = this.#agents;
    if (this.#agents.size > maxAgents && oldest !== undefined) {
      this.#agents.delete(oldest[0]);
      oldest[1].destroy();
    }
    return agent;
  }

  /** One request and its answer. A kept connection that the other side has just closed costs nothing but a new one. */
  async #exchange(target: Target, body: Uint8Array, signal: AbortSignal): Promise<WebhookCallAnswer> {
    const first = await this.#attempt(target, body, signal);
    if (first.answer !== undefined) return first.answer;
    if (!first.isStale) throw first.error;
    const second = await this.#attempt(target, body, signal);
    if (second.answer !== undefined) return second.answer;
    throw second.error;
  }

  #attempt(
    { url, agent, host, port, servername }: Target,
    body: Uint8Array,
    signal: AbortSignal,
  ): Promise<
    | { readonly answer: WebhookCallAnswer; readonly error?: undefined; readonly isStale?: undefined }
    | { readonly answer?: undefined; readonly error: Error; readonly isStale: boolean }
  > {
    const { maxAnswerBytes = 16 * 1024 * 1024 } = this.#options;
    return new Promise((resolve) => {
      let hasAnswer = false;
      const request = nodeHttps.request({
        agent,
        host,
        port,
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, host: url.host, 'content-length': body.length },
        ...(servername !== undefined && { servername }),
        signal,
      });
      const fail = (error: Error): void => {
        const isReset = Reflect.get(error, 'code') === 'ECONNRESET' || Reflect.get(error, 'code') === 'EPIPE';
        resolve({ error, isStale: request.reusedSocket && isReset && !hasAnswer && !signal.aborted });
      };
      request.on('error', fail);
      request.on('response', (response) => {
        hasAnswer = true;
        readBody(response, maxAnswerBytes).then(
          (bytes) =>
            resolve({
              answer: {
                status: response.statusCode ?? 0,
                contentType: response.headers['content-type'],
                retryAfter: response.headers['retry-after'],
                body: bytes,
              },
            }),
          (error: unknown) => {
            request.destroy();
            fail(error instanceof Error ? error : new Error(String(error)));
          },
        );
      });
      request.end(body);
    });
  }
}

const late = 'context deadline exceeded';

function problemOf(error: unknown): string {
  return error instanceof Error ? connectionProblem(error) : messageOf(error);
}

async function readBody(response: IncomingMessage, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response) {
    if (!(chunk instanceof Uint8Array)) continue;
    size += chunk.length;
    if (size > limit) throw new Error(`the answer is larger than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The JSON object of an answer. @throws WebhookCallError */
export async function readWebhookAnswer({ status, contentType, body }: WebhookCallAnswer): Promise<JsonObject> {
  const isSuccess = status >= 200 && status <= 206;
  if (isSuccess) return parseAnswer(status, contentType, body);
  const value = tryParse(body);
  const failure = value === undefined ? undefined : failureOf(value);
  if (failure !== undefined) throw new WebhookCallError(failure);
  throw new WebhookCallError(answerProblem(status, body, contentType));
}

async function parseAnswer(status: number, contentType: string | undefined, body: Uint8Array): Promise<JsonObject> {
  if (body.length === 0)
    throw new WebhookCallError(
      `0-length response with status code: ${status} and content type: ${contentType ?? 'application/json'}`,
    );
  const head = "couldn't get version/kind; json parse error:";
  const text = new TextDecoder().decode(body);
  let value: unknown;
  try {
    // As upstream's decoder, a body that does not begin as an object is read as YAML.
    ({ value } = text.trimStart().startsWith('{') ? scanJson(text) : await parseYamlBody(text, undefined));
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new WebhookCallError(`${head} ${error.message}`);
    throw new WebhookCallError(messageOf(error));
  }
  if (isObject(value)) return value;
  if (value === null) return {};
  throw new WebhookCallError(noObjectText(value));
}

function tryParse(body: Uint8Array): JsonObject | undefined {
  try {
    const { value } = scanJson(new TextDecoder().decode(body));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Makes a caller of webhooks. It opens no connection before the first call. */
export function createWebhookCaller(options: WebhookCallerOptions): WebhookConnections {
  return new HttpsWebhookCaller(options);
}
