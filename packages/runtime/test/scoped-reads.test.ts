// What a delegating client answers over a real cache that lags for good: its watches are held up, so that every answer
// comes from the notes of own writes, or from a question to the server.
import { metadataOnly, mutableCopy, stripped } from '@kctl/apimachinery';
import { ConfigMap, Namespace, Pod, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { createCache } from '@kctl/cache';
import type { Cache, CacheOptions, NamespaceScopes } from '@kctl/cache';
import { ownerIndex } from '@kctl/cache-index';
import { createOrUpdate, record, retryOnConflict } from '@kctl/client';
import type { CallRecorder, Client, ListOptions } from '@kctl/client';
import { createDelegatingClient } from '@kctl/client-delegating';
import type { DelegatingClient, DelegatingClientOptions } from '@kctl/client-delegating';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let environment: TestEnvironment;
let live: Client;
let one: string;
let two: string;
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded' });
  live = environment.client;
});
afterAll(() => environment.stop());
beforeEach(async () => {
  [one, two] = [await environment.createNamespace('one'), await environment.createNamespace('two')];
});

interface Lagging extends AsyncDisposable {
  readonly client: DelegatingClient;
  readonly cache: Cache;
  /** What the client sends. */
  readonly sent: CallRecorder;
}

/** A client over a cache that has listed, and hears nothing more. A wait for it would last for ever. */
async function lagging(
  options: Partial<CacheOptions>,
  { prepare, ...more }: Partial<DelegatingClientOptions> & { readonly prepare?: (cache: Cache) => void } = {},
): Promise<Lagging> {
  const stall = environment.embedded?.faults.add({
    match: { verb: 'watch' },
    action: { type: 'stallWatch', afterEvents: 0 },
  });
  const cache = createCache({ client: environment.client, watchList: false, ...options });
  prepare?.(cache);
  const stop = new AbortController();
  const run = cache.run(stop.signal);
  await cache.waitForSync({ timeoutMs: 20_000 });
  const sent = record(live);
  return {
    cache,
    sent,
    client: createDelegatingClient({ cache, client: sent, barrierTimeoutMs: Number.POSITIVE_INFINITY, ...more }),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await run;
      stall?.remove();
    },
  };
}

const map = (namespace: string, name: string, more: Partial<ConfigMap> = {}): ConfigMap => ({
  ...more,
  metadata: { namespace, name, ...more.metadata },
});
const names = async (client: Pick<Client, 'list'>, options: ListOptions = {}): Promise<string[]> =>
  (await client.list(ConfigMap, options)).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== 'kube-root-ca.crt');
const broken = (): Error => Object.assign(new Error('connection reset'), { maybeSent: true });

describe('own writes in lists by an index', () => {
  const owner = (uid: string): ConfigMap['metadata'] => ({
    ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: one, uid, controller: true }],
  });
  const uidOf = async (name: string): Promise<string> => (await live.get(Namespace, { name })).metadata.uid;
  const prepare = (cache: Cache): void => {
    cache.addIndex(ConfigMap, '.metadata.controller', ({ metadata }) =>
      (metadata.ownerReferences ?? []).filter(({ controller }) => controller === true).map(({ uid }) => uid),
    );
    cache.addIndex(ConfigMap, 'owner', ownerIndex);
    cache.addIndex(ConfigMap, 'data.color', { path: 'data.color' });
  };

  it.each(['.metadata.controller', 'owner', 'data.color'])(
    'are found by %s as a store would find them',
    async (index) => {
      // Owners that are there, or the garbage collector takes what they own.
      const [u1, u2] = [await uidOf(one), await uidOf(two)];
      const present = await live.create(ConfigMap, map(one, 'present', { metadata: owner(u1), data: { color: u1 } }));
      await using lag = await lagging({ byObject: [{ kind: ConfigMap }] }, { prepare });
      const { client, sent } = lag;
      const by = (value: string): Promise<string[]> =>
        names(client, { namespace: one, fieldSelector: { [index]: value } });
      await client.create(ConfigMap, map(one, 'created', { metadata: owner(u1), data: { color: u1 } }));
      await client.update(ConfigMap, { ...present, metadata: { ...present.metadata, labels: { touched: 'yes' } } });
      expect(await by(u1)).toEqual(['created', 'present']);
      const moved = mutableCopy(await client.get(ConfigMap, { namespace: one, name: 'present' }));
      moved.metadata.ownerReferences = owner(u2).ownerReferences ?? [];
      moved.data = { color: u2 };
      await client.update(ConfigMap, moved);
      expect([await by(u1), await by(u2)]).toEqual([['created'], ['present']]);
      expect(sent.calls.map(({ verb }) => verb)).toEqual(['create', 'update', 'update']);
    },
  );

  it('refuse an index that is not there, with and without own writes', async () => {
    await using lag = await lagging({ byObject: [{ kind: ConfigMap }] });
    const { client } = lag;
    const message = 'index with name field:data.size does not exist';
    await expect(client.list(ConfigMap, { fieldSelector: 'data.size=1' })).rejects.toThrow(message);
    await client.create(ConfigMap, map(one, 'a'));
    await expect(client.list(ConfigMap, { fieldSelector: 'data.size=1' })).rejects.toThrow(message);
  });
});

