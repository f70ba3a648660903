// Wrong values of options are refused where they are given: one that is taken shows itself late, as a loop that never
// ends, never waits or is never called. NaN fits no option of these functions, so that each of them needs a look.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createCache } from '@kctl/cache';
import { createExpiringCache, createIndexer, createTtlStore } from '@kctl/cache-index';
import { createHttpClient } from '@kctl/client-http';
import * as controller from '@kctl/controller';
import * as informer from '@kctl/informer';
import * as election from '@kctl/leader-election';
import { createHttpServer } from '@kctl/manager';
import * as wait from '@kctl/wait';
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
/** A function with its options: what it needs, then the names of all others. */
type Row = readonly [name: string, call: Call, base: object, others: string];

const asCall = (call: unknown): Call => {
  if (typeof call !== 'function') throw new Error('it is not a function');
  return (options) => Reflect.apply(call, undefined, [options]) as unknown;
};
const queueOptions = 'name metrics clock key bound keepAlive';
const lease = election.createLeaseLock({ client, namespace: 'a', name: 'b', identity: 'c' });

const rows: readonly Row[] = [
  ['createWorkQueue', asCall(workqueue.createWorkQueue), {}, queueOptions],
  ['createDelayingQueue', asCall(workqueue.createDelayingQueue), {}, queueOptions],
  ['createRateLimitingQueue', asCall(workqueue.createRateLimitingQueue), {}, `${queueOptions} rateLimiter`],
  ['createPriorityQueue', asCall(workqueue.createPriorityQueue), {}, `${queueOptions} rateLimiter ageing`],
  ['bucketRateLimiter', asCall(workqueue.bucketRateLimiter), { perSecond: 1, burst: 1 }, 'coalesce clock key'],
  ['createTokenBucket', asCall(wait.createTokenBucket), { perSecond: 1, burst: 1 }, 'clock'],
  ['sleep', (options) => wait.sleep(0, options), {}, 'signal clock'],
  [
    'withDeadline',
    (options) => Reflect.apply(wait.withDeadline, undefined, [work, options]),
    { timeoutMs: 1 },
    'signal clock',
  ],
  ['createIndexer', asCall(createIndexer), {}, 'indexers freeze onIndexError onUnreadable'],
  ['createTtlStore', asCall(createTtlStore), { ttlMs: 1 }, 'key clock'],
  ['createExpiringCache', asCall(createExpiringCache), {}, 'clock'],
  ['createDeltaFifo', asCall(informer.createDeltaFifo), {}, 'key knownObjects transform'],
  ['createRealFifo', asCall(informer.createRealFifo), {}, 'key knownObjects transform batchSize'],
  [
    'createSharedInformer',
    asCall(informer.createSharedInformer),
    { kind: ConfigMap, listerWatcher: informer.listerWatcherFor(client, ConfigMap) },
    `resyncMs transform keepManagedFields freeze storage watchErrorHandler watchList pageSize backoff bookmarks
     maxInternalErrorRetryMs minWatchTimeoutMs idleTimeoutMs listIdleTimeoutMs handlerMetrics onHandlerError clock random
     logger metrics name`,
  ],
  [
    'addEventHandler',
    (options) => shared().addEventHandler({ onEvent: work }, options),
    {},
    'delivery resyncMs name timeoutMs filters',
  ],
  [
    'createEventStream',
    (options) => informer.createEventStream(shared(), options),
    {},
    'delivery resyncMs name filters clock',
  ],
  ['createCache', asCall(createCache), { client }, 'lingerMs clock logger metrics'],
  [
    'createLeaderElector',
    asCall(election.createLeaderElector),
    { lock: lease, callbacks: { onStartedLeading: work } },
    'leaseDurationMs renewDeadlineMs retryPeriodMs releaseOnCancel reelect coordinated clock random logger metrics name',
  ],
  ['createAwakeClock', asCall(election.createAwakeClock), {}, 'clock bootTimeMs bootOffsetMs'],
  [
    'createController',
    asCall(controller.createController),
    { name: 'a', reconciler: work },
    'maxConcurrentReconciles rateLimiter clock logger metrics tracer reconciliationTimeoutMs cacheSyncTimeoutMs',
  ],
  [
    'informerSource',
    asCall(controller.informerSource),
    { informer: shared(), handler },
    'predicates handlerConcurrency name',
  ],
  [
    'pollingSource',
    asCall(controller.pollingSource),
    { name: 'a', poll: () => [], identify: String, handler, everyMs: 1 },
    'isSame predicates handlerConcurrency waitForFirst',
  ],
  ['createEventChannel', asCall(controller.createEventChannel), {}, 'capacity identify'],
  ['createRetryPolicy', asCall(controller.createRetryPolicy), {}, 'maxAttempts maxElapsedMs delayMs classify'],
  ['createHttpServer', asCall(createHttpServer), { name: 'a', port: 0 }, 'shutdownTimeoutMs logger'],
];

/** Whether a call refuses; what is unknown to it is no case. */
async function verdict(call: Call, options: object): Promise<'taken' | 'refused' | 'unknown' | 'raw'> {
  const raw = /Cannot (?:read|convert|destructure)|is not (?:a function|iterable)|BigInt/;
  try {
    await Promise.race([call(options), new Promise((resolve) => setImmediate(resolve))]);
    return 'taken';
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) return error instanceof Error ? 'refused' : 'raw';
    if (error.message.includes('unknown option')) return 'unknown';
    return raw.test(error.message) ? 'raw' : 'refused';
  }
}

describe('values of options that fit none', () => {
  it.each(rows)('are refused by %s', async (_name, call, base, others) => {
    expect(await verdict(call, base)).toBe('taken');
    const found: string[] = [];
    for (const name of [...Object.keys(base), ...others.split(/\s+/)])
      for (const value of [Number.NaN, Symbol('s')]) {
        const said = await verdict(call, { ...base, [name]: value });
        if (said !== 'refused') found.push(`${name}: ${String(value)} is ${said}`);
      }
    expect(found).toEqual([]);
  });

  it.each(rows)('are refused by %s where a number of ms is a text or an object', async (_name, call, base, others) => {
    const found: string[] = [];
    for (const name of [...Object.keys(base), ...others.split(/\s+/)].filter((each) => each.endsWith('Ms')))
      for (const value of ['5', {}])
        if ((await verdict(call, { ...base, [name]: value })) === 'taken')
          found.push(`${name}: ${JSON.stringify(value)} is taken`);
    expect(found).toEqual([]);
  });
});
