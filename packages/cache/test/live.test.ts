// Reads with `live: true`, on every server: KCTL_TEST_SERVER=real runs them against kube-apiserver.
import { isNotFound } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { listAll } from '@kctl/client';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCache, isUnknownNamespace, isUnsupportedRead } from '../src/index.js';
import type { Cache, CacheOptions, NamespaceScopes } from '../src/index.js';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment();
});
afterAll(() => environment.stop());

/** Three namespaces of a red and a blue ConfigMap each; a cache that does not run knows the first two, the second's red ones. */
async function fill(): Promise<{ readonly cache: Cache; readonly names: readonly [string, string, string] }> {
  const { client } = environment;
  const create = (): Promise<string> => environment.createNamespace('live');
  const names = [await create(), await create(), await create()] as const;
  for (const namespace of names)
    for (const color of ['red', 'blue'])
      await client.create(ConfigMap, { metadata: { namespace, name: color, labels: { color } }, data: { color } });
  const namespaces: NamespaceScopes = { [names[0]]: {}, [names[1]]: { labelSelector: 'color=red' } };
  const cache = createCache({ client, byObject: [{ kind: ConfigMap, namespaces }] });
  cache.addIndex(ConfigMap, 'hue', (map) => [map.data?.['color'] ?? '']);
  return { cache, names };
}

const colors = async (list: ReturnType<Cache['list']>): Promise<string[]> =>
  (await list).items
    .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

describe('a live read of a cache', () => {
  it('asks the server, and sees no more than the cache holds', async () => {
    const { cache, names } = await fill();
    const [one, two, three] = names;
    expect(await cache.get(ConfigMap, { namespace: one, name: 'red' }, { live: true })).toMatchObject({
      data: { color: 'red' },
    });
    await expect(cache.get(ConfigMap, { namespace: two, name: 'blue' }, { live: true })).rejects.toSatisfy(isNotFound);
    await expect(cache.get(ConfigMap, { namespace: three, name: 'red' }, { live: true })).rejects.toSatisfy(
      isUnknownNamespace,
    );
    await expect(cache.list(ConfigMap, { namespace: three, live: true })).rejects.toSatisfy(isUnknownNamespace);
    const expected = [`${one}/blue`, `${one}/red`, `${two}/red`].sort();
    expect(await colors(cache.list(ConfigMap, { live: true }))).toEqual(expected);
    expect(await colors(cache.list(ConfigMap, { live: true, labelSelector: 'color=blue' }))).toEqual([`${one}/blue`]);
    expect(await colors(cache.list(ConfigMap, { live: true, namespace: two }))).toEqual([`${two}/red`]);
  });

  it('judges fields by the indexes of the cache, and sends the others', async () => {
    const { cache, names } = await fill();
    const [one, two] = names;
    expect(await colors(cache.list(ConfigMap, { live: true, fieldSelector: { hue: 'red' } }))).toEqual(
      [`${one}/red`, `${two}/red`].sort(),
    );
    const fieldSelector = 'metadata.name=red,hue=blue';
    expect(await colors(cache.list(ConfigMap, { live: true, fieldSelector }))).toEqual([]);
    const cut = await cache.list(ConfigMap, { live: true, fieldSelector: { hue: 'red' }, limit: 1 });
    expect([cut.items.length, cut.metadata.remainingItemCount, cut.metadata.continue]).toEqual([1, 1, undefined]);
    await expect(cache.list(ConfigMap, { live: true, continue: 'token' })).rejects.toSatisfy(isUnsupportedRead);
  });

  it('goes page by page where there is one scope', async () => {
    const namespace = await environment.createNamespace('live');
    const { client } = environment;
    for (const name of ['a', 'b', 'c', 'd', 'e']) await client.create(ConfigMap, { metadata: { namespace, name } });
    const cache = createCache({ client, byObject: [{ kind: ConfigMap, namespaces: { [namespace]: {} } }] });
    const found: (string | undefined)[] = [];
    for await (const { metadata } of listAll(cache, ConfigMap, { live: true, pageSize: 2 })) found.push(metadata.name);
    expect(found.filter((name) => name !== 'kube-root-ca.crt')).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('says so where the client can only watch', async () => {
    const { client } = environment;
    const frames = {
      listFrames: client.listFrames.bind(client),
      watchFrames: client.watchFrames.bind(client),
    } as CacheOptions['client'];
    const cache = createCache({ client: frames, byObject: [{ kind: ConfigMap }] });
    await expect(cache.get(ConfigMap, { namespace: 'default', name: 'x' }, { live: true })).rejects.toThrow(
      'the client of this cache only watches',
    );
  });
});
