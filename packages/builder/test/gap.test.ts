import { isAlreadyExists } from '@kctl/apimachinery';
import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { createApiServer } from '@kctl/apiserver';
import { createCache } from '@kctl/cache';
import { createHttpClient } from '@kctl/client-http';
import type { EventObject } from '@kctl/controller';
import { objectPredicate } from '@kctl/controller';
import { createCluster, createManager } from '@kctl/manager';
import { expect, it, vi } from 'vitest';
import { controllerManagedBy } from '../src/index.js';

const key = { namespace: 'default', name: 'a' };

const soon = { timeout: 300_000, interval: 10 };

it('restores a dependent that was deleted while no watch was open, from the list that follows', {
  timeout: 300_000,
}, async () => {
  await using server = createApiServer({});
  await server.start();
  const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
  await using admin = createHttpClient({ connection, userAgent: 'admin' });
  await using client = createHttpClient({ connection, userAgent: 'operator' });
  const cache = createCache({ client });
  const manager = createManager({ cluster: createCluster({ client, apiReader: client, cache }) });
  const runs: (readonly string[])[] = [];
  const created: string[] = [];
  controllerManagedBy(manager)
    .for(ConfigMap, { predicates: [objectPredicate((object: EventObject) => object.metadata.name === key.name)] })
    .owns(Secret)
    .complete(async (request, { reasons }) => {
      const { uid } = (await client.get(ConfigMap, request)).metadata;
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: request.name, uid, controller: true }];
      try {
        const copy = await client.create(Secret, { metadata: { ...request, ownerReferences } });
        created.push(copy.metadata.uid ?? '');
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
      runs.push(reasons);
    });
  const stop = new AbortController();
  const done = manager.run(stop.signal);
  await admin.create(ConfigMap, { metadata: key });
  await vi.waitUntil(() => runs.some((reasons) => reasons.includes('kind source: Secret create default/a')), soon);

  for (const verb of ['watch', 'list'] as const)
    server.faults.add({
      action: { type: 'rejectConnection' },
      match: { userAgent: 'operator', resource: 'secrets', verb },
    });
  await server.faults.failover({ downMs: 10 });
  await admin.delete(Secret, key);
  server.compact(); // what follows can only be a list: no event of the deletion is left
  const before = runs.length;
  server.faults.clear();
  await vi.waitUntil(() => created.length === 2 && runs.length > before, soon);
  expect(runs[before]).toContain('kind source: Secret delete default/a');
  stop.abort();
  await done;
});
