import { defineKind } from '@kctl/apimachinery';
import type { KubeObject, NamespacedKey, ObjectKey } from '@kctl/apimachinery';
import type { ReconcileRequest, Source } from '@kctl/controller';
import {
  channelSource,
  createEventChannel,
  enqueueRequestForObject,
  enqueueRequestsFromMapFunc,
  funcSource,
  generationChanged,
  inject,
  pollingSource,
} from '@kctl/controller';
import type { Logger } from '@kctl/telemetry';
import { noopLogger } from '@kctl/telemetry';
import { createManager } from '@kctl/manager';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ControllerBuilder } from '../src/index.js';
import { controllerManagedBy, isDefinitionError } from '../src/index.js';
import { FakeCache, fakeCluster } from './fakes.js';

const App = defineKind({ group: 'example.com', version: 'v1', kind: 'App', scope: 'Namespaced' });
const Pod = defineKind({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });
const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });

function problemsOf(define: () => unknown): readonly string[] {
  try {
    define();
  } catch (error) {
    if (isDefinitionError(error)) return error.problems;
    throw error;
  }
  return [];
}

/** A source that queues one request when it starts. */
function enqueueOnce<R>(name: string, request: R): Source<R> {
  return funcSource(name, ({ queue }) => {
    queue.add(request);
    return undefined;
  });
}

