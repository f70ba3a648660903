import { mergePatch, record } from '@kctl/client';
import { ConfigMap, Namespace, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { dependents, dependentsFinalizer, isDependentsError } from '@kctl/dependents';
import { createEnvironment } from '@kctl/testing';
import type { Metrics } from '@kctl/telemetry';
import { afterAll, describe, expect, it } from 'vitest';
import { fieldOwner, podOf, WebApp, webAppChildren } from './web-app.js';

const environment = await createEnvironment({ crds: [WebApp] });
afterAll(() => environment.stop());

async function world(spec: Partial<WebApp['spec']> = {}) {
  const namespace = await environment.createNamespace('plan');
  const client = record(environment.client);
  const key = { namespace, name: 'shop' };
  await environment.client.create(WebApp, { metadata: key, spec: { image: 'web:1', ...spec } });
  const app = () => environment.client.get(WebApp, key);
  const edit = (change: Partial<WebApp['spec']>) => environment.client.patch(WebApp, key, mergePatch({ spec: change }));
  /** Writes that are no dry runs. */
  const writes = () => client.writes.filter(({ options }) => !(options !== undefined && 'dryRun' in options));
  return { namespace, client, context: { client }, app, edit, writes };
}

describe('plan', () => {
  it('shows values before and after, except those of Secrets', async () => {
    const { app, context, edit } = await world({ settings: { a: '1', b: '1' } });
    const children = dependents(WebApp, { fieldOwner })
      .child('config', ConfigMap, { desired: ({ spec }) => ({ data: { ...spec.settings } }) })
      .child('password', Secret, { desired: ({ spec }) => ({ data: { password: btoa(`hidden-${spec.image}`) } }) });
    await children.reconcile(await app(), context);
    await edit({ image: 'web:2', settings: { a: '2', b: null as never } });
    const plan = await children.plan(await app(), context);
    const fields = Object.fromEntries(plan.changes.map((change) => [change.node, change.fields]));
    expect(fields['config']).toEqual([
      { path: 'data.a', before: '1', after: '2' },
      { path: 'data.b', before: '1' },
    ]);
    expect(fields['password']).toEqual([{ path: 'data.password' }]);
    expect(JSON.stringify(plan)).not.toContain(btoa('hidden-web:').slice(0, 8));
  });

  it('shows the fields of what it creates, except the values of Secrets', async () => {
    const { app, context, writes } = await world();
    const { selector, template } = podOf('web', 'web:1');
    const children = dependents(WebApp, { fieldOwner })
      .child('web', Deployment, {
        initial: () => ({ spec: { replicas: 2 } }),
        desired: () => ({ metadata: { labels: { app: 'web' } }, spec: { selector, template } }),
      })
      .child('password', Secret, { desired: () => ({ stringData: { password: 'hidden' } }) });
    const { changes } = await children.plan(await app(), context);
    expect(changes.map(({ node, action, fields }) => [node, action, fields])).toEqual([
      [
        'web',
        'created',
        [
          { path: 'metadata.labels.app', after: 'web' },
          { path: 'spec.selector.matchLabels.app', after: 'web' },
          { path: 'spec.template.metadata.labels.app', after: 'web' },
          { path: 'spec.template.spec.containers[name=app].image', after: 'web:1' },
          { path: 'spec.replicas', after: 2 },
        ],
      ],
      ['password', 'created', [{ path: 'data.password' }]],
    ]);
    expect(writes()).toEqual([]);
  });

  it.each([
    ['stringData.pin is not a string', { stringData: { pin: 987_654 } }],
    ['data.pin is not a string', { data: { pin: [987_654] } }],
    ['data is not an object', { data: '987654' }],
  ])('refuses a Secret whose %s, which servers answer with the value', async (problem, desired) => {
    const { app, context } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('pin', Secret, { desired: () => desired as object });
    const plan = await children.plan(await app(), context);
    expect(plan.obstacles[0]?.message).toContain(problem);
    const error: unknown = await children.reconcile(await app(), context).catch((thrown: unknown) => thrown);
    const said = isDependentsError(error) ? [error.message, error.result.conditions()] : [];
    expect(said).toHaveLength(2);
    expect(JSON.stringify([plan, ...said])).not.toContain('987654');
  });

  it('names the field because of which an object is created again, as the run does', async () => {
    const { app, context, edit, writes, client } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('web', Deployment, {
      desired: ({ spec }) => ({ spec: podOf(spec.image.replace(':', '-'), spec.image) }),
      onImmutable: { recreate: 'background' },
    });
    await children.reconcile(await app(), context);
    await edit({ image: 'web:2' });
    client.clear();
    const { changes } = await children.plan(await app(), context);
    expect(changes).toMatchObject([{ node: 'web', action: 'recreated' }]);
    expect(changes[0]?.differences).toContain('spec.selector');
    expect(writes()).toEqual([]);
    const { nodes } = await children.reconcile(await app(), context);
    expect(nodes.web.differences).toEqual(changes[0]?.differences);
  });

  it('plans objects in a namespace that the run creates first', async () => {
    const { app, context, namespace, writes } = await world();
    const other = `${namespace}-own`;
    const children = dependents(WebApp, { fieldOwner })
      .child('space', Namespace, { name: () => other, desired: () => ({}) })
      .child('config', ConfigMap, {
        namespace: () => other,
        needs: ['space'],
        desired: (_app, { space }) => ({ data: { space: space.metadata.name } }),
      });
    const { changes, obstacles } = await children.plan(await app(), context);
    expect(obstacles).toEqual([]);
    expect(changes.map(({ node, action }) => [node, action])).toEqual([
      ['space', 'created'],
      ['config', 'created'],
    ]);
    expect(writes()).toEqual([]);
    const { nodes } = await children.reconcile(await app(), context);
    expect([nodes.space.action, nodes.config.action]).toEqual(['created', 'created']);
  });

  it('plans the deletion of all children of a primary that is being deleted', async () => {
    const { app, context, writes, client } = await world({ hosts: [{ id: 'main', host: 'a' }] });
    const children = webAppChildren();
    await children.reconcile(await app(), context);
    const present = await app();
    const deleting = { ...present, metadata: { ...present.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    client.clear();
    const { changes } = await children.plan(deleting, context);
    expect(changes.map(({ node, action }) => [node, action])).toEqual([
      ['routes', 'deleted'],
      ['web', 'deleted'],
      ['config', 'deleted'],
    ]);
    expect(writes()).toEqual([]);
  });

  it('leaves a primary that lacks the finalizer of its reconciler to the garbage collector', async () => {
    const { app, context } = await world();
    const children = webAppChildren();
    children.reconciler();
    await children.reconcile(await app(), context);
    const present = await app();
    const planned = async (finalizers: string[]) => {
      const metadata = { ...present.metadata, finalizers, deletionTimestamp: '2026-01-01T00:00:00Z' };
      return (await children.plan({ ...present, metadata }, context)).changes.map(({ node, action }) => [node, action]);
    };
    expect(await planned(['example.com/other'])).toEqual([]);
    expect(await planned([dependentsFinalizer])).toEqual([
      ['web', 'deleted'],
      ['config', 'deleted'],
    ]);
    expect(await planned([dependentsFinalizer, 'orphan'])).toEqual([
      ['web', 'orphaned'],
      ['config', 'orphaned'],
    ]);
  });

  it('changes no metric', async () => {
    const { app, context } = await world();
    const touched: string[] = [];
    const note = (): void => void touched.push('metric');
    const family = { with: () => ({ inc: note, dec: note, set: note, observe: note }) };
    const metrics = { gauge: () => family, counter: () => family, histogram: () => family } as unknown as Metrics;
    await webAppChildren().plan(await app(), { ...context, metrics });
    expect(touched).toEqual([]);
  });
});
