// What a caller sees who passes an AbortController as signal: an error that names it, before any request.
import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import * as clients from '@kctl/client';
import {
  cordon,
  drain,
  evict,
  getScale,
  pauseRollout,
  restartRollout,
  topNodes,
  topPods,
} from '@kctl/client/operations';
import { createHttpClient, createRestMapper, isServed, serverHealth, serverVersion } from '@kctl/client-http';
import { noopLogger } from '@kctl/telemetry';
import { afterAll, expect, it } from 'vitest';
import { createManager } from '../src/index.js';

// Nothing listens there: what gets as far as a request fails otherwise.
const connection = { server: 'https://127.0.0.1:1' };
const live = createHttpClient({ connection });
const manager = await createManager({ connection, logger: noopLogger });
const mapper = createRestMapper({ transport: live.transport });
afterAll(() => live[Symbol.asyncDispose]());

// An AbortController in place of its signal, as plain JavaScript lets it pass.
const bad = { signal: new AbortController() as never };
const key = { namespace: 'default', name: 'a' };
const configMap = { metadata: key };
const pod = { ...configMap, metadata: { ...key, uid: '1', resourceVersion: '1' } } as never;
const patch = { type: 'merge', body: {} } as const;

const verbs = (client: clients.Client): Record<string, () => Promise<unknown>> => ({
  get: () => client.get(ConfigMap, key, bad),
  list: () => client.list(ConfigMap, bad),
  create: () => client.create(ConfigMap, configMap, bad),
  update: () => client.update(ConfigMap, configMap, bad),
  patch: () => client.patch(ConfigMap, key, patch, bad),
  delete: () => client.delete(ConfigMap, key, bad),
  deleteAllOf: () => client.deleteAllOf(ConfigMap, { namespace: 'default', ...bad }),
  'status.update': () => client.status(Pod).update(pod, bad),
  'status.patch': () => client.status(Pod).patch(key, patch, bad),
  'subResource.get': () => client.subResource(Deployment, 'scale').get(key, bad),
  'subResource.create': () => client.subResource(Pod, 'eviction').create(key, configMap, bad),
  'subResource.patch': () => client.subResource(Deployment, 'scale').patch(key, patch, bad),
});

const owned = { fieldOwner: 'test', ...bad };
const calls: readonly (readonly [string, () => Promise<unknown>])[] = [
  ...Object.entries(verbs(live)).map(([name, call]) => [`${name}, live`, call] as const),
  ...Object.entries(verbs(manager.client)).map(([name, call]) => [`${name}, cached`, call] as const),
  ...Object.entries(verbs(clients.withFieldOwner(live, 'me'))).map(
    ([name, call]) => [`${name}, wrapped`, call] as const,
  ),
  ['watch', () => live.watch(Pod, bad)],
  ['apply', () => clients.apply(live, ConfigMap, configMap, owned)],
  ['applyStatus', () => clients.applyStatus(live, Pod, configMap, owned)],
  ['applyIfChanged', () => clients.applyIfChanged(live, ConfigMap, configMap, owned)],
  ['createOrUpdate', () => clients.createOrUpdate(live, ConfigMap, key, { mutate: () => undefined, ...bad })],
  ['createOrPatch', () => clients.createOrPatch(live, ConfigMap, key, { mutate: () => undefined, ...bad })],
  ['addFinalizer', () => clients.addFinalizer(live, Pod, pod, { finalizer: 'example.com/b', ...bad })],
  ['retryOnConflict', () => clients.retryOnConflict(() => live.get(Pod, key), bad)],
  ['listAll', () => Array.fromAsync(clients.listAll(live, Pod, bad))],
  ['waitFor', () => clients.waitFor(live, Pod, key, { until: () => true, ...bad })],
  ['waitForEvent', () => clients.waitForEvent((async function* () {})(), () => true, bad)],
  ['cordon', () => cordon(live, 'node', bad)],
  ['drain', () => drain(live, 'node', bad)],
  ['evict', () => evict(live, key, bad)],
  ['getScale', () => getScale(live, Deployment, key, bad)],
  ['pauseRollout', () => pauseRollout(live, key, bad)],
  ['restartRollout', () => restartRollout(live, Deployment, key, bad)],
  ['topNodes', () => topNodes(live, bad)],
  ['topPods', () => topPods(live, bad)],
  ['serverVersion', () => serverVersion(live.transport, bad)],
  ['serverHealth', () => serverHealth(live.transport, 'livez', bad)],
  ['isServed', () => isServed(live.transport, Pod, bad)],
  ['kindFor', () => mapper.kindFor({ group: 'example.com', kind: 'Gadget' }, bad)],
  ['kindForResource', () => mapper.kindForResource('gadgets', bad)],
  ['resources', () => mapper.resources(bad)],
  ['preferredResources', () => mapper.preferredResources(bad)],
  ['groups', () => mapper.groups(bad)],
];

it.each(calls)('%s names a signal that is an AbortController', async (_, call) => {
  await expect((async () => await call())()).rejects.toThrow(
    'signal is an AbortController: expected an AbortSignal, such as new AbortController().signal',
  );
});