describe('a read that the cache cannot answer', () => {
  /** Red ones of one namespace. */
  const namespaces = (): NamespaceScopes => ({ [one]: { labelSelector: 'color=red' } });
  const colored = (namespace: string, name: string, color: string): ConfigMap =>
    map(namespace, name, { metadata: { labels: { color } }, data: { color } });

  async function fill(): Promise<void> {
    for (const namespace of [one, two])
      for (const color of ['red', 'blue']) await live.create(ConfigMap, colored(namespace, color, color));
  }

  /** As if its cache had not caught up in time. */
  const impatient = { barrierTimeoutMs: 0, readYourWrites: 'barrier' } as const;

  it('contains no more than the cache would: namespaces, labels, indexes', async () => {
    await fill();
    const prepare = (cache: Cache): void => cache.addIndex(ConfigMap, 'hue', ({ data }) => [data?.['color'] ?? '']);
    await using lag = await lagging(
      { byObject: [{ kind: ConfigMap, namespaces: namespaces() }] },
      { prepare, ...impatient },
    );
    const { client, sent } = lag;
    await live.create(ConfigMap, colored(one, 'foreign', 'red'));
    await client.create(ConfigMap, colored(one, 'own', 'red'));
    await client.create(ConfigMap, colored(one, 'own-blue', 'blue'));
    sent.clear();
    expect(await names(client)).toEqual(['foreign', 'own', 'red']);
    expect(sent.calls).toMatchObject([{ verb: 'list', options: { namespace: one, labelSelector: 'color=red' } }]);
    expect(await names(client, { fieldSelector: { hue: 'red' } })).toEqual(['foreign', 'own', 'red']);
    expect(await names(client, { labelSelector: 'color!=red' })).toEqual([]);
    for (const { options } of sent.calls) expect(JSON.stringify(options)).not.toContain('hue');
    await expect(client.get(ConfigMap, { namespace: one, name: 'own-blue' })).rejects.toThrow('not found');
  });

  it('is not followed by an older one', async () => {
    const before = await live.create(ConfigMap, colored(one, 'shared', 'red'));
    await live.create(ConfigMap, colored(one, 'doomed', 'red'));
    await using lag = await lagging({ byObject: [{ kind: ConfigMap }] });
    const { client } = lag;
    const foreign = await live.update(ConfigMap, { ...before, data: { color: 'redder' } });
    await live.delete(ConfigMap, { namespace: one, name: 'doomed' });
    await live.create(ConfigMap, colored(one, 'new', 'red'));
    await client.create(ConfigMap, colored(one, 'own', 'red'));
    expect(await names(client, { namespace: one })).toEqual(['doomed', 'own', 'shared']);
    const impatiently = createDelegatingClient({ cache: lag.cache, client: live, ...impatient });
    await impatiently.create(ConfigMap, colored(one, 'own-2', 'red'));
    const expected = ['new', 'own', 'own-2', 'shared'];
    expect(await names(impatiently, { namespace: one })).toEqual(expected);
    // From here on as patient as any.
    const overlay = { readYourWrites: 'overlay' } as const;
    expect(await names(impatiently, { namespace: one, ...overlay })).toEqual(expected);
    const read = await impatiently.get(ConfigMap, { namespace: one, name: 'shared' }, overlay);
    expect(read.metadata.resourceVersion).toBe(foreign.metadata.resourceVersion);
    await expect(impatiently.get(ConfigMap, { namespace: one, name: 'doomed' }, overlay)).rejects.toThrow('not found');
  });

  it('has the projection of the cache', async () => {
    const Lean = stripped(ConfigMap);
    await live.create(ConfigMap, colored(one, 'a', 'red'));
    const transform = ({ metadata }: { readonly metadata: ConfigMap['metadata'] }): ConfigMap => ({ metadata });
    await using lag = await lagging({ byObject: [{ kind: Lean, transform }] }, impatient);
    const { client } = lag;
    await client.patch(ConfigMap, { namespace: one, name: 'a' }, { type: 'merge', body: { data: { color: 'blue' } } });
    await live.create(ConfigMap, colored(one, 'foreign', 'red'));
    const { items } = await client.list(Lean, { namespace: one });
    expect(items.map(({ metadata }) => metadata.name)).toContain('foreign');
    for (const item of items) expect(item).not.toHaveProperty('data');
  });

  it('of a namespace that no scope covers is that namespace alone, and sends no index selector', async () => {
    await fill();
    const prepare = (cache: Cache): void => cache.addIndex(ConfigMap, 'hue', ({ data }) => [data?.['color'] ?? '']);
    await using lag = await lagging({ byObject: [{ kind: ConfigMap, namespaces: namespaces() }] }, { prepare });
    const { client, sent } = lag;
    expect(await names(client, { namespace: two, fieldSelector: { hue: 'blue' } })).toEqual(['blue']);
    expect(await names(client, { namespace: two, fieldSelector: 'hue=blue,metadata.name=red' })).toEqual([]);
    expect(sent.calls.map(({ options }) => options)).toEqual([
      { namespace: two },
      { namespace: two, fieldSelector: 'metadata.name=red' },
    ]);
  });
});

