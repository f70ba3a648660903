// One rule for the options of everything: what is not known is refused, with the nearest name that is.
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createCache } from '@kctl/cache';
import { retryOnConflict, waitFor } from '@kctl/client';
import { createDelegatingClient, createOwnEvents } from '@kctl/client-delegating';
import { createHttpClient, createRestMapper, createTransport, loadConnection } from '@kctl/client-http';
import {
  asReconciler,
  channelSource,
  createController,
  createEventChannel,
  createRetryPolicy,
  createWebhookReceiver,
  cronSource,
  finalizing,
  informerSource,
  kindSource,
  pollEachSource,
  pollingSource,
} from '@kctl/controller';
import { createEventBroadcaster } from '@kctl/events';
import { createSharedInformer } from '@kctl/informer';
import { createLeaderElector, createLeaseLock, createWorkerLeaderElector } from '@kctl/leader-election';
import { createAccessFilter, createManager as createBareManager } from '@kctl/manager';
import { createPrometheusMetrics } from '@kctl/metrics';
import { createBackoff, poll, retry } from '@kctl/wait';
import {
  admissionWebhook,
  createCertificateWatcher,
  createSelfManagedCertificates,
  createWebhookServer,
  defaultingWebhook,
  standaloneWebhook,
  validatingWebhook,
  webhookConfigurations,
  withConversion,
} from '@kctl/webhook';
import {
  bucketRateLimiter,
  createDelayingQueue,
  createPriorityQueue,
  createRateLimitingQueue,
  createWorkQueue,
  defaultControllerRateLimiter,
  errorAwareRateLimiter,
  exponentialRateLimiter,
  fastSlowRateLimiter,
} from '@kctl/workqueue';
import { describe, expect, it } from 'vitest';
import { createManager } from '../src/index.js';

type Call = (options: never) => unknown;

const connection = { server: 'https://127.0.0.1:1', user: {} };
const informer = createSharedInformer({
  kind: Pod,
  listerWatcher: { list: () => Promise.reject(new Error('x')), watch: () => Promise.reject(new Error('x')) },
});
const cache = createCache({ client: createHttpClient({ connection }) });
const handler = { handle: () => undefined } as never;

