// Rules of the specification that no scenario shows.
import { isNotFound } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Service } from '@kctl/apimachinery/kinds/core/v1';
import { apply, intercept, mergePatch, record } from '@kctl/client';
import { dependents, isDependentsError } from '@kctl/dependents';
import type { DependentsEvents } from '@kctl/dependents';
import type { Metrics } from '@kctl/telemetry';
import { createEnvironment } from '@kctl/testing';
import { FakeClock } from '@kctl/wait/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { fieldOwner, podOf, WebApp } from './web-app.js';

const environment = await createEnvironment({ crds: [WebApp] });
afterAll(() => environment.stop());

async function world() {
  const namespace = await environment.createNamespace('rules');
  const client = record(environment.client);
  const clock = new FakeClock({ now: Date.UTC(2026, 0, 1) });
  const events: string[] = [];
  const note = (_object: unknown, reason: string, text: string): void => void events.push(`${reason}: ${text}`);
  const recorder: DependentsEvents = { normal: note, warning: note };
  const key = { namespace, name: 'shop' };
  await environment.client.create(WebApp, { metadata: key, spec: { image: 'web:1' } });
  const app = () => environment.client.get(WebApp, key);
  const edit = (change: Partial<WebApp['spec']>) => environment.client.patch(WebApp, key, mergePatch({ spec: change }));
  const childKey = (name: string) => ({ namespace, name: `shop-${name}` });
  const exists = async (name: string) =>
    await environment.client.get(ConfigMap, { namespace, name }).then(
      () => true,
      (error: unknown) => !isNotFound(error),
    );
  return {
    namespace,
    client,
    clock,
    events,
    context: { client, clock, events: recorder },
    app,
    edit,
    childKey,
    exists,
  };
}

/** The results of a run, also of one that failed. */
async function resultOf(run: Promise<object>) {
  const error: unknown = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isDependentsError(error)) return error;
  throw error instanceof Error ? error : new Error('the run has not failed');
}

const desired = () => ({ data: { a: '1' } });

