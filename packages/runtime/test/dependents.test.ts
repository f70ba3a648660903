// Children declared, watched by the builder and reconciled by a manager, against an API server.
import { defineKind } from '@kctl/apimachinery';
import type { Condition, KubeObject } from '@kctl/apimachinery';
import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { mergePatch } from '@kctl/client';
import { dependents } from '@kctl/dependents';
import { noopLogger } from '@kctl/telemetry';
import { createEnvironment, eventually } from '@kctl/testing';
import { afterAll, expect, it } from 'vitest';
import { controllerManagedBy, createManager } from '../src/index.js';

interface Shop extends KubeObject {
  spec: { theme: string };
  status?: { conditions?: Condition[]; observedGeneration?: number; config?: string };
}
const Shop = defineKind<Shop>()({ group: 'runtime.kctl.test', version: 'v1', kind: 'Shop', scope: 'Namespaced' });

const environment = await createEnvironment({ crds: [Shop] });
afterAll(() => environment.stop());
const { client } = environment;

const childrenOfShop = () =>
  dependents(Shop, { fieldOwner: 'shop.kctl.test' })
    .ref('tls', Secret, { key: ({ metadata }) => ({ namespace: metadata.namespace, name: 'tls' }) })
    .child('config', ConfigMap, { desired: ({ spec }) => ({ data: { theme: spec.theme } }) })
    .child('web', ConfigMap, {
      needs: ['config', 'tls'],
      desired: (_shop, { config, tls }) => ({ data: { config: config.metadata.name, tls: tls.metadata.name } }),
    });

it('follows children, refs and the primary to the end', async () => {
  const namespace = await environment.createNamespace('shop');
  const manager = await createManager({ connection: environment.connection, logger: noopLogger });
  const children = childrenOfShop();
  controllerManagedBy(manager)
    .for(Shop)
    .dependents(children)
    .complete(children.reconciler({ status: (_shop, { nodes }) => ({ config: nodes.config.object?.metadata.name }) }));
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const key = { namespace, name: 'a' };
  const ready = async () => (await client.get(Shop, key)).status?.conditions?.find(({ type }) => type === 'Ready');

  await client.create(Shop, { metadata: key, spec: { theme: 'dark' } });
  await eventually(async () => expect(await ready()).toMatchObject({ status: 'False', reason: 'Missing' }));
  await client.create(Secret, { metadata: { namespace, name: 'tls' } });
  await eventually(async () => expect(await ready()).toMatchObject({ status: 'True' }));
  const { status } = await client.get(Shop, key);
  expect(status).toMatchObject({ config: 'a-config', observedGeneration: 1 });

  await client.patch(ConfigMap, { namespace, name: 'a-config' }, mergePatch({ data: { theme: 'changed' } }));
  await eventually(async () =>
    expect((await client.get(ConfigMap, { namespace, name: 'a-config' })).data).toEqual({ theme: 'dark' }),
  );

  await client.delete(Shop, key);
  await eventually(async () => {
    await expect(client.get(Shop, key)).rejects.toThrow('not found');
    await expect(client.get(ConfigMap, { namespace, name: 'a-config' })).rejects.toThrow('not found');
  });
  stop.abort();
  await running;
});

it('17: ends the deletion with foreground propagation, and reports that the order is not kept', async () => {
  const namespace = await environment.createNamespace('shop');
  const manager = await createManager({ connection: environment.connection, logger: noopLogger });
  const children = childrenOfShop();
  const events: string[] = [];
  const note = (_object: unknown, reason: string): void => void events.push(reason);
  controllerManagedBy(manager)
    .for(Shop)
    .dependents(children)
    .complete(children.reconciler({ events: { normal: note, warning: note } }));
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const key = { namespace, name: 'a' };
  await client.create(Secret, { metadata: { namespace, name: 'tls' } });
  await client.create(Shop, { metadata: key, spec: { theme: 'dark' } });
  await eventually(async () => void (await client.get(ConfigMap, { namespace, name: 'a-web' })));
  await client.delete(Shop, key, { propagationPolicy: 'Foreground' });
  await eventually(async () => {
    await expect(client.get(Shop, key)).rejects.toThrow('not found');
    for (const name of ['a-web', 'a-config'])
      await expect(client.get(ConfigMap, { namespace, name })).rejects.toThrow('not found');
  });
  expect(events).toContain('OrderNotKept');
  stop.abort();
  await running;
});

it('names mistakes with the other mistakes of a definition', async () => {
  const manager = await createManager({ connection: environment.connection, logger: noopLogger });
  expect(() =>
    controllerManagedBy(manager)
      .for(ConfigMap)
      .dependents(childrenOfShop() as never)
      .complete(async () => {}),
  ).toThrow('dependents() are those of Shop.runtime.kctl.test: expected those of the kind of for()');
});
