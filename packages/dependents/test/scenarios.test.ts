import { defineKind, setControllerReference, StatusError } from '@kctl/apimachinery';
import { Deployment, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Secret, Service } from '@kctl/apimachinery/kinds/core/v1';
import { apply, intercept, mergePatch, record } from '@kctl/client';
import { dependents, dependentsFinalizer, isDependentsError } from '@kctl/dependents';
import type { DependentsContext, DependentsEvents } from '@kctl/dependents';
import { createEnvironment, eventually } from '@kctl/testing';
import { FakeClock } from '@kctl/wait/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { fieldOwner, podOf, WebApp, webAppChildren } from './web-app.js';
import type { ReadWebApp } from './web-app.js';

// The scenarios of the specification, by their numbers. KCTL_TEST_SERVER names another kind of server than the embedded one.
const environment = await createEnvironment({ crds: [WebApp] });
/** The garbage collector of a real server looks for new kinds twice a minute. */
const collectorPatience = { timeoutMs: 70_000 };
afterAll(() => environment.stop());

/** A primary in a namespace of its own, with a client that counts. */
async function world(spec: Partial<WebApp['spec']> = {}) {
  const namespace = await environment.createNamespace('dependents');
  const client = record(environment.client);
  const clock = new FakeClock({ now: Date.UTC(2026, 0, 1) });
  const events: string[] = [];
  const note = (_object: unknown, reason: string, text: string): void => void events.push(`${reason}: ${text}`);
  const recorder: DependentsEvents = { normal: note, warning: note };
  const context: DependentsContext = { client, clock, events: recorder };
  const made = await client.create(WebApp, {
    metadata: { namespace, name: 'shop' },
    spec: { image: 'web:1', ...spec },
  });
  const key = { namespace, name: made.metadata.name };
  const app = async (): Promise<ReadWebApp> => await client.get(WebApp, key, { live: true });
  const edit = async (change: Partial<WebApp['spec']>): Promise<void> => {
    await environment.client.patch(WebApp, key, mergePatch({ spec: change }));
  };
  const childKey = (name: string) => ({ namespace, name: `shop-${name}` });
  const setReady = async (kind: typeof Deployment | typeof StatefulSet, name: string): Promise<void> => {
    const present = await environment.client.get(kind, childKey(name));
    const replicas = present.spec?.replicas ?? 1;
    const observedGeneration = present.metadata.generation ?? 1;
    const status = {
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      observedGeneration,
    };
    await environment.client.status(kind).patch(childKey(name), mergePatch({ status }));
  };
  return { namespace, client, clock, events, context, app, edit, key, childKey, setReady };
}

