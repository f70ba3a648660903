import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { createApiServer } from '@kctl/apiserver';
import { createCache } from '@kctl/cache';
import { createHttpClient } from '@kctl/client-http';
import { finalizing, asReconciler } from '@kctl/controller';
import { createCluster, createManager } from '@kctl/manager';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { controllerManagedBy } from '../src/index.js';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

const ConfigMap = defineKind<ConfigMap>()({ group: '', version: 'v1', kind: 'ConfigMap', scope: 'Namespaced' });
const Secret = defineKind<ConfigMap>()({ group: '', version: 'v1', kind: 'Secret', scope: 'Namespaced' });
const finalizer = 'example.com/copy';
const cleanups: (() => PromiseLike<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function setUp() {
  const server = createApiServer({});
  await server.start();
  cleanups.push(() => server.stop());
  const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
  const client = createHttpClient({ connection });
  cleanups.push(() => client[Symbol.asyncDispose]());
  const cache = createCache({ client, byObject: [{ kind: ConfigMap }, { kind: Secret }] });
  const manager = createManager({ cluster: createCluster({ client, apiReader: client, cache }) });
  return { server, client, cache, manager };
}

const soon = { timeout: 300_000, interval: 10 };

describe('an operator on the embedded API server', () => {
  it('creates dependents, restores them, and cleans up by finalizer', async () => {
    const { client, manager, cache } = await setUp();
    const cleaned: string[] = [];
    const reconcile = finalizing({
      client,
      kind: ConfigMap,
      finalizers: [{ name: finalizer, cleanup: async ({ metadata }) => void cleaned.push(metadata.name) }],
      apply: async (config) => {
        const { name, namespace, uid } = config.metadata;
        const existing = await cache.list(Secret, { namespace });
        if (existing.items.some(({ metadata }) => metadata.name === `${name}-copy`)) return;
        await client.create(Secret, {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: {
            name: `${name}-copy`,
            namespace,
            ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }],
          },
        });
      },
    });
    const labelled = (event: { object: { metadata: { labels?: Readonly<Record<string, string>> | undefined } } }) =>
      event.object.metadata.labels?.['copy'] === 'yes';
    controllerManagedBy(manager)
      .for(ConfigMap, { predicates: [labelled] })
      .owns(Secret)
      .withOptions({ maxConcurrentReconciles: 4 })
      .complete(asReconciler({ client: cache, kind: ConfigMap, reconcile }));
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    cleanups.push(async () => {
      stop.abort();
      await done;
    });
    const key = (name: string) => ({ namespace: 'default', name });
    for (const name of ['a', 'b'])
      await client.create(ConfigMap, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { ...key(name), labels: { copy: 'yes' } },
      });
    const secret = (name: string) => client.get(Secret, key(`${name}-copy`)).catch(() => undefined);
    const first = await vi.waitUntil(() => secret('a'), soon);
    await vi.waitUntil(() => secret('b'), soon);
    await client.delete(Secret, key('a-copy'));
    const restored = await vi.waitUntil(async () => {
      const now = await secret('a');
      return now?.metadata.uid === first.metadata.uid ? undefined : now;
    }, soon);
    expect(restored.metadata.ownerReferences?.[0]?.name).toBe('a');
    expect((await client.get(ConfigMap, key('a'))).metadata.finalizers).toEqual([finalizer]);
    await client.delete(ConfigMap, key('a'));
    await vi.waitUntil(async () => (await client.get(ConfigMap, key('a')).catch(() => undefined)) === undefined, soon);
    expect(cleaned).toEqual(['a']);
  });

  it('catches up after the API server was away', async () => {
    const { server, client, manager } = await setUp();
    const seen = new Map<string, string>();
    controllerManagedBy(manager)
      .for(ConfigMap)
      .complete(async ({ name }, { reasons }) => void seen.set(name, reasons[0] ?? ''));
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    cleanups.push(async () => {
      stop.abort();
      await done;
    });
    const create = (name: string) =>
      client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });
    await create('before');
    await vi.waitUntil(() => seen.get('before'), soon);
    await server.stop();
    await server.start();
    await create('after');
    expect(await vi.waitUntil(() => seen.get('after'), soon)).toContain('kind source: ConfigMap create default/after');
  });
});
