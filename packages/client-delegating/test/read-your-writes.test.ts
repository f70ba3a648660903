import { isNotFound, metadataOnly, StatusError, stripped, untyped } from '@kctl/apimachinery';
import { FakeClock } from '@kctl/wait/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDelegatingClient, isCachedListError, isLossyWriteError } from '../src/index.js';
import type { DelegatingClient, DelegatingClientOptions } from '../src/index.js';
import { LaggingCache, modelClient, ModelServer, Thing, thing } from './model.js';

const key = { namespace: 'ns', name: 'a' };
const none: object[] = [];
const broken = Object.assign(new Error('connection reset'), { code: 'KCTL_TRANSPORT', maybeSent: true });

let server: ModelServer;
let cache: LaggingCache;
let clock: FakeClock;
let client: DelegatingClient;

const open = (options: Partial<DelegatingClientOptions> = {}): DelegatingClient =>
  createDelegatingClient({ cache, client: modelClient(server), clock, ...options });
const names = async (options = {}): Promise<string[]> =>
  (await client.list(Thing, options)).items.map(({ metadata }) => metadata.name ?? '').sort();
const isGone = async (): Promise<boolean> => client.get(Thing, key).then(() => false, isNotFound);
const liveReads = (): number => server.calls.filter((call) => call === 'get' || call === 'list').length;

beforeEach(() => {
  server = new ModelServer();
  cache = new LaggingCache(server);
  clock = new FakeClock();
  client = open();
});

describe('reads', () => {
  it('come from the cache where it holds the kind, else from the server', async () => {
    server.put(thing('a'), true);
    expect(await isGone()).toBe(true);
    expect(liveReads()).toBe(0);
    expect(await client.get(Thing, key, { live: true })).toMatchObject({ metadata: { name: 'a' } });
    expect(liveReads()).toBe(1);
    cache.shapes = [];
    expect(await client.get(Thing, key)).toMatchObject({ metadata: { name: 'a' } });
    expect(await names()).toEqual(['a']);
    expect(liveReads()).toBe(3);
  });

  it('bypass the cache for kinds that are named, and for untyped ones unless that is wanted', async () => {
    server.put(thing('a'), true);
    cache.shapes = ['full', 'untyped'];
    client = open({ uncached: [Thing] });
    expect(await names()).toEqual(['a']);
    client = open();
    expect((await client.list(untyped(Thing))).items).toHaveLength(1);
    client = open({ cacheUntyped: true });
    expect((await client.list(untyped(Thing))).items).toHaveLength(0);
  });

  it('refuse what a cache cannot do, and say when a limit cut the list', async () => {
    for (const name of ['a', 'b', 'c']) await client.create(Thing, thing(name));
    const error = await client.list(Thing, { continue: 'token' }).catch((reason: unknown) => reason);
    expect(isCachedListError(error)).toBe(true);
    expect(String(error)).toContain('option continue: a cached list is not paged; read with { live: true } instead');
    const list = await client.list(Thing, { limit: 2 });
    expect(list.items).toHaveLength(2);
    expect(list.metadata.remainingItemCount).toBe(1);
  });
});

describe('mistakes', () => {
  it('are told in words: no kind, no key, options that cannot be', async () => {
    const noKind = undefined as unknown as typeof Thing;
    await expect(client.get(noKind, key)).rejects.toThrow('get: the kind is undefined: expected a token');
    await expect(client.list(noKind)).rejects.toThrow('list: the kind is undefined');
    await expect(client.create(noKind, thing('a'))).rejects.toThrow('create: the kind is undefined');
    await expect(client.get(Thing, undefined as never)).rejects.toThrow('get Thing: the key is undefined');
    expect(() => open({ barrierTimeoutMs: NaN })).toThrow('barrierTimeoutMs NaN is not valid');
    expect(() => open({ ownWriteTtlMs: 0 })).toThrow('ownWriteTtlMs 0 is not valid: expected a number of ms > 0');
  });
});