describe('a cache that is limited by fields', () => {
  it('shows no own write that it will never hold', async () => {
    const pod = (name: string, node: string): Pod => ({
      metadata: { namespace: one, name },
      spec: { nodeName: node, containers: [{ name: 'c', image: 'i' }] },
    });
    await using lag = await lagging({ byObject: [{ kind: Pod, fieldSelector: { 'spec.nodeName': 'n1' } }] });
    const { client } = lag;
    await client.create(Pod, pod('here', 'n1'));
    await client.create(Pod, pod('there', 'n2'));
    expect((await client.list(Pod)).items.map(({ metadata }) => metadata.name)).toEqual(['here']);
    await expect(client.get(Pod, { namespace: one, name: 'there' })).rejects.toThrow('not found');
  });
});

describe('without a fault, nothing waits', () => {
  const cached = { byObject: [{ kind: ConfigMap }] } as const;

  it('after a deleteAllOf of nothing, which leaves nothing to ask either', async () => {
    await live.create(ConfigMap, map(one, 'a'));
    await using lag = await lagging(cached);
    const { client, sent } = lag;
    await client.deleteAllOf(ConfigMap, { namespace: one, labelSelector: 'app=none' });
    expect(await names(client, { namespace: one })).toEqual(['a']);
    expect(sent.calls.map(({ verb }) => verb)).toEqual(['deleteAllOf']);
    expect(client.pendingWrites).toBe(0);
  });

  it.each([2, 7])('after a deleteAllOf of %i, which are gone at once, together with what is stale', async (count) => {
    const labels = { app: 'web' };
    for (let n = 0; n < count; n++) await live.create(ConfigMap, map(one, `web-${n}`, { metadata: { labels } }));
    await live.create(ConfigMap, map(one, 'stale', { metadata: { labels } }));
    await live.create(ConfigMap, map(one, 'other'));
    await using lag = await lagging(cached);
    const { client, sent } = lag;
    await live.delete(ConfigMap, { namespace: one, name: 'stale' });
    await client.create(ConfigMap, map(one, 'own', { metadata: { labels } }));
    await client.deleteAllOf(ConfigMap, { namespace: one, labelSelector: labels });
    expect(await names(client, { namespace: one })).toEqual(['other']);
    expect(await names(client, { namespace: one, labelSelector: labels })).toEqual([]);
    await expect(client.get(ConfigMap, { namespace: one, name: 'web-0' })).rejects.toThrow('not found');
    // More than four names are asked for as one namespace.
    const questions = sent.calls.filter(({ verb }) => verb === 'list').length;
    expect(questions).toBe(count + 2 > 4 ? 1 : count + 2);
  });

  it('after a deleteAllOf of what finalizers hold: it is shown as terminating', async () => {
    const labels = { app: 'held' };
    await live.create(ConfigMap, map(one, 'held', { metadata: { labels, finalizers: ['example.com/x'] } }));
    await using lag = await lagging(cached);
    await lag.client.deleteAllOf(ConfigMap, { namespace: one, labelSelector: labels });
    const [held] = (await lag.client.list(ConfigMap, { namespace: one, labelSelector: labels })).items;
    expect(held?.metadata.deletionTimestamp).toBeDefined();
  });

  it('after a write to a namespace that is not cached', async () => {
    await using lag = await lagging({ byObject: [{ kind: ConfigMap, namespaces: { [one]: {} } }] });
    const { client, sent } = lag;
    await client.create(ConfigMap, map(two, 'there'));
    await client.delete(ConfigMap, { namespace: two, name: 'there' });
    await client.deleteAllOf(ConfigMap, { namespace: two });
    sent.clear();
    expect(await names(client)).toEqual([]);
    expect(sent.calls).toEqual([]);
    expect(client.pendingWrites).toBe(0);
  });

  it('when reads wait for the cache, after a delete, a write that leaves the scope, and one of another namespace', async () => {
    const labels = { app: 'web' };
    const present = await live.create(ConfigMap, map(one, 'present', { metadata: { labels } }));
    await live.create(ConfigMap, map(one, 'deleted', { metadata: { labels } }));
    const byObject = [{ kind: ConfigMap, labelSelector: labels, namespaces: { [one]: {}, [two]: {} } }];
    await using lag = await lagging({ byObject }, { readYourWrites: 'barrier' });
    const { client } = lag;
    await client.delete(ConfigMap, { namespace: one, name: 'deleted' });
    await client.update(ConfigMap, { ...present, metadata: { ...present.metadata, labels: {} } });
    expect(await names(client)).toEqual([]);
    await expect(client.get(ConfigMap, { namespace: one, name: 'present' })).rejects.toThrow('not found');
  });
});