/** What takes options, an option of it with a mistake, and the name that was meant. */
const rows: readonly (readonly [name: string, call: Call, given: string, meant: string])[] = [
  ['createManager', (o) => createManager(o), 'leaderElecton', 'leaderElection'],
  ['createManager', (o) => createBareManager(o), 'metricServer', 'metricsServer'],
  [
    'controller "c"',
    (o) => createController({ name: 'c', reconciler: async () => undefined, ...(o as object) }),
    'recoverPanics',
    'recoverPanic',
  ],
  ['kindSource', (o) => kindSource(o), 'handlers', 'handler'],
  ['informerSource', (o) => informerSource(o), 'informers', 'informer'],
  ['channelSource', (o) => channelSource(o), 'event', 'events'],
  ['pollingSource', (o) => pollingSource(o), 'everyMS', 'everyMs'],
  ['pollEachSource', (o) => pollEachSource(o), 'concurency', 'concurrency'],
  ['cronSource', (o) => cronSource(o), 'shedule', 'schedule'],
  ['createEventChannel', (o) => createEventChannel(o), 'capasity', 'capacity'],
  ['createWebhookReceiver', (o) => createWebhookReceiver(o), 'maxBytse', 'maxBytes'],
  ['createRetryPolicy', (o) => createRetryPolicy(o), 'maxAttempt', 'maxAttempts'],
  ['finalizing', (o) => finalizing(o), 'finalizer', 'finalizers'],
  ['asReconciler', (o) => asReconciler(o), 'reconciler', 'reconcile'],
  ['createWorkQueue', (o) => createWorkQueue(o), 'metric', 'metrics'],
  ['createDelayingQueue', (o) => createDelayingQueue(o), 'keepalive', 'keepAlive'],
  ['createRateLimitingQueue', (o) => createRateLimitingQueue(o), 'ratelimiter', 'rateLimiter'],
  ['createPriorityQueue', (o) => createPriorityQueue(o), 'aging', 'ageing'],
  [
    'createPriorityQueue',
    (o) => createPriorityQueue({ bound: { maxPending: 1, ...(o as object) } }),
    'overFlow',
    'overflow',
  ],
  ['run', (o) => createWorkQueue().run(o, () => undefined), 'concurency', 'concurrency'],
  ['exponentialRateLimiter', (o) => exponentialRateLimiter(o), 'baseMS', 'baseMs'],
  ['fastSlowRateLimiter', (o) => fastSlowRateLimiter(o), 'fastMS', 'fastMs'],
  ['bucketRateLimiter', (o) => bucketRateLimiter(o), 'bursts', 'burst'],
  ['errorAwareRateLimiter', (o) => errorAwareRateLimiter(o), 'rule', 'rules'],
  ['defaultControllerRateLimiter', (o) => defaultControllerRateLimiter(o), 'clocks', 'clock'],
  ['createSharedInformer', (o) => createSharedInformer(o), 'resyncMS', 'resyncMs'],
  ['addEventHandler', (o) => informer.addEventHandler({}, o), 'timeoutMS', 'timeoutMs'],
  ['addEventHandler', (o) => cache.informerFor(Pod).addEventHandler({}, o), 'resyncMS', 'resyncMs'],
  ['createCache', (o) => createCache(o), 'byObjects', 'byObject'],
  [
    'createCache',
    (o) => createCache({ client: createHttpClient({ connection }), defaults: o }),
    'labelSelectors',
    'labelSelector',
  ],
  [
    'createCache',
    (o) => createCache({ client: createHttpClient({ connection }), byObject: [{ kind: Pod, ...(o as object) }] }),
    'namespace',
    'namespaces',
  ],
  [
    'createCache',
    (o) => createCache({ client: createHttpClient({ connection }), defaultNamespaces: { a: o } }),
    'fieldSelectors',
    'fieldSelector',
  ],
  ['setNamespaces', (o) => cache.setNamespaces({ a: o }), 'fieldSelectors', 'fieldSelector'],
  ['createDelegatingClient', (o) => createDelegatingClient(o), 'readYourWrite', 'readYourWrites'],
  ['createOwnEvents', (o) => createOwnEvents(o), 'maxHoldMS', 'maxHoldMs'],
  ['createHttpClient', (o) => createHttpClient(o), 'kubeconfig', 'kubeConfig'],
  ['createTransport', (o) => createTransport(connection, o), 'maxRetry', 'maxRetries'],
  ['createRestMapper', (o) => createRestMapper(o), 'missTtl', 'missTtlMs'],
  ['loadConnection', (o) => loadConnection(o), 'contexts', 'context'],
  ['retryOnConflict', (o) => retryOnConflict(() => 1, o), 'backOff', 'backoff'],
  ['waitFor', (o) => waitFor({} as never, Pod, { namespace: 'a', name: 'b' }, o), 'timeoutMS', 'timeoutMs'],
  ['createEventBroadcaster', (o) => createEventBroadcaster(o), 'bursts', 'burst'],
  ['createLeaderElector', (o) => createLeaderElector(o), 'leaseDuration', 'leaseDurationMs'],
  ['createWorkerLeaderElector', (o) => createWorkerLeaderElector(o), 'lockmodule', 'lockModule'],
  ['createLeaseLock', (o) => createLeaseLock(o), 'label', 'labels'],
  ['createAccessFilter', (o) => createAccessFilter(o), 'clients', 'client'],
  ['createPrometheusMetrics', (o) => createPrometheusMetrics(o), 'eventLoopLags', 'eventLoopLag'],
  ['retry', (o) => retry(() => 1, o), 'maxAttempt', 'maxAttempts'],
  ['poll', (o) => poll(() => 1, o), 'intervalMs', 'interval'],
  ['createBackoff', (o) => createBackoff(o), 'capMS', 'capMs'],
  ['createWebhookServer', (o) => createWebhookServer(o), 'certdir', 'certDir'],
  ['createSelfManagedCertificates', (o) => createSelfManagedCertificates(o), 'services', 'service'],
  ['createCertificateWatcher', (o) => createCertificateWatcher(o), 'keyfile', 'keyFile'],
  ['admissionWebhook', (o) => admissionWebhook(handler, o), 'logConstuctor', 'logConstructor'],
  ['standaloneWebhook', (o) => standaloneWebhook(handler, o), 'maxBufferedByte', 'maxBufferedBytes'],
  [
    '',
    (o) => validatingWebhook(Pod, { validateCreate: () => undefined }, { registration: o }),
    'faliurePolicy',
    'failurePolicy',
  ],
  ['', (o) => defaultingWebhook(Pod, () => undefined, { registration: o }), 'matchPolcy', 'matchPolicy'],
  ['webhookConfigurations', (o) => webhookConfigurations(new Map(), o), 'labels2', 'labels'],
  ['withConversion', (o) => withConversion({} as never, o), 'converters', 'converter'],
];

describe('an option that is not known', () => {
  it.each(rows)('is refused by %s, which names the nearest one that is: %#', async (name, call, given, meant) => {
    const attempt = async (): Promise<unknown> => call({ [given]: 1 } as never);
    await expect(attempt()).rejects.toThrow(
      new RegExp(`^(?=.*${name}).*unknown option "[^"]*${given}": did you mean "${meant}"`),
    );
  });
});
