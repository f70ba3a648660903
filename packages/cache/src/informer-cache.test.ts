import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import type { ListerWatcherScope, ObjectListerWatcher } from '@kctl/informer';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createCache } from './index.js';

interface Thing extends KubeObject { spec?: { node: string } }
const Thing = defineKind<Thing>()({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const thing = (namespace: string, name: string, rv: number, node = 'n1'): Thing => ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { namespace, name, uid: `u-${name}`, resourceVersion: String(rv) }, spec: { node } });

function fake(objects: Thing[]): { calls: ListerWatcherScope[]; make: (kind: unknown, scope: ListerWatcherScope) => ObjectListerWatcher<never> } {
  const calls: ListerWatcherScope[] = [];
  return {
    calls,
    make: (_kind, scope) => {
      calls.push(scope);
      return {
        supportsWatchList: false,
        list: async () => ({ metadata: { resourceVersion: '10' }, items: structuredClone(objects.filter((o) => scope.namespace === undefined || o.metadata.namespace === scope.namespace)) as never[] }),
        watch: async ({ signal }) => ({
          async *[Symbol.asyncIterator]() { await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))); yield* []; },
          [Symbol.asyncDispose]: async () => undefined,
        }),
      };
    },
  };
}

describe('cache', () => {
  it('reads declared kinds, in order and by field', async () => {
    const server = fake([thing('b', 'x', 1), thing('a', 'y', 2, 'n2'), thing('a', 'z', 3)]);
    const cache = createCache({ client: {} as never, listerWatcherFor: server.make });
    cache.addIndex(Thing, 'spec.node', { path: 'spec.node' });
    const stop = new AbortController();
    await expect(cache.get(Thing, { namespace: 'a', name: 'y' })).rejects.toMatchObject({ code: 'KCTL_CACHE_NOT_STARTED' });
    const run = cache.run(stop.signal);
    await cache.waitForSync();
    expect((await cache.list(Thing)).items.map((o) => o.metadata.name)).toEqual(['y', 'z', 'x']);
    expect((await cache.list(Thing, { fieldSelector: { 'spec.node': 'n1' } })).items.map((o) => o.metadata.name)).toEqual(['z', 'x']);
    expect((await cache.list(Thing, { namespace: 'a', fieldSelector: 'spec.node=n1' })).items.map((o) => o.metadata.name)).toEqual(['z']);
    await expect(cache.get(Thing, { namespace: 'a', name: 'nope' })).rejects.toMatchObject({ code: 'KCTL_STATUS' });
    expect(cache.resourceVersionOf(Thing)).toBe('10');
    stop.abort();
    await run;
  });

  it('changes its namespaces while it runs', async () => {
    const server = fake([thing('b', 'x', 1), thing('a', 'y', 2, 'n2'), thing('c', 'z', 3)]);
    const cache = createCache({ client: {} as never, listerWatcherFor: server.make, defaultNamespaces: { a: {}, b: {} } });
    const stop = new AbortController();
    const seen: string[] = [];
    cache.informerFor(Thing).addEventHandler({
      onAdd: (o) => { seen.push(`add ${o.metadata.name}`); },
      onDelete: (o, { leftScope }) => { seen.push(`delete ${o.metadata.name} ${leftScope}`); },
    });
    const run = cache.run(stop.signal);
    await cache.waitForSync();
    await settle();
    await cache.setNamespaces({ b: {}, c: {} });
    await settle();
    expect(seen.sort()).toEqual(['add x', 'add y', 'add z', 'delete y true']);
    expect((await cache.list(Thing)).items.map((o) => o.metadata.name)).toEqual(['x', 'z']);
    await expect(cache.list(Thing, { namespace: 'a' })).rejects.toMatchObject({ code: 'KCTL_UNKNOWN_NAMESPACE' });
    stop.abort();
    await run;
  });
});
