import { defineKind, metadataOnly, StatusError, stripped, untyped } from '@kctl/apimachinery';
import type { DeepReadonly, KubeObject, Stripped } from '@kctl/apimachinery';
import type { ListerWatcherScope, ObjectListerWatcher } from '@kctl/informer';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createCache, isKindNotCached } from './index.js';
import type { Cache, CacheOptions, KindOptions } from './index.js';

interface Thing extends KubeObject {
  spec?: { node: string };
}
const Thing = defineKind<Thing>()({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const Lean = stripped(Thing);
const thing = (namespace: string, name: string, rv: number, node = 'n1'): Thing => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { namespace, name, uid: `u-${name}`, resourceVersion: String(rv) },
  spec: { node },
});

function fake(objects: Thing[]): {
  calls: ListerWatcherScope[];
  make: (kind: unknown, scope: ListerWatcherScope) => ObjectListerWatcher<never>;
} {
  const calls: ListerWatcherScope[] = [];
  return {
    calls,
    make: (_kind, scope) => {
      calls.push(scope);
      return {
        supportsWatchList: false,
        list: async () => ({
          metadata: { resourceVersion: '10' },
          items: structuredClone(
            objects.filter((o) => scope.namespace === undefined || o.metadata.namespace === scope.namespace),
          ) as never[],
        }),
        watch: async ({ signal }) => ({
          async *[Symbol.asyncIterator]() {
            await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
            yield* [];
          },
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
    await expect(cache.get(Thing, { namespace: 'a', name: 'y' })).rejects.toMatchObject({
      code: 'KCTL_CACHE_NOT_STARTED',
    });
    const run = cache.run(stop.signal);
    await cache.waitForSync();
    expect((await cache.list(Thing)).items.map((o) => o.metadata.name)).toEqual(['y', 'z', 'x']);
    expect(
      (await cache.list(Thing, { fieldSelector: { 'spec.node': 'n1' } })).items.map((o) => o.metadata.name),
    ).toEqual(['z', 'x']);
    expect(
      (await cache.list(Thing, { namespace: 'a', fieldSelector: 'spec.node=n1' })).items.map((o) => o.metadata.name),
    ).toEqual(['z']);
    await expect(cache.get(Thing, { namespace: 'a', name: 'nope' })).rejects.toMatchObject({ code: 'KCTL_STATUS' });
    expect(cache.resourceVersionOf(Thing)).toBe('10');
    stop.abort();
    await run;
  });

  it('peeks at what get would return at once, and leaves waits and errors to get', async () => {
    const server = fake([thing('b', 'x', 1), thing('a', 'y', 2)]);
    const cache = createCache({
      client: {} as never,
      listerWatcherFor: server.make,
      byObject: [{ kind: Thing, namespaces: { a: {} } }],
    });
    const here = { namespace: 'a', name: 'y' };
    const stop = new AbortController();
    expect(cache.peek(Thing, here)).toBeUndefined(); // not started
    const run = cache.run(stop.signal);
    expect(cache.peek(Thing, here)).toBeUndefined(); // not synced
    await cache.waitForSync();
    const found = cache.peek(Thing, here);
    expect(found).toBe(await cache.get(Thing, here));
    expect(found?.metadata.resourceVersion).toBe('2');
    expect(cache.peek(untyped(Thing), here)).toBe(found);
    for (const key of [
      { namespace: 'a', name: 'nope' },
      { namespace: 'b', name: 'x' },
      { namespace: '', name: 'y' },
    ])
      expect(cache.peek(Thing, key)).toBeUndefined();
    expect(cache.peek(metadataOnly(Thing), here)).toBeUndefined(); // not declared
    // A token that can be changed is looked at anew each time.
    const loose = { ...Thing, version: 'v1' };
    expect(cache.peek(loose, here)).toBe(found);
    loose.version = 'v2';
    expect(cache.peek(loose, here)).toBeUndefined();
    await cache.setNamespaces({ b: {} });
    expect(cache.peek(Thing, here)).toBe(found); // its namespaces are its own
    stop.abort();
    await run;
  });

  it('refuses a limit that is no whole number, which would cut everything, and namespaces that are none', async () => {
    const server = fake([thing('a', 'x', 1)]);
    const cache = createCache({ client: {} as never, byObject: [{ kind: Thing }], listerWatcherFor: server.make });
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    for (const limit of [Number.NaN, 0.5, '1', null] as never[])
      await expect(cache.list(Thing, { limit })).rejects.toThrow('list Thing: options.limit is');
    for (const limit of [0, 1, Infinity]) expect((await cache.list(Thing, { limit })).items).toHaveLength(1);
    await expect(cache.list(Thing, null as never)).rejects.toThrow('list Thing: the options are null');
    await expect(cache.list(undefined as never)).rejects.toThrow('list: the kind is undefined');
    for (const namespaces of [null, undefined, ['a'], 'a'] as never[])
      await expect(cache.setNamespaces(namespaces)).rejects.toThrow('setNamespaces: namespaces');
    stop.abort();
    await run;
  });

  it('changes its namespaces while it runs', async () => {
    const server = fake([thing('b', 'x', 1), thing('a', 'y', 2, 'n2'), thing('c', 'z', 3)]);
    const cache = createCache({
      client: {} as never,
      listerWatcherFor: server.make,
      defaultNamespaces: { a: {}, b: {} },
    });
    const stop = new AbortController();
    const seen: string[] = [];
    cache.informerFor(Thing).addEventHandler({
      onAdd: (o) => {
        seen.push(`add ${o.metadata.name}`);
      },
      onDelete: (o, { leftScope }) => {
        seen.push(`delete ${o.metadata.name} ${leftScope}`);
      },
    });
    const run = cache.run(stop.signal);
    await cache.waitForSync();
    await settle();
    await cache.setNamespaces({ b: {}, c: {} });
    await expect.poll(() => seen.toSorted()).toEqual(['add x', 'add y', 'add z', 'delete y true']);
    expect((await cache.list(Thing)).items.map((o) => o.metadata.name)).toEqual(['x', 'z']);
    await expect(cache.list(Thing, { namespace: 'a' })).rejects.toMatchObject({ code: 'KCTL_UNKNOWN_NAMESPACE' });
    stop.abort();
    await run;
  });

  const options = (server: ReturnType<typeof fake>): CacheOptions => ({
    client: {} as CacheOptions['client'],
    listerWatcherFor: server.make,
  });
  const start = async (cache: Cache): Promise<() => Promise<void>> => {
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    await cache.waitForSync();
    return async () => {
      stop.abort();
      await run;
    };
  };

  it('starts no informer for a read of a kind that nobody declared', async () => {
    const server = fake([thing('a', 'x', 1)]);
    const cache = createCache(options(server));
    const stop = await start(cache);
    await expect(cache.list(Thing)).rejects.toSatisfy(isKindNotCached);
    expect(cache.isCached(Thing)).toBe(false);
    expect(server.calls).toEqual([]);
    await stop();
  });

  it('starts one where undeclaredReads says so', async () => {
    const server = fake([thing('a', 'x', 1)]);
    const cache = createCache({ ...options(server), undeclaredReads: 'start' });
    const stop = await start(cache);
    expect((await cache.get(Thing, { namespace: 'a', name: 'x' })).metadata.name).toBe('x');
    await stop();
  });

  it('shares one informer between full and untyped tokens, and has another for metadata alone', () => {
    const server = fake([]);
    const cache = createCache(options(server));
    expect(cache.informerFor(untyped(Thing))).toBe(cache.informerFor(Thing));
    expect(cache.informerFor(metadataOnly(Thing))).not.toBe(cache.informerFor(Thing));
    expect(server.calls).toHaveLength(2);
  });

  it('lends informers, and stops them when the last loan has been back for a while', async () => {
    const clock = new FakeClock();
    const cache = createCache({ ...options(fake([thing('a', 'x', 1)])), clock, lingerMs: 1000 });
    const stop = await start(cache);
    const first = cache.acquire(Thing);
    const second = cache.acquire(Thing);
    expect(second.informer).toBe(first.informer);
    await first.informer.waitForSync();
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    await clock.advance(5000);
    expect(cache.isCached(Thing)).toBe(true);
    await second[Symbol.asyncDispose]();
    await clock.advance(999);
    expect(cache.isCached(Thing)).toBe(true);
    await clock.advance(1);
    expect(cache.isCached(Thing)).toBe(false);
    expect(first.informer.isStopped).toBe(true);
    await stop();
  });

  it('keeps a lent informer that somebody declared meanwhile', async () => {
    const clock = new FakeClock();
    const cache = createCache({ ...options(fake([])), clock, lingerMs: 1000 });
    const lease = cache.acquire(Thing);
    await lease[Symbol.asyncDispose]();
    cache.informerFor(Thing);
    await clock.advance(5000);
    expect(cache.isCached(Thing)).toBe(true);
  });

  it('names what has not synced, and why', async () => {
    const clock = new FakeClock();
    const forbidden = new StatusError({ code: 403, reason: 'Forbidden', message: 'no rights on things' });
    const cache = createCache({
      client: {} as CacheOptions['client'],
      clock,
      byObject: [{ kind: Thing }],
      listerWatcherFor: () => ({
        supportsWatchList: false,
        list: () => Promise.reject(forbidden),
        watch: () => Promise.reject(forbidden),
      }),
    });
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    const waiting = cache.waitForSync({ timeoutMs: 500 });
    const failed = expect(waiting).rejects.toMatchObject({
      code: 'KCTL_SYNC',
      message: expect.stringMatching(/things\.example\.com has not synced.*forbidden: no rights on things/u) as string,
    });
    await clock.advance(600);
    await failed;
    const reading = cache.get(Thing, { namespace: 'a', name: 'x' }, { signal: AbortSignal.abort(new Error('enough')) });
    await expect(reading).rejects.toThrow('enough');
    stop.abort();
    await run;
  });

  it('ends with the error that the watch error handler stops for', async () => {
    const forbidden = new StatusError({ code: 403, reason: 'Forbidden' });
    const cache = createCache({
      client: {} as CacheOptions['client'],
      byObject: [{ kind: Thing }],
      watchErrorHandler: (kind, { reason }) => (kind.kind === 'Thing' && reason === 'forbidden' ? 'stop' : undefined),
      listerWatcherFor: () => ({
        supportsWatchList: false,
        list: () => Promise.reject(forbidden),
        watch: () => Promise.reject(forbidden),
      }),
    });
    await expect(cache.run(new AbortController().signal)).rejects.toBe(forbidden);
  });

  it('refuses a key without a namespace: nothing found would say that the object is gone', async () => {
    const cache = createCache({ ...options(fake([thing('a', 'x', 1)])), byObject: [{ kind: Thing }] });
    const stop = await start(cache);
    for (const key of [{ name: 'x' }, { namespace: '', name: 'x' }, { metadata: { name: 'x' } }])
      await expect(cache.get(Thing, key as never)).rejects.toThrow('get Thing "x": namespace is not set');
    expect((await cache.get(Thing, thing('a', 'x', 1) as never)).metadata.name).toBe('x');
    await stop();
  });

  it('refuses what only a server can do, naming the remedy', async () => {
    const cache = createCache({ ...options(fake([thing('a', 'x', 1)])), byObject: [{ kind: Thing }] });
    const stop = await start(cache);
    await expect(cache.list(Thing, { continue: 'token' })).rejects.toThrow('continue list option is not supported');
    await expect(cache.list(Thing, { fieldSelector: 'spec.node!=n1' })).rejects.toThrow('non-exact field matches');
    await expect(cache.list(Thing, { fieldSelector: 'spec.node=n1' })).rejects.toThrow(
      'index with name field:spec.node does not exist',
    );
    expect((await cache.list(Thing, { fieldSelector: 'metadata.name=x,metadata.namespace=a' })).items).toHaveLength(1);
    await stop();
  });

  it('transforms what is declared stripped, and reads it by that token', async () => {
    const transform = ({ metadata }: KubeObject): KubeObject => ({ metadata: { ...metadata, annotations: {} } });
    const cache = createCache({
      ...options(fake([thing('a', 'x', 1)])),
      byObject: [{ kind: Lean, transform }],
    });
    const stop = await start(cache);
    const lean = await cache.get(Lean, { namespace: 'a', name: 'x' });
    expect(lean).toEqual({ metadata: { ...thing('a', 'x', 1).metadata, annotations: {} } });
    expectTypeOf(lean).toExtend<DeepReadonly<Stripped<Thing>>>();
    await expect(cache.get(Thing, { namespace: 'a', name: 'x' })).rejects.toSatisfy(isKindNotCached);
    expect([cache.isCached(Lean), cache.isCached(Thing), cache.isLossy(Thing)]).toEqual([true, false, true]);
    await stop();
  });

  it('holds a kind whole or stripped, not both by accident', async () => {
    const cache = createCache({ ...options(fake([])), byObject: [{ kind: Lean }], undeclaredReads: 'start' });
    expect(() => cache.informerFor(Thing)).toThrow('is cached stripped already: use stripped(…)');
    expect(cache.isCached(Thing)).toBe(false);
    const whole = createCache({ ...options(fake([])), byObject: [{ kind: Thing }] });
    expect(() => whole.informerFor(Lean)).toThrow('is cached whole already');
    expect(whole.isLossy(Thing)).toBe(false);
  });

  it('transforms nothing that would be taken for whole', async () => {
    const transform = (object: KubeObject): KubeObject => ({ metadata: object.metadata });
    // @ts-expect-error — what a transform leaves of a Thing is no Thing
    const refused: KindOptions = { kind: Thing, transform };
    const open = (byObject: readonly KindOptions[], more: Partial<CacheOptions> = {}): Cache =>
      createCache({ ...options(fake([thing('a', 'x', 1)])), byObject, ...more });
    expect(() => open([refused])).toThrow('declare it as byObject: [{ kind: stripped(Thing), transform }]');
    expect(() => open([{ kind: Thing, namespaces: { a: { transform } } }])).toThrow('stripped(Thing)');
  });

  it('refuses to hold a kind whole where there is a default transform, unless the kind opts out', async () => {
    const transform = (object: KubeObject): KubeObject => ({ metadata: object.metadata });
    const open = (byObject: readonly KindOptions[], more: Partial<CacheOptions> = {}): Cache =>
      createCache({ ...options(fake([thing('a', 'x', 1)])), byObject, ...more });
    const refusal =
      'the cache has defaults.transform, and example.com/v1, Kind=Thing is to be held whole: declare it as byObject: [{ kind: stripped(Thing) }] and read it by that token, or keep it whole by byObject: [{ kind: Thing, transform: null }]';
    expect(() => open([{ kind: Thing }], { defaults: { transform } })).toThrow(refusal);
    const none = open([], { defaults: { transform } });
    expect(() => none.informerFor(Thing)).toThrow(refusal);
    expect(() => none.informerFor(untyped(Thing))).toThrow(refusal);
    expect(() => none.addIndex(Thing, 'spec.node', { path: 'spec.node' })).toThrow(refusal);
    expect(() => open([{ kind: Thing }], { defaultNamespaces: { a: { transform } } })).toThrow(
      'the cache has defaultNamespaces["a"].transform, and',
    );
    // What is not held is read live, and whole.
    expect(none.project(Thing, thing('a', 'x', 1))).toHaveProperty('spec');
    expect(none.isCached(Thing)).toBe(false);

    const cache = open([{ kind: Thing, transform: null }], { defaults: { transform } });
    const stop = await start(cache);
    expect(await cache.get(Thing, { namespace: 'a', name: 'x' })).toEqual(thing('a', 'x', 1));
    expect(cache.isLossy(Thing)).toBe(false);
    await stop();
  });

  it('applies a default transform to stripped and metadata-only kinds', async () => {
    const transform = ({ metadata }: KubeObject): KubeObject => ({
      metadata: { ...metadata, annotations: { seen: 'by the transform' } },
    });
    const cache = createCache({
      ...options(fake([thing('a', 'x', 1)])),
      byObject: [{ kind: Lean }, { kind: metadataOnly(Thing) }],
      defaults: { transform },
    });
    const stop = await start(cache);
    for (const kind of [Lean, metadataOnly(Thing)])
      expect((await cache.get(kind, { namespace: 'a', name: 'x' })).metadata.annotations).toEqual({
        seen: 'by the transform',
      });
    expect(cache.project(Lean, thing('a', 'x', 1))).not.toHaveProperty('spec');
    await stop();
  });

  it('leaves the namespaces as they were where a new one has a transform for a kind that is held whole', async () => {
    const cache = createCache({ ...options(fake([])), byObject: [{ kind: Thing }], defaultNamespaces: { a: {} } });
    const transform = (object: KubeObject): KubeObject => object;
    await expect(cache.setNamespaces({ b: { transform } })).rejects.toThrow('defaultNamespaces["b"].transform');
    expect(cache.scopesOf(Thing)).toEqual([{ namespace: 'a' }]);
  });

  it('has of the namespaces those that informers could be made for, and makes the others when it is told again', async () => {
    const source = fake([thing('a', 'x', 1), thing('b', 'y', 2)]);
    let isBroken = true;
    const cache = createCache({
      ...options(source),
      byObject: [{ kind: Thing }],
      defaultNamespaces: { a: {} },
      listerWatcherFor: (kind, scope) => {
        if (isBroken && scope.namespace === 'b') throw new Error('no such place');
        return source.make(kind, scope);
      },
    });
    await expect(cache.setNamespaces({ a: {}, b: {} })).rejects.toThrow('no such place');
    expect([cache.scopesOf(Thing), cache.isCached(Thing, 'b')]).toEqual([[{ namespace: 'a' }], false]);
    isBroken = false;
    await cache.setNamespaces({ a: {}, b: {} });
    expect([cache.scopesOf(Thing).length, cache.isCached(Thing, 'b')]).toEqual([2, true]);
  });

  it('projects an object to what the store keeps where its transform fails, and keeps its identity else', async () => {
    let isBroken = false;
    const cache = createCache({
      ...options(fake([thing('a', 'x', 1)])),
      byObject: [
        {
          kind: Lean,
          transform: ({ metadata: { name: _name, uid: _uid, resourceVersion: _version, ...metadata } }) => {
            if (isBroken) throw new Error('the transform');
            return { metadata };
          },
        },
      ],
    });
    const stop = new AbortController();
    const run = cache.run(stop.signal);
    await cache.waitForSync();
    const identity = { namespace: 'a', name: 'x', uid: 'u-x' };
    expect(cache.project(Lean, thing('a', 'x', 2))).toEqual({ metadata: { ...identity, resourceVersion: '2' } });
    isBroken = true;
    expect(cache.project(Lean, thing('a', 'x', 2))).toEqual({ metadata: { ...identity, resourceVersion: '1' } });
    expect(cache.project(Lean, thing('a', 'y', 2))).toBeUndefined();
    stop.abort();
    await run;
  });

  it('projects objects as a store would hold them', () => {
    const cache = createCache({
      ...options(fake([])),
      byObject: [{ kind: Lean, labelSelector: 'app=web', transform: (object) => ({ ...object, extra: 1 }) }],
    });
    expect(cache.isLossy(Thing)).toBe(true);
    expect(cache.project(Lean, thing('a', 'x', 1))).toBeUndefined();
    const object = thing('a', 'x', 1);
    object.metadata.labels = { app: 'web' };
    object.metadata.managedFields = [{}];
    const projected = cache.project(Lean, object);
    expect(projected).toMatchObject({ metadata: { name: 'x' }, extra: 1 });
    expect(projected?.metadata).not.toHaveProperty('managedFields');
    expect(Object.isFrozen(projected?.metadata)).toBe(true);
  });
});
