import type { UntypedObject } from '@kctl/apimachinery';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { configMap, configMaps, harness, widget, widgetCrd, widgets, type Harness, namesOf } from './harness.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const held = (name: string) => ({ metadata: { name, finalizers: ['ex.io/hold'] } });

async function owned(h: Harness, name: string, owner: { metadata: { name: string; uid: string } }, extra: object = {}) {
  const reference = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    ...extra,
  };
  return h.post(configMaps, { metadata: { name, ownerReferences: [reference] } });
}

async function until(h: Harness, path: string, status: number): Promise<void> {
  for (let turn = 0; turn < 50; turn++) {
    if ((await h.get(path)).status === status) return;
    await settle();
  }
  expect((await h.get(path)).status).toBe(status);
}

describe('DELETE', () => {
  it('§2.9-53: without finalizers it answers a Status; with them the object stays, and a repeated delete changes nothing', async () => {
    const h = await harness();
    const a = (await h.post(configMaps, configMap('a'))).body;
    expect((await h.delete(`${configMaps}/a`)).body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: a.metadata.uid },
    });
    await h.post(configMaps, held('f'));
    const first = await h.delete(`${configMaps}/f`);
    expect(first.body.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
    });
    expect((await h.delete(`${configMaps}/f`)).body).toEqual(first.body);
  });

  it('§2.9-54: the name stays taken, no finalizer can be added, and the last one to go takes the object along', async () => {
    const h = await harness();
    await h.post(configMaps, held('f'));
    const going = (await h.delete(`${configMaps}/f`)).body;
    expect((await h.post(configMaps, configMap('f'))).body.message).toBe(
      'object is being deleted: configmaps "f" already exists',
    );
    expect((await h.merge(`${configMaps}/f`, { metadata: { finalizers: ['ex.io/hold', 'ex.io/more'] } })).status).toBe(
      422,
    );
    const watch = await h.watch(`${configMaps}?watch=1&resourceVersion=${h.server.revision}`);
    const gone = await h.merge(`${configMaps}/f`, { metadata: { finalizers: null } });
    expect([gone.status, gone.body.metadata.resourceVersion]).toEqual([200, going.metadata.resourceVersion]);
    const event = await watch.next();
    expect([event.type, event.object.metadata.resourceVersion]).toEqual(['DELETED', String(h.server.revision)]);
    expect((await h.get(`${configMaps}/f`)).status).toBe(404);
  });

  it('§2.9-55: preconditions and options', async () => {
    const h = await harness();
    const a = (await h.post(configMaps, configMap('a'))).body;
    const uid = await h.delete(`${configMaps}/a`, { preconditions: { uid: 'x' } });
    expect([uid.status, uid.body.message]).toEqual([
      409,
      `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (${a.metadata.uid}). The object might have been deleted and then recreated`,
    ]);
    expect((await h.delete(`${configMaps}/a`, { preconditions: { resourceVersion: '1' } })).status).toBe(409);
    expect((await h.delete(`${configMaps}/a`, { propagationPolicy: 'Zip' })).body.message).toBe(
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Zip": supported values: "Foreground", "Background", "Orphan", "nil"',
    );
    expect(
      (await h.delete(`${configMaps}/a`, { propagationPolicy: 'Foreground', orphanDependents: true })).status,
    ).toBe(422);
    expect((await h.call('DELETE', `${configMaps}/a?propagationPolicy=Background`)).status).toBe(200);
  });

  it('§2.9-57: deletecollection honours selectors and answers the list', async () => {
    const h = await harness();
    await h.post(configMaps, configMap('a', { l: '1' }));
    await h.post(configMaps, configMap('b'));
    const answer = await h.call('DELETE', `${configMaps}?labelSelector=l`);
    expect([answer.body.kind, answer.body.items.length]).toEqual(['ConfigMapList', 1]);
    expect(namesOf((await h.get(configMaps)).body.items)).toEqual(['b']);
  });

  it('§2.9-58: an unscheduled Pod is gone at once; a scheduled one has its grace, which can be shortened', async () => {
    const h = await harness();
    const pods = '/api/v1/namespaces/default/pods';
    const pod = (name: string, nodeName?: string) => ({
      metadata: { name },
      spec: { ...(nodeName !== undefined && { nodeName }), containers: [{ name: 'c', image: 'i' }] },
    });
    await h.post(pods, pod('p1'));
    expect((await h.delete(`${pods}/p1`)).body.kind).toBe('Pod');
    expect((await h.get(`${pods}/p1`)).status).toBe(404);
    await h.post(pods, pod('p2', 'n'));
    expect((await h.delete(`${pods}/p2`)).body.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
    });
    expect((await h.delete(`${pods}/p2`, { gracePeriodSeconds: 5 })).body.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:05Z',
      deletionGracePeriodSeconds: 5,
    });
    await h.delete(`${pods}/p2`, { gracePeriodSeconds: 0 });
    expect((await h.get(`${pods}/p2`)).status).toBe(404);
  });
});

