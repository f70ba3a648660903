import { describe, expect, it } from 'vitest';
import { configMap, configMaps, harness, widget, widgetCrd, widgets, type Answer, type Harness } from './harness.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1: Record<string, unknown>;
}

/** Who owns what: `manager operation subresource` to the fields. */
function owners({ body }: Answer): Record<string, unknown> {
  const entries: readonly Entry[] = body.metadata.managedFields ?? [];
  return Object.fromEntries(
    entries.map(({ manager, operation, subresource = '', fieldsV1 }) => [
      `${manager} ${operation} ${subresource}`.trim(),
      fieldsV1,
    ]),
  );
}

async function withWidgets(): Promise<Harness> {
  const h = await harness();
  await h.post(crds, widgetCrd);
  return h;
}

describe('managedFields', () => {
  it('an object that a PUT of its status creates is owned through the status', async () => {
    const h = await harness();
    const spec = { clusterIP: 'None', ports: [{ port: 80 }] };
    const status = { loadBalancer: { ingress: [{ ip: '10.1.1.1' }] } };
    const made = await h.put('/api/v1/namespaces/default/services/s/status', { metadata: { name: 's' }, spec, status });
    expect(made.status).toBe(201);
    expect(owners(made)).toEqual({
      'unknown Update status': { 'f:status': { 'f:loadBalancer': { 'f:ingress': {} } } },
    });
  });

  it('§2.5-31: a create names the User-Agent up to its first slash, or the fieldManager', async () => {
    const h = await harness();
    const made = await h.post(configMaps, configMap('a', { x: '1' }, { k: 'v' }), {
      'user-agent': 'agent/1.0 (linux)',
    });
    expect(made.body.metadata.managedFields).toEqual([
      {
        manager: 'agent',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:data': { '.': {}, 'f:k': {} },
          'f:metadata': { 'f:labels': { '.': {}, 'f:x': {} } },
        },
      },
    ]);
    const named = await h.post(`${configMaps}?fieldManager=me`, configMap('b', undefined, { k: 'v' }));
    expect(Object.keys(owners(named))).toEqual(['me Update']);
  });

  it('§2.8-51: lists are owned by key, by value or as a whole; what the server fills in has no owner', async () => {
    const h = await harness();
    const made = await h.post(`${deployments}?fieldManager=me`, {
      metadata: { name: 'a', finalizers: ['ex.io/x'] },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'i', args: ['x'], ports: [{ containerPort: 80 }] }] },
        },
      },
    });
    expect(made.status).toBe(201);
    expect(owners(made)['me Update']).toMatchObject({
      'f:metadata': { 'f:finalizers': { '.': {}, 'v:"ex.io/x"': {} } },
      'f:spec': {
        'f:selector': {},
        'f:template': {
          'f:spec': {
            'f:containers': {
              'k:{"name":"c"}': {
                '.': {},
                'f:args': {},
                'f:ports': { '.': {}, 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
              },
            },
          },
        },
      },
    });
    const service = await h.post('/api/v1/namespaces/default/services?fieldManager=me', {
      metadata: { name: 's' },
      spec: { ports: [{ port: 80 }] },
    });
    expect(service.body.spec.clusterIP).toMatch(/^10\./);
    expect(JSON.stringify(owners(service))).not.toContain('clusterIP');
  });

  it('§2.8-51: a changed field moves to the writer, a removed one leaves everybody', async () => {
    const h = await harness();
    await h.post(`${configMaps}?fieldManager=one`, configMap('a', undefined, { x: '1', y: '1', z: '1' }));
    await h.clock.advance(5000);
    const patched = await h.merge(`${configMaps}/a?fieldManager=two`, { data: { x: '2', y: null } });
    expect(owners(patched)).toEqual({
      'one Update': { 'f:data': { '.': {}, 'f:z': {} } },
      'two Update': { 'f:data': { 'f:x': {} } },
    });
    const times = patched.body.metadata.managedFields.map(({ time }: Entry) => time);
    expect(times).toEqual(['2026-01-01T00:00:00Z', '2026-01-01T00:00:05Z']);
    const revision = patched.body.metadata.resourceVersion;
    await h.clock.advance(5000);
    const noop = await h.merge(`${configMaps}/a?fieldManager=three`, { data: { x: '2' } });
    expect(noop.body.metadata.resourceVersion).toBe(revision);
    expect(owners(noop)).toEqual(owners(patched));
  });

  it('§2.7-43: /status has an entry of its own, and each endpoint ignores what it does not write', async () => {
    const h = await withWidgets();
    await h.post(`${widgets}?fieldManager=me`, { ...widget('a'), status: { ready: false } });
    const status = await h.merge(`${widgets}/a/status?fieldManager=me`, { spec: { size: 9 }, status: { ready: true } });
    expect(owners(status)).toEqual({
      'me Update': { 'f:spec': { '.': {}, 'f:max': {}, 'f:size': {} } },
      'me Update status': { 'f:status': { '.': {}, 'f:ready': {} } },
    });
    const main = await h.merge(`${widgets}/a?fieldManager=other`, { status: { ready: false } });
    expect(owners(main)).toEqual(owners(status));
  });

  it('§2.6-40, §2.8-51: absent owners are kept; [{}] forgets them, and then nothing is tracked', async () => {
    const h = await withWidgets();
    const made = await h.post(widgets, widget('a'));
    const { managedFields, ...metadata } = made.body.metadata;
    const kept = await h.put(`${widgets}/a`, { ...made.body, metadata });
    expect(kept.body.metadata).toMatchObject({ managedFields, resourceVersion: metadata.resourceVersion });
    expect(owners(await h.merge(`${widgets}/a`, { metadata: { managedFields: [] } }))).toEqual(owners(made));
    expect(owners(await h.merge(`${widgets}/a`, { metadata: { managedFields: [{}] } }))).toEqual({});
    expect(owners(await h.merge(`${widgets}/a`, { spec: { size: 5 } }))).toEqual({});
  });

  it('§2.8-51: of more than ten updaters the oldest are folded into one', async () => {
    const h = await harness();
    await h.post(`${configMaps}?fieldManager=m00`, configMap('a', undefined, { k: '0' }));
    let last: Answer | undefined;
    for (let index = 1; index <= 12; index++) {
      await h.clock.advance(1000);
      const manager = `m${String(index).padStart(2, '0')}`;
      last = await h.merge(`${configMaps}/a?fieldManager=${manager}`, { data: { [manager]: 'x' } });
    }
    const names = Object.keys(last === undefined ? {} : owners(last));
    expect(names).toHaveLength(10);
    expect(names).toContain('ancient-changes Update');
    expect(names).not.toContain('m01 Update');
    expect(names).toContain('m12 Update');
  });

  it('§2.7-44: a write to /scale takes the replicas from who had them', async () => {
    const h = await harness();
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { replicas: 1, selector: { matchLabels: { a: 'b' } }, template };
    await h.post(`${deployments}?fieldManager=me`, { metadata: { name: 'a' }, spec });
    await h.merge(`${deployments}/a/scale?fieldManager=scaler`, { spec: { replicas: 3 } });
    const after = owners(await h.get(`${deployments}/a`));
    expect(after['scaler Update scale']).toEqual({ 'f:spec': { 'f:replicas': {} } });
    expect(JSON.stringify(after['me Update'])).not.toContain('f:replicas');
  });
});
