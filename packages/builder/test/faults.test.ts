import { defineKind, isAlreadyExists, isNotFound } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import type { FaultAction, FaultHandle } from '@kctl/apiserver';
import { createApiServer } from '@kctl/apiserver';
import { createCache } from '@kctl/cache';
import { createDelegatingClient } from '@kctl/client-delegating';
import { createHttpClient } from '@kctl/client-http';
import { asReconciler, createRetryPolicy } from '@kctl/controller';
import { createCluster, createManager } from '@kctl/manager';
import { describe, expect, it, vi } from 'vitest';
import { controllerManagedBy } from '../src/index.js';

interface Data extends KubeObject {
  data?: Record<string, string>;
}
const ConfigMap = defineKind<Data>()({ group: '', version: 'v1', kind: 'ConfigMap', scope: 'Namespaced' });
const Secret = defineKind<Data>()({ group: '', version: 'v1', kind: 'Secret', scope: 'Namespaced' });
const namespace = 'default';

const wireFaults: readonly FaultAction[] = [
  { type: 'status', code: 500 },
  { type: 'conflict' },
  { type: 'commitThenFail', code: 0 },
  { type: 'rejectConnection' },
];
const watchFaults: readonly FaultAction[] = [
  { type: 'expireWatch', afterEvents: 7 },
  { type: 'dropWatch', how: 'destroy', afterEvents: 5 },
  { type: 'tearEvent', afterEvents: 9 },
  { type: 'duplicateEvent' },
];

describe('an operator under faults', () => {
  it('brings the cluster to the desired state: no copy missing, none too many, none stale', {
    timeout: 300_000,
  }, async () => {
    await using server = createApiServer({ seed: 8 });
    await server.start();
    const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
    await using admin = createHttpClient({ connection, userAgent: 'admin' });
    await using live = createHttpClient({ connection, userAgent: 'operator' });
    const cache = createCache({ client: live, byObject: [{ kind: ConfigMap }, { kind: Secret }] });
    const client = createDelegatingClient({ cache, client: live });
    const manager = createManager({ cluster: createCluster({ client, apiReader: live, cache }) });
    // A copy that we create and somebody deletes while no watch is open leaves no event behind: a list shows neither. Seed 8
    // does that. Only the safety interval finds it.
    controllerManagedBy(manager)
      .for(ConfigMap)
      .owns(Secret)
      .withOptions({
        maxConcurrentReconciles: 4,
        retryPolicy: createRetryPolicy({ delayMs: () => 20 }),
        safetyInterval: { everyMs: 1_000 },
      })
      .complete(
        asReconciler({
          client,
          kind: ConfigMap,
          reconcile: async ({ metadata: { name, uid }, data = {} }, { signal }) => {
            const key = { namespace, name };
            const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }];
            const desired = {
              apiVersion: 'v1',
              kind: 'Secret',
              metadata: { ...key, ownerReferences },
              data: { ...data },
            };
            try {
              const copy = await client.get(Secret, key, { signal });
              if (copy.data?.['value'] !== data['value'])
                await client.update(Secret, { ...copy, data: desired.data }, { signal });
            } catch (error) {
              if (!isNotFound(error)) throw error;
              await client.create(Secret, desired, { signal }).catch((failure: unknown) => {
                if (!isAlreadyExists(failure)) throw failure;
              });
            }
          },
        }),
      );
    const faults: FaultHandle[] = [];
    for (const action of wireFaults)
      faults.push(
        server.faults.add({ action, match: { userAgent: 'operator', resource: 'secrets', probability: 0.15 } }),
      );
    for (const action of watchFaults)
      faults.push(server.faults.add({ action, match: { userAgent: 'operator', verb: 'watch', probability: 0.4 } }));
    const stop = new AbortController();
    const done = manager.run(stop.signal);

    const value = (round: number) => ({ value: Buffer.from(`v${round}`).toString('base64') });
    for (let index = 0; index < 40; index++)
      await admin.create(ConfigMap, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name: `c${index}` },
        data: value(0),
      });
    for (let round = 1; round <= 60; round++) {
      const key = { namespace, name: `c${(round * 7) % 40}` };
      if (round % 3 === 0) await admin.delete(Secret, key).catch(() => undefined);
      else await admin.patch(ConfigMap, key, { type: 'merge', body: { data: value(round) } });
      if (round === 30) await server.faults.failover({ downMs: 50 });
    }
    expect(faults.reduce((sum, { fired }) => sum + fired, 0)).toBeGreaterThan(10);
    server.faults.clear();

    const state = async (kind: typeof ConfigMap): Promise<string[]> =>
      (await admin.list(kind, { namespace })).items
        .filter(({ metadata }) => metadata.name.startsWith('c'))
        .map(({ metadata, data }) => `${metadata.name} ${data?.['value'] ?? ''}`)
        .sort();
    const wanted = await state(ConfigMap);
    expect(wanted.length).toBe(40);
    await vi.waitFor(async () => expect(await state(Secret)).toEqual(wanted), { timeout: 300_000, interval: 20 });
    stop.abort();
    await done;
  });
});
