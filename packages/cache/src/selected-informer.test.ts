import { defineKind, metadataOnly } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import type { ListerWatcherScope, ObjectListerWatcher } from '@kctl/informer';
import { noopMetrics } from '@kctl/telemetry';
import type { Labels, Metrics } from '@kctl/telemetry';
import { describe, expect, it } from 'vitest';
import { createCache, createCacheSelection } from './index.js';
import type { CacheOptions } from './index.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const thing = (namespace: string, name: string, team: string): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { namespace, name, uid: `u-${name}`, resourceVersion: '1', labels: { team } },
});
const things = [thing('a', 'x', 'red'), thing('a', 'y', 'blue'), thing('b', 'z', 'red')];

/** A server of three things that chooses by namespace and by the label team. */
function served(lists: ListerWatcherScope[] = []): Pick<CacheOptions, 'client' | 'listerWatcherFor'> {
  const listerWatcherFor = (_kind: unknown, scope: ListerWatcherScope): ObjectListerWatcher<never> => ({
    supportsWatchList: false,
    list: () => {
      lists.push(scope);
      const items = things.filter(
        ({ metadata: { namespace, labels } }) =>
          (scope.namespace ?? namespace) === namespace &&
          (scope.labelSelector === undefined || scope.labelSelector === `team=${labels?.['team']}`),
      );
      return Promise.resolve({ metadata: { resourceVersion: '10' }, items: structuredClone(items) as never[] });
    },
    watch: () => new Promise(() => undefined),
  });
  return { client: {} as never, listerWatcherFor };
}

const names = (objects: readonly { readonly metadata: { readonly name: string } }[]): string[] =>
  objects.map(({ metadata }) => metadata.name).sort();

describe('selected informers of a cache', () => {
  it('hold selections of one kind side by side, beside what reads of the cache see', async () => {
    const lists: ListerWatcherScope[] = [];
    const cache = createCache({ ...served(lists), byObject: [{ kind: Thing }] });
    const red = cache.selectedInformer(Thing, { name: 'red', labelSelector: 'team=red' });
    const blue = cache.selectedInformer(Thing, { name: 'blue', labelSelector: 'team=blue', namespaces: { a: {} } });
    const heard: string[] = [];
    const handler = blue.addEventHandler({ onAdd: ({ metadata }) => void heard.push(metadata.name ?? '') });
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    await cache.waitForSync();
    await handler.waitForSync();
    expect(names(red.lister.list())).toEqual(['x', 'z']);
    expect(names(blue.lister.list())).toEqual(['y']);
    expect(heard).toEqual(['y']);
    expect(names((await cache.list(Thing)).items)).toEqual(['x', 'y', 'z']);
    expect(lists).toEqual([{}, { labelSelector: 'team=red' }, { labelSelector: 'team=blue', namespace: 'a' }]);
    expect(cache.informers().map(({ selection }) => selection)).toEqual([undefined, 'red', 'blue']);

    await cache.removeInformer(Thing, 'red');
    expect(red.isStopped).toBe(true);
    expect(cache.isCached(Thing)).toBe(true);
    // Its name is free again, also while the cache runs.
    const again = cache.selectedInformer(Thing, { name: 'red', labelSelector: 'team=red' });
    await again.waitForSync();
    expect(names(again.lister.list())).toEqual(['x', 'z']);
    stop.abort();
    await run;
  });

  it('do not make their kind readable, and follow the namespaces of the cache', async () => {
    const cache = createCache({ ...served(), defaultNamespaces: { a: {} } });
    const red = cache.selectedInformer(Thing, { name: 'red', labelSelector: 'team=red' });
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    await cache.waitForSync();
    await expect(cache.list(Thing)).rejects.toMatchObject({ code: 'KCTL_KIND_NOT_CACHED' });
    expect(names(red.lister.list())).toEqual(['x']);
    await cache.setNamespaces({ a: {}, b: {} });
    expect(names(red.lister.list())).toEqual(['x', 'z']);
    stop.abort();
    await run;
  });

  it('have the namespaces of their kind where they name none, with what these are limited to', async () => {
    const lists: ListerWatcherScope[] = [];
    const namespaces = { a: { labelSelector: 'team=red' }, b: {} };
    const cache = createCache({ ...served(lists), byObject: [{ kind: Thing, namespaces, resyncMs: 60_000 }] });
    const red = cache.selectedInformer(Thing, { name: 'red' });
    const blue = cache.selectedInformer(Thing, { name: 'blue', labelSelector: 'team=blue' });
    const wide = cache.selectedInformer(Thing, { name: 'wide', namespaces: {} });
    const partial = cache.selectedInformer(metadataOnly(Thing), { name: 'partial', labelSelector: 'team=blue' });
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    await cache.waitForSync();
    expect(names(red.lister.list())).toEqual(['x', 'z']);
    expect(names(blue.lister.list())).toEqual(['y']);
    expect(names(wide.lister.list())).toEqual(['x', 'y', 'z']);
    expect(names(partial.lister.list())).toEqual(['y']);
    expect(lists.filter(({ namespace }) => namespace === undefined)).toEqual([{}]);
    stop.abort();
    await run;
  });

  it('keep to the options that they were given, whatever becomes of these', async () => {
    const lists: ListerWatcherScope[] = [];
    const selector: Record<string, string> = { team: 'red' };
    const namespaces: Record<string, object> = { a: { fieldSelector: selector } };
    const cache = createCache(served(lists));
    cache.selectedInformer(Thing, { name: 'red', labelSelector: selector, namespaces });
    selector['team'] = 'blue';
    namespaces['b'] = {};
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    await cache.waitForSync();
    await cache.setNamespaces({ c: {} });
    expect(lists).toEqual([{ namespace: 'a', labelSelector: { team: 'red' }, fieldSelector: 'team=red' }]);
    stop.abort();
    await run;
  });

  it('are refused without a name, with one that is taken, or with an option that is not known', () => {
    const cache = createCache(served());
    cache.selectedInformer(Thing, { name: 'red' });
    expect(() => cache.selectedInformer(Thing, { name: 'red' })).toThrow('has one of the name "red" already');
    expect(() => cache.selectedInformer(Thing, { name: '' })).toThrow('name "" is not valid');
    expect(() => cache.selectedInformer(Thing, { name: 'x', labels: 'team=red' } as never)).toThrow(
      'unknown option "labels"',
    );
    expect(() => cache.selectedInformer('Thing' as never, { name: 'x' })).toThrow('kind "Thing" is not valid');
    expect(() => cache.selectedInformer(Thing, { name: 'x', namespaces: [] as never })).toThrow('namespaces is');
  });
});

