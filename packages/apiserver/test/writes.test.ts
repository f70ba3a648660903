import { describe, expect, it } from 'vitest';
import { configMap, configMaps, harness, widget, widgetCrd, widgets, type Harness } from './harness.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

async function withWidgets(): Promise<Harness> {
  const h = await harness();
  expect((await h.post(crds, widgetCrd)).status).toBe(201);
  return h;
}

describe('create, update, patch', () => {
  it('§2.5-31: the server sets uid, time, revision and generation, whatever the client sent', async () => {
    const h = await withWidgets();
    const { metadata } = (
      await h.post(
        widgets,
        widget('a', {
          uid: 'x',
          creationTimestamp: '2000-01-01T00:00:00Z',
          generation: 7,
          deletionTimestamp: '2000-01-01T00:00:00Z',
        }),
      )
    ).body;
    expect(metadata).toMatchObject({
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 1,
      resourceVersion: String(h.server.revision),
    });
    expect(metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(metadata.deletionTimestamp).toBeUndefined();
    expect((await h.post(configMaps, configMap('a'))).body.metadata.generation).toBeUndefined();
  });

  it('§2.5-32: a resourceVersion, a foreign namespace, a missing namespace, a terminating one', async () => {
    const h = await harness();
    const withRevision = await h.post(configMaps, { metadata: { name: 'a', resourceVersion: '5' } });
    expect([withRevision.status, withRevision.body.message]).toEqual([
      500,
      'resourceVersion should not be set on objects to be created',
    ]);
    expect((await h.post(configMaps, { metadata: { name: 'a', namespace: 'other' } })).status).toBe(400);
    const missing = await h.post('/api/v1/namespaces/none/configmaps', configMap('a'));
    expect([missing.status, missing.body.message]).toEqual([404, 'namespaces "none" not found']);
    await h.post('/api/v1/namespaces', { metadata: { name: 'going' } });
    await h.post('/api/v1/namespaces/going/configmaps', { metadata: { name: 'held', finalizers: ['ex.io/hold'] } });
    await h.delete('/api/v1/namespaces/going');
    const refused = await h.post('/api/v1/namespaces/going/configmaps', configMap('late'));
    expect([refused.status, refused.body.details.causes]).toEqual([
      403,
      [{ reason: 'NamespaceTerminating', message: 'namespace going is being terminated', field: 'metadata.namespace' }],
    ]);
  });

  it('§2.5-33: generateName adds five characters; a name wins; taken names answer 409', async () => {
    const h = await harness();
    const generated = await h.post(configMaps, { metadata: { generateName: 'x-' } });
    expect(generated.body.metadata.name).toMatch(/^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect((await h.post(configMaps, { metadata: { generateName: 'x-', name: 'n' } })).body.metadata.name).toBe('n');
    const taken = await h.post(configMaps, configMap('n'));
    expect([taken.status, taken.body.reason, taken.body.message]).toEqual([
      409,
      'AlreadyExists',
      'configmaps "n" already exists',
    ]);
    expect((await h.post(configMaps, { metadata: {} })).status).toBe(422);
  });

  it('§2.5-33: a generated name that is taken is drawn anew', async () => {
    const draws = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5];
    const h = await harness({ random: () => draws.shift() ?? 0.9 });
    expect((await h.post(configMaps, { metadata: { generateName: 'x-' } })).body.metadata.name).toBe('x-bbbbb');
    expect((await h.post(configMaps, { metadata: { generateName: 'x-' } })).body.metadata.name).toBe('x-rrrrr');
  });

  it('§2.5-35: status is dropped on create where there is a status subresource', async () => {
    const h = await withWidgets();
    expect((await h.post(widgets, { ...widget('a'), status: { ready: true } })).body.status).toBeUndefined();
  });

  it('§2.6-37 §2.6-39: a stale revision answers 409; without one a custom resource answers 422, a ConfigMap is overwritten', async () => {
    const h = await withWidgets();
    const first = (await h.post(widgets, widget('a'))).body;
    const second = await h.put(`${widgets}/a`, { ...first, spec: { size: 2 } });
    expect([second.status, second.body.metadata.generation]).toEqual([200, 2]);
    const stale = await h.put(`${widgets}/a`, { ...first, spec: { size: 3 } });
    expect([stale.status, stale.body.message]).toEqual([
      409,
      'Operation cannot be fulfilled on widgets.ex.io "a": the object has been modified; please apply your changes to the latest version and try again',
    ]);
    const unconditional = await h.put(`${widgets}/a`, widget('a'));
    expect([unconditional.status, unconditional.body.message]).toEqual([
      422,
      'widgets.ex.io "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]);
    await h.post(configMaps, configMap('a'));
    expect((await h.put(`${configMaps}/a`, configMap('a', undefined, { x: '1' }))).status).toBe(200);
  });

  it('§2.6-38: a write that changes nothing makes no revision and no event', async () => {
    const h = await withWidgets();
    const made = (await h.post(widgets, widget('a'))).body;
    const before = h.server.revision;
    expect((await h.put(`${widgets}/a`, made)).body.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    await h.put(`${widgets}/a`, { ...made, status: { ready: true } });
    await h.merge(`${widgets}/a`, { spec: { size: 1, bogus: 1 } });
    await h.jsonPatch(`${widgets}/a`, []);
    expect(h.server.revision).toBe(before);
  });

  it('§2.6-39: a Lease is created by PUT; other absent objects answer 404', async () => {
    const h = await harness();
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    expect((await h.put(`${leases}/a`, { metadata: { name: 'a' }, spec: { holderIdentity: 'x' } })).status).toBe(201);
    expect((await h.put(`${configMaps}/none`, configMap('none'))).status).toBe(404);
  });

  it('§2.6-40: name and uid must be those of the object', async () => {
    const h = await withWidgets();
    const made = (await h.post(widgets, widget('a'))).body;
    expect((await h.put(`${widgets}/b`, made)).body.message).toBe(
      'the name of the object (a) does not match the name on the URL (b)',
    );
    const other = await h.put(`${widgets}/a`, { ...made, metadata: { ...made.metadata, uid: 'zzz' } });
    expect([other.status, other.body.message]).toEqual([
      409,
      expect.stringContaining('Precondition failed: UID in precondition: zzz'),
    ]);
  });

  it('§2.7-43: /status changes the status alone', async () => {
    const h = await withWidgets();
    const made = (await h.post(widgets, widget('a'))).body;
    const changed = await h.put(`${widgets}/a/status`, {
      ...made,
      metadata: { ...made.metadata, labels: { l: '1' } },
      spec: { size: 9 },
      status: { ready: true },
    });
    expect([
      changed.status,
      changed.body.spec.size,
      changed.body.metadata.labels,
      changed.body.status,
      changed.body.metadata.generation,
    ]).toEqual([200, 1, undefined, { ready: true }, 1]);
    expect((await h.get(`${widgets}/a/scale`)).status).toBe(404);
  });

  it('§2.7-44: /scale reads and writes the replicas of a Deployment', async () => {
    const h = await harness();
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    expect(
      (
        await h.post(deployments, {
          metadata: { name: 'd' },
          spec: { selector: { matchLabels: { a: 'b' } }, template },
        })
      ).status,
    ).toBe(201);
    const scale = (await h.get(`${deployments}/d/scale`)).body;
    expect([scale.kind, scale.spec.replicas, scale.status.selector]).toEqual(['Scale', 1, 'a=b']);
    expect((await h.merge(`${deployments}/d/scale`, { spec: { replicas: 3 } })).body.spec.replicas).toBe(3);
    const whole = (await h.get(`${deployments}/d`)).body;
    expect([whole.spec.replicas, whole.metadata.generation]).toEqual([3, 2]);
  });

  it('§2.8-46: an unknown patch type answers 415, force belongs to apply', async () => {
    const h = await withWidgets();
    await h.post(widgets, widget('a'));
    const strategic = await h.call(
      'PATCH',
      `${widgets}/a`,
      {},
      { 'content-type': 'application/strategic-merge-patch+json' },
    );
    expect([strategic.status, strategic.body.message]).toEqual([
      415,
      expect.stringContaining('application/json-patch+json, application/merge-patch+json'),
    ]);
    expect((await h.merge(`${widgets}/a?force=true`, {})).status).toBe(422);
    expect((await h.merge(`${widgets}/none`, {})).status).toBe(404);
  });

  it('§2.8-48: a merge patch with a stale revision answers 409; null deletes', async () => {
    const h = await harness();
    await h.post(configMaps, configMap('a', undefined, { x: '1', y: '2' }));
    expect((await h.merge(`${configMaps}/a`, { data: { x: null } })).body.data).toEqual({ y: '2' });
    expect((await h.merge(`${configMaps}/a`, { metadata: { resourceVersion: '1' }, data: { z: '1' } })).status).toBe(
      409,
    );
    expect((await h.merge(`${configMaps}/a`, { metadata: { name: 'b' } })).status).toBe(400);
  });

  it('§2.8: concurrent patches of different fields all win', async () => {
    const h = await harness();
    await h.post(configMaps, configMap('a'));
    await Promise.all(Array.from({ length: 30 }, (_, i) => h.merge(`${configMaps}/a`, { data: { [`k${i}`]: '1' } })));
    expect(Object.keys((await h.get(`${configMaps}/a`)).body.data)).toHaveLength(30);
  });

  it('§2.12-73: of two updates with the same revision exactly one wins', async () => {
    const h = await harness();
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    const made = (await h.post(leases, { metadata: { name: 'l' }, spec: { holderIdentity: 'x' } })).body;
    const tries = await Promise.all(
      ['a', 'b'].map((holderIdentity) => h.put(`${leases}/l`, { ...made, spec: { holderIdentity } })),
    );
    expect(tries.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('§2.11-69: a dry run answers as if, and keeps nothing', async () => {
    const h = await harness();
    const before = h.server.revision;
    const dry = await h.post(`${configMaps}?dryRun=All`, configMap('a'));
    expect([dry.status, dry.body.metadata.resourceVersion, h.server.revision]).toEqual([201, undefined, before]);
    expect((await h.post(`${configMaps}?dryRun=Some`, configMap('a'))).status).toBe(422);
    await h.post(configMaps, configMap('a'));
    expect((await h.merge(`${configMaps}/a?dryRun=All`, { data: { x: '1' } })).body.data).toEqual({ x: '1' });
    expect((await h.call('DELETE', `${configMaps}/a?dryRun=All`)).status).toBe(200);
    expect((await h.get(`${configMaps}/a`)).body.data).toBeUndefined();
  });

  it('§2.11-70: unknown and duplicate fields are refused, told or ignored, as asked', async () => {
    const h = await withWidgets();
    const body =
      '{"apiVersion":"ex.io/v1","kind":"Widget","metadata":{"name":"NAME"},"spec":{"size":1,"size":2,"zz":1}}';
    const strict = await h.post(`${widgets}?fieldValidation=Strict`, body.replace('NAME', 's'));
    expect([strict.status, strict.body.message]).toEqual([
      400,
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: duplicate field "spec.size", unknown field "spec.zz"',
    ]);
    const warned = await h.post(widgets, body.replace('NAME', 'w'));
    expect([warned.status, warned.body.spec, warned.headers.get('warning')]).toEqual([
      201,
      { size: 2, max: 10 },
      '299 - "duplicate field \\"spec.size\\"", 299 - "unknown field \\"spec.zz\\""',
    ]);
    expect(
      (await h.post(`${widgets}?fieldValidation=Ignore`, body.replace('NAME', 'i'))).headers.get('warning'),
    ).toBeNull();
    expect((await h.post(`${widgets}?fieldValidation=Foo`, body)).status).toBe(422);
    expect((await h.post(`${widgets}?fieldManager=${'x'.repeat(129)}`, body)).status).toBe(422);
  });

  it('§2.2-10: numbers that are not written as integers are none of a built-in, and of a custom resource if they are whole', async () => {
    const { post } = await withWidgets();
    const deployment = (replicas: string): string =>
      `{"metadata":{"name":"d"},"spec":{"replicas":${replicas},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`;
    for (const literal of ['2.0', '2e0', '2.5', '1e400'])
      expect((await post('/apis/apps/v1/namespaces/default/deployments', deployment(literal))).body.message).toBe(
        `Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number ${literal} into Go struct field DeploymentSpec.spec.replicas of type int32`,
      );
    expect((await post('/apis/apps/v1/namespaces/default/deployments', deployment('2'))).status).toBe(201);
    const port = '{"metadata":{"name":"s"},"spec":{"clusterIP":"None","ports":[{"port":80,"targetPort":80.0}]}}';
    expect((await post('/api/v1/namespaces/default/services', port)).body.message).toContain(
      'json: cannot unmarshal number 80.0 into Go struct field ServicePort.spec.ports.targetPort of type int32',
    );
    const sized = (size: string): string =>
      `{"apiVersion":"ex.io/v1","kind":"Widget","metadata":{"name":"w${size.length}"},"spec":{"size":${size}}}`;
    expect((await post(widgets, sized('2.0'))).status).toBe(201);
    expect((await post(widgets, sized('9007199254740993'))).text).toContain('9007199254740993');
    expect((await post(widgets, sized('1e30'))).body.message).toContain('spec.size in body must be of type integer');
    expect((await post(widgets, sized('1e400'))).body.message).toBe(
      'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number 1e400 into Go value of type float64',
    );
  });

  it('§2.2-10: bodies that are no JSON, of another type or too long are refused, and the server goes on', async () => {
    const h = await harness({ maxBodyBytes: 1000 });
    const bad = await h.post(configMaps, '{"a":');
    expect([bad.status, bad.body.message]).toEqual([
      400,
      `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({"a":)`,
    ]);
    expect((await h.post(configMaps, 'x', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await h.post(configMaps, 'x', { 'content-type': 'application/cbor' })).status).toBe(415);
    expect((await h.post(configMaps, configMap('a', undefined, { x: 'x'.repeat(2000) }))).status).toBe(413);
    expect((await h.post(configMaps, '['.repeat(990))).status).toBe(400);
    expect((await h.get('/api/v1/namespaces/%zz/configmaps')).status).toBe(400);
    expect((await h.post(configMaps, configMap('ok'))).status).toBe(201);
  });

  it('§2.2-9: integers of 64 bits survive', async () => {
    const h = await withWidgets();
    const made = await h.post(
      widgets,
      '{"apiVersion":"ex.io/v1","kind":"Widget","metadata":{"name":"n"},"spec":{"size":-9223372036854775807}}',
    );
    expect(made.text).toContain('"size":-9223372036854775807');
    expect((await h.merge(`${widgets}/n`, { metadata: { labels: { a: 'b' } } })).text).toContain(
      '"size":-9223372036854775807',
    );
  });

  it('keeps __proto__ a key like any other', async () => {
    const h = await harness();
    const answer = await h.post(configMaps, '{"metadata":{"name":"p"},"data":{"__proto__":"1"}}');
    expect([201, 400, 422]).toContain(answer.status);
    expect((await h.get('/healthz')).text).toBe('ok');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});
