// Every package as a module, clients without a server, and one of each thing that factories make.
import * as apimachinery from '@kctl/apimachinery';
import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
import * as builder from '@kctl/builder';
import * as cache from '@kctl/cache';
import * as cacheIndex from '@kctl/cache-index';
import * as client from '@kctl/client';
import * as operations from '@kctl/client/operations';
import * as delegating from '@kctl/client-delegating';
import * as http from '@kctl/client-http';
import * as controller from '@kctl/controller';
import * as dependents from '@kctl/dependents';
import * as events from '@kctl/events';
import * as httpServer from '@kctl/http-server';
import * as informer from '@kctl/informer';
import * as inspection from '@kctl/inspection';
import * as kubeconfig from '@kctl/kubeconfig';
import * as election from '@kctl/leader-election';
import * as manager from '@kctl/manager';
import * as manifests from '@kctl/manifests';
import * as metrics from '@kctl/metrics';
import * as pods from '@kctl/pods';
import * as rbac from '@kctl/rbac';
import * as runtime from '@kctl/runtime';
import * as telemetry from '@kctl/telemetry';
import * as wait from '@kctl/wait';
import * as webhook from '@kctl/webhook';
import * as workqueue from '@kctl/workqueue';

export const modules: Readonly<Record<string, object>> = {
  ...{ apimachinery, builder, cache, 'cache-index': cacheIndex, client: { ...client, ...operations } },
  ...{
    'client-delegating': delegating,
    'client-http': http,
    controller,
    dependents,
    events,
    'http-server': httpServer,
    informer,
  },
  ...{ inspection, kubeconfig, 'leader-election': election, manager, manifests, metrics, pods, rbac, runtime },
  ...{ telemetry, wait, webhook, workqueue },
};

export const key = { namespace: 'default', name: 'a' };
export const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, uid: 'u', resourceVersion: '1' } };
const answer = async (): Promise<unknown> => await Promise.resolve(structuredClone(object));
export const transport = {
  server: 'https://127.0.0.1:1',
  send: async () => await Promise.reject(new Error('no server')),
  [Symbol.asyncDispose]: async () => await Promise.resolve(),
};
export const real = http.createHttpClient({ transport });
const verbs = { get: answer, create: answer, update: answer, patch: answer, delete: answer };
export const fake = {
  ...verbs,
  ...{ transport, deleteAllOf: answer, watch: answer, status: () => verbs, subResource: () => verbs },
  list: async () => await Promise.resolve({ metadata: {}, items: [object] }),
};
const listerWatcher = informer.listerWatcherFor(real, ConfigMap);
export const ownCache = cache.createCache({ client: real });
export const shared = informer.createSharedInformer({ kind: ConfigMap, listerWatcher });
export const own = controller.createController({ name: 'c', reconciler: async () => await Promise.resolve(undefined) });

/** What factories make, by the interface that it implements. */
export const made: Readonly<Record<string, object>> = {
  Cache: cache.createCache({ client: real }),
  IndexReader: cacheIndex.createIndexer({ indexers: { a: () => [] } }),
  BoundedStore: cacheIndex.createBoundedStore({ maxObjects: 1, read: async () => await Promise.resolve(undefined) }),
  Reader: real,
  Writer: real,
  Client: real,
  WatchingClient: real,
  DelegatingClient: delegating.createDelegatingClient({ client: real, cache: ownCache }),
  NamespacedStatusClient: client.inNamespace(real, 'default').status(Pod),
  NamespacedSubResourceClient: client.inNamespace(real, 'default').subResource(Pod, 'x'),
  Indexer: cacheIndex.createIndexer({ indexers: { a: () => [] } }),
  RateLimitingQueue: workqueue.createRateLimitingQueue(),
  DelayingQueue: workqueue.createDelayingQueue(),
  EventRecorder: events.createFakeRecorder(),
  Clock: wait.systemClock,
  Queue: informer.createDeltaFifo(),
  QueueWithBatch: informer.createRealFifo(),
  ManagedCache: cache.createCache({ client: real }),
  CacheView: cache.createCache({ client: real }),
  InformerProvider: cache.createCache({ client: real }),
  WatchHandle: own,
  Watcher: real,
  FrameReader: real,
  HttpClient: real,
  StatusClient: real.status(Pod),
  SubResourceClient: real.subResource(Pod, 'x'),
  NamespacedClient: client.inNamespace(real, 'default'),
  RestMapper: http.createRestMapper({ transport }),
  Controller: own,
  FakeRecorder: events.createFakeRecorder(),
  DeltaFifo: informer.createDeltaFifo(),
  RealFifo: informer.createRealFifo(),
  SharedInformer: shared,
  HandlerRegistration: shared.addEventHandler({}),
  EventStream: informer.createEventStream(shared),
  Inspection: inspection.createInspection(),
  LeaderElector: election.createLeaderElector({
    lock: election.createLeaseLock({ client: real, ...key, identity: 'me' }),
    callbacks: { onStartedLeading: () => undefined },
  }),
  Manager: manager.createManager({
    cluster: manager.createCluster({ client: real, apiReader: real, cache: ownCache }),
  }),
  TokenBucket: wait.createTokenBucket({ perSecond: 1, burst: 1 }),
  Metrics: metrics.createPrometheusMetrics(),
  WorkQueue: workqueue.createWorkQueue(),
  InspectableQueue: workqueue.createWorkQueue(),
  PriorityQueue: workqueue.createPriorityQueue(),
};
