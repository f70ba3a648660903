import type { WebhookCall, WebhookCallAnswer, WebhookTransport } from '@kctl/apiserver';
import type { Random } from '@kctl/wait';
import { activities } from '../network/activity.js';
import { pick } from '../random.js';
import type { ReplicaHost } from './replica-host.js';
import type { Scheduler } from '../scheduler.js';
import type { Scope } from '../scope.js';

/** Options of {@link WebhookCalls}. */
export interface WebhookCallsOptions {
  readonly scheduler: Scheduler;
  readonly serverScope: Scope;
  readonly random: Random;
  readonly hosts: () => readonly ReplicaHost[];
  readonly isPartitioned: (scope: Scope) => boolean;
}

/** How calls fail while webhooks are down, either at once, or at the timeout of the server. */
export type WebhookOutage = 'refuses' | 'hangs';

/** One way takes at least this long, in ms, and up to {@link spreadMs} more. */
const leastMs = 0.2;
const spreadMs = 1.5;

/**
 * Calls of the server to the webhooks of the replicas, in virtual time, through a Service in front of those that are
 * alive.
 */
export class WebhookCalls {
  readonly #options: WebhookCallsOptions;
  #outage: WebhookOutage | undefined;

  constructor(options: WebhookCallsOptions) {
    this.#options = options;
  }

  /** Whether a replica serves any. */
  get areServed(): boolean {
    return this.#options.hosts().some(({ operator }) => (operator?.webhooks?.size ?? 0) > 0);
  }

  /** Calls reach no replica from here on, or reach them again. */
  set outage(outage: WebhookOutage | undefined) {
    this.#outage = outage;
  }

  readonly transport: WebhookTransport = (call) =>
    new Promise((resolve, reject) => {
      if (this.#outage === 'hangs') return;
      const { pathname } = new URL(call.url);
      const { random, hosts, isPartitioned } = this.#options;
      const serving = hosts().filter(
        ({ operator, isStopping, scope }) =>
          operator?.webhooks?.has(pathname) === true && !isStopping && scope !== undefined && !isPartitioned(scope),
      );
      if (this.#outage === 'refuses' || serving.length === 0) this.#later(() => reject(refused()));
      else this.#deliver(pick(serving, random()), pathname, { call, resolve, reject });
    });

  #deliver(
    host: ReplicaHost,
    path: string,
    {
      call,
      resolve,
      reject,
    }: {
      readonly call: WebhookCall;
      readonly resolve: (answer: WebhookCallAnswer) => void;
      readonly reject: (error: Error) => void;
    },
  ): void {
    const { scheduler } = this.#options;
    const { scope } = host;
    if (scope === undefined) return;
    scheduler.after(scope, this.#latency(), () =>
      activities.run({ scope }, () => {
        host
          .callWebhook(path, { body: JSON.parse(Buffer.from(call.body).toString()), signal: call.signal })
          .then(({ code = 200, body }) => {
            const bytes = Buffer.from(JSON.stringify(body));
            this.#later(() => resolve({ status: code, contentType: 'application/json', body: bytes }));
          })
          .catch(() => this.#later(() => reject(reset())));
      }),
    );
  }

  /** Back at the server. */
  #later(then: () => void): void {
    const { scheduler, serverScope } = this.#options;
    scheduler.after(serverScope, this.#latency(), then);
  }

  #latency(): number {
    return leastMs + this.#options.random() * spreadMs;
  }
}

function refused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED (simulated)'), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
    address: '10.0.0.2',
    port: 443,
  });
}

function reset(): Error {
  return Object.assign(new Error('other side closed (simulated)'), { code: 'ECONNRESET' });
}
