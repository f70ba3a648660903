// A store against the server: KCTL_TEST_SERVER=real runs it against kube-apiserver.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createIndexer } from '@kctl/cache-index';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkConsistency, createSharedInformer, listerWatcherFor } from '../src/index.js';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment();
});
afterAll(() => environment.stop());

it('finds an informer equal to the server, and names what differs in another store', async () => {
  const { client } = environment;
  const namespace = await environment.createNamespace();
  for (const name of ['a', 'b', 'c'])
    await client.create(ConfigMap, { metadata: { namespace, name }, data: { x: '1' } });
  const informer = createSharedInformer({
    kind: ConfigMap,
    listerWatcher: listerWatcherFor(client, ConfigMap, { namespace }),
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await informer.waitForSync();
  const check = { client, kind: ConfigMap, namespace };
  const { indexer } = informer;
  expect(await checkConsistency({ ...check, store: indexer })).toEqual({
    isConsistent: true,
    resourceVersion: indexer.resourceVersion,
    missing: [],
    extra: [],
    different: [],
  });

  const wrong = createIndexer<ConfigMap>();
  const [a, b] = indexer.list();
  if (a === undefined || b === undefined) throw new Error('the informer is empty');
  wrong.replace([a, { ...b, data: { x: '2' } }, { metadata: { namespace, name: 'ghost' } }], indexer.resourceVersion);
  // What happened since the store's version does not count.
  await client.create(ConfigMap, { metadata: { namespace, name: 'later' } });
  const { resourceVersion } = wrong;
  expect(await checkConsistency({ ...check, store: wrong })).toEqual({
    isConsistent: false,
    resourceVersion,
    missing: [`${namespace}/c`],
    extra: [`${namespace}/ghost`],
    different: [`${namespace}/b`],
  });
  stop.abort();
  await running;
});

it('applies the transform of the store, and refuses a store that has not synced', async () => {
  const { client } = environment;
  const namespace = await environment.createNamespace();
  await client.create(ConfigMap, { metadata: { namespace, name: 'a' }, data: { x: '1', secret: 'y' } });
  await client.create(ConfigMap, { metadata: { namespace, name: 'poison' }, data: { x: 'throws' } });
  const transform = (map: ConfigMap): ConfigMap => {
    const x = map.data?.['x'] ?? '';
    if (x === 'throws') throw new Error('the transform fails');
    return { ...map, data: { x } };
  };
  const listerWatcher = listerWatcherFor(client, ConfigMap, { namespace });
  const informer = createSharedInformer<ConfigMap>({ kind: ConfigMap, listerWatcher, transform });
  const check = { client, kind: ConfigMap, namespace, store: informer.indexer } as const;
  await expect(checkConsistency(check)).rejects.toThrow('checkConsistency: store.resourceVersion "" is not valid');
  await expect(checkConsistency({ ...check, store: { list: () => [] } as never })).rejects.toThrow(
    'checkConsistency: store.resourceVersion undefined is not valid',
  );
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await informer.waitForSync();
  expect((await checkConsistency({ ...check, transform })).isConsistent).toBe(true);
  const untransformed = await checkConsistency(check);
  expect([untransformed.different, untransformed.missing]).toEqual([[`${namespace}/a`], [`${namespace}/poison`]]);
  stop.abort();
  await running;
});
