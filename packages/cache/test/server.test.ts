// What holds on every server: KCTL_TEST_SERVER=real runs it against kube-apiserver.
import { metadataOnly } from '@kctl/apimachinery';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCache } from '../src/index.js';
import type { Cache, CacheOptions } from '../src/index.js';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment();
});
afterAll(() => environment.stop());

/** A cache that runs until the case is over. */
async function start(options: Partial<CacheOptions>): Promise<Cache & AsyncDisposable> {
  const cache = createCache({ client: environment.client, ...options });
  const stop = new AbortController();
  const run = cache.run(stop.signal);
  await cache.waitForSync({ timeoutMs: 20_000 });
  return Object.assign(cache, {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await run;
    },
  });
}

/** Two namespaces with a red and a blue ConfigMap each. */
async function fill(): Promise<readonly [string, string]> {
  const { client } = environment;
  const namespaces = [await environment.createNamespace('cache'), await environment.createNamespace('cache')] as const;
  for (const namespace of namespaces)
    for (const color of ['red', 'blue'])
      await client.create(ConfigMap, { metadata: { namespace, name: color, labels: { color } }, data: { color } });
  return namespaces;
}

async function listed(cache: Cache, options: Parameters<Cache['list']>[1] = {}): Promise<string[]> {
  const { items } = await cache.list(ConfigMap, options);
  return items
    .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

describe('a cache on a server', () => {
  it('holds the namespaces that it was told, each with its selector, and follows them', async () => {
    const [one, two] = [...(await fill())].sort() as [string, string];
    const { client } = environment;
    await using cache = await start({
      byObject: [{ kind: ConfigMap, namespaces: { [one]: { labelSelector: 'color=red' }, [two]: {} } }],
    });
    expect(await listed(cache)).toEqual([`${one}/red`, `${two}/blue`, `${two}/red`]);
    await client.create(ConfigMap, { metadata: { namespace: two, name: 'green' } });
    await client.patch(
      ConfigMap,
      { namespace: one, name: 'red' },
      { type: 'merge', body: { metadata: { labels: null } } },
    );
    await eventually(async () => expect(await listed(cache)).toEqual([`${two}/blue`, `${two}/green`, `${two}/red`]), {
      timeoutMs: 10_000,
    });
  });

  it('lists by labels, by the fields that are indexed, and up to a limit', async () => {
    const [namespace] = await fill();
    await using cache = await start({ byObject: [{ kind: ConfigMap, namespaces: { [namespace]: {} } }] });
    cache.addIndex(ConfigMap, 'data.color', { path: 'data.color' });
    expect(await listed(cache, { labelSelector: 'color=red' })).toEqual([`${namespace}/red`]);
    expect(await listed(cache, { fieldSelector: 'data.color=blue' })).toEqual([`${namespace}/blue`]);
    expect(await listed(cache, { namespace, limit: 1 })).toEqual([`${namespace}/blue`]);
  });

  it('changes its namespaces while it runs', async () => {
    const [one, two] = await fill();
    await using cache = await start({ byObject: [{ kind: ConfigMap }], defaultNamespaces: { [one]: {} } });
    expect(await listed(cache)).toEqual([`${one}/blue`, `${one}/red`]);
    await cache.setNamespaces({ [two]: {} });
    expect(await listed(cache)).toEqual([`${two}/blue`, `${two}/red`]);
  });

  it('keeps cluster-scoped kinds, and metadata alone where that is what is asked for', async () => {
    const [namespace] = await fill();
    const lean = metadataOnly(ConfigMap);
    await using cache = await start({
      byObject: [{ kind: Namespace }, { kind: lean, namespaces: { [namespace]: {} } }],
    });
    expect((await cache.get(Namespace, { name: namespace })).metadata.name).toBe(namespace);
    const object = await cache.get(lean, { namespace, name: 'red' });
    expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { labels: { color: 'red' } } });
    expect(object).not.toHaveProperty('data');
  });

  it('reads what the server says that it has written', async () => {
    const [namespace] = await fill();
    await using cache = await start({ byObject: [{ kind: ConfigMap, namespaces: { [namespace]: {} } }] });
    const key = { namespace, name: 'red' };
    const body = { data: { color: 'crimson' } };
    const written = await environment.client.patch(ConfigMap, key, { type: 'merge', body });
    await cache.informerFor(ConfigMap).waitForResourceVersion(written.metadata.resourceVersion ?? '');
    expect((await cache.get(ConfigMap, key)).data).toEqual({ color: 'crimson' });
  });
});
