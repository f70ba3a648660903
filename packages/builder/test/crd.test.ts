import { defineKind, isNoKindMatch, isNotFound } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createApiServer } from '@kctl/apiserver';
import { createCache } from '@kctl/cache';
import { createHttpClient } from '@kctl/client-http';
import { enqueueRequestsFromMapFunc, kindSource } from '@kctl/controller';
import { createCluster, createManager } from '@kctl/manager';
import { describe, expect, it, vi } from 'vitest';
import { controllerManagedBy } from '../src/index.js';

interface Gadget extends KubeObject {
  spec?: { size: number };
}
const Gadget = defineKind<Gadget>()({ group: 'example.com', version: 'v1', kind: 'Gadget', scope: 'Namespaced' });
const namespace = 'default';

const definition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
};

const soon = { timeout: 300_000, interval: 10 };

describe('a kind whose CRD comes and goes', () => {
  it('is watched from the time it is there, and again after it was away; nothing else suffers', {
    timeout: 300_000,
  }, async () => {
    await using server = createApiServer({});
    await server.start();
    const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
    await using client = createHttpClient({ connection });
    const cache = createCache({ client });
    const manager = createManager({ cluster: createCluster({ client, apiReader: client, cache }) });
    const seen: string[] = [];
    const other: string[] = [];
    const controller = controllerManagedBy(manager)
      .for(ConfigMap)
      .complete(async ({ name }) => void seen.push(name));
    const optional = controllerManagedBy(manager)
      .named('optional')
      .for(ConfigMap)
      .watches(
        Gadget,
        enqueueRequestsFromMapFunc(({ metadata }) => [{ namespace, name: `gadget ${metadata.name}` }]),
        { startPolicy: 'optional' },
      )
      .complete(async ({ name }) => void other.push(name));
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await vi.waitUntil(() => optional.phase === 'active', soon);
    await vi.waitUntil(() => controller.phase === 'active', soon);

    const watch = controller.watch(
      kindSource({
        informers: cache,
        kind: Gadget,
        handler: enqueueRequestsFromMapFunc(({ metadata }) => [{ namespace, name: `gadget ${metadata.name}` }]),
      }),
    );
    const create = (kind: 'gadget' | 'config', name: string): Promise<unknown> =>
      kind === 'gadget'
        ? client.create(Gadget, { metadata: { namespace, name }, spec: { size: 1 } })
        : client.create(ConfigMap, { metadata: { namespace, name } });
    const isServed = async (): Promise<boolean> =>
      client.list(Gadget, { namespace }).then(
        () => true,
        (error: unknown) => {
          if (isNotFound(error) || isNoKindMatch(error)) return false;
          throw error;
        },
      );
    await create('config', 'without');
    await vi.waitUntil(() => seen.includes('without'), soon);
    expect(watch.hasSynced).toBe(false);

    await client.create(CustomResourceDefinition, definition);
    await vi.waitUntil(isServed, soon);
    await create('gadget', 'first');
    await vi.waitUntil(() => seen.includes('gadget first'), soon);
    await watch.waitForSync();

    seen.length = 0;
    await client.delete(CustomResourceDefinition, { name: definition.metadata.name ?? '' });
    await vi.waitUntil(() => seen.includes('gadget first'), soon); // deleted with its definition
    await vi.waitUntil(async () => !(await isServed()), soon);
    await create('config', 'meanwhile');
    await vi.waitUntil(() => seen.includes('meanwhile'), soon);
    expect(controller.phase).toBe('active');

    await client.create(CustomResourceDefinition, definition);
    await vi.waitUntil(isServed, soon);
    await create('gadget', 'second');
    await vi.waitUntil(() => seen.includes('gadget second') && other.includes('gadget second'), soon);
    stop.abort();
    await done;
  });
});
