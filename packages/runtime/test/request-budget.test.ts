// Requests per reconcile, over real connections: of several controllers at once, and of a client of the author's own.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient } from '@kctl/client-http';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { controllerManagedBy, createManager, noopLogger } from '../src/index.js';

it('is a metric of each controller', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const namespace = await environment.createNamespace('budget');
  const observed: string[] = [];
  const manager = await createManager({
    connection: { ...environment.connection, observe: ({ path }) => void observed.push(path) },
    logger: noopLogger,
    cache: { defaultNamespaces: { [namespace]: {} } },
  });
  await using own = createHttpClient({ connection: manager.connection });
  const key = (name: string): { namespace: string; name: string } => ({ namespace, name });
  controllerManagedBy(manager)
    .for(ConfigMap)
    .named('quiet')
    .complete(async ({ name }) => void (await manager.client.get(ConfigMap, key(name))));
  controllerManagedBy(manager)
    .for(ConfigMap)
    .named('busy')
    .withOptions({ maxConcurrentReconciles: 5 })
    .complete(async ({ name }) => {
      await own.get(ConfigMap, key(name));
      await Promise.all([own.get(ConfigMap, key(name)), manager.apiReader.get(ConfigMap, key(name))]);
    });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  for (const name of ['a', 'b', 'c', 'd'])
    await environment.client.create(ConfigMap, { metadata: key(name), data: { name } });
  const read = async (series: string): Promise<number> => {
    const { body } = await manager.metrics.export();
    const line = body.split('\n').find((each) => each.startsWith(`kctl_controller_reconcile_requests${series} `));
    return Number(line?.split(' ')[1] ?? Number.NaN);
  };
  for (const controller of ['quiet', 'busy'])
    await eventually(async () => expect(await read(`_count{controller="${controller}"}`)).toBeGreaterThanOrEqual(4));
  const runs = await read('_count{controller="busy"}');
  expect(await read('_sum{controller="busy"}')).toBe(3 * runs);
  expect(await read('_sum{controller="quiet"}')).toBe(0);
  expect(await read('_bucket{le="0",controller="quiet"}')).toBe(await read('_count{controller="quiet"}'));
  // The observer of the connection is called as before.
  expect(observed.filter((path) => path.endsWith('/configmaps/a')).length).toBeGreaterThanOrEqual(3);
  stop.abort();
  await running;
});
