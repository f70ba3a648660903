import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request as requestHttps } from 'node:https';
import { sleep, systemClock } from '@kctl/wait';
import {
  admissionWebhook,
  allowed,
  conversionWebhook,
  createSelfSignedCertificate,
  createWebhookServer,
  type WebhookServerOptions,
} from '@kctl/webhook';
import { startAttackers, type AttackKind } from './attackers.js';

/** Options of {@link runAttack}. */
export interface AttackOptions {
  readonly attack: readonly AttackKind[];
  /** How reviews are sent; over HTTP/1.1 on a connection for each of twenty at a time. */
  readonly protocol: 'HTTP/1.1' | 'HTTP/2';
  readonly reviews: number;
  /** Reviews a second. @default as many as are answered, twenty at a time */
  readonly perSecond?: number;
  readonly server?: WebhookServerOptions;
}

/** Outcome of {@link runAttack}. */
export interface AttackReport {
  readonly reviews: number;
  /** Reviews that were answered with anything but `allowed`, or not at all. */
  readonly refused: number;
  readonly refusals: readonly string[];
}

const atOnce = 20;

/** Attacks a webhook server while it reviews. */
export async function runAttack(options: AttackOptions): Promise<AttackReport> {
  const { attack, protocol, reviews, perSecond, server } = options;
  await using target = await startTarget(server);
  using attackers = new DisposableStack();
  await Promise.all(attack.map((kind) => attackers.use(startAttackers(kind, target.port)).ready));
  using reviewer = await (protocol === 'HTTP/2' ? overHttp2(target.port) : overHttp1(target.port));
  const started = systemClock.monotonicNow();
  const refusals: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < reviews) {
      const count = next++;
      if (perSecond !== undefined)
        await sleep(Math.max(0, started + (count * 1000) / perSecond - systemClock.monotonicNow()));
      const answer = await reviewer.review(count).catch(String);
      if (!answer.includes('"allowed":true')) refusals.push(answer);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { reviews, refused: refusals.length, refusals };
}

interface Target extends AsyncDisposable {
  readonly port: number;
}

async function startTarget(options: WebhookServerOptions = {}): Promise<Target> {
  const pair = await createSelfSignedCertificate();
  const server = createWebhookServer({
    host: '127.0.0.1',
    port: 0,
    getCertificate: () => pair,
    shutdownTimeoutMs: 0,
    ...options,
  });
  server.register(
    '/admit',
    admissionWebhook(() => allowed()),
  );
  server.register(
    '/convert',
    conversionWebhook((object) => object),
  );
  const stop = new AbortController();
  const running = server.run(stop.signal);
  while (server.port === undefined) await sleep(1);
  return {
    port: server.port,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

interface Reviewer extends Disposable {
  review(count: number): Promise<string>;
}

/** About as large as the review of an updated Deployment. */
function reviewOf(count: number): string {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `c${count}` },
    data: { a: 'x'.repeat(8_000) },
  };
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: `u${count}`,
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      name: `c${count}`,
      namespace: 'default',
      operation: 'UPDATE',
      userInfo: { username: 'jane' },
      object,
      oldObject: object,
    },
  });
}

const headers = { 'content-type': 'application/json' };

async function overHttp2(port: number): Promise<Reviewer> {
  let session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  session.on('error', () => undefined);
  await once(session, 'connect');
  return {
    review: async (count) => {
      // As every client of HTTP/2: a new connection for the next request if the server has closed the last one.
      if (session.destroyed || session.closed) {
        session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
        session.on('error', () => undefined);
      }
      const stream = session.request({ ':path': '/admit?timeout=10s', ':method': 'POST', ...headers });
      stream.end(reviewOf(count));
      return await textOf(stream);
    },
    [Symbol.dispose]: () => session.destroy(),
  };
}

async function overHttp1(port: number): Promise<Reviewer> {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  return {
    review: async (count) => {
      const options = { port, host: '127.0.0.1', path: '/admit?timeout=10s', method: 'POST', headers, agent };
      const request = requestHttps(options);
      const answered = once(request, 'response');
      request.end(reviewOf(count));
      const [response] = await answered;
      return await textOf(response);
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

async function textOf(answer: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
