import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import { labelSelectorFrom, parseLabelSelector } from '@kctl/apimachinery';
import type { HandlerRegistration } from '@kctl/informer';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { RunningCache } from './fake-server.js';
import { fakeServer, startCache, startSyncedCache, Thing } from './fake-server.js';
import type { Cache, NamespaceScopes, ScopeOptions } from '../src/index.js';
import { createCache } from '../src/index.js';

describe('setNamespaces', () => {
  const names = async (cache: Cache): Promise<string[]> =>
    (await cache.list(Thing)).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

  it('takes {} for none, and the key "" for all', async () => {
    const { cache, stop } = await startSyncedCache({ defaultNamespaces: { a: {} } });
    cache.addIndex(Thing, 'metadata.uid', { path: 'metadata.uid' });
    expect(await names(cache)).toEqual(['a/x']);
    await cache.setNamespaces({});
    expect(await names(cache)).toEqual([]);
    // What rights the ones to come need is not known: not those of no namespace.
    expect(cache.namespacesFor(Thing)).toBeUndefined();
    expect((await cache.list(Thing, { fieldSelector: 'metadata.uid=u-x' })).items).toEqual([]);
    await expect(cache.list(Thing, { fieldSelector: 'spec.node=n' })).rejects.toThrow('does not exist');
    expect(() => cache.addIndex(Thing, 'metadata.uid', { path: 'metadata.uid' })).toThrow('indexer conflict');
    await expect(cache.list(Thing, { namespace: 'a' })).rejects.toMatchObject({ code: 'KCTL_UNKNOWN_NAMESPACE' });
    await cache.setNamespaces({ b: {} });
    expect(await names(cache)).toEqual(['b/y']);
    expect((await cache.list(Thing, { fieldSelector: 'metadata.uid=u-y' })).items).toHaveLength(1);
    await cache.setNamespaces({ '': {} });
    expect(await names(cache)).toEqual(['a/x', 'b/y', 'late/z']);
    await stop();
  });

  it('leaves kinds alone that cover all namespaces by their own options', async () => {
    const { cache, stop } = await startSyncedCache({
      byObject: [{ kind: Thing, namespaces: {} }],
      defaultNamespaces: { a: {} },
    });
    await cache.setNamespaces({});
    expect(await names(cache)).toEqual(['a/x', 'b/y', 'late/z']);
    await stop();
  });

  it('lets a read of a new namespace wait for its list', async () => {
    const { cache, letGo, stop } = await startSyncedCache({
      byObject: [{ kind: Thing }],
      defaultNamespaces: { a: {} },
    });
    const changed = cache.setNamespaces({ a: {}, late: {} });
    const reading = cache.get(Thing, { namespace: 'late', name: 'z' });
    const listing = cache.list(Thing, { namespace: 'late' });
    expect(await names(cache)).toEqual(['a/x']);
    letGo();
    expect((await reading).metadata.name).toBe('z');
    expect((await listing).items).toHaveLength(1);
    await changed;
    expect(await names(cache)).toEqual(['a/x', 'late/z']);
    await stop();
  });

  it('shows what comes and what leaves in an indexer that was kept from before', async () => {
    const { cache, stop } = await startSyncedCache({ byObject: [{ kind: Thing }], defaultNamespaces: { a: {} } });
    const { indexer } = cache.informerFor(Thing);
    cache.addIndex(Thing, 'metadata.uid', { path: 'metadata.uid' });
    const seen = (): unknown => [
      indexer.size,
      indexer.listKeys(),
      indexer.get({ namespace: 'b', name: 'y' })?.metadata.name,
      indexer.indexKeys('field:metadata.uid', 'u-y'),
    ];
    expect(seen()).toEqual([1, ['a/x'], undefined, []]);
    await cache.setNamespaces({ a: {}, b: {} });
    expect(seen()).toEqual([2, ['a/x', 'b/y'], 'y', ['b/y']]);
    await cache.setNamespaces({ b: {} });
    expect(seen()).toEqual([1, ['b/y'], 'y', ['b/y']]);
    await cache.setNamespaces({});
    expect(seen()).toEqual([0, [], undefined, []]);
    expect(cache.informerFor(Thing).indexer).toBe(indexer);
    await stop();
  });

  it('does not let a namespace that cannot be listed hold up reads of the others, also at the start', async () => {
    const { cache, letGo, stop } = startCache({ byObject: [{ kind: Thing }], defaultNamespaces: { a: {}, late: {} } });
    const key = { namespace: 'a', name: 'x' };
    expect((await cache.get(Thing, key)).metadata.name).toBe('x');
    expect((await cache.list(Thing, { namespace: 'a' })).items).toHaveLength(1);
    expect(cache.peek(Thing, key)?.metadata.name).toBe('x');
    let isListed = false;
    const listing = cache.list(Thing).then(({ items }) => (isListed = items.length === 2));
    await settle();
    expect([isListed, cache.peek(Thing, { namespace: 'late', name: 'z' })]).toEqual([false, undefined]);
    letGo();
    expect(await listing).toBe(true);
    await stop();
  });

  it('lets those who wait for a sync wait for the namespaces that stay, and for those that come', async () => {
    const { cache, letGo, stop } = startCache({ byObject: [{ kind: Thing }], defaultNamespaces: { late: {}, a: {} } });
    const informer = cache.informerFor(Thing);
    const handler = informer.addEventHandler({});
    const waits = Promise.all([cache.waitForSync(), handler.waitForSync(), informer.waitForResourceVersion('10')]);
    const reading = cache.list(Thing);
    await settle();
    await cache.setNamespaces({ a: {}, b: {} });
    await waits;
    expect((await reading).items.map(({ metadata }) => metadata.name)).toEqual(['x', 'y']);
    letGo();
    await stop();
  });

  it('is done when a later call takes back what it waits for', async () => {
    const { cache, stop } = await startSyncedCache({ byObject: [{ kind: Thing }], defaultNamespaces: { a: {} } });
    const first = cache.setNamespaces({ a: {}, late: {} });
    await settle();
    await cache.setNamespaces({ b: {} });
    await first;
    expect(await names(cache)).toEqual(['b/y']);
    const second = cache.setNamespaces({ late: {} });
    await settle();
    await cache.removeInformer(Thing);
    await second;
    await stop();
  });
});

