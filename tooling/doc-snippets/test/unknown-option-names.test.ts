// What takes options refuses a name that it does not have, with the nearest one: an option that is dropped in silence
// means its default, such as a patch without its lock. The entrances are read from the sources, so that a new one is
// judged without a line here.
import * as apimachinery from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
import * as builder from '@kctl/builder';
import * as cache from '@kctl/cache';
import * as cacheIndex from '@kctl/cache-index';
import * as client from '@kctl/client';
import * as operations from '@kctl/client/operations';
import * as delegating from '@kctl/client-delegating';
import * as http from '@kctl/client-http';
import * as controller from '@kctl/controller';
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
import { expect, it } from 'vitest';
import { entrancesOf, type Entrance } from './entrances.js';

const modules: Readonly<Record<string, object>> = {
  ...{ apimachinery, builder, cache, 'cache-index': cacheIndex, client: { ...client, ...operations } },
  ...{ 'client-delegating': delegating, 'client-http': http, controller, events, 'http-server': httpServer, informer },
  ...{ inspection, kubeconfig, 'leader-election': election, manager, manifests, metrics, pods, rbac, runtime },
  ...{ telemetry, wait, webhook, workqueue },
};

const key = { namespace: 'default', name: 'a' };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, uid: 'u', resourceVersion: '1' } };
const answer = async (): Promise<unknown> => await Promise.resolve(structuredClone(object));
const transport = {
  server: 'https://127.0.0.1:1',
  send: async () => await Promise.reject(new Error('no server')),
  [Symbol.asyncDispose]: async () => await Promise.resolve(),
};
const real = http.createHttpClient({ transport });
const verbs = { get: answer, create: answer, update: answer, patch: answer, delete: answer };
const fake = {
  ...verbs,
  ...{ transport, deleteAllOf: answer, watch: answer, status: () => verbs, subResource: () => verbs },
  list: async () => await Promise.resolve({ metadata: {}, items: [object] }),
};
const listerWatcher = informer.listerWatcherFor(real, ConfigMap);
const ownCache = cache.createCache({ client: real });
const shared = informer.createSharedInformer({ kind: ConfigMap, listerWatcher });
const own = controller.createController({ name: 'c', reconciler: async () => await Promise.resolve(undefined) });
const clock = wait.systemClock;

const fitting: readonly unknown[] = [
  ...[Deployment, ['a'], { on: ['create'] }, { validateCreate: () => undefined }, { namespace: 'a', name: 'b' }],
  controller.channelSource({
    name: 'c',
    events: controller.createEventChannel<typeof object>(),
    handler: controller.enqueueRequestForObject(),
  }),
  ...[fake, ConfigMap, object, key, 'a', 'a:b', () => undefined, async () => await Promise.resolve(1), [object], real],
  ...[
    Pod,
    'v1',
    1,
    ownCache,
    shared,
    transport,
    own,
    { metadata: { annotations: {} } },
    new Map(),
    clock,
    [],
    'http:1',
  ],
  ...[{ server: 'https://127.0.0.1:1' }, new AbortController().signal],
];

/** What factories make, by the interface that it implements. */
const made: Readonly<Record<string, object>> = {
  Cache: cache.createCache({ client: real }),
  IndexReader: cacheIndex.createIndexer({ indexers: { a: () => [] } }),
  BoundedStore: cacheIndex.createBoundedStore({ maxObjects: 1, read: async () => await Promise.resolve(undefined) }),
  Reader: real,
  Writer: real,
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

const misspelled = 'z'.repeat(60);
const noResult = Symbol('no result');

/** What a call fails with at once, in its first step as a generator, or as a promise. */
async function refusal(call: () => unknown): Promise<string> {
  try {
    const result = await Promise.race([call(), new Promise((resolve) => setTimeout(resolve, 5, noResult))]);
    if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result)
      await Promise.race([
        (result as AsyncIterable<unknown>)[Symbol.asyncIterator]().next(),
        new Promise((resolve) => setTimeout(resolve, 5)),
      ]);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function* argumentLists(count: number): Generator<unknown[]> {
  if (count === 0) yield [];
  else for (const each of fitting) for (const rest of argumentLists(count - 1)) yield [...rest, each];
}

async function refuses(target: object, { name, position }: Entrance): Promise<boolean> {
  const call: unknown = Reflect.get(target, name);
  if (typeof call !== 'function') return false;
  for (const args of argumentLists(position)) {
    const message = await refusal(
      (): unknown => Reflect.apply(call, target, [...args, { [misspelled]: 1 }]) as unknown,
    );
    if (message.includes(`unknown option "${misspelled}"`)) return true;
  }
  return false;
}

/** Of functions that take more than the fitting arguments above, which the tests of their packages call; and others. */
const others: ReadonlyMap<string, string> = new Map([
  ['apimachinery.defineKind', 'kinds are made by the hundred, and their bundle has a limit'],
  ['wait.withDeadline', 'called with the options of a whole call, which its callers have checked'],
  ['telemetry.describeError', 'called for each error of a log line'],
  ['telemetry.loggable', 'called for each value of a log line'],
  ['telemetry.guardSinks', 'takes the options of others'],
  ['informer.reflectorConfigProblems', 'takes the options of others'],
  ['rbac.needProblems', 'takes the options of others'],
  ['manager.isForeignRequest', 'called for each request'],
  ['WorkQueue.run', 'tested in packages/runtime, with work'],
  ['WorkQueue.[Symbol.asyncIterator]', 'not a method with a name'],
  ['apimachinery.setCondition', 'the name of a generic, not options'],
  ['webhook.certificateRules', 'takes the options of createSelfManagedCertificates, which refuses them'],
  ['webhook.validationRule', 'its options are a rest parameter, which admissionWebhook refuses'],
  ['webhook.mutationRule', 'its options are a rest parameter, which admissionWebhook refuses'],
  ['Metrics.counter', 'each collector library has its own'],
  ['Metrics.gauge', 'each collector library has its own'],
  ['Metrics.histogram', 'each collector library has its own'],
  ['Cache.matcherFor', 'list refuses them first'],
  ['client.listWithin', 'hands them to list, which refuses them'],
]);

const entrances = Object.keys(modules).flatMap(entrancesOf);

it('unknown names of options are refused by every exported function', { timeout: 120_000 }, async () => {
  const silent: string[] = [];
  for (const entrance of entrances.filter(({ of }) => of === undefined)) {
    const exported = modules[entrance.package] ?? {};
    const what = `${entrance.package}.${entrance.name}`;
    if (!(entrance.name in exported) || others.has(what)) continue;
    if (!(await refuses(exported, entrance))) silent.push(what);
  }
  expect([...new Set(silent)]).toEqual([]);
});

it('unknown names of options are refused by every method of what factories make', { timeout: 120_000 }, async () => {
  const silent: string[] = [];
  for (const entrance of entrances) {
    const target = made[entrance.of ?? ''];
    if (target !== undefined && !others.has(`${entrance.of}.${entrance.name}`)) {
      if (!(await refuses(target, entrance))) silent.push(`${entrance.of}.${entrance.name}`);
    }
  }
  expect([...new Set(silent)]).toEqual([]);
});
