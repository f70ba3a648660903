import { defineKind } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import type { Connection } from '@kctl/client-http';
import type { Logger } from '@kctl/telemetry';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import type { RuntimeManager } from '../src/index.js';
import { controllerManagedBy, createManager, noopLogger } from '../src/index.js';

const Widget = defineKind()({ group: 'example.com', version: 'v1', kind: 'Widget', scope: 'Namespaced' });
const host = '127.0.0.1';

/** A manager, and the status of its `/readyz`. */
async function managerOf(
  connection: Connection,
): Promise<{ readonly manager: RuntimeManager; readonly ready: () => Promise<number> }> {
  let port = 0;
  const logger: Logger = {
    ...noopLogger,
    info: (message, fields) => {
      if (message === 'starting server') port = (fields?.['addr'] as { port: number }).port;
    },
    child: () => logger,
  };
  const manager = await createManager({ connection, logger, health: { host, port: 0 }, http: { maxRetries: 0 } });
  return { manager, ready: async () => (await fetch(`http://${host}:${port}/readyz`)).status };
}

it('is not kept from ready by the kind of a controller that was removed', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const { manager, ready } = await managerOf(environment.connection);
  controllerManagedBy(manager)
    .for(ConfigMap)
    .complete(async () => undefined);
  const missing = controllerManagedBy(manager)
    .for(Widget) // its CRD is not installed
    .complete(async () => undefined);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await manager.elected;
  await eventually(() => {
    const widgets = manager.cache.informers().find(({ kind }) => kind.kind === 'Widget');
    expect(widgets?.trouble?.reason).toBe('not-found');
  });
  expect(await ready()).toBe(500);
  await manager.remove(missing);
  await eventually(async () => expect(await ready()).toBe(200));
  stop.abort();
  await running;
});

it('is ready while the server lists a kind only with the conversion by this replica', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const { client } = environment;
  const gearOf = (version: string) =>
    defineKind()({ group: 'example.com', version, kind: 'Gear', scope: 'Namespaced' });
  const [v1, v2] = [gearOf('v1'), gearOf('v2')];
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const names = { kind: 'Gear', plural: 'gears' };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const crd = await client.create(CustomResourceDefinition, {
    metadata: { name: 'gears.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions },
  });
  const gear = { metadata: { namespace: 'default', name: 'a' } };
  await eventually(() => client.create(v1, gear));
  // A Service without a ready replica refuses connections.
  const clientConfig = { url: 'https://127.0.0.1:1/convert' };
  const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } };
  const both = [...versions, { name: 'v2', served: true, storage: false, schema }];
  const body = { spec: { conversion, versions: both } };
  await client.patch(CustomResourceDefinition, crd.metadata, { type: 'merge', body });
  const { manager, ready } = await managerOf(environment.connection);
  controllerManagedBy(manager)
    .for(v2)
    .complete(async () => undefined);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await manager.elected;
  await eventually(() => {
    const gears = manager.cache.informers().find(({ kind }) => kind.kind === 'Gear');
    expect(gears?.trouble?.message).toContain('conversion webhook for example.com/v1, Kind=Gear failed');
  });
  expect(await ready()).toBe(500);
  manager.converters.register(v2, (object, apiVersion) => ({ ...object, apiVersion }));
  await eventually(async () => expect(await ready()).toBe(200));
  stop.abort();
  await running;
});
