// Wrong values of options are refused where they are given: one that is taken shows itself late, as a loop that never
// ends, never waits or is never called, or as a cache that holds more than it was told to. NaN fits no option of these
// functions. The names of the options are those that each function says itself where one is not known, so that a new
// option needs no line here; those of objects among the options are found in the same way.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import * as cache from '@kctl/cache';
import { createExpiringCache, createIndexer, createTtlStore } from '@kctl/cache-index';
import { createRetryWatcher } from '@kctl/client';
import { createDelegatingClient } from '@kctl/client-delegating';
import { createHttpClient } from '@kctl/client-http';
import * as controller from '@kctl/controller';
import * as events from '@kctl/events';
import * as httpServer from '@kctl/http-server';
import * as informer from '@kctl/informer';
import { createInspection } from '@kctl/inspection';
import * as election from '@kctl/leader-election';
import { createCluster, createHttpServer, createManager } from '@kctl/manager';
import { createPrometheusMetrics } from '@kctl/metrics';
import * as runtime from '@kctl/runtime';
import { noopLogger, noopMetrics } from '@kctl/telemetry';
import { shownType } from '@kctl/options';
import * as wait from '@kctl/wait';
import * as webhook from '@kctl/webhook';
import * as workqueue from '@kctl/workqueue';
import { describe, expect, it } from 'vitest';

const transport = { server: 'https://127.0.0.1:1', send: async () => await Promise.reject(new Error('no server')) };
const client = createHttpClient({
  transport: { ...transport, [Symbol.asyncDispose]: async () => await Promise.resolve() },
});
const handler = controller.enqueueRequestForObject();
const work = (): undefined => undefined;
const shared = (): informer.SharedInformer<ConfigMap> =>
  informer.createSharedInformer<ConfigMap>({
    kind: ConfigMap,
    listerWatcher: informer.listerWatcherFor(client, ConfigMap),
  });

type Call = (options: object) => unknown;
/** A function with the options that it needs; and the names of its options, where it does not say them. */
type Row = readonly [name: string, call: Call, base: object, names?: readonly string[]];

const asCall = (call: unknown): Call => {
  if (typeof call !== 'function') throw new Error('it is not a function');
  return (options) => Reflect.apply(call, undefined, [options]) as unknown;
};
const lease = election.createLeaseLock({ client, namespace: 'a', name: 'b', identity: 'c' });

const listerWatcher = informer.listerWatcherFor(client, ConfigMap);
const ownCache = cache.createCache({ client });
const place = { namespace: 'a', name: 'b' };
const cluster = createCluster({ cache: ownCache, client, apiReader: client });
const sinks = { logger: noopLogger, clock: wait.systemClock };
const own = { connection: { server: 'https://127.0.0.1:1' } };

const rows: readonly Row[] = [
  ['createWorkQueue', asCall(workqueue.createWorkQueue), {}],
  ['createDelayingQueue', asCall(workqueue.createDelayingQueue), {}],
  ['createRateLimitingQueue', asCall(workqueue.createRateLimitingQueue), {}],
  ['createPriorityQueue', asCall(workqueue.createPriorityQueue), {}],
  ['bucketRateLimiter', asCall(workqueue.bucketRateLimiter), { perSecond: 1, burst: 1 }],
  ['createTokenBucket', asCall(wait.createTokenBucket), { perSecond: 1, burst: 1 }],
  ['createBackoff', asCall(wait.createBackoff), { initialMs: 1 }],
  ['createItemBackoff', asCall(wait.createItemBackoff), { initialMs: 1, maxMs: 2 }],
  ['sleep', (options) => wait.sleep(0, options), {}, ['signal', 'clock']],
  ['retry', (options) => wait.retry(async () => await Promise.resolve(1), options), {}],
  [
    'withDeadline',
    (options) => Reflect.apply(wait.withDeadline, undefined, [work, options]),
    { timeoutMs: 1 },
    ['timeoutMs', 'signal', 'clock'],
  ],
  ['createIndexer', asCall(createIndexer), {}],
  ['createTtlStore', asCall(createTtlStore), { ttlMs: 1 }],
  ['createExpiringCache', asCall(createExpiringCache), {}],
  ['createDeltaFifo', asCall(informer.createDeltaFifo), {}],
  ['createRealFifo', asCall(informer.createRealFifo), {}],
  [
    'createReflector',
    asCall(informer.createReflector),
    { kind: ConfigMap, listerWatcher, store: informer.createDeltaFifo() },
  ],
  ['createSharedInformer', asCall(informer.createSharedInformer), { kind: ConfigMap, listerWatcher }],
  ['addEventHandler', (options) => shared().addEventHandler({ onEvent: work }, options), {}],
  ['createEventStream', (options) => informer.createEventStream(shared(), options), {}],
  ['listerWatcherFor', (options) => informer.listerWatcherFor(client, ConfigMap, options), {}],
  ['createCache', asCall(cache.createCache), { client }],
  [
    'selectedInformer',
    (options) => {
      const own = cache.createCache({ client });
      return Reflect.apply(own.selectedInformer, own, [ConfigMap, options]);
    },
    { name: 'a' },
  ],
  ['createNamespaceFollower', asCall(cache.createNamespaceFollower), { client, cache: ownCache }],
  ['createDelegatingClient', asCall(createDelegatingClient), { client, cache: ownCache }],
  ['createHttpClient', asCall(createHttpClient), own],
  [
    'createRetryWatcher',
    (options) => Reflect.apply(createRetryWatcher, undefined, [client, ConfigMap, options]),
    { resourceVersion: '1' },
  ],
  ['createEventBroadcaster', asCall(events.createEventBroadcaster), { client }],
  ['createFakeRecorder', asCall(events.createFakeRecorder), {}],
  ['createLeaseLock', asCall(election.createLeaseLock), { client, identity: 'c', ...place }],
  ['createLeaderElector', asCall(election.createLeaderElector), { lock: lease, callbacks: { onStartedLeading: work } }],
  ['createAwakeClock', asCall(election.createAwakeClock), {}],
  ['createController', asCall(controller.createController), { name: 'a', reconciler: work }],
  ['kindSource', asCall(controller.kindSource), { kind: ConfigMap, handler, informers: ownCache }],
  ['informerSource', asCall(controller.informerSource), { informer: shared(), handler }],
  ['channelSource', asCall(controller.channelSource), { events: controller.createEventChannel(), handler }],
  [
    'pollingSource',
    asCall(controller.pollingSource),
    { name: 'a', poll: (): unknown[] => [], identify: String, handler, everyMs: 1 },
  ],
  ['createEventChannel', asCall(controller.createEventChannel), {}],
  ['createRetryPolicy', asCall(controller.createRetryPolicy), {}],
  ['createHttpServer of the manager', asCall(createHttpServer), { name: 'a', port: 0, handlers: [], ...sinks }],
  ['createHttpServer', asCall(httpServer.createHttpServer), { name: 'a', port: 0, onRequest: work }],
  ['createManager', asCall(createManager), { cluster }],
  ['createManager of the runtime', asCall(runtime.createManager), own],
  ['createPrometheusMetrics', asCall(createPrometheusMetrics), {}],
  ['createInspection', asCall(createInspection), {}],
  ['createWebhookServer', asCall(webhook.createWebhookServer), {}],
  [
    'createSelfManagedCertificates',
    asCall(webhook.createSelfManagedCertificates),
    { client, secret: place, service: place },
  ],
  [
    'createCertificateWatcher',
    asCall(webhook.createCertificateWatcher),
    { certFile: '/a', keyFile: '/b', metrics: noopMetrics, ...sinks },
  ],
];