describe('garbage collection', () => {
  it('§2.9-59: background: dependents go after their owner, through several levels', async () => {
    const h = await harness();
    const owner = (await h.post(configMaps, configMap('owner'))).body;
    const child = (await owned(h, 'child', owner)).body;
    await owned(h, 'grandchild', child);
    await h.delete(`${configMaps}/owner`);
    await until(h, `${configMaps}/child`, 404);
    await until(h, `${configMaps}/grandchild`, 404);
  });

  it('§2.9-56 §2.9-59: foreground: the owner stays until the dependents that block it are gone', async () => {
    const h = await harness();
    const owner = (await h.post(configMaps, configMap('owner'))).body;
    const reference = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'owner',
      uid: owner.metadata.uid,
      blockOwnerDeletion: true,
    };
    await h.post(configMaps, { metadata: { name: 'child', ownerReferences: [reference], finalizers: ['ex.io/hold'] } });
    expect(
      (await h.delete(`${configMaps}/owner`, { propagationPolicy: 'Foreground' })).body.metadata.finalizers,
    ).toEqual(['foregroundDeletion']);
    await settle();
    expect((await h.get(`${configMaps}/child`)).body.metadata.deletionTimestamp).toBeDefined();
    expect((await h.get(`${configMaps}/owner`)).status).toBe(200);
    await h.merge(`${configMaps}/child`, { metadata: { finalizers: null } });
    await until(h, `${configMaps}/owner`, 404);
  });

  it('§2.9-59: orphan: the dependents stay, without the reference', async () => {
    const h = await harness();
    const owner = (await h.post(configMaps, configMap('owner'))).body;
    await owned(h, 'child', owner);
    await h.delete(`${configMaps}/owner`, { propagationPolicy: 'Orphan' });
    await until(h, `${configMaps}/owner`, 404);
    expect((await h.get(`${configMaps}/child`)).body.metadata.ownerReferences).toBeUndefined();
  });

  it('§2.9-59: an owner that never was is absent; of several owners the last one counts', async () => {
    const h = await harness();
    await owned(h, 'ghostly', { metadata: { name: 'ghost', uid: 'none' } });
    await until(h, `${configMaps}/ghostly`, 404);
    const [one, two] = [
      (await h.post(configMaps, configMap('one'))).body,
      (await h.post(configMaps, configMap('two'))).body,
    ];
    const references = [one, two].map((owner) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: owner.metadata.name,
      uid: owner.metadata.uid,
    }));
    await h.post(configMaps, { metadata: { name: 'shared', ownerReferences: references } });
    await h.delete(`${configMaps}/one`);
    for (let i = 0; i < 5; i++) await settle();
    expect((await h.get(`${configMaps}/shared`)).body.metadata.ownerReferences).toHaveLength(1);
    await h.delete(`${configMaps}/two`);
    await until(h, `${configMaps}/shared`, 404);
  });

  it('deletes nothing whose owner is of a kind that is not served, until that kind is', async () => {
    const h = await harness();
    const reference = { apiVersion: 'ex.io/v1', kind: 'Widget', name: 'w', uid: 'u' };
    await h.post(configMaps, { metadata: { name: 'a', ownerReferences: [reference] } });
    for (let i = 0; i < 5; i++) await settle();
    expect((await h.get(`${configMaps}/a`)).status).toBe(200);
    await h.post(crds, widgetCrd);
    await until(h, `${configMaps}/a`, 404);
  });
});

