import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { controllerManagedBy, createManager, noopLogger, setControllerReference } from '../src/index.js';

it('a plain manager that finds its children by .metadata.controller makes one, however late its cache is', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const namespace = await environment.createNamespace('children');
  // The cache of the children lists, and hears nothing after that.
  environment.embedded?.faults.add({
    match: { verb: 'watch', resource: 'secrets' },
    action: { type: 'stallWatch', afterEvents: 0 },
  });
  const manager = await createManager({
    connection: environment.connection,
    logger: noopLogger,
    cache: { defaultNamespaces: { [namespace]: {} }, watchList: false },
  });
  manager.cache.addIndex(Secret, '.metadata.controller', ({ metadata }) =>
    (metadata.ownerReferences ?? []).filter(({ controller }) => controller === true).map(({ uid }) => uid),
  );
  const seen: number[] = [];
  controllerManagedBy(manager)
    .named('parent')
    .for(ConfigMap)
    .complete(async ({ namespace: within, name }) => {
      if (name !== 'parent') return {};
      const parent = await manager.client.get(ConfigMap, { namespace: within, name });
      const { items } = await manager.client.list(Secret, {
        namespace: within,
        fieldSelector: { '.metadata.controller': parent.metadata.uid },
      });
      seen.push(items.length);
      const child: Secret = { metadata: { namespace: within, generateName: 'child-' } };
      setControllerReference(parent, ConfigMap, child);
      const [first] = items;
      if (first === undefined) await manager.client.create(Secret, child);
      else await manager.client.update(Secret, { ...first, stringData: { run: String(seen.length) } });
      return seen.length < 6 ? { requeueAfterMs: 1 } : {};
    });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await environment.client.create(ConfigMap, { metadata: { namespace, name: 'parent' } });
  await eventually(() => expect(seen.length).toBeGreaterThanOrEqual(6));
  stop.abort();
  await running;
  expect(seen.slice(0, 6)).toEqual([0, 1, 1, 1, 1, 1]);
  expect((await environment.client.list(Secret, { namespace })).items).toHaveLength(1);
});