describe('own writes', () => {
  it('are seen before the cache has them, and given up when it has', async () => {
    const created = await client.create(Thing, thing('a', { spec: { size: 1 } }));
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 1 } });
    expect(await names()).toEqual(['a']);
    await client.update(Thing, { ...created, spec: { size: 2 } });
    await client.status(Thing).patch(key, { type: 'merge', body: { status: { ready: 1 } } });
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 2 }, status: { ready: 1 } });
    expect(client.pendingWrites).toBe(1);
    cache.deliver(1);
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 2 }, status: { ready: 1 } });
    cache.deliver();
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 2 }, status: { ready: 1 } });
    expect(client.pendingWrites).toBe(0);
    expect(liveReads()).toBe(0);
  });

  it('are in a list whose cache gets them after it was asked, at whichever moment', async () => {
    for (let ticks = 0; ticks < 12; ticks++) {
      await client.create(Thing, thing(`n-${ticks}`));
      const listed = names();
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      cache.deliver();
      expect(await listed).toContain(`n-${ticks}`);
    }
  });

  it("are nobody's to change: neither the answer that the caller owns, nor what a read returned", async () => {
    const created = await client.create(Thing, thing('a', { spec: { size: 1 } }));
    created.spec = { size: 99 };
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 1 } });
    const read = (await client.get(Thing, key)) as Thing;
    expect(() => {
      read.spec = { size: 5 };
    }).toThrow(TypeError);
  });

  it('do not hide what came after them: a foreign update, or a foreign delete', async () => {
    await client.create(Thing, thing('a', { spec: { size: 1 } }));
    server.put(thing('a', { spec: { size: 7 } }), false);
    cache.deliver();
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 7 } });
    await client.patch(Thing, key, { type: 'merge', body: { spec: { size: 8 } } });
    server.remove('ns/a');
    cache.deliver();
    expect(await isGone()).toBe(true);
    expect(await names()).toEqual([]);
    expect(client.pendingWrites).toBe(0);
  });

  it('do not come back as ghosts after a relist that no longer has them', async () => {
    await client.create(Thing, thing('a'));
    server.remove('ns/a');
    cache.relist();
    expect(await names()).toEqual([]);
    expect(await isGone()).toBe(true);
  });

  it('answer after their event has already come', async () => {
    const live = modelClient(server);
    const eager = createDelegatingClient({
      cache,
      clock,
      client: {
        ...live,
        create: async (kind, object, options) => {
          const created = await live.create(kind, object, options);
          server.put(thing('a', { spec: { size: 5 } }), false);
          cache.deliver();
          return created;
        },
      },
    });
    await eager.create(Thing, thing('a', { spec: { size: 1 } }));
    expect(await eager.get(Thing, key)).toMatchObject({ spec: { size: 5 } });
  });

  it('are found by the labels and fields that they have now, and no longer by those they had', async () => {
    const labelled = (app: string): Thing => thing('a', { metadata: { name: 'a', namespace: 'ns', labels: { app } } });
    await client.create(Thing, labelled('x'));
    cache.deliver();
    await client.update(Thing, labelled('y'));
    expect(await names({ labelSelector: 'app=x' })).toEqual([]);
    expect(await names({ labelSelector: { app: 'y' } })).toEqual(['a']);
    expect(await names({ namespace: 'other' })).toEqual([]);
    expect(await names({ fieldSelector: 'metadata.name=a' })).toEqual(['a']);
    expect(await names({ fieldSelector: { 'metadata.name': 'b' } })).toEqual([]);
  });

  it('have their place in the order of namespace and name, and a limit cuts what comes last', async () => {
    for (const name of ['b', 'd', 'f']) server.put(thing(name), true);
    cache.relist();
    await client.create(Thing, thing('e'));
    await client.create(Thing, thing('a'));
    await client.create(Thing, { metadata: { namespace: 'another', name: 'c' } });
    await client.patch(Thing, { namespace: 'ns', name: 'b' }, { type: 'merge', body: { spec: { size: 7 } } });
    const listed = async (options = {}): Promise<string[]> =>
      (await client.list(Thing, options)).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    const all = ['another/c', 'ns/a', 'ns/b', 'ns/d', 'ns/e', 'ns/f'];
    expect(await listed()).toEqual(all);
    expect(await listed({ limit: 3 })).toEqual(all.slice(0, 3));
    cache.deliver();
    expect(await listed()).toEqual(all);
  });

  it('that were dry runs, or failed for sure, leave no trace', async () => {
    await client.create(Thing, thing('a'), { dryRun: true });
    cache.deliver();
    cache.relist();
    for (const error of [
      new StatusError({ code: 422, reason: 'Invalid' }),
      new TypeError('bad input'),
      Object.assign(new Error('refused'), { maybeSent: false }),
    ]) {
      server.fault = { when: 'before', error };
      await expect(client.update(Thing, thing('a'))).rejects.toThrow();
    }
    expect(client.pendingWrites).toBe(0);
    await client.get(Thing, key);
    expect(liveReads()).toBe(0);
  });
});

