import { describe, expect, it } from 'vitest';
import { deny, startHook } from './hook-server.js';
import { configMaps, harness, widget, widgetCrd, widgets, type Answer, type Harness } from './harness.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const merge = { 'content-type': 'application/merge-patch+json' };
const deployments = '/apis/apps/v1/namespaces/default/deployments';

const parts = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, v: { type: 'string' } } },
};
const tags = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
const plain = { type: 'array', items: { type: 'string' } };

/** The CRD of the recorded answers: with a list by key, a set and an atomic list. */
function listCrd(): unknown {
  const crd = structuredClone(widgetCrd);
  const properties: Record<string, unknown> =
    crd.spec.versions[0]?.schema.openAPIV3Schema.properties.spec.properties ?? {};
  Object.assign(properties, { parts, tags, plain });
  return crd;
}

async function withWidgets(): Promise<Harness> {
  const h = await harness();
  expect((await h.post(crds, listCrd())).status).toBe(201);
  return h;
}

function applyTo(h: Harness, path: string, body: unknown): Promise<Answer> {
  return h.call('PATCH', path, body, { 'content-type': 'application/apply-patch+yaml' });
}

function applyWidget(h: Harness, manager: string, spec: Record<string, unknown>, query = ''): Promise<Answer> {
  return applyTo(h, `${widgets}/s?fieldManager=${manager}${query}`, widget('s', {}, spec));
}

function fieldsOf({ body }: Answer, manager: string): unknown {
  const entries: readonly { manager: string; fieldsV1: unknown }[] = body.metadata.managedFields ?? [];
  return entries.find((entry) => entry.manager === manager)?.fieldsV1;
}

