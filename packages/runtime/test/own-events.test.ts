import { formatKey } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import type { InformerProvider } from '@kctl/controller';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import {
  controllerManagedBy,
  createManager,
  createOwnEvents,
  enqueueRequestForObject,
  kindSource,
  noopLogger,
} from '../src/index.js';
import type { Client } from '../src/index.js';

/** Runs of a controller that writes what it reconciles: after its own write, and after one of somebody else. */
async function runsOf(wrap: 'own' | 'nothing'): Promise<readonly [number, number]> {
  await using environment = await createEnvironment({ server: 'embedded' });
  const namespace = await environment.createNamespace('own-events');
  const manager = await createManager({
    connection: environment.connection,
    logger: noopLogger,
    cache: { defaultNamespaces: { [namespace]: {} } },
  });
  const own = createOwnEvents({ metrics: manager.metrics });
  const client: Client = wrap === 'own' ? own.wrapClient(manager.client) : manager.client;
  const informers: InformerProvider = wrap === 'own' ? own.wrapInformers(manager.cache) : manager.cache;
  const runs = new Map<string, number>();
  controllerManagedBy(manager)
    .named('painter')
    .watchesRawSource(kindSource({ informers, kind: ConfigMap, handler: enqueueRequestForObject() }))
    .withOptions({ maxConcurrentReconciles: 1 })
    .complete(async ({ namespace: within = '', name }) => {
      runs.set(name, (runs.get(name) ?? 0) + 1);
      const present = await client.get(ConfigMap, { namespace: within, name });
      const done = present.data?.['wanted'] ?? '';
      if (present.data?.['done'] !== done)
        await client.update(ConfigMap, { ...present, data: { ...present.data, done } });
    });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const live = environment.client;
  const key = { namespace, name: 'a' };
  /** A later object has been handled, so everything before it has, too. */
  const settled = async (name: string): Promise<number> => {
    await eventually(async () => {
      const { data, metadata } = await live.get(ConfigMap, key);
      expect(data?.['done']).toBe(data?.['wanted']);
      const cached = await manager.cache.get(ConfigMap, key);
      expect(cached.metadata.resourceVersion, formatKey(key)).toBe(metadata.resourceVersion);
    });
    await live.create(ConfigMap, { metadata: { namespace, name }, data: { wanted: 'x', done: 'x' } });
    await eventually(() => expect(runs.get(name)).toBeDefined());
    return runs.get('a') ?? 0;
  };
  await live.create(ConfigMap, { metadata: key, data: { wanted: 'red' } });
  const afterOwn = await settled('first');
  await live.patch(ConfigMap, key, { type: 'merge', body: { data: { wanted: 'blue' } } });
  const afterForeign = await settled('second');
  stop.abort();
  await running;
  return [afterOwn, afterForeign];
}

it('a controller sleeps through its own writes, and wakes for those of others', async () => {
  expect(await runsOf('own')).toEqual([1, 2]);
  expect(await runsOf('nothing')).toEqual([2, 4]);
});