describe('own deletes', () => {
  it('hide the object until the cache has seen its end', async () => {
    await client.create(Thing, thing('a'));
    cache.deliver();
    await client.delete(Thing, key);
    expect(await isGone()).toBe(true);
    expect(await names()).toEqual([]);
    cache.deliver();
    expect(await isGone()).toBe(true);
    expect(client.pendingWrites).toBe(0);
    expect(liveReads()).toBe(0);
  });

  it('hide an object whose creation the cache has not even seen', async () => {
    await client.create(Thing, thing('a'));
    await client.delete(Thing, key);
    expect(await isGone()).toBe(true);
    cache.deliver(1);
    expect(cache.store.size).toBe(1);
    expect(await isGone()).toBe(true);
    expect(await names()).toEqual([]);
    cache.deliver();
    expect(await isGone()).toBe(true);
    expect(client.pendingWrites).toBe(0);
  });

  it('do not hide a new object of the same name', async () => {
    await client.create(Thing, thing('a', { spec: { size: 1 } }));
    cache.deliver();
    await client.delete(Thing, key);
    server.put(thing('a', { spec: { size: 2 } }), true);
    cache.deliver();
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 2 } });
    await client.delete(Thing, key);
    await client.create(Thing, thing('a', { spec: { size: 3 } }));
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 3 } });
    expect(await names()).toEqual(['a']);
  });

  it('show the object as terminating while a finalizer holds it', async () => {
    await client.create(Thing, thing('a', { metadata: { name: 'a', namespace: 'ns', finalizers: ['example.com/x'] } }));
    cache.deliver();
    await client.delete(Thing, key);
    expect(await client.get(Thing, key)).toMatchObject({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  });

  it('happen when the last finalizer goes: the object does not come back as the cache still has it', async () => {
    await client.create(Thing, thing('a', { metadata: { name: 'a', namespace: 'ns', finalizers: ['example.com/x'] } }));
    await client.delete(Thing, key);
    cache.deliver();
    const { finalizers: _removed, ...metadata } = (await client.get(Thing, key)).metadata;
    await client.patch(Thing, key, { type: 'merge', body: { metadata } });
    expect(await isGone()).toBe(true);
    expect(await names()).toEqual([]);
    cache.deliver();
    expect(await isGone()).toBe(true);
    expect(client.pendingWrites).toBe(0);
  });

  it('do not wait for a cache that has not synced', async () => {
    await client.create(Thing, thing('a'));
    cache.resourceVersionOf = () => '';
    cache.get = () => new Promise<never>(() => undefined);
    await client.delete(Thing, key);
    expect(server.objects.size).toBe(0);
  });

  it.each(['overlay', 'barrier'] as const)(
    'of all in a namespace are seen at once, although their answer names none: %s',
    async (readYourWrites) => {
      client = createDelegatingClient({ cache, client: modelClient(server), readYourWrites });
      await client.create(Thing, thing('a'));
      await client.create(Thing, thing('b'));
      cache.deliver();
      await client.deleteAllOf(Thing, { namespace: 'ns' });
      const before = liveReads();
      expect(await Promise.all([names(), isGone()])).toEqual([[], true]);
      expect([liveReads() - before, cache.waiting]).toEqual([1, 0]);
      cache.deliver();
      expect(await names()).toEqual([]);
      expect([liveReads() - before, client.pendingWrites]).toEqual([1, 0]);
    },
  );

  it('of all in a namespace without one ask once, and wait for nothing that does not come', async () => {
    await client.create(Thing, thing('a'));
    cache.deliver();
    server.put(thing('elsewhere', { metadata: { name: 'elsewhere', namespace: 'other' } }), true);
    await client.deleteAllOf(Thing, { namespace: 'empty' });
    const before = liveReads();
    for (let read = 0; read < 3; read++) {
      expect((await client.list(Thing, { namespace: 'empty' })).items).toEqual([]);
      expect(await names()).toEqual(['a']);
    }
    expect([liveReads() - before, cache.waiting]).toEqual([1, 0]);
  });

  it('of all in a namespace ask again where the cache moves and is still behind', async () => {
    await client.create(Thing, thing('a'));
    cache.deliver();
    for (const name of ['b', 'c']) server.put(thing(name), true);
    await client.deleteAllOf(Thing, { namespace: 'ns' });
    expect(await names()).toEqual([]);
    for (let event = 0; event < 5; event++) {
      cache.deliver(1);
      expect(await names()).toEqual([]);
    }
    expect([client.pendingWrites, cache.waiting]).toEqual([0, 0]);
  });
});