describe('what a refused write says', () => {
  const cached = { byObject: [{ kind: ConfigMap }] } as const;

  it('of a conflict: the next attempt starts from what the server has', async () => {
    const key = { namespace: one, name: 'a' };
    const before = await live.create(ConfigMap, map(one, 'a', { data: { n: '0' } }));
    await using lag = await lagging(cached);
    const { client, sent } = lag;
    await live.update(ConfigMap, { ...before, data: { n: '1' } });
    let attempts = 0;
    await retryOnConflict(async () => {
      attempts++;
      const present = await client.get(ConfigMap, key);
      await client.update(ConfigMap, { ...present, data: { ...present.data, own: 'yes' } });
    });
    expect(attempts).toBe(2);
    expect((await live.get(ConfigMap, key)).data).toEqual({ n: '1', own: 'yes' });
    expect(sent.calls.map(({ verb }) => verb)).toEqual(['update', 'list', 'update']);
  });

  it('of a conflict in a status, or in a guarded patch', async () => {
    const key = { namespace: one, name: 'a' };
    await live.create(ConfigMap, map(one, 'a'));
    await using lag = await lagging(cached);
    const { client } = lag;
    await live.patch(ConfigMap, key, { type: 'merge', body: { data: { n: '1' } } });
    await retryOnConflict(async () => {
      const { resourceVersion } = (await client.get(ConfigMap, key)).metadata;
      await client.patch(ConfigMap, key, {
        type: 'merge',
        body: { metadata: { resourceVersion }, data: { own: 'yes' } },
      });
    });
    expect((await client.get(ConfigMap, key)).data).toEqual({ n: '1', own: 'yes' });
  });

  it('of an object that is there already: the next attempt finds it', async () => {
    await using lag = await lagging(cached);
    const { client } = lag;
    await live.create(ConfigMap, map(one, 'a', { data: { n: '1' } }));
    const ensure = (): Promise<unknown> =>
      createOrUpdate(
        client,
        ConfigMap,
        { namespace: one, name: 'a' },
        {
          mutate: (draft) => {
            draft.data = { ...draft.data, own: 'yes' };
          },
        },
      );
    await expect(ensure()).rejects.toMatchObject({ reason: 'AlreadyExists' });
    await expect(ensure()).resolves.toMatchObject({ result: 'updated' });
    expect((await live.get(ConfigMap, { namespace: one, name: 'a' })).data).toEqual({ n: '1', own: 'yes' });
  });

  it('of an object that is gone: neither note nor cache show it', async () => {
    await live.create(ConfigMap, map(one, 'cached'));
    await using lag = await lagging(cached);
    const { client } = lag;
    await client.create(ConfigMap, map(one, 'noted'));
    for (const name of ['cached', 'noted']) {
      await live.delete(ConfigMap, { namespace: one, name });
      await expect(client.delete(ConfigMap, { namespace: one, name })).rejects.toThrow('not found');
    }
    expect(await names(client, { namespace: one })).toEqual([]);
    await expect(client.get(ConfigMap, { namespace: one, name: 'noted' })).rejects.toThrow('not found');
  });

  it('of an object that is gone is nothing new where none is shown', async () => {
    await using lag = await lagging(cached);
    const { client, sent } = lag;
    await expect(client.delete(ConfigMap, { namespace: one, name: 'none' })).rejects.toThrow('not found');
    await expect(client.get(ConfigMap, { namespace: one, name: 'none' })).rejects.toThrow('not found');
    expect(sent.calls.map(({ verb }) => verb)).toEqual(['delete']);
  });
});

