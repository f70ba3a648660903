import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import type { ReadScope } from '@kctl/client/internal';
import { expectCount, expectFlatHeap, expectReleased, structure } from '@kctl/lifetime';
import { expect, it } from 'vitest';
import { createDelegatingClient, createOwnEvents } from '../src/index.js';
import type { DelegatingClient } from '../src/index.js';
import { LiveVersions } from '../src/live-versions.js';
import { OwnLinks } from '../src/own-events/own-links.js';
import { LaggingCache, modelClient, ModelServer, Thing, thing } from './model.js';

const none: readonly ReadScope[] = [];

/** Counts what is asked of it, and says what it holds. */
class CountingCache extends LaggingCache {
  asked = 0;
  readonly #scopes: readonly ReadScope[] = [{ namespace: 'ns' }];

  scopesOf(kind: Kind): readonly ReadScope[] {
    this.asked++;
    return this.shapes.includes(kind.shape) ? this.#scopes : none;
  }

  override isCached(kind: Kind, namespace?: string): boolean {
    this.asked++;
    return super.isCached(kind, namespace);
  }

  override resourceVersionOf(): string {
    this.asked++;
    return super.resourceVersionOf();
  }
}

interface World {
  readonly server: ModelServer;
  readonly cache: CountingCache;
  readonly client: DelegatingClient;
}

function world(): World {
  const server = new ModelServer();
  const cache = new CountingCache(server);
  cache.namespaces = ['ns'];
  return { server, cache, client: createDelegatingClient({ cache, client: modelClient(server) }) };
}

const key = { namespace: 'ns', name: 'a' };
const inNamespace = (namespace: string, name: string): Thing => thing(name, { metadata: { namespace, name } });

/** Steps that a read takes after `prepare` has written. */
const stepsOf =
  (prepare: (world: World, size: number) => Promise<void>, read: (world: World) => Promise<unknown>) =>
  async (size: number): Promise<number> => {
    const made = world();
    await made.client.create(Thing, thing('a'));
    made.cache.deliver();
    await prepare(made, size);
    await read(made);
    const before = made.cache.asked;
    await read(made);
    return made.cache.asked - before;
  };

const uncached = async ({ client }: World, size: number): Promise<void> => {
  for (let n = 0; n < size; n++) await client.create(Thing, inNamespace(`uncached-${n}`, 'x'));
};
const elsewhere = async ({ client, cache }: World, size: number): Promise<void> => {
  cache.namespaces = ['ns', 'other'];
  for (let n = 0; n < size; n++) await client.create(Thing, inNamespace('other', `pending-${n}`));
};

structure(
  {
    package: '@kctl/client-delegating',
    structure: 'Own writes (overlay)',
    operation: 'a write; get; list',
    cost: 'O(1); O(1); O(n) in the writes of its namespace that the cache has not seen',
    retains:
      'one object for each key that was written, or asked for, and that the cache has not seen yet, for `ownWriteTtlMs` at most',
  },
  () => {
    it.each([
      ['get', (made: World) => made.client.get(Thing, key)],
      ['list of a namespace', (made: World) => made.client.list(Thing, { namespace: 'ns' })],
    ])('takes a %s no longer for what waits in other namespaces', async (_verb, read) => {
      await expectCount({ order: 'O(1)', size: 100, count: stepsOf(elsewhere, read) });
    });

    it('releases what the cache has seen', async () => {
      await expectReleased(async () => {
        const { client, cache } = world();
        await client.create(Thing, thing('a'));
        const noted = await client.get(Thing, key);
        cache.deliver();
        await client.get(Thing, key);
        expect(client.pendingWrites).toBe(0);
        return { keep: client, released: { noted } };
      });
    });

    it('does not grow with keys that come and go without being read', async () => {
      const { client, cache, server } = world();
      await expectFlatHeap({
        churn: async (round) => {
          for (let n = 0; n < 2_000; n++) {
            await client.create(Thing, thing(`${round}-${n}`));
            cache.deliver();
            await client.delete(Thing, { namespace: 'ns', name: `${round}-${n}` });
            cache.deliver();
          }
          // The model remembers everything.
          server.history.clear();
          server.calls.length = 0;
          server.events.fill(server.events[0] as never);
          expect(client.pendingWrites).toBeLessThan(10);
        },
      });
    });
  },
);

