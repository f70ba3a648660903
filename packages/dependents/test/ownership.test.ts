import type { Kind } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { intercept, mergePatch } from '@kctl/client';
import type { Client, ReadObject } from '@kctl/client';
import { dependents, isDependentsError, notYet } from '@kctl/dependents';
import { createEnvironment } from '@kctl/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { fieldOwner, podOf, WebApp } from './web-app.js';

const environment = await createEnvironment({ crds: [WebApp] });
afterAll(() => environment.stop());
const { client } = environment;

async function world() {
  const namespace = await environment.createNamespace('ownership');
  const key = { namespace, name: 'shop' };
  await client.create(WebApp, { metadata: key, spec: { image: 'web:1' } });
  const app = () => client.get(WebApp, key);
  const edit = (change: Partial<WebApp['spec']>) => client.patch(WebApp, key, mergePatch({ spec: change }));
  return { namespace, app, edit, childKey: (name: string) => ({ namespace, name: `shop-${name}` }) };
}

/** A cache that answers with what the object was; live reads are the server's. */
function behind(stale: ReadObject<Kind>): Client {
  return intercept(client, (next) => ({
    get: async (kind, key, options) =>
      options?.live !== true && kind.kind === stale.kind && key.name === stale.metadata.name
        ? (stale as never)
        : await next.get(kind, key, options),
  }));
}

const settings = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
  desired: ({ spec }) => ({ data: { image: spec.image } }),
});

const recreated = (adopt: 'never' | 'unowned') =>
  dependents(WebApp, { fieldOwner }).child('web', Deployment, {
    adopt,
    desired: ({ spec }) => ({ spec: podOf(spec.image.replace(':', '-'), spec.image) }),
    onImmutable: { recreate: 'background' },
  });

async function failureOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
  } catch (error) {
    if (isDependentsError(error)) return String(error.failures[0]?.error);
    throw error;
  }
  return 'none';
}