describe('caches that share metrics', () => {
  const counted = (): { readonly metrics: Metrics; readonly names: Set<unknown> } => {
    const found = new Set<unknown>();
    const counter: Metrics['counter'] = ({ name }) => ({
      with: (labels: Labels) => {
        if (name === 'reflector_lists_total') found.add(labels['name']);
        return { inc: () => undefined };
      },
      remove: () => undefined,
    });
    return { metrics: { ...noopMetrics, counter }, names: found };
  };

  it('have names of their own, so that their informers do not write to the same series', async () => {
    const { metrics, names: found } = counted();
    const first = createCache({ ...served(), metrics });
    createCache({ ...served(), metrics }).informerFor(Thing);
    createCache({ ...served(), metrics, name: 'west' }).selectedInformer(Thing, { name: 'red' });
    first.informerFor(Thing);
    expect(found).toEqual(
      new Set(['cache-2/things.example.com', 'west/things.example.com (red)', 'things.example.com']),
    );
    expect(() => createCache({ ...served(), metrics, name: 'west' })).toThrow('"west" is that of another cache');
    // A name is free once its cache has ended, or was never made.
    const stop = new AbortController();
    const run = first.run(stop.signal);
    stop.abort();
    await run;
    expect(() =>
      createCache({ ...served(), metrics, byObject: [{ kind: Thing, transform: (o: KubeObject) => o } as never] }),
    ).toThrow('stripped(Thing)');
    found.clear();
    createCache({ ...served(), metrics }).informerFor(Thing);
    expect(found).toEqual(new Set(['things.example.com']));
  });

  it('are told apart only where they share them', () => {
    const [one, two] = [counted(), counted()];
    for (const { metrics } of [one, two]) createCache({ ...served(), metrics }).informerFor(Thing);
    expect([one.names, two.names]).toEqual([new Set(['things.example.com']), new Set(['things.example.com'])]);
  });
});

describe('a selection of kinds', () => {
  it('answers reads of its kinds from its informers, which reads of the cache do not see', async () => {
    const cache = createCache(served());
    const reds = createCacheSelection(cache, { name: 'reds', kinds: [Thing], labelSelector: 'team=red' });
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    expect(names((await reds.list(Thing)).items)).toEqual(['x', 'z']);
    expect((await reds.get(Thing, { namespace: 'a', name: 'x' })).metadata.name).toBe('x');
    await expect(reds.get(Thing, { namespace: 'a', name: 'y' })).rejects.toThrow('not found');
    expect(reds.peek(Thing, { namespace: 'a', name: 'x' })).toBeDefined();
    expect(reds.resourceVersionOf(Thing)).toBe('10');
    expect(reds.project(Thing, thing('a', 'n', 'blue') as never)).toBeUndefined();
    expect(reds.scopesOf(Thing)).toMatchObject([{ labelSelector: 'team=red' }]);
    expect([reds.isCached(Thing), cache.isCached(Thing)]).toEqual([true, false]);
    await expect(cache.get(Thing, { namespace: 'a', name: 'x' })).rejects.toThrow('not cached');
    stop.abort();
    await run;
  });

  it('ends an informer with its last loan, and reads the cache from then on', async () => {
    const cache = createCache(served());
    const reds = createCacheSelection(cache, { name: 'reds', kinds: [Thing], labelSelector: 'team=red' });
    const [first, second] = [reds.acquire(Thing), reds.acquire(Thing)];
    expect(second.informer).toBe(first.informer);
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    expect(reds.isSelected(Thing)).toBe(true);
    await second[Symbol.asyncDispose]();
    expect([reds.isSelected(Thing), reds.isCached(Thing), cache.informers()]).toEqual([false, false, []]);
    reds.acquire(Thing);
    expect(cache.informers()).toMatchObject([{ selection: 'reds', isWanted: true }]);
  });

  it('starts the informer of an optional kind with its first loan, and reads from it once it has synced', async () => {
    const cache = createCache(served());
    const reds = createCacheSelection(cache, {
      name: 'reds',
      kinds: [],
      optionalKinds: [Thing],
      labelSelector: 'team=red',
    });
    expect(cache.informers()).toEqual([]);
    const { informer } = reds.acquire(Thing);
    expect(cache.informers()).toMatchObject([{ selection: 'reds', isWanted: false }]);
    expect(reds.isCached(Thing)).toBe(false);
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    await informer.waitForSync();
    expect(reds.isCached(Thing)).toBe(true);
    stop.abort();
    await run;
  });
});