describe('server-side apply', () => {
  it('§2.8-50: makes the object, and the same again changes nothing', async () => {
    const h = await withWidgets();
    const made = await applyWidget(h, 'm1', { size: 1, parts: [{ name: 'a', v: '1' }] });
    expect([made.status, made.body.spec]).toEqual([201, { max: 10, size: 1, parts: [{ name: 'a', v: '1' }] }]);
    expect(made.body.metadata.managedFields).toMatchObject([{ manager: 'm1', operation: 'Apply' }]);
    expect(fieldsOf(made, 'm1')).toEqual({
      'f:spec': { 'f:parts': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:v': {} } }, 'f:size': {} },
    });
    const again = await applyWidget(h, 'm1', { size: 1, parts: [{ name: 'a', v: '1' }] });
    expect([again.status, again.body.metadata.resourceVersion]).toEqual([200, made.body.metadata.resourceVersion]);
  });

  it('§2.8-50: the same values are owned together, others conflict, force takes them', async () => {
    const h = await withWidgets();
    await applyWidget(h, 'm1', { size: 1, parts: [{ name: 'a', v: '1' }] });
    const shared = await applyWidget(h, 'm2', { size: 1, parts: [{ name: 'b', v: '2' }] });
    expect(shared.body.spec.parts).toEqual([
      { name: 'a', v: '1' },
      { name: 'b', v: '2' },
    ]);
    expect(fieldsOf(shared, 'm1')).toMatchObject({ 'f:spec': { 'f:size': {} } });
    expect(fieldsOf(shared, 'm2')).toMatchObject({ 'f:spec': { 'f:size': {} } });
    const refused = await applyWidget(h, 'm2', { size: 2, parts: [{ name: 'a', v: '9' }] });
    expect([refused.status, refused.body.reason, refused.body.message, refused.body.details]).toEqual([
      409,
      'Conflict',
      'Apply failed with 2 conflicts: conflicts with "m1":\n- .spec.size\n- .spec.parts[name="a"].v',
      {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.spec.size' },
          { reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.spec.parts[name="a"].v' },
        ],
      },
    ]);
    const forced = await applyWidget(h, 'm2', { size: 2, parts: [{ name: 'b', v: '2' }] }, '&force=true');
    expect(forced.body.spec.size).toBe(2);
    expect(fieldsOf(forced, 'm1')).toEqual({
      'f:spec': { 'f:parts': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:v': {} } } },
    });
  });

  it('§2.8-50: what is applied no more goes where nobody else owns it, and is disowned otherwise', async () => {
    const h = await withWidgets();
    await applyWidget(h, 'm1', { size: 1, color: 'red', tags: ['x', 'y'], parts: [{ name: 'a', v: '1' }] });
    await applyWidget(h, 'm2', { size: 1, color: 'red', tags: ['y', 'z'], plain: ['p', 'q'] });
    const dropped = await applyWidget(h, 'm1', { size: 1 });
    expect(dropped.body.spec).toEqual({ size: 1, max: 10, color: 'red', tags: ['y', 'z'], plain: ['p', 'q'] });
    expect(fieldsOf(dropped, 'm1')).toEqual({ 'f:spec': { 'f:size': {} } });
    const atomic = await applyWidget(h, 'm2', { size: 1, plain: ['q'] });
    expect(atomic.body.spec).toEqual({ size: 1, max: 10, plain: ['q'] });
  });

  it('§2.8-51: objects that were never tracked belong to before-first-apply', async () => {
    const h = await withWidgets();
    await h.post(widgets, widget('s', {}, { size: 1 }));
    await h.merge(`${widgets}/s`, { metadata: { managedFields: [{}] } });
    const refused = await applyWidget(h, 'm1', { size: 2 });
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "before-first-apply" using ex.io/v1: .spec.size',
    ]);
  });

  it.each([
    [
      'no manager',
      '',
      {},
      422,
      /^PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch$/,
    ],
    [
      'owners',
      '?fieldManager=m',
      { metadata: { name: 's', managedFields: [] } },
      400,
      /^metadata.managedFields must be nil$/,
    ],
    [
      'an unknown field',
      '?fieldManager=m',
      { spec: { size: 1, zz: 1 } },
      500,
      /^failed to create typed patch object \(\/s; ex.io\/v1, Kind=Widget\): .spec.zz: field not declared in schema$/,
    ],
    [
      'a key twice',
      '?fieldManager=m',
      { spec: { size: 1, parts: [{ name: 'q' }, { name: 'q' }] } },
      500,
      /: .spec.parts: duplicate entries for key \[name="q"\]$/,
    ],
    [
      'another type',
      '?fieldManager=m',
      { spec: { size: 'x' } },
      500,
      /: .spec.size: expected numeric \(int or float\), got string$/,
    ],
    ['another kind', '?fieldManager=m', { kind: 'Other' }, 400, /^invalid object type: ex.io\/v1, Kind=Other$/],
    [
      'a uid of nothing',
      '?fieldManager=m',
      { metadata: { name: 's', uid: '1' } },
      409,
      /uid mismatch: the provided object specified uid 1, and no existing object was found$/,
    ],
  ])('§2.8-50: refuses %s', async (...[, query, change, status, message]) => {
    const h = await withWidgets();
    const answer = await applyTo(h, `${widgets}/s${query}`, { ...widget('s'), ...change });
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
    expect((await h.get(`${widgets}/s`)).status).toBe(404);
  });

  it('§2.8-50: a stale resourceVersion conflicts; a dry run changes nothing; YAML is taken', async () => {
    const h = await withWidgets();
    const dry = await applyWidget(h, 'm1', { size: 1 }, '&dryRun=All');
    expect([dry.status, (await h.get(`${widgets}/s`)).status]).toEqual([201, 404]);
    const yaml = 'apiVersion: ex.io/v1\nkind: Widget\nmetadata:\n  name: s\nspec:\n  size: 1\n';
    expect((await applyTo(h, `${widgets}/s?fieldManager=m1`, yaml)).status).toBe(201);
    const stale = await applyTo(h, `${widgets}/s?fieldManager=m1`, widget('s', { resourceVersion: '1' }, { size: 2 }));
    expect([stale.status, stale.body.reason]).toEqual([409, 'Conflict']);
  });

  it('§2.8-52: /status and /scale take configurations, each for its own fields', async () => {
    const h = await withWidgets();
    await applyWidget(h, 'm1', { size: 1 });
    const config = { ...widget('s'), status: { ready: true } };
    const status = await applyTo(h, `${widgets}/s/status?fieldManager=st`, config);
    expect([status.body.status, fieldsOf(status, 'st')]).toEqual([{ ready: true }, { 'f:status': { 'f:ready': {} } }]);
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { replicas: 1, selector: { matchLabels: { a: 'b' } }, template };
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec };
    await applyTo(h, `${deployments}/d?fieldManager=m1`, deployment);
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 3 } };
    const refused = await applyTo(h, `${deployments}/d/scale?fieldManager=sc`, scale);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "m1": .spec.replicas',
    ]);
    const forced = await applyTo(h, `${deployments}/d/scale?fieldManager=sc&force=true`, scale);
    expect(forced.body.spec).toEqual({ replicas: 3 });
    expect(fieldsOf(await h.get(`${deployments}/d`), 'sc')).toEqual({ 'f:spec': { 'f:replicas': {} } });
  });

  describe('of what is there already', () => {
    const configuration = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: '1' } };
    const applied = (h: Harness, manager: string, query = ''): Promise<Answer> =>
      applyTo(h, `${configMaps}/a?fieldManager=${manager}${query}`, configuration);

    /** Applied twice: the second time it changed nothing. */
    async function unchanged(): Promise<{ readonly h: Harness; readonly answer: Answer }> {
      const h = await harness();
      await applied(h, 'm1', '&force=true');
      return { h, answer: await applied(h, 'm1', '&force=true') };
    }

    it('answers the same each time, and makes no version', async () => {
      const { h, answer } = await unchanged();
      for (let round = 0; round < 3; round++) {
        const again = await applied(h, 'm1', '&force=true');
        expect([again.status, again.body]).toEqual([200, answer.body]);
      }
    });

    it('is applied where another writer came in between', async () => {
      const { h } = await unchanged();
      await h.call('PATCH', `${configMaps}/a?fieldManager=u`, { data: { k: '2' } }, merge);
      expect((await applied(h, 'm1', '&force=true')).body.data).toEqual({ k: '1' });
      await h.call('DELETE', `${configMaps}/a`);
      expect((await applied(h, 'm1', '&force=true')).status).toBe(201);
    });

    it('makes another manager an owner, and conflicts where it is not forced', async () => {
      const { h } = await unchanged();
      expect(fieldsOf(await applied(h, 'm2'), 'm2')).toEqual({ 'f:data': { 'f:k': {} } });
      await h.call('PATCH', `${configMaps}/a?fieldManager=u`, { data: { k: '2' } }, merge);
      expect((await applied(h, 'm1')).status).toBe(409);
    });

    it('is shown to a webhook that was configured since', async () => {
      const { h } = await unchanged();
      const hook = await startHook();
      const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }];
      const webhook = {
        name: 'a.ex.io',
        clientConfig: hook.client(),
        rules,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      };
      await h.post('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'a.ex.io' },
        webhooks: [webhook],
      });
      hook.answer = () => deny();
      expect((await applied(h, 'm1', '&force=true')).status).toBe(400);
      expect(hook.requests).toHaveLength(1);
    });

    it('warns each time of what it warned of before', async () => {
      const h = await harness();
      const spec = { clusterIP: 'None', loadBalancerIP: '10.1.1.1', ports: [{ port: 80 }] };
      const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec };
      const path = '/api/v1/namespaces/default/services/s?fieldManager=m1';
      await applyTo(h, path, service);
      for (let round = 0; round < 3; round++)
        expect((await applyTo(h, path, service)).headers.get('warning')).toContain('spec.loadBalancerIP is ignored');
    });
  });

  it('§2.8-52: kubectl takes over what its client-side apply set, and keeps its annotation right', async () => {
    const h = await harness();
    const bare = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: '1' } };
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const annotations = { [annotation]: JSON.stringify(bare) };
    await h.post(`${configMaps}?fieldManager=kubectl-client-side-apply`, {
      ...bare,
      metadata: { name: 'a', annotations },
    });
    const changed = { ...bare, data: { k: '2' } };
    expect((await applyTo(h, `${configMaps}/a?fieldManager=other`, changed)).status).toBe(409);
    const taken = await applyTo(h, `${configMaps}/a?fieldManager=kubectl`, changed);
    expect([taken.status, taken.body.data]).toEqual([200, { k: '2' }]);
    expect(JSON.parse(taken.body.metadata.annotations[annotation])).toEqual(changed);
  });
});
