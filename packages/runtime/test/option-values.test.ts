// One rule for options that are a logger, a clock, a client: what cannot be one is refused before anything begins.
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createCache } from '@kctl/cache';
import { retryOnConflict, waitFor } from '@kctl/client';
import { createDelegatingClient, createOwnEvents } from '@kctl/client-delegating';
import { createHttpClient, createRestMapper, createTransport } from '@kctl/client-http';
import { createController } from '@kctl/controller';
import { createEventBroadcaster } from '@kctl/events';
import { createSharedInformer } from '@kctl/informer';
import { createLeaderElector, createLeaseLock } from '@kctl/leader-election';
import { createAccessFilter, createCluster, createManager as createBareManager } from '@kctl/manager';
import { noopLogger } from '@kctl/telemetry';
import { poll, retry, systemClock } from '@kctl/wait';
import { createSelfManagedCertificates, createWebhookServer } from '@kctl/webhook';
import {
  createDelayingQueue,
  createPriorityQueue,
  createRateLimitingQueue,
  createWorkQueue,
  parallelizeUntil,
} from '@kctl/workqueue';
import { describe, expect, it } from 'vitest';
import { createManager } from '../src/index.js';

type Make = (options: object) => unknown;

const connection = { server: 'https://127.0.0.1:1', user: {} };
const client = createHttpClient({ connection });
const cache = createCache({ client });
const listerWatcher = { list: () => Promise.reject(new Error('x')), watch: () => Promise.reject(new Error('x')) };
const lock = createLeaseLock({ client, namespace: 'n', name: 'l', identity: 'i' });
const callbacks = { onStartedLeading: () => Promise.resolve() };

/** What takes options, with all that it needs, and which of its options have methods. */
const rows: readonly (readonly [name: string, make: Make, options: readonly string[]])[] = [
  ['createManager', (o) => createManager({ connection, ...o }), ['logger', 'tracer', 'clock', 'newCache', 'newClient']],
  [
    'createManager',
    (o) => createBareManager({ cluster: createCluster({ client, apiReader: client, cache }), ...o }),
    ['logger', 'metrics', 'tracer', 'clock', 'webhookServer'],
  ],
  [
    'createCache',
    (o) => createCache({ client, ...o }),
    ['client', 'logger', 'metrics', 'clock', 'random', 'watchErrorHandler', 'listerWatcherFor'],
  ],
  ['createHttpClient', (o) => createHttpClient({ connection, ...o }), ['logger', 'metrics', 'clock', 'onWarning']],
  ['createHttpClient', (o) => createHttpClient(o), ['transport', 'kubeConfig']],
  ['createTransport', (o) => createTransport(connection, o), ['logger', 'metrics', 'clock', 'onWarning']],
  [
    'createRestMapper',
    (o) => createRestMapper({ transport: client.transport, ...o }),
    ['transport', 'logger', 'clock'],
  ],
  [
    'createDelegatingClient',
    (o) => createDelegatingClient({ cache, client, ...o }),
    ['cache', 'client', 'logger', 'metrics', 'clock'],
  ],
  ['createOwnEvents', (o) => createOwnEvents(o), ['logger', 'metrics', 'clock']],
  [
    'createSharedInformer',
    (o) => createSharedInformer({ kind: Pod, listerWatcher, ...o }),
    ['listerWatcher', 'logger', 'metrics', 'clock', 'random', 'transform', 'watchErrorHandler', 'onHandlerError'],
  ],
  ['createWorkQueue', (o) => createWorkQueue(o), ['metrics', 'clock']],
  ['createDelayingQueue', (o) => createDelayingQueue(o), ['metrics', 'clock']],
  ['createRateLimitingQueue', (o) => createRateLimitingQueue(o), ['metrics', 'clock']],
  ['createPriorityQueue', (o) => createPriorityQueue(o), ['metrics', 'clock']],
  ['', (o) => createRateLimitingQueue(o), ['rateLimiter', 'key']],
  ['', (o) => createPriorityQueue(o), ['rateLimiter', 'key']],
  ['parallelizeUntil', (o) => parallelizeUntil({ workers: 1, pieces: 1, ...o }, () => undefined), ['signal']],
  [
    'createLeaderElector',
    (o) => createLeaderElector({ lock, callbacks, ...o }),
    ['logger', 'metrics', 'clock', 'random'],
  ],
  ['createLeaseLock', (o) => createLeaseLock({ client, namespace: 'n', name: 'l', identity: 'i', ...o }), ['client']],
  [
    'createWebhookServer',
    (o) => createWebhookServer(o),
    ['logger', 'metrics', 'clock', 'certificate', 'getCertificate'],
  ],
  [
    'createSelfManagedCertificates',
    (o) => createSelfManagedCertificates({ client, secret: { name: 's', namespace: 'n' }, dnsNames: ['a'], ...o }),
    ['client', 'logger', 'metrics', 'clock'],
  ],
  [
    'createEventBroadcaster',
    (o) => createEventBroadcaster({ client, ...o }),
    ['client', 'logger', 'metrics', 'clock', 'random'],
  ],
  [
    'controller "c"',
    (o) => createController({ name: 'c', reconciler: async () => undefined, ...o }),
    ['logger', 'metrics', 'tracer', 'clock', 'random', 'rateLimiter', 'onError', 'newQueue'],
  ],
  [
    'createAccessFilter',
    (o) => createAccessFilter({ client, logger: noopLogger, clock: systemClock, ...o }),
    ['client', 'logger', 'clock', 'random'],
  ],
  ['poll', (o) => poll(() => true, { interval: 1, ...o }), ['clock', 'signal']],
  ['retry', (o) => retry(() => Promise.resolve(1), { ...o }), ['clock', 'signal']],
  ['retryOnConflict', (o) => retryOnConflict(() => Promise.resolve(1), o), ['clock', 'signal', 'random']],
  [
    'waitFor',
    (o) => waitFor(client, Pod, { namespace: 'n', name: 'p' }, { until: () => true, timeoutMs: 1, ...o }),
    ['clock', 'signal'],
  ],
];

const cases = rows.flatMap(([name, make, options]) =>
  options.flatMap((option) => [{}, null, 'a text'].map((value) => ({ name, make, option, value }))),
);

const messageOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'it was taken';
};

describe('an option that has methods', () => {
  it.each(cases)('$name refuses $value as $option', async ({ name, make, option, value }) => {
    const message = await messageOf(() => make({ [option]: value }));
    expect(message).toContain(name);
    expect(message).toContain(option);
    expect(message).toMatch(/expected|give a function|is not a function/);
  });
});