/** Whether a call refuses; what is unknown to it is no case. */
async function verdict(
  call: Call,
  options: object,
): Promise<{ readonly is: 'taken' | 'refused' | 'raw'; readonly message: string }> {
  const raw = /Cannot (?:read|convert|destructure)|(?:^|: )[\w.]+ is not (?:a function|iterable)$|BigInt/;
  try {
    await Promise.race([call(options), new Promise((resolve) => setImmediate(resolve))]);
    return { is: 'taken', message: '' };
  } catch (error) {
    if (!(error instanceof Error)) return { is: 'raw', message: String(error) };
    return { is: raw.test(error.message) ? 'raw' : 'refused', message: error.message };
  }
}

const nameOfNone = 'z'.repeat(60);

/** The names that a function expects, which it says where one is not known. */
async function namesOf(call: Call, options: (unknown: object) => object, prefix: string): Promise<string[]> {
  const { message } = await verdict(call, options({ [nameOfNone]: 1 }));
  const [, names = ''] = message.split(`unknown option "${prefix}${nameOfNone}": expected `);
  return names.split(/[;:]/)[0]?.split(', ').filter(Boolean) ?? [];
}

/** Calls a function with a value for each of its options, and for those of objects among them; what it does not refuse. */
async function taken(
  [, call, base, known]: Row,
  values: readonly unknown[],
  isMeant: (name: string) => boolean,
): Promise<string[]> {
  const found: string[] = [];
  const tryAll = async (
    names: readonly string[],
    options: (given: object) => object,
    prefix: string,
  ): Promise<void> => {
    for (const name of names.filter(isMeant))
      for (const value of values) {
        const { is, message } = await verdict(call, options({ [name]: value }));
        if (is !== 'refused')
          found.push(`${prefix}${name}: ${shownType(value)} ${String(value)} is ${is} ${message}`.trim());
      }
  };
  const withOption = (given: object): object => ({ ...base, ...given });
  const names = known ?? (await namesOf(call, withOption, ''));
  expect(names.length).toBeGreaterThan(0);
  await tryAll(names, withOption, '');
  for (const section of names) {
    const within = (given: object): object => ({ ...base, [section]: given });
    await tryAll(await namesOf(call, within, `${section}.`), within, `${section}.`);
  }
  return found;
}

const named = rows.map((row) => ({ name: row[0], row }));

describe('values of options that fit none', () => {
  it.each(named)('are refused by $name', async ({ row }) => {
    const [, call, base] = row;
    expect((await verdict(call, base)).message).toBe('');
    expect(await taken(row, [Number.NaN, Symbol('s')], () => true)).toEqual([]);
  });

  it.each(named)('are refused by $name where a number of ms is a text or an object', async ({ row }) => {
    expect(await taken(row, ['5', {}], (name) => name.endsWith('Ms'))).toEqual([]);
  });
});