describe('setNamespaces before the run', () => {
  it('may go by way of none', async () => {
    const cache = createCache({
      client: {} as never,
      listerWatcherFor: fakeServer().listerWatcherFor,
      byObject: [{ kind: Thing }],
      defaultNamespaces: { a: {} },
    });
    await cache.setNamespaces({});
    await cache.setNamespaces({ b: {} });
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    expect((await cache.list(Thing)).items.map(({ metadata }) => metadata.name)).toEqual(['y']);
    stop.abort();
    await run;
  });
});

describe('setNamespaces called by a handler', () => {
  it('shows what the handler hears of once', async () => {
    const { cache, letGo, stop } = startCache({ byObject: [{ kind: Thing }], defaultNamespaces: { a: {} } });
    let changed: Promise<void> | undefined;
    cache.informerFor(Thing).addEventHandler({
      onAdd: ({ metadata }) => {
        if (metadata.name === 'z') changed = cache.setNamespaces({ a: {}, late: {}, b: {} });
      },
    });
    const first = cache.setNamespaces({ a: {}, late: {} });
    await settle();
    letGo();
    await first;
    await changed;
    expect((await cache.list(Thing)).items.map(({ metadata }) => metadata.name)).toEqual(['x', 'y', 'z']);
    await stop();
  });
});

