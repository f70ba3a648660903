import { isNotFound, metadataOnly } from '@kctl/apimachinery';
import type { Kind, KubeList, ObjectKey } from '@kctl/apimachinery';
import type { ListOptions } from '@kctl/client';
import { noopLogger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDelegatingClient } from '../src/index.js';
import type { CacheView, DelegatingClient, DelegatingClientOptions, VersionWaitOptions } from '../src/index.js';
import { LaggingCache, modelClient, ModelServer, Thing, thing } from './model.js';

const key = { namespace: 'ns', name: 'a' };
const broken = Object.assign(new Error('connection reset'), { maybeSent: true });

let server: ModelServer;
let cache: LaggingCache;
let clock: FakeClock;
let client: DelegatingClient;

const open = (options: Partial<DelegatingClientOptions> = {}): DelegatingClient =>
  createDelegatingClient({ cache, client: modelClient(server), clock, ...options });
const names = async (kind: Kind = Thing): Promise<(string | undefined)[]> =>
  (await client.list<Kind>(kind, { namespace: 'ns' })).items.map(({ metadata }) => metadata.name).sort();
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Two stores that go at their own speed, as informers of a kind in two shapes do. */
class TwoStores implements CacheView {
  readonly full: LaggingCache;
  readonly metadata: LaggingCache;

  constructor(model: ModelServer) {
    this.full = new LaggingCache(model);
    this.metadata = new LaggingCache(model);
  }

  isCached(): boolean {
    return true;
  }

  resourceVersionOf(kind: Kind): string {
    return this.#of(kind).resourceVersionOf();
  }

  waitForResourceVersion(kind: Kind, version: string, options: VersionWaitOptions): Promise<void> {
    return this.#of(kind).waitForResourceVersion(kind, version, options);
  }

  get(kind: Kind, at: ObjectKey): Promise<never> {
    return this.#of(kind).get(kind, at);
  }

  list(kind: Kind, options?: ListOptions): Promise<KubeList<never>> {
    return this.#of(kind).list(kind, options);
  }

  #of(kind: Kind): LaggingCache {
    return kind.shape === 'metadata' ? this.metadata : this.full;
  }
}

beforeEach(() => {
  server = new ModelServer();
  cache = new LaggingCache(server);
  clock = new FakeClock();
  client = open();
});

describe('a deleteAllOf', () => {
  it('is compared with each shape, not only with the one that is read first', async () => {
    const stores = new TwoStores(server);
    client = open({ cache: stores });
    await client.create(Thing, thing('a'));
    stores.full.deliver();
    stores.metadata.deliver();
    await client.deleteAllOf(Thing, { namespace: 'ns' });
    stores.full.deliver();
    expect(await names()).toEqual([]);
    expect(await names(metadataOnly(Thing))).toEqual([]);
    stores.metadata.deliver();
    expect(await names(metadataOnly(Thing))).toEqual([]);
    expect([client.pendingWrites, stores.full.waiting, stores.metadata.waiting]).toEqual([0, 0, 0]);
  });

  it('that is answered with a list does not show what came and went before it, when the cache gets to see that', async () => {
    const live = modelClient(server);
    const deleteAllOf: typeof live.deleteAllOf = async (kind, options) => {
      const answer = await live.list(kind, { namespace: 'ns' });
      await live.deleteAllOf(kind, options);
      return answer;
    };
    client = open({ client: { ...live, deleteAllOf } });
    for (const name of ['a', 'b']) {
      server.put(thing(name), true);
      server.remove(`ns/${name}`);
    }
    await client.deleteAllOf(Thing, { namespace: 'ns' });
    const before = server.calls.length;
    expect([await names(), client.pendingWrites, server.calls.length]).toEqual([[], 0, before]);
    for (let event = 0; event < 4; event++) {
      cache.deliver(1);
      expect(await names()).toEqual([]);
      await expect(client.get(Thing, key)).rejects.toSatisfy(isNotFound);
    }
    const caughtUp = server.calls.length;
    expect([await names(), client.pendingWrites, server.calls.length]).toEqual([[], 0, caughtUp]);
  });

  it('counts once for a namespace, however often it is called', async () => {
    for (let n = 0; n < 100; n++) await client.deleteAllOf(Thing, { namespace: 'ns' });
    expect(client.pendingWrites).toBe(1);
  });

  it('costs one question where the cache does not get there, however often it is read', async () => {
    await client.create(Thing, thing('a'));
    cache.deliver();
    await client.deleteAllOf(Thing, { namespace: 'ns' });
    const before = server.calls.length;
    for (let read = 0; read < 3; read++) expect(await names()).toEqual([]);
    expect(server.calls.slice(before)).toEqual(['list']);
    expect(cache.waiting).toBe(0);
    cache.deliver();
    expect(await names()).toEqual([]);
    expect(server.calls.slice(before)).toEqual(['list']);
    expect(client.pendingWrites).toBe(0);
  });
});