describe('objects of others', () => {
  it('does not take an object that replaced a child behind a cache', async () => {
    const { app, edit, childKey } = await world();
    const key = childKey('config');
    await settings.reconcile(await app(), { client });
    const stale = { kind: 'ConfigMap', ...(await client.get(ConfigMap, key)) };
    await client.delete(ConfigMap, key);
    const foreign = await client.create(ConfigMap, { metadata: key, data: { image: 'mine' } });
    await edit({ image: 'web:2' });
    expect(await failureOf(settings.reconcile(await app(), { client: behind(stale) }))).toMatch(/no controller/);
    expect(await client.get(ConfigMap, key)).toEqual(foreign);
  });

  it('does not take an object that replaced a child behind a cache that strips managedFields', async () => {
    const { app, edit, childKey } = await world();
    const key = childKey('config');
    await settings.reconcile(await app(), { client });
    const { metadata, ...rest } = await client.get(ConfigMap, key);
    const { managedFields: _stripped, ...kept } = metadata;
    await client.delete(ConfigMap, key);
    const foreign = await client.create(ConfigMap, { metadata: key, data: { image: 'mine' } });
    await edit({ image: 'web:2' });
    const stale = behind({ kind: 'ConfigMap', ...rest, metadata: kept });
    expect(await failureOf(settings.reconcile(await app(), { client: stale }))).toMatch(/no controller/);
    expect(await client.get(ConfigMap, key)).toEqual(foreign);
  });

  it('makes a child again that is gone, or another one, behind a cache', async () => {
    const { app, edit, childKey } = await world();
    const key = childKey('config');
    await settings.reconcile(await app(), { client });
    const stale = { kind: 'ConfigMap', ...(await client.get(ConfigMap, key)) };
    await client.delete(ConfigMap, key);
    await edit({ image: 'web:2' });
    const { nodes } = await settings.reconcile(await app(), { client: behind(stale) });
    expect(nodes.config.action).toBe('created');
    await edit({ image: 'web:3' });
    expect((await settings.reconcile(await app(), { client: behind(stale) })).nodes.config.action).toBe('applied');
    expect((await client.get(ConfigMap, key)).data).toEqual({ image: 'web:3' });
  });

  it('does not delete for immutable fields a child that was let go behind a cache', async () => {
    const { app, edit, childKey } = await world();
    const key = childKey('web');
    const children = recreated('never');
    await children.reconcile(await app(), { client });
    const stale = { kind: 'Deployment', ...(await client.get(Deployment, key)) };
    const labels = { 'kctl.dev/part-of': null, 'kctl.dev/node': null };
    const { metadata } = await client.patch(Deployment, key, mergePatch({ metadata: { ownerReferences: [], labels } }));
    await edit({ image: 'web:2' });
    expect(await failureOf(children.reconcile(await app(), { client: behind(stale) }))).toMatch(/no controller/);
    expect((await client.get(Deployment, key)).metadata.uid).toBe(metadata.uid);
  });

  it('does not delete for immutable fields an object that it was to adopt', async () => {
    const { app, childKey } = await world();
    const key = childKey('web');
    const { metadata } = await client.create(Deployment, { metadata: key, spec: podOf('other', 'db:1') });
    expect(await failureOf(recreated('unowned').reconcile(await app(), { client }))).toMatch(/cannot change/);
    expect((await client.get(Deployment, key)).metadata.uid).toBe(metadata.uid);
  });

  it('does not delete in its own namespace an object without its owner reference', async () => {
    const { app, namespace } = await world();
    const primary = await app();
    await settings.reconcile(primary, { client });
    const made = await client.get(ConfigMap, { namespace, name: 'shop-config' });
    await client.patch(ConfigMap, made, mergePatch({ metadata: { ownerReferences: [] } }));
    const without = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
      when: () => false,
      desired: () => ({}),
    });
    await without.reconcile(await app(), { client });
    await settings.teardown(await app(), { client });
    expect((await client.get(ConfigMap, made)).metadata.uid).toBe(made.metadata.uid);
  });

  it('does not take an update for proof', async () => {
    const { app } = await world();
    const other = await environment.createNamespace('ownership-other');
    const children = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
      namespace: () => other,
      desired: () => ({ data: { a: '1' } }),
    });
    await children.reconcile(await app(), { client });
    const { metadata } = await client.get(ConfigMap, { namespace: other, name: 'shop-config' });
    const { labels = {} } = metadata;
    const copy = { metadata: { namespace: other, name: 'copy', labels } };
    await client.create(ConfigMap, copy, { fieldOwner });
    await children.reconcile(await app(), { client });
    const { done } = await children.teardown(await app(), { client });
    expect(done).toBe(true);
    expect((await client.list(ConfigMap, { namespace: other })).items.map((each) => each.metadata.name)).toContain(
      'copy',
    );
  });
});