describe('a run', () => {
  it('works on at most `concurrency` children at once', async () => {
    const { app, context } = await world();
    let [present, most] = [0, 0];
    const client = intercept(context.client, (next) => ({
      get: async (kind, key, options) => {
        most = Math.max(most, ++present);
        return await next.get(kind, key, options).finally(() => present--);
      },
    }));
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const children = dependents(WebApp, { fieldOwner, concurrency: 2 }).set('parts', ConfigMap, {
      each: () => new Map(ids.map((id) => [id, id])),
      desired,
    });
    const { nodes } = await children.reconcile(await app(), { ...context, client });
    expect([nodes.parts.size, most]).toEqual([6, 2]);
  });

  it('waits for a need that is ready, and not for one that only exists', async () => {
    const { app, context } = await world();
    const children = dependents(WebApp, { fieldOwner })
      .child('first', ConfigMap, { desired, ready: () => 'not today' })
      .child('soon', ConfigMap, { needs: ['first'], desired })
      .child('late', ConfigMap, { needsReady: ['first'], desired });
    const { nodes } = await children.reconcile(await app(), context);
    expect([nodes.soon.action, nodes.late.state, nodes.late.message]).toEqual(['created', 'blocked', 'needs first']);
  });

  it('keeps a renamed object until the new one is ready', async () => {
    const { app, context, edit, exists } = await world();
    let isReady = false;
    const children = dependents(WebApp, { fieldOwner })
      .child('config', ConfigMap, {
        name: ({ spec }) => spec.image.replace(':', '-'),
        ready: ({ metadata }) => isReady || metadata.name === 'web-1',
        desired,
      })
      .child('web', ConfigMap, { needsReady: ['config'], desired });
    await children.reconcile(await app(), context);
    await edit({ image: 'web:2' });
    await children.reconcile(await app(), context);
    expect([await exists('web-1'), await exists('web-2')]).toEqual([true, true]);
    isReady = true;
    await children.reconcile(await app(), context);
    expect([await exists('web-1'), await exists('web-2')]).toEqual([false, true]);
  });

  it('keeps a renamed object while the new one cannot be made', async () => {
    const { app, context, namespace, edit, exists } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
      name: ({ spec }) => spec.image.replace(':', '-'),
      desired,
    });
    await children.reconcile(await app(), context);
    await environment.client.create(ConfigMap, { metadata: { namespace, name: 'web-2' } });
    await edit({ image: 'web:2' });
    await resultOf(children.reconcile(await app(), context));
    expect(await exists('web-1')).toBe(true);
  });

  it('prunes nothing of a node whose objects are not known', async () => {
    const { app, context, edit, exists } = await world();
    const children = dependents(WebApp, { fieldOwner }).set('parts', ConfigMap, {
      each: ({ spec }) => {
        if (spec.image === 'web:2') throw new Error('no parts');
        return new Map([['a', 'a']]);
      },
      desired,
    });
    await children.reconcile(await app(), context);
    await edit({ image: 'web:2' });
    await resultOf(children.reconcile(await app(), context));
    expect(await exists('shop-parts-a')).toBe(true);
  });

  it('forgets a kind with its last object', async () => {
    const { app, context, edit } = await world();
    const children = dependents(WebApp, { fieldOwner })
      .child('config', ConfigMap, { when: ({ spec }) => spec.image === 'web:1', desired })
      .child('service', Service, { desired: () => ({ spec: { ports: [{ port: 80 }] } }) });
    await children.reconcile(await app(), context);
    const inventory = async () =>
      (await app()).metadata.annotations?.['kctl.dev/inventory']?.replaceAll(/\/[^,]*/g, '');
    expect(await inventory()).toBe('ConfigMap,Service');
    await edit({ image: 'web:2' });
    await children.reconcile(await app(), context);
    await children.reconcile(await app(), context);
    expect(await inventory()).toBe('Service');
  });

  it.each([
    ['generateName', { metadata: { generateName: 'x-' } }],
    ['kctl.dev/node', { metadata: { labels: { 'kctl.dev/node': 'x' } } }],
    ['kctl.dev/wave', { metadata: { annotations: { 'kctl.dev/wave': '9' } } }],
    ['kind "Secret"', { kind: 'Secret' }],
    ['namespace "other"', { metadata: { namespace: 'other' } }],
  ])('refuses a desired object with %s, and applies the others', async (what, object) => {
    const { app, context, exists } = await world();
    const children = dependents(WebApp, { fieldOwner })
      .child('bad', ConfigMap, { desired: () => object as object })
      .child('good', ConfigMap, { desired });
    const error = await resultOf(children.reconcile(await app(), context));
    expect(error.message).toContain(what);
    expect(error.result.nodes['bad']).toMatchObject({ state: 'failed', reason: 'InvalidDesired' });
    expect([await exists('shop-bad'), await exists('shop-good')]).toEqual([false, true]);
  });

  it('keeps labels of initial fields', async () => {
    const { app, context, childKey } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, {
      initial: () => ({ metadata: { labels: { tier: 'gold' } }, data: { scale: '1' } }),
      desired,
    });
    await children.reconcile(await app(), context);
    const { metadata, data } = await environment.client.get(ConfigMap, childKey('config'));
    expect([metadata.labels?.['tier'], data]).toEqual(['gold', { a: '1', scale: '1' }]);
  });

  it('reports a fight over a field once', async () => {
    const { app, context, childKey, events } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('config', ConfigMap, { desired });
    await children.reconcile(await app(), context);
    for (let round = 0; round < 8; round++) {
      const theirs = { metadata: childKey('config'), data: { a: '2' } };
      await apply(environment.client, ConfigMap, theirs, { fieldOwner: 'fighter', force: true });
      await children.reconcile(await app(), context);
    }
    expect(events.filter((event) => event.startsWith('FieldFight'))).toEqual([
      expect.stringMatching(/data of .*was taken from fighter 6 times/),
    ]);
  });

  it.each([
    ['orphanPods', 'Orphan'],
    ['foreground', 'Foreground'],
    ['background', 'Background'],
  ] as const)('recreates with %s as the propagation policy %s', async (recreate, policy) => {
    const { app, context, client, edit } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('web', Deployment, {
      desired: ({ spec }) => ({ spec: podOf(spec.image.replace(':', '-'), spec.image) }),
      onImmutable: { recreate },
    });
    await children.reconcile(await app(), context);
    await edit({ image: 'web:2' });
    client.clear();
    await children.reconcile(await app(), context);
    const uid = expect.any(String) as string;
    expect(client.writes.find(({ verb }) => verb === 'delete')?.options).toMatchObject({
      propagationPolicy: policy,
      preconditions: { uid },
    });
  });

  it('leaves a paused child alone, also one that is not wanted', async () => {
    const { app, context, edit, childKey, exists } = await world();
    const children = dependents(WebApp, { fieldOwner })
      .child('config', ConfigMap, { desired: ({ spec }) => ({ data: { image: spec.image } }) })
      .child('extra', ConfigMap, { when: ({ spec }) => spec.image === 'web:1', desired });
    await children.reconcile(await app(), context);
    const pause = mergePatch({ metadata: { annotations: { 'kctl.dev/paused': 'true' } } });
    for (const name of ['config', 'extra']) await environment.client.patch(ConfigMap, childKey(name), pause);
    await edit({ image: 'web:2' });
    const { nodes } = await children.reconcile(await app(), context);
    expect(nodes.config.state).toBe('paused');
    expect((await environment.client.get(ConfigMap, childKey('config'))).data).toEqual({ image: 'web:1' });
    expect(await exists('shop-extra')).toBe(true);
  });

  it('does not compute a paused child, which neither fails nor is blocked', async () => {
    const { app, context, edit, childKey } = await world();
    const children = dependents(WebApp, { fieldOwner })
      .child('config', ConfigMap, {
        desired: ({ spec }) => {
          if (spec.image === 'web:2') throw new Error('broken');
          return { data: { image: spec.image } };
        },
      })
      .child('late', ConfigMap, { needsReady: ['config'], gate: 'always', desired });
    await children.reconcile(await app(), context);
    const pause = mergePatch({ metadata: { annotations: { 'kctl.dev/paused': 'true' } } });
    for (const name of ['config', 'late']) await environment.client.patch(ConfigMap, childKey(name), pause);
    await edit({ image: 'web:2' });
    const { nodes } = await children.reconcile(await app(), context);
    expect([nodes.config.state, nodes.late.state]).toEqual(['paused', 'paused']);
  });

  it('leaves a child alone that was paused behind a cache', async () => {
    const { app, context, edit, childKey, exists } = await world();
    const children = dependents(WebApp, { fieldOwner })
      .child('config', ConfigMap, { desired: ({ spec }) => ({ data: { image: spec.image } }) })
      .child('extra', ConfigMap, { when: ({ spec }) => spec.image === 'web:1', desired });
    await children.reconcile(await app(), context);
    const stale = await environment.client.get(ConfigMap, childKey('extra'));
    const pause = mergePatch({ metadata: { annotations: { 'kctl.dev/paused': 'true' } } });
    await environment.client.patch(ConfigMap, childKey('extra'), pause);
    await edit({ image: 'web:2' });
    const cached = intercept(context.client, (next) => ({
      list: async (kind, options) => {
        const list = await next.list(kind, options);
        if (kind.kind !== 'ConfigMap' || options?.live === true) return list;
        const items = list.items.map((each) => (each.metadata.name === 'shop-extra' ? stale : each));
        return { ...list, items: items as never };
      },
    }));
    await children.reconcile(await app(), { ...context, client: cached });
    expect(await exists('shop-extra')).toBe(true);
  });
});

