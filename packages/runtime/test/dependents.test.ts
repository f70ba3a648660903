// Children declared, watched by the builder and reconciled by a manager, against an API server.
import { defineKind } from '@kctl/apimachinery';
import type { Condition, KubeObject } from '@kctl/apimachinery';
import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { mergePatch } from '@kctl/client';
import { dependents, dependentsFinalizer } from '@kctl/dependents';
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

/** The garbage collector of a real server looks for new kinds twice a minute. */
const patience = { timeoutMs: 70_000 };

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
  }, patience);
  expect(events).toContain('OrderNotKept');
  stop.abort();
  await running;
}, 90_000);

/** A manager that runs, with a count of its requests and runs. */
async function running(children: ReturnType<typeof childrenOfShop>) {
  let requests = 0;
  let runs = 0;
  const connection = { ...environment.connection, observe: () => void requests++ };
  const manager = await createManager({ connection, logger: noopLogger });
  const status = () => {
    runs++;
    return {};
  };
  const controller = controllerManagedBy(manager)
    .for(Shop)
    .dependents(children)
    .complete(children.reconciler({ status }));
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  const end = async () => {
    stop.abort();
    await ended;
  };
  return { manager, controller, end, requests: () => requests, runs: () => runs };
}

it('holds the children alone of the kinds that it makes', async () => {
  const namespace = await environment.createNamespace('shop');
  await client.create(Secret, { metadata: { namespace, name: 'tls' } });
  for (const name of ['one', 'two']) await client.create(ConfigMap, { metadata: { namespace, name } });
  const key = { namespace, name: 'a' };
  await client.create(Shop, { metadata: key, spec: { theme: 'dark' } });
  const { manager, controller, end, requests, runs } = await running(childrenOfShop());
  const isReady = async () =>
    expect((await client.get(Shop, key)).status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    );
  await eventually(isReady);
  const held = () =>
    manager.cache
      .informers()
      .filter(({ kind }) => kind.kind === 'ConfigMap')
      .map(({ selection, objects }) => [selection, objects]);
  await eventually(() => expect(held()).toEqual([['children of shop', 2]]));
  expect(manager.cache.isCached(ConfigMap)).toBe(false);
  const verbs = manager
    .accessNeeds()
    .filter(({ resource }) => resource === 'configmaps')
    .flatMap((need) => need.verbs);
  expect(new Set(verbs)).toEqual(new Set(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']));
  // Own reads of the author see all objects.
  expect((await manager.client.get(ConfigMap, { namespace, name: 'one' })).metadata.name).toBe('one');

  await eventually(() => expect(controller.queueLength + controller.inFlight.length).toBe(0));
  const before = { requests: requests(), runs: runs() };
  for (let run = 1; run <= 3; run++) {
    controller.enqueue(key);
    await eventually(() => expect(runs()).toBeGreaterThanOrEqual(before.runs + run));
  }
  await eventually(() => expect(controller.queueLength + controller.inFlight.length).toBe(0));
  expect(requests()).toBe(before.requests);

  // 27: somebody removes the label, so that the object leaves what is held.
  const config = { namespace, name: 'a-config' };
  const { metadata } = await client.get(ConfigMap, config);
  await client.patch(ConfigMap, config, mergePatch({ metadata: { labels: { 'kctl.dev/part-of': null } } }));
  await eventually(async () => {
    const present = await client.get(ConfigMap, config);
    expect([present.metadata.labels?.['kctl.dev/part-of'], present.metadata.uid]).toEqual([
      metadata.labels?.['kctl.dev/part-of'],
      metadata.uid,
    ]);
  });
  await end();
});

it('holds a kind whole to which it also refers', async () => {
  const children = dependents(Shop, { fieldOwner: 'shop.kctl.test' })
    .ref('tls', Secret, { key: ({ metadata }) => ({ namespace: metadata.namespace, name: 'tls' }) })
    .child('token', Secret, { needs: ['tls'], desired: () => ({ data: { a: btoa('1') } }) });
  const namespace = await environment.createNamespace('shop');
  const manager = await createManager({ connection: environment.connection, logger: noopLogger });
  controllerManagedBy(manager).for(Shop).dependents(children).complete(children.reconciler());
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  await client.create(Secret, { metadata: { namespace, name: 'tls' } });
  await client.create(Shop, { metadata: { namespace, name: 'a' }, spec: { theme: 'dark' } });
  await eventually(async () => void (await client.get(Secret, { namespace, name: 'a-token' })));
  expect(manager.cache.informers().map(({ selection }) => selection)).toEqual([undefined, undefined]);
  stop.abort();
  await ended;
});

it('may write children of another namespace, also of a kind to which a later node refers', async () => {
  const children = dependents(Shop, { fieldOwner: 'shop.kctl.test' })
    .child('far', Secret, { namespace: () => 'elsewhere', desired: () => ({ data: { a: btoa('1') } }) })
    .ref('tls', Secret, { key: ({ metadata }) => ({ namespace: metadata.namespace, name: 'tls' }) });
  const manager = await createManager({ connection: environment.connection, logger: noopLogger });
  controllerManagedBy(manager).for(Shop).dependents(children).complete(children.reconciler());
  const verbs = manager
    .accessNeeds()
    .filter(({ resource }) => resource === 'secrets')
    .flatMap((need) => need.verbs);
  expect(verbs).toEqual(expect.arrayContaining(['create', 'patch', 'delete']));
});

it('28: works without a kind that the server lacks, and with it once it is there', async () => {
  const Extra = defineKind<KubeObject>()({
    group: 'extra.kctl.test',
    version: 'v1',
    kind: 'Extra',
    scope: 'Namespaced',
  });
  const children = dependents(Shop, { fieldOwner: 'shop.kctl.test' })
    .child('config', ConfigMap, { desired: ({ spec }) => ({ data: { theme: spec.theme } }) })
    .child('extra', Extra, { optionalKind: true, ready: () => true, desired: () => ({}) });
  const namespace = await environment.createNamespace('shop');
  const manager = await createManager({ connection: environment.connection, logger: noopLogger });
  controllerManagedBy(manager).for(Shop).dependents(children).complete(children.reconciler());
  expect(
    manager
      .accessNeeds()
      .filter(({ resource }) => resource === 'extras')
      .flatMap((need) => need.verbs),
  ).toEqual(expect.arrayContaining(['list', 'watch', 'patch', 'create']));
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  const key = { namespace, name: 'a' };
  await client.create(Shop, { metadata: key, spec: { theme: 'dark' } });
  const isReady = async () =>
    expect((await client.get(Shop, key)).status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    );
  await eventually(isReady);
  await environment.installCrds([Extra]);
  await client.patch(Shop, key, mergePatch({ spec: { theme: 'light' } }));
  await eventually(async () => void (await client.get(Extra, { namespace, name: 'a-extra' })));
  await client.delete(Shop, key);
  await eventually(async () => {
    await expect(client.get(Extra, { namespace, name: 'a-extra' })).rejects.toThrow('not found');
  }, patience);
  stop.abort();
  await ended;
});

it('lets go of a primary whose finalizer is that of an earlier definition, which had an order', async () => {
  const namespace = await environment.createNamespace('shop');
  const manager = await createManager({ connection: environment.connection, logger: noopLogger });
  const children = dependents(Shop, { fieldOwner: 'shop.kctl.test' }).child('config', ConfigMap, {
    desired: ({ spec }) => ({ data: { theme: spec.theme } }),
  });
  controllerManagedBy(manager).for(Shop).dependents(children).complete(children.reconciler());
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const key = { namespace, name: 'a' };
  await client.create(Shop, { metadata: { ...key, finalizers: [dependentsFinalizer] }, spec: { theme: 'dark' } });
  await eventually(async () => void (await client.get(ConfigMap, { namespace, name: 'a-config' })));
  await client.delete(Shop, key);
  await eventually(async () => {
    await expect(client.get(Shop, key)).rejects.toThrow('not found');
    await expect(client.get(ConfigMap, { namespace, name: 'a-config' })).rejects.toThrow('not found');
  });
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