describe('an object that appears between the look and the creation', () => {
  /** Runs something before the first apply of a ConfigMap is sent. */
  function racing(before: () => Promise<unknown>): Client {
    let isFirst = true;
    return intercept(client, (next) => ({
      patch: async (kind, key, patch, options) => {
        if (isFirst && kind.kind === 'ConfigMap') {
          isFirst = false;
          await before();
        }
        return await next.patch(kind, key, patch, options);
      },
    }));
  }

  it.each([
    ['force', {}],
    ['report', {}],
    ['force', { initial: () => ({ data: { scale: '1' } }) }],
  ] as const)('is left to others, with conflicts: %s %o', async (conflicts, more) => {
    const { app, childKey } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
      conflicts,
      desired: ({ spec }) => ({ data: { image: spec.image } }),
      ...more,
    });
    const key = childKey('config');
    let foreign: object | undefined;
    const between = racing(async () => {
      foreign = await client.create(ConfigMap, { metadata: key, data: { other: '1' } });
    });
    expect(await failureOf(children.reconcile(await app(), { client: between }))).toMatch(/no controller/);
    expect(await client.get(ConfigMap, key)).toEqual(foreign);
  });

  it('is adopted as the node declares it', async () => {
    const { app, childKey } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
      adopt: 'unowned',
      desired: ({ spec }) => ({ data: { image: spec.image } }),
    });
    const between = racing(() => client.create(ConfigMap, { metadata: childKey('config'), data: { other: '1' } }));
    const { nodes } = await children.reconcile(await app(), { client: between });
    expect(nodes.config.action).toBe('adopted');
  });

  it('is one that another replica made, and is brought to the desired fields', async () => {
    const { app, edit, childKey } = await world();
    const between = racing(async () => {
      await settings.reconcile(await app(), { client });
      await edit({ image: 'web:2' });
    });
    const { nodes } = await settings.reconcile(await app(), { client: between });
    expect(nodes.config.state).toBe('ready');
    expect((await client.get(ConfigMap, childKey('config'))).data).toEqual({ image: 'web:1' });
  });

  it('does not get initial fields that were meant for the object that it replaced', async () => {
    const { app, childKey } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
      initial: () => ({ data: { scale: '1' } }),
      desired: ({ spec }) => ({ data: { image: spec.image } }),
    });
    const key = childKey('config');
    let applies = 0;
    let foreign: object | undefined;
    const between = intercept(client, (next) => ({
      patch: async (kind, named, patch, options) => {
        if (kind.kind === 'ConfigMap' && ++applies === 2) {
          await client.delete(ConfigMap, key);
          foreign = await client.create(ConfigMap, { metadata: key });
        }
        return await next.patch(kind, named, patch, options);
      },
    }));
    expect(await failureOf(children.reconcile(await app(), { client: between }))).toMatch(/no controller/);
    expect(await client.get(ConfigMap, key)).toEqual(foreign);
  });
});

describe('a node that is renamed, and keeps the name of its object', () => {
  const before = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
    name: () => 'shop-settings',
    desired: () => ({ data: { a: '1' } }),
  });

  it('keeps the object while its desired fields are not known', async () => {
    const { app, namespace } = await world();
    await before.reconcile(await app(), { client });
    const { metadata } = await client.get(ConfigMap, { namespace, name: 'shop-settings' });
    const after = dependents(WebApp, { fieldOwner }).child('settings', ConfigMap, {
      name: () => 'shop-settings',
      desired: () => notYet('later'),
    });
    await after.reconcile(await app(), { client });
    expect((await client.get(ConfigMap, metadata)).metadata.uid).toBe(metadata.uid);
  });

  it('keeps the object while its name cannot be computed', async () => {
    const { app, namespace } = await world();
    await before.reconcile(await app(), { client });
    const after = dependents(WebApp, { fieldOwner }).child('settings', ConfigMap, {
      name: () => {
        throw new Error('no name');
      },
      desired: () => ({}),
    });
    expect(await failureOf(after.reconcile(await app(), { client }))).toMatch(/no name/);
    expect(await client.get(ConfigMap, { namespace, name: 'shop-settings' })).toBeDefined();
  });

  it('is planned as what the run does', async () => {
    const { app } = await world();
    await before.reconcile(await app(), { client });
    const after = dependents(WebApp, { fieldOwner }).child('settings', ConfigMap, {
      name: () => 'shop-settings',
      desired: () => ({ data: { a: '1' } }),
    });
    const { changes } = await after.plan(await app(), { client });
    expect(changes.map(({ node, action }) => [node, action])).toEqual([['settings', 'applied']]);
  });
});

describe('what a plan takes for a change', () => {
  it('leaves out an apply that the server answers with what there is', async () => {
    const { app } = await world();
    const { selector, template } = podOf('web', 'web:1');
    const [container] = template.spec.containers;
    const children = dependents(WebApp, { fieldOwner }).child('web', Deployment, {
      desired: () => ({
        spec: { selector, template: { ...template, spec: { containers: [{ ...container, name: 'app', env: [] }] } } },
      }),
    });
    await children.reconcile(await app(), { client });
    await children.reconcile(await app(), { client });
    expect((await children.plan(await app(), { client })).changes).toEqual([]);
  });
});
