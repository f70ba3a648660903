import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { KubeObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import type { ObjectListerWatcher } from '@kctl/informer';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { Cache, CacheOptions } from './index.js';
import { createCache } from './index.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const thing = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { namespace, name, uid: `u-${name}`, resourceVersion: '1' },
});

/** A server of Things in the namespaces `a` and `b`; lists of the namespace `late` wait until they are let go. */
function fake(): { readonly letGo: () => void; readonly listerWatcherFor: CacheOptions['listerWatcherFor'] } {
  const late = Promise.withResolvers<undefined>();
  return {
    letGo: () => late.resolve(undefined),
    listerWatcherFor: (_kind, { namespace }): ObjectListerWatcher<never> => ({
      supportsWatchList: false,
      list: async () => {
        if (namespace === 'late') await late.promise;
        const all = [thing('a', 'x'), thing('b', 'y'), thing('late', 'z')];
        const items = all.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
        return { metadata: { resourceVersion: '10' }, items: items as never[] };
      },
      watch: async ({ signal }) => ({
        async *[Symbol.asyncIterator]() {
          await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
          yield* [];
        },
        [Symbol.asyncDispose]: async () => undefined,
      }),
    }),
  };
}

async function start(options: Partial<CacheOptions> = {}): Promise<{ cache: Cache; stop: () => Promise<void> }> {
  const { listerWatcherFor } = fake();
  const cache = createCache({
    client: {} as CacheOptions['client'],
    ...(listerWatcherFor === undefined ? {} : { listerWatcherFor }),
    ...options,
  });
  const stop = new AbortController();
  const run = cache.run(stop.signal);
  await cache.waitForSync();
  return {
    cache,
    stop: async () => {
      stop.abort();
      await run;
    },
  };
}

describe('the informers of a cache', () => {
  it('are let go when the last loan is over: nothing holds what they kept', async () => {
    const clock = new FakeClock();
    const { cache, stop } = await start({ clock, lingerMs: 1000 });
    const borrow = async (): Promise<WeakRef<object>> => {
      const lease = cache.acquire(Thing);
      await lease.informer.waitForSync();
      await lease[Symbol.asyncDispose]();
      await clock.advance(1000);
      return new WeakRef(lease.informer);
    };
    const informer = await borrow();
    for (let round = 0; round < 50 && informer.deref() !== undefined; round++) {
      // In a task of its own: what was looked at is held until the end of its task.
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(informer.deref()).toBeUndefined();
    await stop();
  });

  it('are not ended by a loan of one that was removed before', async () => {
    const clock = new FakeClock();
    const { cache, stop } = await start({ clock, lingerMs: 1000 });
    const lease = cache.acquire(Thing);
    await lease.informer.waitForSync();
    await cache.removeInformer(Thing);
    const informer = cache.informerFor(Thing);
    await informer.waitForSync();
    await lease[Symbol.asyncDispose]();
    await clock.advance(5000);
    await settle();
    expect(cache.isCached(Thing)).toBe(true);
    expect(informer.isStopped).toBe(false);
    await stop();
  });
});

describe('setNamespaces', () => {
  const names = async (cache: Cache): Promise<string[]> =>
    (await cache.list(Thing)).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

  it('takes {} for none, and the key "" for all', async () => {
    const { cache, stop } = await start({ defaultNamespaces: { a: {} } });
    cache.addIndex(Thing, 'metadata.uid', { path: 'metadata.uid' });
    expect(await names(cache)).toEqual(['a/x']);
    await cache.setNamespaces({});
    expect(await names(cache)).toEqual([]);
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
    const { cache, stop } = await start({ byObject: [{ kind: Thing, namespaces: {} }], defaultNamespaces: { a: {} } });
    await cache.setNamespaces({});
    expect(await names(cache)).toEqual(['a/x', 'b/y', 'late/z']);
    await stop();
  });
});

describe('defaultNamespaces', () => {
  it('covers all namespaces where it is {}, as in controller-runtime', async () => {
    const { cache, stop } = await start({ byObject: [{ kind: Thing }], defaultNamespaces: {} });
    expect((await cache.list(Thing)).items.map(({ metadata }) => metadata.name)).toEqual(['x', 'y', 'z']);
    await stop();
  });
});