describe('writes with an unknown outcome', () => {
  it.each(['before', 'after'] as const)(
    'that failed %s they were executed send the next read to the server, once',
    async (when) => {
      await client.create(Thing, thing('a', { spec: { size: 1 } }));
      cache.deliver();
      server.fault = { when, error: broken };
      await expect(client.patch(Thing, key, { type: 'merge', body: { spec: { size: 2 } } })).rejects.toThrow(
        'connection reset',
      );
      const expected = { spec: { size: when === 'after' ? 2 : 1 } };
      expect(await Promise.all([client.get(Thing, key), client.get(Thing, key)])).toMatchObject([expected, expected]);
      expect(liveReads()).toBe(1);
      expect((await client.list(Thing)).items).toMatchObject([expected]);
      expect(liveReads()).toBe(1);
    },
  );

  it.each(['before', 'after'] as const)('to a new name, failed %s it was created', async (when) => {
    server.fault = { when, error: new StatusError({ code: 504, reason: 'Timeout' }) };
    await expect(client.create(Thing, thing('a'))).rejects.toThrow();
    expect(await names()).toEqual(when === 'after' ? ['a'] : []);
    expect(await isGone()).toBe(when === 'before');
    expect(liveReads()).toBe(1);
  });

  it('to a generated name are in the next list', async () => {
    server.fault = { when: 'after', error: broken };
    await expect(client.create(Thing, { metadata: { generateName: 'x-', namespace: 'ns' } })).rejects.toThrow();
    expect(await names()).toEqual(['x-1']);
    expect(cache.waiting).toBe(0);
  });

  it('that are deletes', async () => {
    await client.create(Thing, thing('a'));
    cache.deliver();
    server.fault = { when: 'after', error: broken };
    await expect(client.delete(Thing, key)).rejects.toThrow();
    expect(await names()).toEqual([]);
    expect(await isGone()).toBe(true);
  });

  it('are asked again when another one follows while the question is under way', async () => {
    await client.create(Thing, thing('a', { spec: { size: 1 } }));
    cache.deliver();
    server.fault = { when: 'before', error: broken };
    await client.patch(Thing, key, { type: 'merge', body: { spec: { size: 2 } } }).catch(() => undefined);
    const first = client.get(Thing, key);
    server.fault = { when: 'after', error: broken };
    await client.patch(Thing, key, { type: 'merge', body: { spec: { size: 3 } } }).catch(() => undefined);
    await first;
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 3 } });
  });
});