describe('a scope that takes the place of another', () => {
  /** A cache of which a handler is busy with the first thing that it heard of. */
  const startBusy = async (
    defaultNamespaces: NamespaceScopes,
  ): Promise<
    RunningCache & { readonly handler: HandlerRegistration; readonly heard: string[]; readonly release: () => void }
  > => {
    const heard: string[] = [];
    const busy = Promise.withResolvers<undefined>();
    const running = await startSyncedCache({ byObject: [{ kind: Thing }], defaultNamespaces });
    const handler = running.cache.informerFor(Thing).addEventHandler({
      onEvent: async ({ type, header }) => {
        if (heard.push(`${type} ${header.name}`) === 1) await busy.promise;
      },
    });
    await settle();
    expect(heard).toEqual(['add x']);
    return { ...running, handler, heard, release: () => busy.resolve(undefined) };
  };

  it.each<[string, NamespaceScopes, NamespaceScopes, string[]]>([
    ['another selector', { a: {} }, { a: { labelSelector: 'app' } }, ['delete x', 'add x']],
    ['all for one', { a: {} }, { '': {} }, ['delete x', 'add x', 'add y', 'add z']],
  ])('is told of after the end of the other, and read before: %s', async (_change, before, after, told) => {
    const { cache, handler, heard, release, stop } = await startBusy(before);
    const changed = cache.setNamespaces(after);
    expect((await cache.get(Thing, { namespace: 'a', name: 'x' })).metadata.name).toBe('x');
    await settle();
    expect(heard).toEqual(['add x']);
    release();
    await changed;
    await handler.waitForSync();
    expect(heard).toEqual(['add x', ...told]);
    await stop();
  });

  it('waits for all that went before it, whatever calls they were of', async () => {
    const { cache, handler, heard, release, stop } = await startBusy({ a: {} });
    const changes = [cache.setNamespaces({ '': {} }), cache.setNamespaces({ a: { labelSelector: 'app' } })];
    await settle();
    release();
    await Promise.all(changes);
    await handler.waitForSync();
    expect(heard).toEqual(['add x', 'delete x', 'add x']);
    await stop();
  });

  it('is not told of when the cache ends before', async () => {
    const { cache, heard, release, stop } = await startBusy({ a: {} });
    const changed = cache.setNamespaces({ '': {} });
    await settle();
    const stopped = stop();
    release();
    await Promise.all([changed, stopped]);
    expect(heard).toEqual(['add x']);
  });
});

const scopeChanges: readonly ScopeOptions[] = [
  { fieldSelector: 'spec.x=1' },
  { unsafeMutableObjects: true },
  { bookmarks: false },
  { resyncMs: 60_000 },
  { keepManagedFields: true },
  { storage: 'compact' },
  { storage: { plainBytes: 1000 } },
];

describe('an option that changes', () => {
  it.each(scopeChanges)('is another scope: %o', async (change) => {
    let lists = 0;
    const { cache, stop } = await startSyncedCache({
      byObject: [{ kind: Thing }],
      defaultNamespaces: { a: {} },
      listerWatcherFor: (kind, scope) => {
        lists++;
        return fakeServer().listerWatcherFor(kind, scope);
      },
    });
    await cache.setNamespaces({ a: change });
    expect(lists).toBe(2);
    await cache.setNamespaces({ a: structuredClone(change) });
    expect(lists).toBe(2);
    await stop();
  });
});

describe('a label selector that changes', () => {
  it.each([
    ['parsed', parseLabelSelector],
    ['as text', (text: string) => text],
  ])('is another scope: %s', async (_form, selector) => {
    const asked: unknown[] = [];
    const { cache, stop } = await startSyncedCache({
      byObject: [{ kind: Thing }],
      defaultNamespaces: { a: { labelSelector: selector('app=x') } },
      listerWatcherFor: (kind, scope) => {
        asked.push(scope.labelSelector === undefined ? '' : labelSelectorFrom(scope.labelSelector).toString());
        return fakeServer().listerWatcherFor(kind, scope);
      },
    });
    await cache.setNamespaces({ a: { labelSelector: selector('app=x') } });
    expect(asked).toEqual(['app=x']);
    await cache.setNamespaces({ a: { labelSelector: selector('app=y') } });
    expect(asked).toEqual(['app=x', 'app=y']);
    await stop();
  });
});

describe('snapshot', () => {
  it('is in the order of namespace, then name, also across stores', async () => {
    const { cache, stop } = await startSyncedCache({ byObject: [{ kind: Thing, namespaces: { '': {}, b: {} } }] });
    const { indexer } = cache.informerFor(Thing);
    const namespaces = (objects: readonly DeepReadonly<KubeObject>[]): unknown[] =>
      objects.map(({ metadata }) => metadata.namespace);
    expect(namespaces(indexer.list())).toEqual(['a', 'b', 'late']);
    expect(namespaces(indexer.snapshot().list())).toEqual(['a', 'b', 'late']);
    await stop();
  });
});

describe('defaultNamespaces', () => {
  it('covers all namespaces where it is {}, as in controller-runtime', async () => {
    const { cache, stop } = await startSyncedCache({ byObject: [{ kind: Thing }], defaultNamespaces: {} });
    expect((await cache.list(Thing)).items.map(({ metadata }) => metadata.name)).toEqual(['x', 'y', 'z']);
    await stop();
  });
});
