// Faults are the embedded server's to inject.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { createCache } from '../src/index.js';

it('gives a watch up that is silent for as long as it was told', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const { client, embedded } = environment;
  const namespace = await environment.createNamespace('cache');
  embedded?.faults.add({
    match: { verb: 'watch', resource: 'configmaps' },
    action: { type: 'stallWatch' },
    times: 1,
  });
  const cache = createCache({ client, byObject: [{ kind: ConfigMap }], watchList: false, idleTimeoutMs: 300 });
  const stop = new AbortController();
  const run = cache.run(stop.signal);
  await cache.waitForSync();
  await client.create(ConfigMap, { metadata: { namespace, name: 'late' } });
  await eventually(async () => expect((await cache.list(ConfigMap, { namespace })).items).toHaveLength(1), {
    timeoutMs: 10_000,
  });
  stop.abort();
  await run;
});