describe('namespaces and definitions', () => {
  it('§2.9-60: the four system namespaces are there and cannot be deleted', async () => {
    const h = await harness();
    const list = await h.get('/api/v1/namespaces');
    expect(namesOf(list.body.items)).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
    const refused = await h.delete('/api/v1/namespaces/default');
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'namespaces "default" is forbidden: this namespace may not be deleted',
    ]);
  });

  it('§2.9-60: a namespace goes with its contents, and says what holds it', async () => {
    const h = await harness();
    await h.post('/api/v1/namespaces', { metadata: { name: 'n' } });
    await h.post('/api/v1/namespaces/n/configmaps', configMap('a'));
    await h.post('/api/v1/namespaces/n/configmaps', held('f'));
    const going = await h.delete('/api/v1/namespaces/n');
    expect([going.body.kind, going.body.status.phase]).toEqual(['Namespace', 'Terminating']);
    await until(h, '/api/v1/namespaces/n/configmaps/a', 404);
    const { conditions } = (await h.get('/api/v1/namespaces/n')).body.status;
    const found = (conditions as { type: string }[]).find((each) => each.type === 'NamespaceFinalizersRemaining');
    expect(found).toMatchObject({
      status: 'True',
      message: 'Some content in the namespace has finalizers remaining: ex.io/hold in 1 resource instances',
    });
    await h.merge('/api/v1/namespaces/n/configmaps/f', { metadata: { finalizers: null } });
    await until(h, '/api/v1/namespaces/n', 404);
  });

  it('§2.10-61 §2.1-4: a definition is served as soon as it is written', async () => {
    const h = await harness();
    await h.post(crds, widgetCrd);
    expect((await h.post(widgets, widget('a'))).status).toBe(201);
    const { groups } = (await h.get('/apis')).body as { groups: { name: string }[] };
    expect(groups.map(({ name }) => name)).toContain('ex.io');
  });

  it('§2.10-65: a definition that is deleted waits for its objects, then takes its paths along', async () => {
    const h = await harness();
    await h.post(crds, widgetCrd);
    await h.post(widgets, widget('held', { finalizers: ['ex.io/hold'] }));
    await h.post(widgets, widget('free'));
    const watch = await h.watch(`${widgets}?watch=1&resourceVersion=${h.server.revision}`);
    const going = await h.delete(`${crds}/widgets.ex.io`);
    expect(going.body.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
    await until(h, `${widgets}/free`, 404);
    expect((await h.post(widgets, widget('late'))).status).toBe(403);
    await h.merge(`${widgets}/held`, { metadata: { finalizers: null } });
    await until(h, `${crds}/widgets.ex.io`, 404);
    expect((await h.get(widgets)).text).toBe('404 page not found\n');
    const types: string[] = [];
    for (let event = await watch.next(); event !== undefined; event = await watch.next()) types.push(event.type);
    expect(types.filter((type) => type === 'DELETED')).toHaveLength(2);
  });
});

it('an owner of many sets all of them free', async () => {
  const { server, get, post, delete: remove } = await harness();
  const owner = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'owner',
    uid: (await post(configMaps, configMap('owner'))).body.metadata.uid,
  };
  await server.seed(
    Array.from({ length: 350 }, (_, index) => ({
      ...configMap(`d${index}`),
      metadata: { name: `d${index}`, namespace: 'default', ownerReferences: [owner] },
    })),
  );
  await remove(`${configMaps}/owner`, { propagationPolicy: 'Orphan' });
  await settle();
  const { items } = (await get(configMaps)).body;
  expect(items).toHaveLength(350);
  expect(items.filter((item: UntypedObject) => item.metadata.ownerReferences !== undefined)).toEqual([]);
});