describe('the scenarios of the specification', () => {
  it('1: creates what needs nothing at once, and the rest when it is ready', async () => {
    const { app, context, client, setReady } = await world({ database: true });
    const children = webAppChildren();
    const first = await children.reconcile(await app(), context);
    expect(first.nodes.config.action).toBe('created');
    expect(first.nodes.db?.action).toBe('created');
    expect(first.nodes.web).toMatchObject({ state: 'blocked', message: 'needs db' });
    expect(first.ready).toBe(false);
    await setReady(StatefulSet, 'db');
    const second = await children.reconcile(await app(), context);
    expect(second.nodes.web.action).toBe('created');
    await setReady(Deployment, 'web');
    client.clear();
    const third = await children.reconcile(await app(), context);
    expect(third.ready).toBe(true);
    expect(client.writes).toEqual([]);
  });

  it('2: writes nothing in 100 further runs', async () => {
    const { app, context, client } = await world({ settings: { a: '1' }, hosts: [{ id: 'main', host: 'a.example' }] });
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    const settled = await app();
    client.clear();
    for (let run = 0; run < 100; run++) await children.reconcile(settled, context);
    expect(client.writes).toEqual([]);
  });

  it('4: updates a node whose need is no longer ready, unless its gate is always', async () => {
    const { app, context, edit, setReady, client, childKey } = await world({ database: true });
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    await setReady(StatefulSet, 'db');
    await children.reconcile(await app(), context);
    const status = { readyReplicas: 0, availableReplicas: 0 };
    await environment.client.status(StatefulSet).patch(childKey('db'), mergePatch({ status }));
    await edit({ image: 'web:2' });
    const { nodes } = await children.reconcile(await app(), context);
    expect(nodes.web.action).toBe('applied');
    const web = await client.get(Deployment, childKey('web'));
    expect(web.spec?.template.spec?.containers[0]?.image).toBe('web:2');
  });

  it('5: keeps the object of a node whose desired throws, and applies the others', async () => {
    const { app, context, edit, childKey } = await world();
    let isBroken = false;
    const children = dependents(WebApp, { fieldOwner })
      .child('config', ConfigMap, { desired: ({ spec }) => ({ data: { image: spec.image } }) })
      .child('web', ConfigMap, {
        desired: ({ spec }) => {
          if (isBroken) throw new Error('no template');
          return { data: { image: spec.image } };
        },
      });
    await children.reconcile(await app(), context);
    isBroken = true;
    await edit({ image: 'web:2' });
    const error: unknown = await children.reconcile(await app(), context).catch((thrown: unknown) => thrown);
    expect(isDependentsError(error) && error.failures.map(({ node }) => node)).toEqual(['web']);
    expect((await environment.client.get(ConfigMap, childKey('config'))).data).toEqual({ image: 'web:2' });
    expect((await environment.client.get(ConfigMap, childKey('web'))).data).toEqual({ image: 'web:1' });
  });

  it('6: waits while desired is not known yet', async () => {
    const { app, context, client, childKey, edit, namespace } = await world();
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    await environment.client.create(Secret, { metadata: { namespace, name: 'cert' } });
    await edit({ tlsSecret: 'cert', image: 'web:2' });
    const { nodes } = await children.reconcile(await app(), context);
    expect(nodes.web).toMatchObject({ state: 'waiting', message: 'the certificate is not issued' });
    const web = await client.get(Deployment, childKey('web'));
    expect(web.spec?.template.spec?.containers[0]?.image).toBe('web:1');
  });

  it('7: deletes what is no longer wanted, and keeps what needed it', async () => {
    const { app, context, edit, setReady, childKey, events } = await world({ database: true });
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    await setReady(StatefulSet, 'db');
    await children.reconcile(await app(), context);
    await edit({ database: false });
    await children.reconcile(await app(), context);
    await expect(environment.client.get(StatefulSet, childKey('db'))).rejects.toThrow('not found');
    await environment.client.get(Deployment, childKey('web'));
    expect(events).toContainEqual(expect.stringContaining('Deleted: deleted StatefulSet'));
  });

  it('8: deletes one object of a set and applies one, whatever their order', async () => {
    const hosts = ['a', 'b', 'c'].map((id) => ({ id, host: `${id}.example` }));
    const { app, context, edit, client } = await world({ hosts });
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    await edit({
      hosts: [
        { id: 'c', host: 'c.example' },
        { id: 'a', host: 'new.example' },
      ],
    });
    client.clear();
    const { nodes } = await children.reconcile(await app(), context);
    expect([...nodes.routes].map(([id, { action }]) => [id, action])).toEqual([
      ['c', 'none'],
      ['a', 'applied'],
    ]);
    expect(client.writes.map(({ verb, key }) => [verb, key?.name])).toEqual([
      ['patch', 'shop-routes-a'],
      ['delete', 'shop-routes-b'],
    ]);
  });

  it('9: never touches an object to which another controller copied the labels', async () => {
    const { app, context, client, namespace } = await world();
    const children = dependents(WebApp, { fieldOwner })
      .child('source', ConfigMap, { desired: () => ({ data: { a: '1' } }) })
      .child('copy', Secret, { when: () => false, desired: () => ({}) });
    const { nodes } = await children.reconcile(await app(), context);
    const source = nodes.source.object;
    if (source === undefined) throw new Error('not created');
    const copied: Secret = {
      metadata: { namespace, name: 'copied', labels: { ...source.metadata.labels, 'kctl.dev/node': 'copy' } },
    };
    setControllerReference(source, ConfigMap, copied);
    await environment.client.create(Secret, copied);
    await environment.client.patch(
      WebApp,
      { namespace, name: 'shop' },
      mergePatch({
        metadata: { annotations: { 'kctl.dev/inventory': `ConfigMap/${namespace},Secret/${namespace}` } },
      }),
    );
    client.clear();
    for (let run = 0; run < 50; run++) await children.reconcile(await app(), context);
    expect(client.writes.filter(({ kind }) => kind.kind === 'Secret')).toEqual([]);
    await environment.client.get(Secret, { namespace, name: 'copied' });
  });

  it('10: deletes the objects of a node that the code no longer has', async () => {
    const { app, context, childKey, events } = await world();
    const before = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, { desired: () => ({ data: {} }) });
    await before.reconcile(await app(), context);
    const without = dependents(WebApp, { fieldOwner }).child('other', ConfigMap, { desired: () => ({ data: {} }) });
    await without.reconcile(await app(), context);
    await expect(environment.client.get(ConfigMap, childKey('config'))).rejects.toThrow('not found');
    expect(events).toContainEqual(expect.stringContaining('deleted ConfigMap'));
  });

  it('11: deletes objects of a kind that the code no longer has', async () => {
    const { app, context, childKey } = await world();
    await webAppChildren().reconcile(await app(), context);
    const without = dependents(WebApp, { fieldOwner }).child('other', ConfigMap, { desired: () => ({ data: {} }) });
    const { mapper } = await createMapper();
    await without.reconcile(await app(), { ...context, client: Object.assign(Object.create(context.client), mapper) });
    await expect(environment.client.get(Deployment, childKey('web'))).rejects.toThrow('not found');
  });

  it('12: names what is missing first, and goes on when it appears', async () => {
    const { app, context, namespace } = await world({ tlsSecret: 'cert' });
    const children = dependents(WebApp, { fieldOwner })
      .ref('tls', Secret, { key: ({ metadata }) => ({ namespace: metadata.namespace, name: 'cert' }) })
      .child('web', ConfigMap, { needs: ['tls'], desired: (_app, { tls }) => ({ data: { tls: tls.metadata.name } }) });
    const first = await children.reconcile(await app(), context);
    expect(first.nodes.web.state).toBe('blocked');
    expect(first.conditions().find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'Missing',
      message: expect.stringMatching(/^tls \(Secret .*cert\): it does not exist, since .*; blocked: web$/),
    });
    await environment.client.create(Secret, { metadata: { namespace, name: 'cert' } });
    expect((await children.reconcile(await app(), context)).ready).toBe(true);
  });

  it('leaves all children of a primary that is deleted with the propagation policy Orphan', async () => {
    const { namespace, client, context, app, key } = await world();
    const other = await environment.createNamespace('dependents-other');
    const desired = () => ({ data: { a: '1' } });
    const children = dependents(WebApp, { fieldOwner })
      .child('config', ConfigMap, { desired })
      .child('later', ConfigMap, { needs: ['config'], desired })
      .child('far', ConfigMap, { namespace: () => other, desired });
    await children.reconcile(await app(), context);
    await environment.client.patch(WebApp, key, mergePatch({ metadata: { finalizers: [dependentsFinalizer] } }));
    await environment.client.delete(WebApp, key, { propagationPolicy: 'Orphan' });
    // At once, and after the garbage collector has removed the owner references.
    const left = async () => [
      ...(await client.list(ConfigMap, { namespace, labelSelector: 'kctl.dev/part-of' })).items,
      ...(await client.list(ConfigMap, { namespace: other, labelSelector: 'kctl.dev/part-of' })).items,
    ];
    await eventually(async () => {
      expect((await children.teardown(await app(), context)).done).toBe(true);
      expect(await left()).toEqual([]);
    });
    const kept = [
      await client.get(ConfigMap, { namespace, name: 'shop-config' }),
      await client.get(ConfigMap, { namespace, name: 'shop-later' }),
      await client.get(ConfigMap, { namespace: other, name: 'shop-far' }),
    ];
    expect(kept.map(({ data, metadata }) => [data, metadata.ownerReferences, metadata.deletionTimestamp])).toEqual(
      kept.map(() => [{ a: '1' }, undefined, undefined]),
    );
    await environment.client.patch(WebApp, key, mergePatch({ metadata: { finalizers: [] } }));
  });

  it.each([false, true])(
    'leaves children of other namespaces with the policy Orphan after the collector is done, interrupted: %s',
    async (isInterrupted) => {
      const { namespace, client, context, app, key } = await world();
      const other = await environment.createNamespace('dependents-other');
      const desired = () => ({ data: { a: '1' } });
      const children = dependents(WebApp, { fieldOwner })
        .child('far', ConfigMap, { namespace: () => other, desired })
        .child('near', ConfigMap, { needs: ['far'], desired });
      await children.reconcile(await app(), context);
      await environment.client.patch(WebApp, key, mergePatch({ metadata: { finalizers: [dependentsFinalizer] } }));
      await environment.client.delete(WebApp, key, { propagationPolicy: 'Orphan' });
      await eventually(async () => {
        expect((await app()).metadata.finalizers).toEqual([dependentsFinalizer]);
      }, collectorPatience);
      let isCut = false;
      const cut = intercept(client, (next) => ({
        patch: async (kind, named, patch, options) => {
          if (isCut) throw new Error('cut off');
          isCut = isInterrupted;
          return await next.patch(kind, named, patch, options);
        },
      }));
      const first = children.teardown(await app(), { ...context, client: cut });
      if (isInterrupted) await expect(first).rejects.toThrow('cut off');
      else await first;
      await children.teardown(await app(), context);
      for (const at of [
        { namespace, name: 'shop-near' },
        { namespace: other, name: 'shop-far' },
      ]) {
        const { data, metadata } = await client.get(ConfigMap, at);
        expect([data, metadata.labels, metadata.deletionTimestamp]).toEqual([{ a: '1' }, undefined, undefined]);
      }
      await environment.client.patch(WebApp, key, mergePatch({ metadata: { finalizers: [] } }));
    },
  );

  it('13: tears down although what it refers to is gone', async () => {
    const { app, context, namespace, childKey } = await world();
    let calls = 0;
    const children = dependents(WebApp, { fieldOwner })
      .ref('tls', Secret, {
        key: ({ metadata }) => {
          calls++;
          return { namespace: metadata.namespace, name: 'cert' };
        },
      })
      .child('web', ConfigMap, { needs: ['tls'], desired: (_app, { tls }) => ({ data: { tls: tls.metadata.name } }) })
      .child('proxy', ConfigMap, { needs: ['web'], desired: () => ({}) });
    await environment.client.create(Secret, { metadata: { namespace, name: 'cert' } });
    await children.reconcile(await app(), context);
    await environment.client.delete(Secret, { namespace, name: 'cert' });
    calls = 0;
    expect(await children.teardown(await app(), context)).toEqual({ done: true, remaining: [] });
    expect(calls).toBe(0);
    await expect(environment.client.get(ConfigMap, childKey('web'))).rejects.toThrow('not found');
  });

  it('15: does not delete another object of the name', async () => {
    const { app, context, edit, setReady, childKey } = await world({ database: true });
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    await setReady(StatefulSet, 'db');
    await edit({ database: false });
    const other: StatefulSet = {
      metadata: childKey('db'),
      spec: { serviceName: 'x', ...podOf('x', 'x:1') },
    };
    // Between the read that confirms the deletion and the DELETE.
    const client = intercept(context.client, (next) => ({
      delete: async (kind, key, options) => {
        await environment.client.delete(kind, key);
        await environment.client.create(StatefulSet, other);
        return await next.delete(kind, key, options);
      },
    }));
    await children.reconcile(await app(), { ...context, client });
    expect((await environment.client.get(StatefulSet, childKey('db'))).spec?.serviceName).toBe('x');
  });

  it('16: deletes children without a wave last', async () => {
    const { app, context, childKey } = await world();
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    const without = mergePatch({ metadata: { annotations: { 'kctl.dev/wave': null } } });
    await environment.client.patch(ConfigMap, childKey('config'), without);
    const hold = mergePatch({ metadata: { finalizers: ['example.com/hold'] } });
    await environment.client.patch(Deployment, childKey('web'), hold);
    const { remaining } = await children.teardown(await app(), context);
    expect(remaining.map(({ target, wave }) => [target.split(' ')[0], wave])).toEqual([
      ['Deployment', 1],
      ['ConfigMap', undefined],
    ]);
  });

  it('21: keeps the annotation of a rollout restart', async () => {
    const { app, context, client, childKey } = await world();
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' };
    const restart = mergePatch({ spec: { template: { metadata: { annotations } } } });
    await environment.client.patch(Deployment, childKey('web'), restart);
    client.clear();
    await children.reconcile(await app(), context);
    expect(client.writes).toEqual([]);
    const web = await environment.client.get(Deployment, childKey('web'));
    expect(web.spec?.template.metadata?.annotations).toMatchObject(annotations);
  });

  it('23: gives up after three applies that a webhook undoes, and names the field', async () => {
    const { app, context, clock } = await world({ settings: { colour: 'red' } });
    // As a mutating webhook would: the write comes back with another value.
    let applies = 0;
    const client = intercept(context.client, (next) => ({
      patch: async (kind, key, patch, options) => {
        if (kind.kind !== 'ConfigMap' || patch.type !== 'apply') return await next.patch(kind, key, patch, options);
        applies++;
        await next.patch(kind, key, patch, options);
        return await next.patch(kind, key, mergePatch({ data: { colour: 'blue' } }), {});
      },
    }));
    const children = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
      desired: ({ spec }) => ({ data: { ...spec.settings } }),
    });
    const run = async () =>
      await children.reconcile(await app(), { ...context, client }).catch((error: unknown) => error);
    let last: unknown;
    for (let count = 0; count < 100; count++) last = await run();
    expect(applies).toBe(3);
    if (!isDependentsError(last)) throw last;
    expect(last.result.nodes['config']).toMatchObject({ state: 'failed', reason: 'NotConverging' });
    expect(last.message).toContain('left a difference in data');
    expect(last.result.stalled).toBe(true);
    await clock.advance(10 * 60_000);
    await run();
    expect(applies).toBe(4);
  });

  it('28: skips a node whose kind is missing', async () => {
    const { app, context, childKey } = await world();
    const Missing = defineKind()({ group: 'missing.kctl.test', version: 'v1', kind: 'Missing', scope: 'Namespaced' });
    const children = dependents(WebApp, { fieldOwner })
      .child('extra', Missing, { optionalKind: true, desired: () => ({}) })
      .child('web', ConfigMap, { needs: ['extra'], desired: () => ({}) });
    const { nodes } = await children.reconcile(await app(), context);
    expect(nodes.extra.state).toBe('skipped');
    await environment.client.get(ConfigMap, childKey('web'));
    expect((await children.teardown(await app(), context)).done).toBe(true);
    await environment.installCrds([Missing]);
    expect((await children.reconcile(await app(), context)).nodes.extra.action).toBe('created');
    await environment.uninstallCrds([Missing]);
    expect((await children.reconcile(await app(), context)).nodes.extra.state).toBe('skipped');
    expect((await children.teardown(await app(), context)).done).toBe(true);
  });

  it('14: keeps lower waves until the objects of a higher one are absent', async () => {
    const { app, context, setReady, childKey } = await world({ database: true });
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    await setReady(StatefulSet, 'db');
    await children.reconcile(await app(), context);
    const hold = (finalizers: string[]) => mergePatch({ metadata: { finalizers } });
    await environment.client.patch(Deployment, childKey('web'), hold(['example.com/hold']));
    const first = await children.teardown(await app(), context);
    expect(first.done).toBe(false);
    expect(first.remaining.map(({ target }) => target.replace(/ .*\//, ' '))).toEqual([
      'Deployment shop-web',
      'ConfigMap shop-config',
      'StatefulSet shop-db',
    ]);
    const second = await children.teardown(await app(), context);
    expect(second.remaining[0]?.message).toContain('finalizers: example.com/hold');
    await environment.client.get(StatefulSet, childKey('db'));
    await environment.client.patch(Deployment, childKey('web'), hold([]));
    expect(await children.teardown(await app(), context)).toEqual({ done: true, remaining: [] });
    await expect(environment.client.get(StatefulSet, childKey('db'))).rejects.toThrow('not found');
  });

  it('18: puts back fields that it owns in one apply, and leaves those of others', async () => {
    const { app, context, client, childKey } = await world({ settings: { colour: 'red' } });
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    const change = mergePatch({ data: { colour: 'blue', extra: 'x' }, metadata: { labels: { theirs: '1' } } });
    await environment.client.patch(ConfigMap, childKey('config'), change);
    client.clear();
    await children.reconcile(await app(), context);
    expect(client.writes).toHaveLength(1);
    const config = await environment.client.get(ConfigMap, childKey('config'));
    expect(config.data).toEqual({ colour: 'red', extra: 'x' });
    expect(config.metadata.labels?.['theirs']).toBe('1');
  });

  it('19: leaves initial fields to others', async () => {
    const { app, context, childKey, edit } = await world();
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    const scale = mergePatch({ spec: { replicas: 5 } });
    expect((await environment.client.get(Deployment, childKey('web'))).spec?.replicas).toBe(2);
    await environment.client.patch(Deployment, childKey('web'), scale, { fieldOwner: 'autoscaler' });
    for (let run = 0; run < 20; run++) await children.reconcile(await app(), context);
    await edit({ image: 'web:2' });
    await children.reconcile(await app(), context);
    expect((await environment.client.get(Deployment, childKey('web'))).spec?.replicas).toBe(5);
  });

  it('20: keeps the value of a field that moves from desired to initial', async () => {
    const { app, context, childKey, namespace } = await world();
    const spec = podOf('x', 'web:1');
    const before = dependents(WebApp, { fieldOwner }).child('web', Deployment, {
      desired: () => ({ spec: { ...spec, replicas: 5 } }),
    });
    await before.reconcile(await app(), context);
    const seen: unknown[] = [];
    await using watch = await environment.client.watch(Deployment, { namespace });
    const after = dependents(WebApp, { fieldOwner }).child('web', Deployment, {
      desired: () => ({ spec }),
      initial: () => ({ spec: { replicas: 2 } }),
    });
    await after.reconcile(await app(), context);
    await environment.client.patch(Deployment, childKey('web'), mergePatch({ metadata: { labels: { last: '1' } } }));
    for await (const event of watch) {
      if (!('object' in event)) continue;
      seen.push(event.object.spec?.replicas);
      if (event.object.metadata.labels?.['last'] === '1') break;
    }
    expect(new Set(seen)).toEqual(new Set([5]));
  });

  it('22: removes a field that a former field owner applied', async () => {
    const { app, context, childKey } = await world();
    const old = dependents(WebApp, { fieldOwner: 'old-name' }).child('config', ConfigMap, {
      desired: () => ({ metadata: { labels: { gone: '1', kept: '1' } } }),
    });
    await old.reconcile(await app(), context);
    const renamed = dependents(WebApp, { fieldOwner, formerFieldOwners: ['old-name'] }).child('config', ConfigMap, {
      desired: () => ({ metadata: { labels: { kept: '1' } } }),
    });
    await renamed.reconcile(await app(), context);
    const { labels, managedFields } = (await environment.client.get(ConfigMap, childKey('config'))).metadata;
    expect(labels).not.toHaveProperty('gone');
    expect(labels).toHaveProperty('kept', '1');
    expect(managedFields?.map(({ manager }) => manager)).toEqual([fieldOwner]);
  });

  it.each(['fail', 'recreate'] as const)('24: on an immutable field: %s', async (mode) => {
    const { app, context, childKey, edit } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('web', Deployment, {
      onImmutable: mode === 'fail' ? 'fail' : { recreate: 'background' },
      desired: ({ spec }) => ({ spec: podOf(spec.image.replace(':', '-'), spec.image) }),
    });
    await children.reconcile(await app(), context);
    const { uid } = (await environment.client.get(Deployment, childKey('web'))).metadata;
    await edit({ image: 'web:2' });
    if (mode === 'fail') {
      await expect(children.reconcile(await app(), context)).rejects.toThrow(/cannot change.*selector/);
      expect((await environment.client.get(Deployment, childKey('web'))).metadata.uid).toBe(uid);
      return;
    }
    const { nodes } = await children.reconcile(await app(), context);
    expect(nodes.web.action).toBe('recreated');
    const web = await environment.client.get(Deployment, childKey('web'));
    expect(web.metadata.uid).not.toBe(uid);
    expect(web.spec?.template.spec?.containers[0]?.image).toBe('web:2');
  });

  it('25: does not recreate an object because of an ordinary mistake', async () => {
    const { app, context, childKey, edit } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('web', Deployment, {
      onImmutable: { recreate: 'background' },
      desired: ({ spec }) => ({ spec: { ...podOf('x', 'web:1'), minReadySeconds: spec.image === 'web:2' ? -1 : 0 } }),
    });
    await children.reconcile(await app(), context);
    const { uid } = (await environment.client.get(Deployment, childKey('web'))).metadata;
    await edit({ image: 'web:2' });
    await expect(children.reconcile(await app(), context)).rejects.toThrow('minReadySeconds');
    expect((await environment.client.get(Deployment, childKey('web'))).metadata.uid).toBe(uid);
  });

  it.each(['never', 'unowned', 'controlled'] as const)('26: a name that is taken: %s', async (mode) => {
    const { app, context, namespace, childKey, events } = await world();
    const taken: Service = { metadata: { ...childKey('svc') }, spec: { ports: [{ port: 1 }] } };
    if (mode === 'controlled') {
      const owner = await environment.client.create(ConfigMap, { metadata: { namespace, name: 'owner' } });
      setControllerReference(owner, ConfigMap, taken);
    }
    await environment.client.create(Service, taken);
    const children = dependents(WebApp, { fieldOwner }).child('svc', Service, {
      adopt: mode === 'never' ? 'never' : 'unowned',
      desired: () => ({ metadata: { labels: { ours: '1' } } }),
    });
    const run = children.reconcile(await app(), context);
    if (mode === 'unowned') {
      expect((await run).nodes.svc.action).toBe('adopted');
      expect(events).toContainEqual(expect.stringContaining('Adopted'));
      return;
    }
    const error: unknown = await run.catch((thrown: unknown) => thrown);
    if (!isDependentsError(error)) throw error;
    expect(error.result.nodes['svc']).toMatchObject({ state: 'failed', reason: 'NameTaken' });
    expect(error.result.stalled).toBe(true);
    const found = await environment.client.get(Service, childKey('svc'));
    expect(found.metadata.labels ?? {}).not.toHaveProperty('ours');
  });

  it('reports fields that others own, and sends nothing while that stays so', async () => {
    const { app, context, client, childKey } = await world({ settings: { colour: 'red' } });
    const children = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
      conflicts: 'report',
      desired: ({ spec }) => ({ data: { ...spec.settings, other: '1' } }),
    });
    await children.reconcile(await app(), context);
    const change = { metadata: childKey('config'), data: { colour: 'blue' } };
    await apply(environment.client, ConfigMap, change, { fieldOwner: 'someone', force: true });
    const run = async () => await children.reconcile(await app(), context).catch((error: unknown) => error);
    const error = await run();
    if (!isDependentsError(error)) throw error;
    expect(error.result.nodes['config']).toMatchObject({
      reason: 'Conflict',
      message: 'others own data.colour (someone)',
    });
    client.clear();
    for (let count = 0; count < 10; count++) await run();
    expect(client.writes).toEqual([]);
    const config = await environment.client.get(ConfigMap, childKey('config'));
    expect(config.data).toEqual({ colour: 'blue', other: '1' });
  });

  it('refuses what depends on the time', async () => {
    const { app, context } = await world();
    let count = 0;
    const children = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
      desired: () => ({ data: { at: String(count++) } }),
    });
    await expect(children.reconcile(await app(), context)).rejects.toThrow('returns something else each time');
  });

  it('starts no write for an object that has changed again', async () => {
    const { app, context, client } = await world();
    client.clear();
    const superseded = { ...context, isSuperseded: true };
    const { nodes } = await webAppChildren().reconcile(await app(), superseded);
    expect(client.writes).toEqual([]);
    expect(nodes.config).toMatchObject({ state: 'waiting', reason: 'Superseded' });
  });

  it('keeps initial fields after a failure between the writes of a creation, with a cache that strips managedFields', async () => {
    const { app, context, childKey } = await world({ replicas: 3 });
    let isFailing = true;
    const client = intercept(context.client, (next) => ({
      get: async (kind, key, options) => {
        const found = await next.get(kind, key, options);
        if (options?.live === true) return found;
        const { managedFields: _stripped, ...metadata } = found.metadata;
        return { ...found, metadata };
      },
      patch: async (kind, key, patch, options) => {
        if (isFailing && options?.fieldOwner?.endsWith('-initial') === true) throw new Error('cut');
        return await next.patch(kind, key, patch, options);
      },
    }));
    const children = webAppChildren();
    await expect(children.reconcile(await app(), { ...context, client })).rejects.toThrow('cut');
    isFailing = false;
    await children.reconcile(await app(), { ...context, client });
    expect((await environment.client.get(Deployment, childKey('web'))).spec?.replicas).toBe(3);
  });

  it('ends with the reason of its signal, once nothing is in flight', async () => {
    const { app, context } = await world({ hosts: [] });
    const stop = new AbortController();
    let inFlight = 0;
    const client = intercept(context.client, (next) => ({
      patch: async (kind, key, patch) => {
        inFlight++;
        if (kind.kind === 'ConfigMap') stop.abort(new Error('stopped'));
        return await next.patch(kind, key, patch, {}).finally(() => inFlight--);
      },
    }));
    const options = { ...context, client, signal: stop.signal };
    const children = dependents(WebApp, { fieldOwner })
      .child('a', ConfigMap, { desired: () => ({ data: { a: '1' } }) })
      .child('b', ConfigMap, { desired: () => ({ data: { b: '1' } }) })
      .child('c', ConfigMap, { needs: ['a', 'b'], desired: () => ({}) });
    await expect(children.reconcile(await app(), options)).rejects.toThrow();
    expect(inFlight).toBe(0);
  });

  it('asks the server before it forgets a kind that its cache has no objects of', async () => {
    const { app, context, childKey } = await world();
    await webAppChildren().reconcile(await app(), context);
    const behind = intercept(context.client, (next) => ({
      list: async (kind, options) => {
        const found = await next.list(kind, options);
        return options?.live === true || kind.kind !== 'ConfigMap' ? found : { ...found, items: [] };
      },
    }));
    const without = dependents(WebApp, { fieldOwner })
      .child('web', Deployment, { when: () => false, desired: () => ({}) })
      .child('other', ConfigMap, { when: () => false, desired: () => ({}) });
    await without.reconcile(await app(), { ...context, client: behind });
    await expect(environment.client.get(ConfigMap, childKey('config'))).rejects.toThrow('not found');
  });

  it('waits for the next run where a deletion is refused as a conflict', async () => {
    const { app, context } = await world();
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    let deletes = 0;
    const client = intercept(context.client, () => ({
      delete: () => {
        deletes++;
        return Promise.reject(new StatusError({ kind: 'Status', apiVersion: 'v1', code: 409, reason: 'Conflict' }));
      },
    }));
    const { done, remaining } = await children.teardown(await app(), { ...context, client });
    expect([done, deletes, remaining.length]).toEqual([false, 1, 2]);
  });

  it('27: finds an object whose label was removed by its name', async () => {
    const { app, context, childKey } = await world();
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    const { uid } = (await environment.client.get(ConfigMap, childKey('config'))).metadata;
    const removed = mergePatch({ metadata: { labels: { 'kctl.dev/part-of': null } } });
    await environment.client.patch(ConfigMap, childKey('config'), removed);
    await children.reconcile(await app(), context);
    const config = await environment.client.get(ConfigMap, childKey('config'));
    expect(config.metadata.uid).toBe(uid);
    expect(config.metadata.labels).toHaveProperty('kctl.dev/part-of');
  });

  it('29: writes nothing while it is paused, and reports readiness', async () => {
    const { app, context, edit, key, client, childKey } = await world({ settings: { a: '1' } });
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    const pause = mergePatch({ metadata: { annotations: { 'kctl.dev/paused': 'true' } } });
    await environment.client.patch(WebApp, key, pause);
    await edit({ settings: { a: '2' } });
    await environment.client.delete(ConfigMap, childKey('config'));
    client.clear();
    const result = await children.reconcile(await app(), context);
    expect(client.writes).toEqual([]);
    expect(result.nodes.config.state).toBe('paused');
    expect(result.conditions().map(({ type, status }) => `${type}=${status}`)).toContain('Paused=True');
    expect((await children.teardown(await app(), context)).done).toBe(true);
  });

  it('30: plans exactly what the next run does, and writes nothing', async () => {
    const { app, context, edit, client, childKey } = await world({ settings: { a: '1' } });
    const children = webAppChildren();
    const creation = await children.plan(await app(), context);
    expect(creation.changes.map(({ node, action }) => [node, action])).toEqual([
      ['config', 'created'],
      ['web', 'created'],
    ]);
    await expect(environment.client.get(ConfigMap, childKey('config'))).rejects.toThrow('not found');
    await children.reconcile(await app(), context);
    await edit({ image: 'web:2' });
    client.clear();
    const { changes } = await children.plan(await app(), context);
    expect(changes).toEqual([
      {
        node: 'web',
        target: expect.stringContaining('Deployment'),
        action: 'applied',
        differences: ['spec.template.spec.containers[name=app].image'],
        fields: [{ path: 'spec.template.spec.containers[name=app].image', before: 'web:1', after: 'web:2' }],
      },
    ]);
    expect(client.writes.filter(({ options }) => options !== undefined && !('dryRun' in options))).toEqual([]);
    const { nodes } = await children.reconcile(await app(), context);
    expect(nodes.web).toMatchObject({ action: 'applied', differences: changes[0]?.differences });
  });
});

async function createMapper(): Promise<{ mapper: object }> {
  const { createRestMapper } = await import('@kctl/client-http');
  const mapper = createRestMapper({ transport: environment.client.transport });
  return { mapper: { kindFor: (gk: { group: string; kind: string }) => mapper.kindFor(gk) } };
}