describe('an answer that comes after a newer own write', () => {
  it.each(['get', 'list'] as const)('to the question of a %s does not replace it', async (verb) => {
    const answered = Promise.withResolvers<undefined>();
    const asked = Promise.withResolvers<undefined>();
    const live = modelClient(server);
    const list: typeof live.list = async (...given) => {
      const answer = await live.list(...given);
      asked.resolve(undefined);
      await answered.promise;
      return answer;
    };
    client = open({ client: { ...live, list } });
    const sizeOf = async (): Promise<unknown> =>
      verb === 'get' ? (await client.get(Thing, key)).spec?.size : (await client.list(Thing)).items[0]?.spec?.size;
    const resize = (size: number): Promise<unknown> =>
      client.patch(Thing, key, { type: 'merge', body: { spec: { size } } });
    await client.create(Thing, thing('a', { spec: { size: 1 } }));
    cache.deliver();
    server.fault = { when: 'after', error: broken };
    await expect(resize(2)).rejects.toThrow('connection reset');
    const older = sizeOf();
    await asked.promise;
    await resize(3);
    answered.resolve(undefined);
    await older;
    expect(await sizeOf()).toBe(3);
    expect((await client.get(Thing, key)).spec?.size).toBe(3);
  });
});

describe('what is answered with something else than the object', () => {
  it.each([
    ['a binding, with a Status', { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }],
    [
      'a review, without a name',
      { kind: 'Review', apiVersion: 'v1', metadata: { creationTimestamp: null }, status: {} },
    ],
  ])('is created: %s', async (_what, answer) => {
    const live = { ...modelClient(server), create: () => Promise.resolve(answer as never) };
    client = open({ client: live });
    expect(await client.create(Thing, { metadata: { namespace: 'ns' } })).toBe(answer);
    expect(await client.create(Thing, thing('a'))).toBe(answer);
    const before = liveReads();
    expect(await isGone()).toBe(true);
    expect(liveReads()).toBeGreaterThan(before);
  });
});

describe('subresources', () => {
  it('whose answer is not the object send the next read to the server, until the cache has caught up', async () => {
    await client.create(Thing, thing('a', { spec: { size: 1 } }));
    cache.deliver();
    await client
      .subResource<typeof Thing, { spec: { size: number } }>(Thing, 'scale')
      .update(key, { spec: { size: 4 } });
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 4 } });
    expect((await client.list(Thing)).items).toMatchObject([{ spec: { size: 4 } }]);
    expect(liveReads()).toBe(1);
    cache.deliver();
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 4 } });
    expect(liveReads()).toBe(1);
    await client.subResource(Thing, 'token').create(key, { metadata: {} });
    expect(client.pendingWrites).toBe(0);
  });
});