describe('ControllerBuilder', () => {
  it('runs a controller that reconciles objects and the owners of their dependents', async () => {
    const cache = new FakeCache();
    const manager = createManager({ cluster: fakeCluster(cache), clock: new FakeClock() });
    const seen: string[] = [];
    controllerManagedBy(manager)
      .for(App, { predicates: [generationChanged] })
      .owns(Pod, { onlyMetadata: true })
      .complete(async ({ namespace, name }) => {
        seen.push(`${namespace}/${name}`);
      });
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    await settle();
    cache.add(App, { metadata: { namespace: 'a', name: 'one' } });
    const ownerReferences = [
      { apiVersion: 'example.com/v2', kind: 'App', name: 'two', uid: '2', controller: true },
      { apiVersion: 'example.com/v1', kind: 'App', name: 'three', uid: '3' },
    ];
    const pod: KubeObject = { metadata: { namespace: 'a', name: 'p', ownerReferences } };
    cache.add({ ...Pod, shape: 'metadata' }, pod);
    await settle();
    expect(seen).toEqual(['a/one', 'a/two']);
    stop.abort();
    await done;
    expect(cache.log).toEqual(['cache runs', 'cache synced', 'cache ends']);
  });

  it('reports all mistakes of a definition at once and adds nothing', () => {
    const manager = createManager({ cluster: fakeCluster() });
    const problems = problemsOf(() =>
      controllerManagedBy(manager)
        .for(App)
        .for(Pod)
        .owns(Node)
        .owns(Node)
        .withOptions({ maxConcurrentReconciles: -1 })
        .complete(undefined as never),
    );
    expect(problems).toMatchInlineSnapshot(`
      [
        "for(...) should only be called once, could not assign multiple objects for reconciliation: App.example.com, Pod",
        "owns(Node): a cluster-scoped object cannot be owned by a namespaced one (App.example.com); use watches() with a map function",
        "owns(Node): a cluster-scoped object cannot be owned by a namespaced one (App.example.com); use watches() with a map function",
        "owns(Node) is there twice",
        "must provide a non-nil Reconciler: a function or { reconcile }",
        "controller "app": maxConcurrentReconciles -1 is not valid: expected an integer ≥ 0",
      ]
    `);
    expect(() =>
      controllerManagedBy(manager)
        .for(App)
        .complete(async () => undefined),
    ).not.toThrow();
  });

  it('asks for a name where there is no kind, and for something to watch', () => {
    const manager = createManager({ cluster: fakeCluster() });
    expect(problemsOf(() => controllerManagedBy(manager).complete(async () => undefined))).toMatchInlineSnapshot(`
      [
        "using named() is required when for() is not used",
        "there are no watches configured, controller will never get triggered. Use for(), owns(), watches() or watchesRawSource() to set them up",
      ]
    `);
  });

  it('refuses a second controller of one name', () => {
    const manager = createManager({ cluster: fakeCluster() });
    const define = () =>
      controllerManagedBy(manager)
        .for(App)
        .complete(async () => undefined);
    define();
    expect(problemsOf(define)).toEqual([expect.stringContaining('controller with name app already exists')]);
  });

  it('asks global predicates before those of the input, and never for a raw source', async () => {
    const cache = new FakeCache();
    const manager = createManager({ cluster: fakeCluster(cache) });
    const asked: string[] = [];
    const ask = (name: string, answer: boolean) => () => {
      asked.push(name);
      return answer;
    };
    const seen: string[] = [];
    controllerManagedBy(manager)
      .named('mixed')
      .withEventFilter(ask('global', true))
      .watches(App, enqueueRequestForObject(), { predicates: [ask('own', true), ask('last', false)] })
      .withEventFilter(ask('second', true))
      .watchesRawSource(
        funcSource('raw', ({ queue }) => {
          queue.add({ name: 'raw' });
          return undefined;
        }),
      )
      .complete(async ({ name }) => void seen.push(name));
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    await settle();
    cache.add(App, { metadata: { namespace: 'a', name: 'one' } });
    await settle();
    expect([asked, seen]).toEqual([['global', 'second', 'own', 'last'], ['raw']]);
    stop.abort();
    await done;
  });

  it('reconciles every owner when told so, and watches metadata alone', async () => {
    const cache = new FakeCache();
    const manager = createManager({ cluster: fakeCluster(cache) });
    const seen: string[] = [];
    controllerManagedBy(manager)
      .for(App, { onlyMetadata: true })
      .owns(Pod, { matchEveryOwner: true })
      .watchesMetadata(Node, (event, queue) => {
        // @ts-expect-error metadata has no spec
        expect(event.object.spec).toBeUndefined();
        queue.add({ namespace: 'a', name: `of ${event.object.metadata.name}` });
        return undefined;
      })
      .complete(async ({ name }) => void seen.push(name));
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    await settle();
    expect([...cache.handlers.keys()]).toEqual(['App/metadata', 'Pod/full', 'Node/metadata']);
    const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'App', name: 'any', uid: '3' }];
    cache.add(Pod, { metadata: { namespace: 'a', name: 'p', ownerReferences } });
    cache.add({ ...Node, shape: 'metadata' }, { metadata: { name: 'n1' } });
    await settle();
    expect(seen).toEqual(['any', 'of n1']);
    stop.abort();
    await done;
  });

  it('takes settings from its options, then from the kind, then from the manager', () => {
    const manager = createManager({
      cluster: fakeCluster(),
      controllers: { maxConcurrentReconciles: 2, recoverPanic: false, groupKindConcurrency: { 'App.example.com': 5 } },
    });
    const workers = (define: (builder: ControllerBuilder) => ControllerBuilder, name: string) =>
      define(controllerManagedBy(manager).named(name)).complete(async () => undefined).settings;
    expect(workers((builder) => builder.for(Pod), 'a')).toMatchObject({
      maxConcurrentReconciles: 2,
      recoverPanic: false,
    });
    expect(workers((builder) => builder.for(App), 'b').maxConcurrentReconciles).toBe(5);
    const explicit = (builder: ControllerBuilder) => builder.for(App).withOptions({ maxConcurrentReconciles: 9 });
    expect(workers(explicit, 'c').maxConcurrentReconciles).toBe(9);
  });

  it('inherits what an option leaves undefined', () => {
    const manager = createManager({
      cluster: fakeCluster(),
      controllers: { maxConcurrentReconciles: 5, recoverPanic: false, cacheSyncTimeoutMs: undefined as never },
    });
    const { settings } = controllerManagedBy(manager)
      .for(Pod)
      .withOptions({ maxConcurrentReconciles: 3, reconciliationTimeoutMs: 7 })
      .withOptions({ maxConcurrentReconciles: undefined, recoverPanic: undefined, rateLimiter: undefined } as never)
      .complete(async () => undefined);
    expect(settings).toMatchObject({
      maxConcurrentReconciles: 3,
      reconciliationTimeoutMs: 7,
      recoverPanic: false,
      cacheSyncTimeoutMs: 120_000,
    });
  });

  it.each<[unknown, string]>([
    [undefined, 'must provide a non-nil Manager: controllerManagedBy() was called with undefined'],
    [null, 'must provide a non-nil Manager: controllerManagedBy() was called with null'],
    [{}, 'it has no dependencies, no cache, no logger, no controllerDefaults, no add'],
    [Promise.resolve(), 'was called with a promise: give it the manager, `await createManager(…)`'],
  ])('says that %j is not a manager', (host, problem) => {
    let failure: unknown;
    try {
      controllerManagedBy(host as never)
        .for(Pod)
        .owns(Node)
        .watches(Pod, enqueueRequestForObject(), null as never)
        .complete(async () => undefined);
    } catch (error) {
      failure = error;
    }
    expect(isDefinitionError(failure) && failure.message).toContain(problem);
  });

  it('reconciles everything on an event of reconcileAllOn', async () => {
    const names: string[] = [];
    const manager = createManager({ cluster: fakeCluster() });
    const config = createEventChannel<string>();
    const reload = channelSource<string, unknown>({
      name: 'config',
      events: config,
      handler: enqueueRequestsFromMapFunc((version) => [version]),
    });
    const controller = controllerManagedBy(manager)
      .named('all')
      .watchesRawSource(
        pollingSource<string, ReconcileRequest>({
          name: 'names',
          everyMs: 1_000_000,
          identify: String,
          poll: async () => ['a', 'b'],
          handler: enqueueRequestsFromMapFunc((name) => [{ name }]),
        }),
      )
      .reconcileAllOn(reload)
      .complete(async ({ name }) => void names.push(name));
    const stop = new AbortController();
    const done = controller.run(stop.signal);
    await settle();
    expect(names.splice(0)).toEqual(['a', 'b']);
    config.send('v2');
    await settle();
    expect(names).toEqual(['a', 'b']);
    stop.abort();
    await done;
  });

  it('injects into everything it takes, and names what is missing with the other mistakes', async () => {
    const cache = new FakeCache();
    const manager = createManager({ cluster: fakeCluster(cache), dependencies: { greeting: 'hello' } });
    const seen: string[] = [];
    controllerManagedBy(manager)
      .for(App)
      .withEventFilter(inject({ cache: true }, (deps: { cache: object }) => () => deps.cache === cache))
      .complete(
        inject({ greeting: true }, ({ greeting }: { greeting: string }) => async ({ name }: ReconcileRequest) => {
          seen.push(`${greeting} ${name}`);
        }),
      );
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    await settle();
    cache.add(App, { metadata: { namespace: 'a', name: 'one' } });
    await settle();
    expect(seen).toEqual(['hello one']);
    stop.abort();
    await done;
    const poor = createManager({ cluster: fakeCluster() });
    const problems = problemsOf(() =>
      controllerManagedBy(poor)
        .named('needy')
        .watches(
          Pod,
          inject({ events: true }, (_: { events: object }) => enqueueRequestForObject()),
        )
        .watchesRawSource(inject({ mapper: true }, (_: { mapper: object }) => funcSource('x', () => undefined)))
        .complete(async () => undefined),
    );
    expect(problems).toEqual([
      expect.stringContaining('the handler of watches(Pod) needs "events", which the manager does not have'),
      expect.stringContaining('a source of watchesRawSource needs "mapper"'),
    ]);
  });

  it('names handlers and predicates that are no functions, as programs without types may give', () => {
    const manager = createManager({ cluster: fakeCluster() });
    const predicate = (): boolean => true;
    const problems = problemsOf(() =>
      controllerManagedBy(manager)
        .for(App, { predicates: predicate as never })
        .owns(Pod, { predicates: [undefined as never] })
        .watches(Pod, undefined as never, { predicates: [predicate] })
        .withEventFilter('all' as never)
        .complete(async () => undefined),
    );
    expect(problems).toEqual([
      'for(App.example.com): predicates is not a list: expected { predicates: [predicate] }',
      'owns(Pod): one of its predicates is not a function',
      'watches(Pod): the handler is not a function',
      'withEventFilter(...): one of the predicates is not a function',
    ]);
  });

  it.each([
    ['given', { reconcile: 5 }, 'reconciler is required: a function or { reconcile }'],
    ['injected', inject({ logger: true }, () => ({ reconcile: 5 })), 'reconciler is required'],
    ['injected as nothing', inject({ logger: true }, () => undefined), 'what inject() was given returned nothing'],
  ])('names a reconciler without a function that is %s', (_how, reconciler, problem) => {
    const manager = createManager({ cluster: fakeCluster() });
    const problems = problemsOf(() =>
      controllerManagedBy(manager)
        .for(App)
        .complete(reconciler as never),
    );
    expect(problems.join()).toContain(problem);
    expect(manager.controllers()).toEqual([]);
  });

  it('names a predicate, a source or a trigger that is undefined', () => {
    const manager = createManager({ cluster: fakeCluster() });
    const define = () => controllerManagedBy(manager).for(Pod);
    const reconciler = async (): Promise<undefined> => undefined;
    expect(
      problemsOf(() =>
        define()
          .withEventFilter(undefined as never)
          .complete(reconciler),
      ),
    ).toEqual(['withEventFilter(...): one of the predicates is not a function']);
    for (const method of ['watchesRawSource', 'reconcileAllOn'] as const)
      expect(
        problemsOf(() =>
          define()
            [method](undefined as never)
            .complete(reconciler),
        ),
      ).toEqual(['controller "pod": watch: the source is not valid: expected { name, start }, such as kindSource(…)']);
  });

  it('does not compile for a request type that is no key', () => {
    const manager = createManager({ cluster: fakeCluster() });
    const builder = controllerManagedBy<{ bucket: string }>(manager);
    // @ts-expect-error an object's key is no { bucket }
    builder.for(App);
    expect(problemsOf(() => builder.owns(undefined as never).complete(async () => undefined))).toContainEqual(
      expect.stringContaining('owns(undefined): that is not a kind'),
    );
  });

  it('hands out keys as the kind of for() has them', async () => {
    const cache = new FakeCache();
    const lines: unknown[] = [];
    const logger: Logger = {
      ...noopLogger,
      error: (message, fields) => void lines.push([message, String(fields?.['error'])]),
      child: () => logger,
    };
    const manager = createManager({ cluster: fakeCluster(cache), logger });
    const seen: string[] = [];
    controllerManagedBy(manager)
      .named('namespaced')
      .for(App)
      .owns(Pod)
      .watches(
        Node,
        enqueueRequestsFromMapFunc(({ metadata }) => [{ namespace: 'a', name: `on ${metadata.name}` }]),
      )
      .watchesRawSource(enqueueOnce('whole', { namespace: 'a', name: 'raw' }))
      .watchesRawSource(
        // What the compiler cannot see: the handler's object is the wrong kind of key.
        enqueueOnce('half', { name: 'half' } as NamespacedKey),
      )
      .complete(async ({ namespace, name }) => void seen.push(`${namespace.toUpperCase()}/${name}`));
    const keyOfAny = (request: ObjectKey): string => `${request.namespace ?? '-'}/${request.name}`;
    controllerManagedBy(manager)
      .named('any key')
      .watchesRawSource(enqueueOnce('any', { name: 'alone' }))
      .for(App)
      .complete(async (request) => {
        // @ts-expect-error a source that was added before may queue keys without a namespace
        request.namespace satisfies string;
        seen.push(keyOfAny(request));
      });
    controllerManagedBy(manager)
      .named('cluster')
      .for(Node)
      .complete({
        reconcile: async (request) => {
          // @ts-expect-error an object that belongs to no namespace
          request.namespace satisfies string;
          seen.push(keyOfAny(request));
        },
      });
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    await settle();
    cache.add(App, { metadata: { namespace: 'a', name: 'one' } });
    cache.add(Node, { metadata: { name: 'n' } });
    await settle();
    expect(seen.toSorted()).toEqual(['-/alone', '-/n', 'A/on n', 'A/one', 'A/raw', 'a/one']);
    expect(lines).toEqual([
      [
        'Reconciler error',
        'TerminalError: terminal error: the request {"name":"half"} does not identify an object of App.example.com: it has no namespace. Does a handler of watches(), or a raw source, omit it?',
      ],
    ]);
    stop.abort();
    await done;
  });

  it('does not compile where kinds and keys do not fit', () => {
    const manager = createManager({ cluster: fakeCluster() });
    const namespaced = controllerManagedBy<NamespacedKey>(manager);
    namespaced.for(App);
    // @ts-expect-error the keys of a cluster-scoped kind have no namespace
    namespaced.for(Node);
    expect(namespaced).toBeDefined();
  });

  it('keeps a request type that is given, also one that an object key could be', () => {
    interface ClusterKey {
      readonly name: string;
      readonly namespace?: string;
      readonly cluster?: string;
    }
    const manager = createManager({ cluster: fakeCluster() });
    controllerManagedBy<ClusterKey>(manager)
      .for(App)
      .build((request) => {
        expectTypeOf(request).toEqualTypeOf<ClusterKey>();
        return Promise.resolve();
      });
  });

  it('logs the object as upstream does', async () => {
    const cache = new FakeCache();
    const lines: unknown[] = [];
    const logger = (base: object): Logger => ({
      ...noopLogger,
      info: (message, fields) => {
        if (message === 'hello') lines.push({ ...base, ...fields });
      },
      child: (fields) => logger({ ...base, ...fields }),
    });
    const manager = createManager({ cluster: fakeCluster(cache), logger: logger({}) });
    controllerManagedBy(manager)
      .for(App)
      .complete(async (_request, context) => context.logger.info('hello'));
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await manager.elected;
    await settle();
    cache.add(App, { metadata: { namespace: 'a', name: 'one' } });
    await settle();
    expect(lines).toEqual([
      {
        controller: 'app',
        controllerGroup: 'example.com',
        controllerKind: 'App',
        App: { namespace: 'a', name: 'one' },
        namespace: 'a',
        name: 'one',
        reconcileID: expect.any(String),
      },
    ]);
    stop.abort();
    await done;
  });
});
