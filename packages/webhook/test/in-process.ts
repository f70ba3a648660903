import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { createConsoleLogger, type Logger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { standaloneWebhook, type WebhookHandler } from '../src/index.js';
import { RecordedMetrics } from './recorded-metrics.js';

/** What came back of a request. */
export interface Answered {
  readonly code: number;
  readonly text: string;
  readonly body: any;
  readonly headers: ReadonlyMap<string, string>;
}

/** A request without a socket. */
export interface InProcessRequest {
  readonly body?: string | Buffer;
  readonly url?: string;
  readonly headers?: Record<string, string>;
}

/** One webhook behind a request listener, called without a socket: what it answers, logs and measures. */
export interface Harness {
  readonly metrics: RecordedMetrics;
  readonly clock: FakeClock;
  readonly logs: string[];
  /** `body` is sent as it is when it is a text, as JSON otherwise. */
  send(body: unknown, request?: Omit<InProcessRequest, 'body'>): Promise<Answered>;
  /** As {@link send}; `hangUp` closes the connection before the answer. */
  begin(request: InProcessRequest): { readonly answered: Promise<Answered>; hangUp(): void };
}

export function harness(handler: WebhookHandler, logger?: Logger): Harness {
  const metrics = new RecordedMetrics();
  const clock = new FakeClock();
  const logs: string[] = [];
  const log = logger ?? createConsoleLogger({ level: 'trace', write: (line) => void logs.push(line) });
  const listener = standaloneWebhook(handler, { metricsPath: '/hook', metrics, clock, logger: log });
  const begin = (request: InProcessRequest): { answered: Promise<Answered>; hangUp: () => void } => {
    const body = Buffer.from(request.body ?? '');
    const incoming = Object.assign(body.length === 0 ? Readable.from([]) : Readable.from([body]), {
      url: request.url ?? '/hook?timeout=10s',
      method: 'POST',
      headers: { 'content-type': 'application/json', ...request.headers },
      socket: {},
    });
    const response = new FakeResponse();
    const served = listener(incoming as never, response as never);
    return {
      answered: served.then(() => response.answered()),
      hangUp: () => {
        incoming.destroy(new Error('aborted'));
        response.destroy();
      },
    };
  };
  return {
    metrics,
    clock,
    logs,
    begin,
    send: (body, request = {}) =>
      begin({ ...request, body: typeof body === 'string' ? body : JSON.stringify(body) }).answered,
  };
}

class FakeResponse extends EventEmitter {
  statusCode = 200;
  destroyed = false;
  writableEnded = false;
  readonly headers = new Map<string, string>();
  #text = '';

  setHeader(name: string, value: string): void {
    this.headers.set(name, value);
  }

  end(text: string): void {
    this.#text = text;
    this.writableEnded = true;
    this.emit('close');
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  answered(): Answered {
    const body: unknown = this.#text.startsWith('{') ? JSON.parse(this.#text) : undefined;
    return { code: this.statusCode, text: this.#text, body, headers: this.headers };
  }
}
