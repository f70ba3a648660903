// A delegating client over a cache whose informers are started by reads.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createCache } from '@kctl/cache';
import { createDelegatingClient } from '@kctl/client-delegating';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';

it('reads own writes, and lets them go when the stores that reads have started have them', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const cache = createCache({ client: environment.client, undeclaredReads: 'start' });
  const client = createDelegatingClient({ cache, client: environment.client });
  const stop = new AbortController();
  const run = cache.run(stop.signal);
  const namespace = await environment.createNamespace('start');
  await client.create(ConfigMap, { metadata: { namespace, name: 'before' } });
  // There is no store that could see it.
  expect([client.pendingWrites, cache.informers()]).toEqual([0, []]);
  expect((await client.get(ConfigMap, { namespace, name: 'before' })).metadata.name).toBe('before');
  await client.create(ConfigMap, { metadata: { namespace, name: 'after' } });
  const { items } = await client.list(ConfigMap, { namespace });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['after', 'before']));
  await eventually(async () => {
    await client.list(ConfigMap, { namespace });
    expect(client.pendingWrites).toBe(0);
  });
  expect(cache.informers()).toHaveLength(1);
  stop.abort();
  await run;
});