describe('other shapes and scopes', () => {
  it('metadata-only reads see writes of the whole object, each store catches up by itself', async () => {
    cache.shapes = ['full', 'metadata'];
    await client.create(Thing, thing('a', { spec: { size: 1 } }));
    expect(await client.get(metadataOnly(Thing), key)).toEqual({
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: expect.objectContaining({ name: 'a' }),
    });
    await client.patch(metadataOnly(Thing), key, { type: 'merge', body: { spec: { size: 3 } } });
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 3 } });
  });

  it('stores that a read would start, and has not, hold no write back', async () => {
    cache.shapes = ['full', 'metadata', 'stripped'];
    const versionOf = cache.resourceVersionOf.bind(cache);
    let started = ['full'];
    const scopes: Record<string, object[]> = { full: [{}], metadata: [{}] };
    Object.assign(cache, {
      scopesOf: ({ shape }: { shape: string }) => (started.includes(shape) ? scopes[shape] : none),
      resourceVersionOf: ({ shape }: { shape: string }) => (started.includes(shape) ? versionOf() : ''),
    });
    await client.create(Thing, thing('a'));
    cache.deliver();
    expect(await client.get(Thing, key)).toMatchObject({ metadata: { name: 'a' } });
    expect(client.pendingWrites).toBe(0);
    started = ['metadata'];
    await client.create(Thing, thing('b'));
    cache.deliver();
    expect((await client.list(metadataOnly(Thing))).items).toHaveLength(2);
    expect(client.pendingWrites).toBe(0);
  });

  it('objects that the cache does not hold are not remembered', async () => {
    cache.namespaces = ['other'];
    await client.create(Thing, thing('a'));
    expect(client.pendingWrites).toBe(0);
    expect(await client.get(Thing, key)).toBeDefined();
    expect(liveReads()).toBe(1);
  });

  it('managedFields are there where the cache keeps them, and only there', async () => {
    const metadata = { name: 'a', namespace: 'ns', managedFields: [{ manager: 'me' }] };
    await client.create(Thing, thing('a', { metadata }));
    expect((await client.get(Thing, key)).metadata.managedFields).toBeUndefined();
    cache.project = (_kind, object) => object;
    await client.update(Thing, thing('a', { metadata }));
    expect((await client.get(Thing, key)).metadata.managedFields).toEqual([{ manager: 'me' }]);
  });

  it('objects that the cache leaves out by selector are not shown', async () => {
    cache.project = (_kind, object) => (object.metadata.labels?.['keep'] === 'yes' ? object : undefined);
    await client.create(Thing, thing('a'));
    expect(await isGone()).toBe(true);
    expect(await names()).toEqual([]);
  });
});

describe('versions that cannot be compared', () => {
  beforeEach(() => {
    server.versionText = (version) => `v${version}-x`;
  });

  it.each(['overlay', 'barrier'] as const)(
    'send reads to the server until the cache has that very version: %s',
    async (mode) => {
      client = open({ readYourWrites: mode });
      await client.create(Thing, thing('a', { spec: { size: 1 } }));
      expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 1 } });
      expect(await names()).toEqual(['a']);
      expect(liveReads()).toBeGreaterThan(0);
      server.put(thing('a', { spec: { size: 2 } }), false);
      expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 2 } });
      cache.deliver(1);
      const before = liveReads();
      expect(await client.get(Thing, key, { readYourWrites: 'overlay' })).toMatchObject({ spec: { size: 1 } });
      expect(liveReads()).toBe(before);
      expect(client.pendingWrites).toBe(0);
    },
  );

  it('hide what was deleted', async () => {
    await client.create(Thing, thing('a'));
    cache.deliver();
    await client.delete(Thing, key);
    expect(await isGone()).toBe(true);
    expect(await names()).toEqual([]);
  });
});

describe('a read of what the cache drops meanwhile', () => {
  const dropped = (): never => {
    throw new Error('unknown namespace for the cache: ns');
  };

  it.each(['get', 'list'] as const)('is answered by the server (%s)', async (verb) => {
    server.put(thing('a'), true);
    cache.peek = undefined;
    cache[verb] = () => {
      cache.shapes = [];
      return dropped();
    };
    if (verb === 'get') expect((await client.get(Thing, key)).metadata.name).toBe('a');
    else expect(await names()).toEqual(['a']);
    expect(server.calls).toEqual([verb]);
  });

  it('is asked again where the cache holds it again by then, and fails where nothing has changed', async () => {
    server.put(thing('a'), true);
    cache.peek = undefined;
    let scopes = [{}];
    let isHeld = false;
    const get = cache.get.bind(cache);
    const reads = Object.assign(cache, {
      scopesOf: () => scopes,
      get: (...call: Parameters<LaggingCache['get']>) => {
        if (isHeld) return get(...call);
        isHeld = true;
        scopes = [{}];
        cache.deliver();
        return dropped();
      },
    });
    client = open({ cache: reads });
    expect((await client.get(Thing, key)).metadata.name).toBe('a');
    reads.get = () => Promise.reject(new Error('broken'));
    await expect(client.get(Thing, key)).rejects.toThrow('broken');
    expect(server.calls).toEqual([]);
  });
});