describe('the status', () => {
  it('has three causes at most, failures first, and then what waits for them', async () => {
    const { app, context } = await world();
    const waits = () => ({ desired, ready: () => 'later' });
    const children = dependents(WebApp, { fieldOwner })
      .child('a', ConfigMap, waits())
      .child('b', ConfigMap, waits())
      .child('c', ConfigMap, waits())
      .child('d', ConfigMap, {
        desired: () => {
          throw new Error('broken');
        },
      })
      .child('e', ConfigMap, { needs: ['d'], desired });
    const { result } = await resultOf(children.reconcile(await app(), context));
    const [ready] = result.conditions();
    expect(ready?.message.split('; ').map((part) => part.replace(/ \(.*/, ''))).toEqual([
      'd',
      'a',
      'b',
      '1 more',
      'blocked: e',
    ]);
    expect([ready?.status, ready?.observedGeneration]).toEqual(['False', 1]);
  });

  it('has times that change with the state alone', async () => {
    const { app, context, clock } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('a', ConfigMap, { desired, ready: () => 'later' });
    const first = await children.reconcile(await app(), context);
    await clock.advance(60_000);
    const second = await children.reconcile(await app(), context);
    expect(second.nodes.a.since).toBe(first.nodes.a.since);
    expect(second.conditions(first.conditions())).toEqual(first.conditions());
  });

  it('takes a load balancer for ready once it has an address', async () => {
    const { app, context, childKey } = await world();
    const children = dependents(WebApp, { fieldOwner }).child('entry', Service, {
      desired: () => ({ spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }),
    });
    expect((await children.reconcile(await app(), context)).nodes.entry.reason).toBe('NoAddress');
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    await environment.client.status(Service).patch(childKey('entry'), mergePatch({ status }));
    expect((await children.reconcile(await app(), context)).ready).toBe(true);
  });

  it('is measured by node and state', async () => {
    const { app, context, clock } = await world();
    const seen = new Map<string, number>();
    const family = (name: string) => ({
      with: (labels: Readonly<Record<string, string>>) => {
        const { primary: _primary, ...rest } = labels;
        const id = `${name.replace('kctl_dependents_', '')} ${Object.values(rest).join(' ')}`;
        const add = (count: number) => void seen.set(id, (seen.get(id) ?? 0) + count);
        return { inc: () => add(1), dec: () => add(-1), set: add, observe: add };
      },
      remove: () => undefined,
    });
    const make = ({ name }: { readonly name: string }) => family(name);
    const metrics = {
      gauge: make,
      counter: make,
      histogram: make,
      onCollect: () => () => undefined,
    } as unknown as Metrics;
    let isReady = false;
    const children = dependents(WebApp, { fieldOwner }).child('a', ConfigMap, { desired, ready: () => isReady });
    await children.reconcile(await app(), { ...context, metrics });
    isReady = true;
    await clock.advance(5_000);
    await children.reconcile(await app(), { ...context, metrics });
    expect(Object.fromEntries(seen)).toEqual({
      'nodes a progressing': 0,
      'nodes a ready': 1,
      'writes_total a created': 1,
      'ready_seconds a': 5,
    });
    children.forget({ namespace: (await app()).metadata.namespace, name: 'shop' });
    expect(seen.get('nodes a ready')).toBe(0);
  });
});