describe('a kind that nobody cached when it was written', () => {
  it('is not read from a first list that is older than the write', async () => {
    cache.shapes = [];
    await client.create(Thing, thing('a', { spec: { size: 1 } }));
    expect(client.pendingWrites).toBe(0);
    cache.shapes = ['full'];
    const got = client.get(Thing, key);
    while (cache.waiting === 0) await turn();
    cache.deliver();
    expect(await got).toMatchObject({ spec: { size: 1 } });
    expect(server.calls).toEqual(['create']);
  });

  it('does not show what was deleted', async () => {
    await client.create(Thing, thing('a'));
    cache.deliver();
    cache.shapes = [];
    await client.delete(Thing, key);
    cache.shapes = ['full'];
    expect(await names()).toEqual([]);
    await expect(client.get(Thing, key)).rejects.toSatisfy(isNotFound);
    expect(cache.waiting).toBe(0);
    cache.deliver();
    expect(await names()).toEqual([]);
    await expect(client.get(Thing, key)).rejects.toSatisfy(isNotFound);
  });

  it('is not remembered for longer than the TTL', async () => {
    client = open({ ownWriteTtlMs: 1000 });
    cache.shapes = [];
    await client.create(Thing, thing('a'));
    await clock.advance(1001);
    cache.shapes = ['full'];
    expect(await names()).toEqual([]);
  });
});

describe('a read with a signal', () => {
  const hanging = (): DelegatingClient => {
    const live = modelClient(server);
    return open({ client: { ...live, list: () => new Promise<never>(() => undefined) } });
  };

  it.each([
    ['after a deleteAllOf', () => client.deleteAllOf(Thing, { namespace: 'ns' })],
    [
      'after a write of unknown outcome',
      async () => {
        server.fault = { when: 'after', error: broken };
        await client.create(Thing, thing('a')).catch(() => undefined);
      },
    ],
  ])('does not hang with a server that does not answer, %s', async (_when, write) => {
    client = hanging();
    await write();
    const controller = new AbortController();
    const { signal } = controller;
    const reads = [client.get(Thing, key, { signal }), client.list(Thing, { namespace: 'ns', signal })];
    await turn();
    controller.abort(new Error('enough'));
    for (const read of reads) await expect(read).rejects.toThrow('enough');
  });
});

describe('a delete', () => {
  it('is not waited for in a shape that nobody reads, and not reported as lost', async () => {
    const lost: unknown[] = [];
    const stores = new TwoStores(server);
    const logger = { ...noopLogger, warn: (message: string) => void lost.push(message) };
    client = open({ cache: stores, ownWriteTtlMs: 1000, logger });
    await client.create(Thing, thing('a'));
    stores.full.deliver();
    stores.metadata.deliver();
    await client.delete(Thing, key);
    stores.full.deliver();
    stores.metadata.deliver();
    expect(await names()).toEqual([]);
    await clock.advance(1001);
    await client.create(Thing, thing('b'));
    await turn();
    expect(client.pendingWrites).toBe(1);
    expect(lost).toEqual([]);
  });
});