describe('a namespace that the cache drops', () => {
  it('is read from the server, and its notes do not stay', async () => {
    await client.create(Thing, thing('a'));
    cache.namespaces = ['other'];
    expect(await client.get(Thing, key)).toBeDefined();
    expect(liveReads()).toBe(1);
    cache.namespaces = undefined;
    for (let n = 0; n < 5; n++) {
      await client.create(Thing, thing(`n-${n}`));
      cache.deliver();
    }
    expect(client.pendingWrites).toBeLessThan(3);
  });

  it('has to be as new as what was written in it before, when the cache holds it again', async () => {
    await client.create(Thing, thing('a'));
    cache.namespaces = ['other'];
    // Others are written meanwhile, and what no store is to see is forgotten.
    for (let n = 0; n < 5; n++) await client.create(Thing, thing(`n-${n}`, { metadata: { namespace: 'other' } }));
    cache.namespaces = undefined;
    const reading = client.get(Thing, key);
    const listing = names({ namespace: 'ns' });
    for (let turns = 0; cache.waiting < 2 && turns < 1000; turns++) await Promise.resolve();
    expect(cache.waiting).toBe(2);
    cache.deliver();
    expect((await reading).metadata.name).toBe('a');
    expect(await listing).toEqual(['a']);
    expect(liveReads()).toBe(0);
    expect(client.pendingWrites).toBeLessThan(6);
  });
});

describe('barrier', () => {
  it('waits until the cache has the write', async () => {
    client = open({ readYourWrites: 'barrier' });
    await client.create(Thing, thing('a', { spec: { size: 1 } }));
    const got = client.get(Thing, key);
    const listed = names();
    while (cache.waiting < 2) await Promise.resolve();
    cache.deliver();
    expect(await got).toMatchObject({ spec: { size: 1 } });
    expect(await listed).toEqual(['a']);
    expect(liveReads()).toBe(0);
  });

  it('reads from the server when the cache does not get there, and stops with the signal', async () => {
    await client.create(Thing, thing('a'));
    const got = client.get(Thing, key, { readYourWrites: 'barrier' });
    while (cache.waiting < 1) await Promise.resolve();
    cache.failWaiters();
    expect(await got).toBeDefined();
    expect(liveReads()).toBe(1);
    const controller = new AbortController();
    const aborted = client.list(Thing, { readYourWrites: 'barrier', signal: controller.signal });
    while (cache.waiting < 1) await Promise.resolve();
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
  });

  it('and overlay can be left out, call by call', async () => {
    await client.create(Thing, thing('a'));
    await expect(client.get(Thing, key, { readYourWrites: 'off' })).rejects.toThrow();
    expect(await names({ readYourWrites: 'off' })).toEqual([]);
  });
});

describe('what the cache never sees', () => {
  it('is forgotten after the TTL, and counted', async () => {
    const counted: string[] = [];
    const family = {
      with: ({ kind = '' }: Readonly<Record<string, string>>) => ({
        inc: () => void counted.push(kind),
        set: () => undefined,
        dec: () => undefined,
        observe: () => undefined,
      }),
      remove: () => undefined,
    };
    client = open({
      metrics: {
        counter: () => family,
        gauge: () => family,
        histogram: () => family,
        onCollect: () => () => undefined,
      },
      ownWriteTtlMs: 1000,
    });
    await client.create(Thing, thing('a'));
    await clock.advance(999);
    expect(await isGone()).toBe(false);
    await clock.advance(2);
    expect(await isGone()).toBe(true);
    expect(counted).toEqual(['Thing']);
    expect(client.pendingWrites).toBe(0);
  });

  it('does not pile up when nobody reads', async () => {
    for (let n = 0; n < 1000; n++) {
      await client.create(Thing, thing(`n-${n}`));
      cache.deliver();
    }
    expect(client.pendingWrites).toBeLessThan(10);
  });
});