describe('several stores of a kind', () => {
  it('are each right after a write of unknown outcome, and after a deleteAllOf', async () => {
    const Meta = metadataOnly(Secret);
    await live.create(Secret, { metadata: { namespace: one, name: 'a' } });
    await using lag = await lagging({
      byObject: [
        { kind: Secret, namespaces: { [one]: { labelSelector: 'app=web' } } },
        { kind: Meta, namespaces: { [one]: {} } },
      ],
    });
    const { client } = lag;
    const shown = async (kind: typeof Secret | typeof Meta): Promise<string[]> =>
      (await client.list<typeof Secret | typeof Meta>(kind)).items.map(({ metadata }) => metadata.name);
    await client.create(Secret, { metadata: { namespace: one, name: 'b' } });
    expect([await shown(Secret), await shown(Meta)]).toEqual([[], ['a', 'b']]);
    await client.deleteAllOf(Meta, { namespace: one });
    expect([await shown(Secret), await shown(Meta)]).toEqual([[], []]);
    const lost = createDelegatingClient({
      cache: lag.cache,
      client: {
        ...live,
        get: live.get.bind(live),
        list: live.list.bind(live),
        create: async (...args) => {
          await live.create(...args);
          throw broken();
        },
      },
    });
    await expect(lost.create(Secret, { metadata: { namespace: one, name: 'c' } })).rejects.toThrow('connection reset');
    expect((await lost.list(Meta)).items.map(({ metadata }) => metadata.name)).toContain('c');
    expect((await lost.list(Secret)).items).toEqual([]);
  });
});
