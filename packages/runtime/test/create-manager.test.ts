import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createRestMapper } from '@kctl/client-http';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, expectTypeOf, it } from 'vitest';
import { createManager, noopLogger, type Cache, type RuntimeManager } from '../src/index.js';

it('resolves the names of built-in kinds without a request, and asks for others', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const manager = await createManager({ connection: environment.connection, logger: noopLogger });
  const requests = (): number => environment.embedded?.journal.requests().length ?? -1;
  const before = requests();
  const { mapper } = manager;
  expect(await mapper?.kindFor({ group: 'apps', version: 'v1', kind: 'Deployment' })).toMatchObject({
    plural: 'deployments',
    scope: 'Namespaced',
  });
  expect(await mapper?.kindFor({ group: 'autoscaling', kind: 'HorizontalPodAutoscaler' })).toMatchObject({
    version: 'v2',
  });
  expect(await mapper?.kindFor({ group: '', kind: 'Node' })).toMatchObject({ version: 'v1', scope: 'Cluster' });
  expect(requests()).toBe(before);
  await expect(mapper?.kindFor({ group: 'example.com', kind: 'Widget' })).rejects.toThrow('Widget');
  expect(requests()).toBeGreaterThan(before);
  await manager.liveClient[Symbol.asyncDispose]();
});

it('takes a mapper of its own', async () => {
  const mapper = createRestMapper({ transport: { send: () => Promise.reject(new Error('unused')) } as never });
  let given: object = {};
  const manager = await createManager({
    connection: { server: 'https://kctl.invalid' },
    logger: noopLogger,
    newMapper: (options) => {
      given = options;
      return mapper;
    },
  });
  expect(manager.mapper).toBe(mapper);
  expect(given).toMatchObject({ transport: manager.liveClient.transport });
  manager.metrics.close();
  await manager.liveClient[Symbol.asyncDispose]();
  await expect(createManager({ newMapper: {} as never })).rejects.toThrow('newMapper');
});

it('has the whole cache: indexes, namespaces, loans', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const namespace = await environment.createNamespace('cache');
  const manager = await createManager({
    connection: environment.connection,
    logger: noopLogger,
    cache: { defaultNamespaces: { default: {} } },
  });
  expectTypeOf<RuntimeManager['cache']>().toEqualTypeOf<Cache>();
  manager.cache.addIndex(ConfigMap, 'data.color', ({ data }) => (data?.['color'] === undefined ? [] : [data['color']]));
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await manager.elected;
  await manager.cache.setNamespaces({ [namespace]: {} });
  await environment.client.create(ConfigMap, { metadata: { namespace, name: 'a' }, data: { color: 'red' } });
  await environment.client.create(ConfigMap, { metadata: { namespace, name: 'b' }, data: { color: 'blue' } });
  await eventually(async () => {
    const { items } = await manager.cache.list(ConfigMap, { namespace, fieldSelector: { 'data.color': 'red' } });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a']);
  });
  await using loan = manager.cache.acquire(ConfigMap);
  expect(loan.informer).toBe(manager.cache.informerFor(ConfigMap));
  await manager.cache.removeInformer(ConfigMap);
  stop.abort();
  await running;
});