describe('a stripping cache', () => {
  const Lean = stripped(Thing);
  /** As in code without types, where nothing marks what a cache returned. */
  const unmarked = (object: unknown): Thing => object as Thing;

  beforeEach(() => {
    cache.shapes = ['stripped'];
    cache.transform = ({ spec: _spec, ...rest }) => rest;
    cache.project = (kind, object) => (kind.shape === 'stripped' ? cache.transform?.(object) : object);
    server.put(thing('a', { spec: { size: 1 } }), true);
    cache.deliver();
  });

  it('has its objects refused by update, unless they were read from the server', async () => {
    const cached = unmarked(await client.get(Lean, key));
    expect(cached.spec).toBeUndefined();
    const writes = [
      client.update(Thing, cached),
      client.status(Thing).update(cached),
      client.subResource(Thing, 'status').update(key, cached),
    ];
    for (const write of writes) {
      const error = await write.catch((reason: unknown) => reason);
      expect(isLossyWriteError(error)).toBe(true);
      expect(String(error)).toContain('the cache strips objects of this kind');
    }
    const live = await client.get(Thing, key);
    expect(live.spec).toEqual({ size: 1 });
    const updated = await client.update(Thing, { ...live, spec: { size: 2 } });
    await client.update(Thing, { ...updated, spec: { size: 3 } });
    expect(await client.get(Thing, key)).toMatchObject({ spec: { size: 3 } });
  });

  it('does not take a live read of metadata for one of the object', async () => {
    await client.get(metadataOnly(Thing), key);
    const cached = unmarked(await client.get(Lean, key));
    await expect(client.update(Thing, cached)).rejects.toSatisfy(isLossyWriteError);
  });

  it('fails no write because it cannot tell what it would hold of another one, nor hides why one failed', async () => {
    client = open({ ownWriteTtlMs: 1000 });
    await client.create(Thing, thing('poison'));
    cache.project = (_kind, object) => {
      if (object.metadata.name === 'poison') throw new Error('the transform');
      return object;
    };
    await expect(client.create(Thing, thing('poison'))).rejects.toThrow('AlreadyExists');
    await clock.advance(1001);
    await client.create(Thing, thing('b'));
    expect(client.pendingWrites).toBe(1);
  });

  it('shows own writes as it would hold them', async () => {
    await client.patch(Lean, key, { type: 'merge', body: { spec: { size: 7 } } });
    const patched = server.versionText(server.version);
    await client.create(Thing, thing('b', { spec: { size: 1 } }));
    const own = await client.get(Lean, key);
    expect([own.metadata.resourceVersion, own.spec]).toEqual([patched, undefined]);
    const { items } = await client.list(Lean);
    expect(items.map(({ metadata, spec }) => [metadata.name, spec])).toEqual([
      ['a', undefined],
      ['b', undefined],
    ]);
    expect(server.objects.get('ns/a')?.spec).toEqual({ size: 7 });
  });
});

describe('a cache that selects', () => {
  const select = (shape: string): void => {
    cache.project = (kind, object) =>
      kind.shape === shape && object.metadata.labels?.['app'] !== 'web' ? undefined : object;
  };
  const label = (app: string): Promise<unknown> =>
    client.update(Thing, thing('a', { metadata: { name: 'a', namespace: 'ns', labels: { app } } }));

  it('shows an object again that an own write has brought back', async () => {
    select('full');
    await client.create(Thing, thing('a', { metadata: { name: 'a', namespace: 'ns', labels: { app: 'web' } } }));
    await label('db');
    expect(await isGone()).toBe(true);
    await label('web');
    expect(await isGone()).toBe(false);
    expect(await names()).toEqual(['a']);
  });

  it('does so in the shape of the read, whatever the shape of the write', async () => {
    cache.shapes = ['full', 'metadata'];
    select('full');
    await client.create(Thing, thing('a'));
    expect(await isGone()).toBe(true);
    expect(await client.get(metadataOnly(Thing), key)).toMatchObject({ metadata: { name: 'a' } });
  });
});
