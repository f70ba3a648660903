// One object has the same resourceVersion in each version of its kind, so own writes through one are seen through stores of all.
import { defineKind, metadataOnly } from '@kctl/apimachinery';
import type { Kind, KubeObject, ObjectKey } from '@kctl/apimachinery';
import type { AbortOptions, Client, ListOptions } from '@kctl/client';
import { describe, expect, it } from 'vitest';
import { createDelegatingClient } from '../src/index.js';
import type { CacheView, DelegatingClient, VersionWaitOptions } from '../src/index.js';
import { LaggingCache, modelClient, ModelServer, Thing, thing } from './model.js';

const ThingV2 = defineKind<Thing>()({ group: 'example.com', version: 'v2', kind: 'Thing', scope: 'Namespaced' });
const key = { namespace: 'ns', name: 'a' };
const sizeOf = async (client: DelegatingClient, kind: Kind<Thing, 'Namespaced'>): Promise<number | undefined> =>
  (await client.get(kind, key)).spec?.size;

/** A cache with one store for each version: what those hold they have converted. */
class VersionedCache implements CacheView {
  readonly v1: LaggingCache;
  readonly v2: LaggingCache;
  versionsOf?: (kind: Kind) => readonly Kind[];
  held: readonly string[] = ['v1', 'v2'];

  constructor(server: ModelServer, lists: boolean) {
    this.v1 = new LaggingCache(server);
    this.v2 = new LaggingCache(server);
    if (lists) this.versionsOf = () => [Thing, ThingV2].filter(({ version }) => this.held.includes(version));
  }
  of({ version }: Kind): LaggingCache {
    return version === 'v1' ? this.v1 : this.v2;
  }
  deliver(): void {
    this.v1.deliver();
    this.v2.deliver();
  }
  isCached(kind: Kind, namespace?: string): boolean {
    return this.held.includes(kind.version) && this.of(kind).isCached(kind, namespace);
  }
  resourceVersionOf(kind: Kind, namespace?: string): string {
    return this.of(kind).resourceVersionOf(kind, namespace);
  }
  async waitForResourceVersion(kind: Kind, version: string, options: VersionWaitOptions): Promise<void> {
    if (Number(this.resourceVersionOf(kind)) < Number(version) && options.timeoutMs === 0)
      throw new Error('not in time');
    await this.of(kind).waitForResourceVersion(kind, version, options);
  }
  async get(kind: Kind, at: ObjectKey, options?: AbortOptions): Promise<never> {
    return this.#converted(kind, await this.of(kind).get(kind, at, options));
  }
  async list(kind: Kind, options?: ListOptions): Promise<never> {
    const list = await this.of(kind).list(kind, options);
    return { ...list, items: list.items.map((item) => this.#converted(kind, item)) } as never;
  }
  #converted({ apiVersion }: Kind, object: KubeObject): never {
    return { ...object, apiVersion } as never;
  }
}

const setUp = (lists: boolean, mode: 'overlay' | 'barrier' = 'overlay') => {
  const server = new ModelServer();
  const cache = new VersionedCache(server, lists);
  const model: Client = modelClient(server);
  const client = createDelegatingClient({ cache, client: model, readYourWrites: mode, barrierTimeoutMs: 0 });
  return { server, cache, client };
};

describe.each([true, false])('own writes through one version of a kind (the cache lists its versions: %s)', (lists) => {
  it.each(['overlay', 'barrier'] as const)('are seen through a store of another (%s)', async (mode) => {
    const { cache, client } = setUp(lists, mode);
    if (!lists) await client.list(ThingV2);
    await client.create(Thing, thing('a', { metadata: key, spec: { size: 1 } }));
    expect(await sizeOf(client, ThingV2)).toBe(1);
    expect((await client.list(ThingV2)).items.map(({ apiVersion }) => apiVersion)).toEqual(['example.com/v2']);
    cache.v1.deliver();
    // The store of the version that was written has caught up, the other one has not.
    expect(await sizeOf(client, Thing)).toBe(1);
    expect(await sizeOf(client, ThingV2)).toBe(1);
    await client.patch(Thing, key, { type: 'merge', body: { spec: { size: 2 } } });
    cache.v1.deliver();
    expect(await sizeOf(client, Thing)).toBe(2);
    for (let other = 0; other < 5; other++) {
      await client.create(Thing, thing(`b${other}`, { metadata: { ...key, name: `b${other}` } }));
      cache.v1.deliver();
    }
    expect(await sizeOf(client, ThingV2)).toBe(2);
    await client.delete(Thing, key);
    cache.v1.deliver();
    await expect(client.get(Thing, key)).rejects.toThrow('not found');
    await expect(client.get(ThingV2, key)).rejects.toThrow('not found');
    expect((await client.list(ThingV2)).items.map(({ metadata }) => metadata.name)).not.toContain('a');
    cache.deliver();
    expect((await client.list(ThingV2)).items).toHaveLength(5);
  });

  it('are seen if only another version has a store', async () => {
    const { cache, client } = setUp(lists);
    cache.held = ['v2'];
    await client.list(ThingV2);
    await client.create(Thing, thing('a', { metadata: key, spec: { size: 1 } }));
    expect(await sizeOf(client, ThingV2)).toBe(1);
    cache.v2.deliver();
    await client.patch(Thing, key, { type: 'merge', body: { spec: { size: 2 } } });
    expect(await sizeOf(client, ThingV2)).toBe(2);
    await client.deleteAllOf(Thing, { namespace: 'ns' });
    expect((await client.list(ThingV2)).items).toEqual([]);
  });
});

it('of which the store of another version is the only one, without a read before', async () => {
  const { cache, client } = setUp(true);
  cache.held = ['v2'];
  await client.create(Thing, thing('a', { metadata: key, spec: { size: 1 } }));
  expect(await sizeOf(client, ThingV2)).toBe(1);
  await client.delete(metadataOnly(Thing), key);
  await expect(client.get(ThingV2, key)).rejects.toThrow('not found');
});