structure(
  {
    package: '@kctl/client-delegating',
    structure: 'Writes to what is not cached, and to unknown names',
    operation: 'a write; get; list',
    cost: 'O(1); O(1); O(1), and O(n) in the scopes once after the cache has changed what it holds',
    retains: 'a few words for each kind and namespace, 10,000 at most, for `ownWriteTtlMs` at most; no object',
  },
  () => {
    it.each([
      ['get', (made: World) => made.client.get(Thing, key)],
      ['list of a namespace', (made: World) => made.client.list(Thing, { namespace: 'ns' })],
      ['list of all', (made: World) => made.client.list(Thing)],
    ])('takes a %s no longer for namespaces that are not cached', async (_verb, read) => {
      await expectCount({ order: 'O(1)', size: 500, count: stepsOf(uncached, read) });
    });

    it('keeps no object of them', async () => {
      await expectReleased(async () => {
        const { client } = world();
        const written = inNamespace('uncached', 'x');
        const answer = await client.create(Thing, written);
        return { keep: client, released: { written, answer } };
      });
    });
  },
);

structure(
  {
    package: '@kctl/client-delegating',
    structure: 'Vanished own objects',
    operation: 'a write',
    cost: 'O(1) in the objects, O(n) in the handlers',
    retains: 'of each kind that a handler listens to, the last own write of each object until the cache has passed it',
  },
  () => {
    it('follows nothing while nothing listens, and releases what the cache has passed', async () => {
      await expectReleased(async () => {
        const { client, cache } = world();
        client.vanished(Thing).addEventHandler({ onEvent: () => undefined });
        await client.create(Thing, thing('a'));
        const noted: DeepReadonly<KubeObject> = await client.get(Thing, key);
        cache.deliver();
        await client.get(Thing, key);
        await new Promise((resolve) => setImmediate(resolve));
        return { keep: client, released: { noted } };
      });
    });
  },
);

structure(
  {
    package: '@kctl/client-delegating',
    structure: 'Own events',
    operation: 'a write; an event',
    cost: 'O(1); O(n) in the own writes between its two versions',
    retains: 'the last 10,000 own writes as two versions each; an update only while its object is being written',
  },
  () => {
    it('counts the steps of own writes', () => {
      const links = new OwnLinks();
      for (let n = 1; n < 5; n++) links.add('x', { from: String(n), to: String(n + 1) });
      expect(links.spans('x', { from: '1', to: '5' })).toBe(true);
      expect(links.spans('x', { from: '0', to: '5' })).toBe(false);
    });

    it('does not grow beyond its bound', async () => {
      const { server } = world();
      const client = createOwnEvents().wrapClient(modelClient(server));
      const created = await client.create(Thing, thing('a'));
      let last = created;
      await expectFlatHeap({
        churn: async () => {
          for (let n = 0; n < 11_000; n++) last = await client.update(Thing, last);
          server.history.clear();
          server.calls.length = 0;
          server.events.length = 0;
        },
        rounds: 2,
      });
    });
  },
);

structure(
  {
    package: '@kctl/client-delegating',
    structure: 'Versions that were read live, for kinds that a cache strips',
    operation: 'a live read, a write',
    cost: 'O(1)',
    retains: 'uid and version of the last 10,000; no object',
  },
  () => {
    it('does not grow beyond its bound', async () => {
      const versions = new LiveVersions();
      let version = 0;
      const next = (): KubeObject => ({ metadata: { name: 'a', uid: 'u', resourceVersion: String(++version) } });
      await expectFlatHeap({
        churn: () => {
          for (let n = 0; n < 20_000; n++) versions.add(next());
        },
      });
      const last = next();
      versions.add(last);
      expect(versions.has(last)).toBe(true);
    });
  },
);
