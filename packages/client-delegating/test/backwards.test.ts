// What an own write left behind is not replaced by what was known before it.
import { describe, expect, it } from 'vitest';
import { createDelegatingClient } from '../src/index.js';
import { LaggingCache, modelClient, ModelServer, Thing, thing } from './model.js';

const key = { namespace: 'ns', name: 'a' };
const held = (...finalizers: string[]): Thing =>
  thing('a', { metadata: { ...key, finalizers: finalizers.map((name) => `example.com/${name}`) } });
const broken = (): Error => Object.assign(new Error('broken'), { maybeSent: true });

describe('an object that is being deleted', () => {
  it('is read as the last own update left it, after a deleteAllOf that changes nothing', async () => {
    const server = new ModelServer();
    server.listsDeleted = true;
    const cache = new LaggingCache(server);
    const client = createDelegatingClient({ cache, client: modelClient(server) });
    await client.create(Thing, held('x', 'y'));
    await client.delete(Thing, key);
    cache.deliver();
    expect((await client.get(Thing, key)).metadata.finalizers).toHaveLength(2);
    const { metadata } = await client.get(Thing, key);
    await client.patch(Thing, key, {
      type: 'merge',
      body: { metadata: { ...metadata, finalizers: ['example.com/y'] } },
    });
    await client.deleteAllOf(Thing, { namespace: 'ns' });
    expect((await client.get(Thing, key)).metadata.finalizers).toEqual(['example.com/y']);
    const { items } = await client.list(Thing);
    expect(items.map(({ metadata: { finalizers } }) => finalizers)).toEqual([['example.com/y']]);
  });

  it('of which a deleteAllOf cut the grace period short is asked for', async () => {
    const server = new ModelServer();
    server.listsDeleted = true;
    const cache = new LaggingCache(server);
    const client = createDelegatingClient({ cache, client: modelClient(server) });
    await client.create(Thing, held());
    cache.deliver();
    const found = await client.list(Thing);
    expect(found.items).toHaveLength(1);
    // Somebody else has begun to delete it, which the cache shows; then it was ended.
    const terminating = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
    const answer = modelClient(server);
    const racing = createDelegatingClient({
      cache,
      client: {
        ...answer,
        deleteAllOf: async () => {
          const before = server.objects.get('ns/a');
          server.put({ ...held(), metadata: { ...held().metadata, ...terminating } }, false);
          cache.deliver();
          server.remove('ns/a');
          return { metadata: { resourceVersion: '11' }, items: [before] } as never;
        },
      },
    });
    await racing.deleteAllOf(Thing, { namespace: 'ns' });
    expect((await racing.list(Thing)).items).toEqual([]);
  });
});

describe('the answer to a question', () => {
  /** A client whose questions are answered when the test says so. */
  const asking = (): {
    server: ModelServer;
    cache: LaggingCache;
    client: ReturnType<typeof createDelegatingClient>;
    answer: () => void;
  } => {
    const server = new ModelServer();
    const cache = new LaggingCache(server);
    const model = modelClient(server);
    let answer = (): void => undefined;
    const client = createDelegatingClient({
      cache,
      client: {
        ...model,
        list: async (kind, options) => {
          const list = await model.list(kind, options);
          await new Promise<void>((resolve) => (answer = resolve));
          return list;
        },
      },
    });
    return { server, cache, client, answer: () => answer() };
  };
  const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('does not replace an own write that has come meanwhile', async () => {
    const { server, cache, client, answer } = asking();
    await client.create(Thing, thing('a', { metadata: key, spec: { size: 1 } }));
    server.fault = { when: 'after', error: broken() };
    await client.patch(Thing, key, { type: 'merge', body: { spec: { size: 2 } } }).catch(() => undefined);
    const reading = client.get(Thing, key);
    await soon();
    await client.patch(Thing, key, { type: 'merge', body: { spec: { size: 3 } } });
    answer();
    await reading;
    expect((await client.get(Thing, key)).spec).toEqual({ size: 3 });
    expect((await client.list(Thing)).items.map(({ spec }) => spec)).toEqual([{ size: 3 }]);
    cache.deliver();
    expect((await client.get(Thing, key)).spec).toEqual({ size: 3 });
  });

  it('nor an own delete', async () => {
    const { server, client, answer } = asking();
    await client.create(Thing, thing('a', { metadata: key }));
    server.fault = { when: 'after', error: broken() };
    await client.patch(Thing, key, { type: 'merge', body: {} }).catch(() => undefined);
    const reading = client.get(Thing, key);
    await soon();
    await client.delete(Thing, key).catch(() => undefined);
    answer();
    await reading.catch(() => undefined);
    const again = client.list(Thing);
    await soon();
    answer();
    expect((await again).items).toEqual([]);
  });

  it('counts although what raised it was dropped meanwhile, as every store was past it', async () => {
    const { cache, client, answer } = asking();
    await client.create(Thing, thing('a', { metadata: key }));
    cache.deliver();
    await client.deleteAllOf(Thing, { namespace: 'ns' });
    const reading = client.list(Thing, { namespace: 'ns' });
    await soon();
    await client.create(Thing, thing('b', { metadata: { ...key, name: 'b' } }));
    answer();
    expect((await reading).items.map(({ metadata: { name } }) => name)).not.toContain('a');
  });
});
