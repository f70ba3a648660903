import type { IncomingMessage, ServerResponse } from 'node:http';
import { requireName } from '@kctl/client/internal';
import { createBodyBudget, isBodyError } from '@kctl/http-server';
import type { OptionNames } from '@kctl/options';
import { functionOption, numberProblem, requireOptions, shownValue, textOption } from '@kctl/options';
import { createEventChannel } from './event-channel.js';
import type { EventChannel } from './event-channel.js';
import { listed } from './lookup.js';
import { requireFunction } from '../event/required.js';

/** Options of {@link createWebhookReceiver}. */
export interface WebhookReceiverOptions<T> {
  /** The path that it answers. */
  readonly path: string;
  /**
   * The objects that a delivery is about. Throw to refuse it (answered with 400); so is one that `identify` throws for. `body` is the parsed JSON, `raw` what
   * was sent, e.g. to check a signature.
   */
  readonly read: (delivery: {
    readonly body: unknown;
    readonly raw: Uint8Array;
    readonly headers: IncomingMessage['headers'];
  }) => Iterable<T> | Promise<Iterable<T>>;
  /** Identity of an object; waiting deliveries merge by it. @default nothing merges */
  readonly identify?: (object: T) => string;
  /** Largest body in bytes. @default 1048576 */
  readonly maxBytes?: number;
  /** How many objects may wait. @default 1024 */
  readonly capacity?: number;
}

/** Bodies of the largest size that are in memory at a time; many more of the usual size. */
const bodiesAtOnce = 16;

const optionNames: OptionNames<WebhookReceiverOptions<never>> = {
  path: textOption,
  read: true,
  identify: functionOption,
  maxBytes: true,
  capacity: true,
};

/** An HTTP endpoint whose deliveries are the events of a `channelSource`. */
export interface WebhookReceiver<T> {
  /** For `channelSource({ events })`. */
  readonly events: EventChannel<T>;
  /**
   * Answers a POST to the path: 202 once every object is in the channel, 400 for what cannot be read, 408 for a
   * body that arrives too slowly, 413 for too much, 503 with Retry-After if the channel is full or the bodies of other
   * deliveries take 16 times `maxBytes`, so that the sender tries again. False for other paths. Does not
   * reject, whatever a client sends.
   */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
}

/**
 * Makes a receiver; mount its `handle` on any server (a manager's metrics server takes it as an extra handler).
 *
 * @throws TypeError when `maxBytes` or `capacity` is not a number ≥ 1, the path is not valid, or `read` is not a
 * function
 *
 * @example
 * ```ts
 * import { channelSource, createWebhookReceiver, handlerFuncs } from '@kctl/controller';
 *
 * const receiver = createWebhookReceiver<{ repository: string }>({
 *   path: '/deliveries',
 *   read: ({ body }) => [{ repository: String(Reflect.get(Object(body), 'repository')) }],
 * });
 * const source = channelSource({
 *   name: 'deliveries',
 *   events: receiver.events,
 *   handler: handlerFuncs<{ repository: string }, { name: string }>({
 *     generic: ({ object }, queue) => queue.add({ name: object.repository }),
 *   }),
 * });
 * ```
 */
export function createWebhookReceiver<T>(options: WebhookReceiverOptions<T>): WebhookReceiver<T> {
  requireOptions('createWebhookReceiver', options, optionNames);
  const { path, read, identify, maxBytes = 1 << 20, capacity = 1024 } = options;
  const problem = numberProblem('maxBytes', maxBytes, { least: 1, orInfinity: true });
  if (problem !== undefined) throw new TypeError(`createWebhookReceiver: ${problem}`);
  requireName('createWebhookReceiver', 'path', path);
  if (!path.startsWith('/'))
    throw new TypeError(`createWebhookReceiver: path ${shownValue(path)} is not valid: expected one such as "/push"`);
  requireFunction('createWebhookReceiver', 'read', read);
  const events = createEventChannel<T>({ capacity, ...(identify === undefined ? {} : { identify }) });
  const bodies = createBodyBudget(maxBytes * bodiesAtOnce);
  const accept = async (request: IncomingMessage): Promise<Answer> => {
    if (request.method !== 'POST') return { status: 405, headers: { allow: 'POST' } };
    using held = bodies.hold(request);
    const raw = await held.read({ maxBytes }).catch((error: unknown) => refusalOf(error));
    if (!Buffer.isBuffer(raw)) return raw;
    try {
      const objects = await read({ body: parse(raw), raw, headers: request.headers });
      // If the channel fills up in between, the sender repeats the whole delivery; a duplicate event does no harm.
      for (const object of listed('read', objects))
        if (!events.send(object)) return { status: 503, headers: { 'retry-after': '1' } };
    } catch {
      return { status: 400 };
    }
    return { status: 202 };
  };
  return {
    events,
    handle: async (request, response) => {
      if (pathOf(request.url) !== path) return false;
      try {
        const { status, headers = {} } = await accept(request);
        response.writeHead(status, headers).end();
      } catch (error) {
        // A client that hung up gets no answer, and the host of the receiver gets no error, because a client must not
        // end the process.
        if (!request.destroyed && !response.destroyed) throw error;
      }
      return true;
    },
  };
}

/** The path of a request, as sent. A client may send any value. */
function pathOf(url = '/'): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] ?? '';
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @throws what is not about the body */
function refusalOf(error: unknown): Answer {
  if (!isBodyError(error)) throw error;
  const { httpCode: status } = error;
  return { status, headers: { connection: 'close', ...(status === 503 ? { 'retry-after': '1' } : {}) } };
}

function parse(raw: Buffer): unknown {
  return raw.length === 0 ? undefined : JSON.parse(raw.toString('utf8'));
}
