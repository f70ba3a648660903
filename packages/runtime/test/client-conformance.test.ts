import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { ConfigMap, Namespace, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createCache } from '@kctl/cache';
import type { WatchingClient } from '@kctl/client';
import { createDelegatingClient } from '@kctl/client-delegating';
import { clientConformance } from '@kctl/client/conformance';
import { createEnvironment } from '@kctl/testing';
import { afterAll } from 'vitest';

// The whole stack behind one client: reads from informers, writes and watches to the server. KCTL_TEST_SERVER names
// another kind of server than the embedded one.
const environment = await createEnvironment();
const running: { readonly controller: AbortController; readonly done: Promise<void> }[] = [];
const skip = {
  paging: 'a cached list is not paged',
  token: 'no cache is involved: the suite over HTTP shows it',
};

afterAll(async () => {
  for (const { controller, done } of running) {
    controller.abort();
    await done;
  }
  await environment.stop();
});

async function cachedClient(readYourWrites: 'overlay' | 'barrier'): Promise<WatchingClient> {
  const { client } = environment;
  const cache = createCache({
    client,
    defaults: { keepManagedFields: true },
    byObject: [ConfigMap, Deployment, Namespace, Pod, CustomResourceDefinition].map((kind) => ({ kind })),
  });
  const controller = new AbortController();
  running.push({ controller, done: cache.run(controller.signal) });
  await cache.waitForSync({ timeoutMs: 30_000 });
  const delegating = createDelegatingClient({ cache, client, readYourWrites });
  return Object.assign(delegating, { watch: client.watch.bind(client) });
}

for (const mode of ['overlay', 'barrier'] as const)
  clientConformance(`a delegating client over the cache, ${mode}`, { create: () => cachedClient(mode), skip });
