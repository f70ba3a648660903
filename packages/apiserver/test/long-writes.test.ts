import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settle } from '@kctl/wait/testing';
import { expect, onTestFinished, test } from 'vitest';
import { converter } from './converter.js';
import { configMap, configMaps, harness, widget, widgetCrd, widgets, type Answer, type Harness } from './harness.js';
import { allow, deny, patch as patchAnswer, startHook, type HookServer } from './hook-server.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

/** Widgets whose spec takes anything; of two versions. */
const openCrd = {
  ...widgetCrd,
  spec: {
    ...widgetCrd.spec,
    versions: ['v1', 'v1beta1'].map((name) => ({
      ...widgetCrd.spec.versions[0],
      name,
      storage: name === 'v1',
      selectableFields: undefined,
      subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.n' } },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              'x-kubernetes-preserve-unknown-fields': true,
              properties: { size: { type: 'integer', default: 3 }, max: { type: 'integer', maximum: 100 } },
              'x-kubernetes-validations': [{ rule: '!has(self.max) || self.max > self.size' }],
            },
            status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      },
    })),
  },
};

const padded = (pad: string, name: string, more: object = {}): object => ({
  ...configMap(name, { a: 'b' }, { pad }),
  ...more,
});
const paddedWidget = (pad: string, name: string, spec: object = {}): object =>
  widget(name, {}, { pad, list: [{ a: 1 }, { a: 2 }], ...spec });

type Step = readonly [
  method: string,
  path: string,
  body: (pad: string) => unknown,
  headers?: Readonly<Record<string, string>>,
];

const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const patchJson = { 'content-type': 'application/json-patch+json' };
const applied = { 'content-type': 'application/apply-patch+yaml' };
const typed = (kind: string, object: object): object => ({ apiVersion: 'v1', kind, ...object });

/** Writes of every kind, good and bad: what each answers must not depend on the length of the object. */
const steps: readonly Step[] = [
  ['POST', configMaps, (pad) => padded(pad, 'a')],
  ['POST', configMaps, (pad) => padded(pad, 'a')],
  ['POST', configMaps, (pad) => padded(pad, 'A b')],
  ['POST', configMaps, (pad) => padded(pad, 'x', { bogus: 1 })],
  ['POST', `${configMaps}?fieldValidation=Strict`, (pad) => padded(pad, 'x2', { bogus: 1 })],
  ['POST', `${configMaps}?dryRun=All`, (pad) => padded(pad, 'dry')],
  ['POST', '/api/v1/namespaces/none/configmaps', (pad) => padded(pad, 'a')],
  ['POST', configMaps, (pad) => ({ kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' }, data: { pad } })],
  ['POST', configMaps, (pad) => `{"metadata":{"name":"q"},"data":{"pad":"${pad}"`],
  [
    'POST',
    configMaps,
    (pad) => `metadata: {name: yaml}\ndata:\n  pad: ${pad}\n`,
    { 'content-type': 'application/yaml' },
  ],
  ['PUT', `${configMaps}/a`, (pad) => ({ ...padded(pad, 'a'), data: { pad, more: 'x' } })],
  ['PUT', `${configMaps}/a`, (pad) => ({ ...padded(pad, 'a'), data: { pad, more: 'x' } })],
  ['PUT', `${configMaps}/absent`, (pad) => padded(pad, 'absent')],
  ['PUT', `${configMaps}/a`, (pad) => ({ metadata: { name: 'a', resourceVersion: '1' }, data: { pad } })],
  ['PATCH', `${configMaps}/a`, () => ({ data: { small: 'y' } }), merge],
  ['PATCH', `${configMaps}/a?dryRun=All`, () => ({ data: { small: 'z' } }), merge],
  ['PATCH', `${configMaps}/a`, () => ({ metadata: { labels: { $patch: 'replace', c: 'd' } } }), strategic],
  ['PATCH', `${configMaps}/a`, () => [{ op: 'test', path: '/data/small', value: 'n' }], patchJson],
  ['PATCH', `${configMaps}/a`, () => [{ op: 'remove', path: '/data/small' }], patchJson],
  ['PATCH', `${configMaps}/a?fieldManager=m`, (pad) => typed('ConfigMap', { data: { pad, own: 'x' } }), applied],
  ['PATCH', `${configMaps}/a?fieldManager=n`, () => typed('ConfigMap', { data: { own: 'other' } }), applied],
  ['PATCH', `${configMaps}/a?fieldManager=n&force=true`, () => typed('ConfigMap', { data: { own: 'other' } }), applied],
  ['PATCH', `${configMaps}/new?fieldManager=n`, (pad) => typed('ConfigMap', { data: { pad } }), applied],
  ['POST', widgets, (pad) => paddedWidget(pad, 'w')],
  ['POST', widgets, (pad) => paddedWidget(pad, 'w2', { max: 2 })],
  ['POST', widgets, (pad) => paddedWidget(pad, 'w2', { max: 200 })],
  ['PUT', `${widgets}/w`, (pad) => paddedWidget(pad, 'w')],
  ['PATCH', `${widgets}/w`, () => ({ spec: { size: 5, n: 9007199254740993 } }), merge],
  ['PATCH', `${widgets}/w/status`, () => ({ status: { ready: true } }), merge],
  ['PATCH', `${widgets}/w/scale`, () => ({ spec: { replicas: 7 } }), merge],
  ['PATCH', '/apis/ex.io/v1beta1/namespaces/default/widgets/w', () => ({ spec: { size: 8 } }), merge],
  ['PATCH', `${widgets}/w`, () => ({ metadata: { finalizers: ['ex.io/f'] } }), merge],
  ['DELETE', `${widgets}/w`, () => undefined],
  ['PATCH', `${widgets}/w`, () => ({ metadata: { finalizers: [] } }), merge],
  [
    'POST',
    deployments,
    (pad) => ({
      metadata: { name: 'd', annotations: { pad } },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    }),
  ],
  ['PATCH', `${deployments}/d/scale`, () => ({ spec: { replicas: 3 } }), merge],
  ['PATCH', `${deployments}/d/status`, () => ({ status: { replicas: 1 } }), merge],
];

/** What a client sees, without what is random. */
function seen({ status, text, headers }: Answer, pad: string): unknown {
  const body = text
    .replaceAll(pad, 'PAD')
    .replaceAll(/"uid":"[^"]+"/g, '"uid":"U"')
    .replaceAll(/9007199254740993/g, '"big"');
  return { status, body: body.startsWith('{') ? JSON.parse(body) : body, warning: headers.get('warning') };
}

test('a long object is written as a short one, by every kind of write', async () => {
  const [short, long] = [await harness(), await harness()];
  for (const { post } of [short, long]) expect((await post(crds, openCrd)).text).toContain('"uid"');
  await settle();
  expect(short.server.revision).toBe(long.server.revision);
  const pads = ['q7', 'p'.repeat(70_000)] as const;
  for (const [method, path, body, headers] of steps) {
    const [one, other] = [
      await short.call(method, path, body(pads[0]), headers),
      await long.call(method, path, body(pads[1]), headers),
    ];
    expect({ path, ...(seen(other, pads[1]) as object) }).toEqual({ path, ...(seen(one, pads[0]) as object) });
  }
  for (const path of [configMaps, `${configMaps}/a`, widgets, `${deployments}/d`, `${deployments}/d/scale`])
    expect(seen(await long.get(path), pads[1])).toEqual(seen(await short.get(path), pads[0]));
});

const registration = '/apis/admissionregistration.k8s.io/v1';
const matched = [
  {
    apiGroups: ['', 'ex.io'],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['configmaps', 'widgets', 'widgets/*'],
  },
];

/** Two hooks that change objects, two that judge them, and policies of both kinds with parameters and an authorizer. */
async function reviewBy({ post }: Harness, hook: HookServer): Promise<void> {
  const webhook = (name: string, more: object = {}): object => ({
    name: `${name}.ex.io`,
    clientConfig: hook.client(`/${name}`),
    rules: matched,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  });
  const conditions = [{ name: 'c', expression: "!has(object.metadata.labels) || !('skip' in object.metadata.labels)" }];
  const constraints = { matchConstraints: { resourceRules: matched } };
  const policies: readonly (readonly [plural: string, object: object])[] = [
    [
      'mutatingwebhookconfigurations',
      {
        metadata: { name: 'm' },
        webhooks: [
          webhook('first', { reinvocationPolicy: 'IfNeeded' }),
          webhook('second', { matchConditions: conditions }),
        ],
      },
    ],
    [
      'validatingwebhookconfigurations',
      { metadata: { name: 'v' }, webhooks: [webhook('judge'), webhook('absent', { failurePolicy: 'Ignore' })] },
    ],
    [
      'validatingadmissionpolicies',
      {
        metadata: { name: 'p' },
        spec: {
          ...constraints,
          paramKind: { apiVersion: 'v1', kind: 'Secret' },
          validations: [
            { expression: "object.metadata.name != params.type || authorizer.path('/x').check('get').allowed()" },
            {
              expression: "!object.metadata.name.startsWith('no')",
              messageExpression: "'not ' + object.metadata.name",
            },
          ],
          auditAnnotations: [{ key: 'seen', valueExpression: "'by ' + params.metadata.name" }],
        },
      },
    ],
    [
      'validatingadmissionpolicybindings',
      {
        metadata: { name: 'p' },
        spec: {
          policyName: 'p',
          paramRef: { name: 'param', namespace: 'default', parameterNotFoundAction: 'Deny' },
          validationActions: ['Deny', 'Audit'],
        },
      },
    ],
    [
      'mutatingadmissionpolicies',
      {
        metadata: { name: 'a' },
        spec: {
          ...constraints,
          reinvocationPolicy: 'Never',
          mutations: [
            {
              patchType: 'ApplyConfiguration',
              applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'policy': 'a'}}}" },
            },
          ],
        },
      },
    ],
    ['mutatingadmissionpolicybindings', { metadata: { name: 'a' }, spec: { policyName: 'a' } }],
  ];
  await post('/api/v1/namespaces/default/secrets', { metadata: { name: 'param' }, type: 'asked' });
  for (const [plural, object] of policies) expect((await post(`${registration}/${plural}`, object)).status).toBe(201);
  hook.answer = ({ url, review: { request } }) => {
    const { pathname } = new URL(url, 'https://hook');
    const { annotations, labels, name } = request.object.metadata;
    if (pathname === '/absent') return { status: 404, body: 'none' };
    if (pathname === '/judge')
      return labels?.['refuse'] === undefined
        ? allow({ warnings: [`judged ${name ?? ''}`], auditAnnotations: { size: 'any' } })
        : deny({ message: 'refused', code: 418 });
    const key = pathname.slice(1);
    if (annotations?.[key] !== undefined && annotations.count === undefined) return allow();
    const value = { ...annotations, [key]: String(request.operation) };
    return patchAnswer([{ op: 'add', path: '/metadata/annotations', value }], { warnings: [`changed by ${key}`] });
  };
}

test('a long object that webhooks and policies see is written as a short one, in the other thread', async () => {
  const [short, long] = [await harness(), await harness()];
  const pads = ['q7', 'p'.repeat(70_000)] as const;
  const hooks: HookServer[] = [];
  for (const each of [short, long]) {
    hooks.push(await startHook());
    expect((await each.post(crds, openCrd)).text).toContain('"uid"');
    await reviewBy(each, hooks.at(-1)!);
  }
  await settle();
  const labelled = (labels: object) => (pad: string) => ({
    ...padded(pad, 'l'),
    ...{ metadata: { name: 'l', labels } },
  });
  const more: readonly Step[] = [
    ...steps,
    ['POST', configMaps, (pad) => padded(pad, 'asked')],
    ['POST', configMaps, (pad) => padded(pad, 'nope')],
    ['PATCH', `${configMaps}/s?fieldManager=m`, (pad) => typed('ConfigMap', padded(pad, 's')), applied],
    [
      'PATCH',
      `${configMaps}/s?fieldManager=n`,
      () => typed('ConfigMap', { ...configMap('s'), data: { a: 'b' } }),
      applied,
    ],
    ['PUT', `${configMaps}/s`, (pad) => padded(pad, 's')],
    ['POST', configMaps, labelled({ refuse: 'y' })],
    ['POST', configMaps, labelled({ skip: 'y' })],
    ['POST', `${configMaps}?dryRun=All`, (pad) => padded(pad, 'dry2')],
  ];
  for (const [method, path, body, headers] of more) {
    const [one, other] = [
      await short.call(method, path, body(pads[0]), headers),
      await long.call(method, path, body(pads[1]), headers),
    ];
    expect({ path, ...(seen(other, pads[1]) as object) }).toEqual({ path, ...(seen(one, pads[0]) as object) });
  }
  const annotated = ({ server }: Harness): unknown => server.journal.responses().map((each) => each.auditAnnotations);
  expect(annotated(long)).toEqual(annotated(short));
  const asked = ({ requests }: HookServer): string[] =>
    requests
      .map(({ url, review: { request } }) => `${url} ${request.operation} ${request.name} ${request.dryRun}`)
      .sort();
  expect(asked(hooks[1]!)).toEqual(asked(hooks[0]!));
});

test('a webhook that hangs holds up no other long write, and is asked anew after a lost race', async () => {
  const h = await harness();
  const hook = await startHook();
  await h.post(`${registration}/validatingwebhookconfigurations`, {
    metadata: { name: 'v' },
    webhooks: [
      {
        name: 'judge.ex.io',
        clientConfig: hook.client('/judge'),
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  const data = { pad: 'p'.repeat(70_000) };
  const reached = Promise.withResolvers<undefined>();
  const release = Promise.withResolvers<undefined>();
  hook.answer = async ({ review: { request } }) => {
    if (request.name !== 'slow' || request.object.data?.slow === undefined) return allow();
    reached.resolve(undefined);
    await release.promise;
    return allow();
  };
  const url = `${configMaps}/slow`;
  expect((await h.post(configMaps, configMap('slow', {}, data))).status).toBe(201);
  const slow = h.merge(url, { data: { slow: 'y' } });
  await reached.promise;
  expect((await h.post(configMaps, configMap('quick', {}, data))).status).toBe(201);
  expect((await h.merge(url, { data: { other: 'z' } })).status).toBe(200);
  release.resolve(undefined);
  expect((await slow).body.data).toMatchObject({ slow: 'y', other: 'z' });
  const judged = hook.requests.filter(({ review: { request } }) => request.object.data?.slow !== undefined);
  expect(judged.map(({ review: { request } }) => request.object.data.other)).toEqual([undefined, 'z']);
});

test('a long object that a webhook converts is written as a short one', async () => {
  const [short, long] = [await harness(), await harness()];
  const pads = ['q7', 'p'.repeat(70_000)] as const;
  for (const each of [short, long]) expect((await each.post(crds, (await converter()).crd)).status).toBe(201);
  await settle();
  const v2 = widgets.replace('/v1/', '/v2/');
  const inV2 = (pad: string, name: string, spec: object): object => ({
    apiVersion: 'ex.io/v2',
    kind: 'Widget',
    metadata: { name, annotations: { pad } },
    spec,
  });
  const inV1 = (pad: string, name: string, spec: object): object => ({
    ...inV2(pad, name, spec),
    apiVersion: 'ex.io/v1',
  });
  const converted: readonly Step[] = [
    ['POST', widgets, (pad) => inV1(pad, 'a', { size: 1 })],
    ['POST', v2, (pad) => inV2(pad, 'b', { length: 2 })],
    ['PUT', `${v2}/a`, (pad) => inV2(pad, 'a', { length: 3 })],
    ['PATCH', `${widgets}/b`, () => ({ spec: { size: 4 } }), merge],
    ['PATCH', `${v2}/b`, () => ({ spec: { length: 5 } }), merge],
    ['PATCH', `${v2}/b?dryRun=All`, () => ({ spec: { length: 6 } }), merge],
    ['PATCH', `${v2}/b`, () => ({ spec: { length: 5 } }), merge],
    ['PATCH', `${v2}/c?fieldManager=m`, (pad) => inV2(pad, 'c', { length: 7 }), applied],
    ['GET', `${widgets}/a`, () => undefined],
    ['GET', v2, () => undefined],
  ];
  for (const [method, path, body, headers] of converted) {
    const [one, other] = [
      await short.call(method, path, body(pads[0]), headers),
      await long.call(method, path, body(pads[1]), headers),
    ];
    expect({ path, ...(seen(other, pads[1]) as object) }).toEqual({ path, ...(seen(one, pads[0]) as object) });
  }
});

test('a write of a long object that loses a race begins again, and a name that is taken stays taken', async () => {
  const { post, put, merge: patch, get } = await harness();
  const data = { pad: 'p'.repeat(70_000) };
  const both = await Promise.all(['a', 'a'].map((name) => post(configMaps, configMap(name, {}, data))));
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  const generated = await Promise.all([1, 2].map(() => post(configMaps, { metadata: { generateName: 'g-' }, data })));
  expect(new Set(generated.map(({ body }) => body.metadata.name)).size).toBe(2);
  const [whole, part] = await Promise.all([
    put(`${configMaps}/a`, configMap('a', {}, { ...data, whole: 'x' })),
    patch(`${configMaps}/a`, { metadata: { annotations: { part: 'y' } } }),
  ]);
  expect([whole.status, part.status]).toEqual([200, 200]);
  const { body } = await get(`${configMaps}/a`);
  const newer = Number(whole.body.metadata.resourceVersion) > Number(part.body.metadata.resourceVersion) ? whole : part;
  expect(body).toEqual(newer.body);
});

test('a long object is shown in watches, Tables and protobuf, restored, and read back from a log', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kctl-long-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const first = await harness({ dataDir: directory });
  const events = await first.watch(`${configMaps}?watch=1`);
  const data = { pad: 'p'.repeat(70_000), 'other.key': '\u2028"\\' };
  const created = await first.post(configMaps, configMap('a', { l: '"resourceVersion":"1"' }, data));
  expect(created.status).toBe(422);
  const { body } = await first.post(configMaps, { ...configMap('a', { l: 'x' }, data), immutable: false });
  expect((await events.next()).object).toEqual(body);
  const table = await first.get(configMaps, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  expect(table.body.rows[0].cells.slice(0, 2)).toEqual(['a', 2]);
  const selected = await first.get(`${configMaps}?labelSelector=l%3Dx&fieldSelector=metadata.name%3Da`);
  expect(selected.body.items).toHaveLength(1);
  const bytes = await first.get(`${configMaps}/a`, { accept: 'application/vnd.kubernetes.protobuf' });
  expect(bytes.text).toContain('p'.repeat(70_000));
  const snapshot = first.server.snapshot();
  await first.delete(`${configMaps}/a`);
  expect(await events.next()).toMatchObject({ type: 'DELETED', object: { data } });
  await events.cancel();
  first.server.restore(structuredClone(snapshot));
  const restored = await first.get(`${configMaps}/a`);
  expect(restored.body.data).toEqual(data);
  await first.server.stop();
  const second = await harness({ dataDir: directory });
  expect((await second.get(`${configMaps}/a`)).body).toEqual(restored.body);
});

test("objects beyond etcd's limit are refused in upstream's words, without their owners where that helps", async () => {
  const { post, merge: patch, call, get } = await harness();
  await post(crds, openCrd);
  const long = (length: number): object => ({ spec: { pad: 'p'.repeat(length) } });
  const status = (message: string): object => ({ status: 500, body: { code: 500, message } });
  const tooLarge = status('etcdserver: request is too large');
  const owned = await post(widgets, { ...widget('owned'), ...long(1_500_000) });
  expect(owned.body.metadata.managedFields).toHaveLength(1);
  const fields = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`f${index}`, 1]));
  const dropped = await post(widgets, { ...widget('dropped'), spec: { pad: 'p'.repeat(900_000), fields } });
  expect(dropped.status).toBe(201);
  expect(dropped.body.metadata.managedFields).toBeUndefined();
  expect(await post(widgets, { ...widget('a'), ...long(1_580_000) })).toMatchObject(tooLarge);
  expect(await patch(`${widgets}/owned`, long(1_580_000))).toMatchObject(tooLarge);
  const application = { ...widget('dropped2'), spec: { pad: 'p'.repeat(900_000), fields } };
  expect(await call('PATCH', `${widgets}/dropped2?fieldManager=f`, application, applied)).toMatchObject(tooLarge);
  const message = await post(widgets, { ...widget('a'), ...long(2_100_000) });
  expect(message.body.message).toMatch(
    /^rpc error: code = ResourceExhausted desc = trying to send message larger than max \(21003\d\d vs\. 2097152\)$/,
  );
  expect((await post(`${widgets}?dryRun=All`, { ...widget('a'), ...long(1_580_000) })).status).toBe(201);
  expect((await get(`${widgets}/a`)).status).toBe(404);
});

test('JSON may be nested as deeply as in Go, and the threads share the work of long objects', async () => {
  const { post, merge: patch, get, delete: remove, watch } = await harness();
  await post(crds, openCrd);
  const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const deep = (levels: number): string =>
    `{"apiVersion":"ex.io/v1","kind":"Widget","metadata":{"name":"deep"},"spec":{"x":${nested(levels)}}}`;
  expect(await post(widgets, deep(9_999))).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('exceeded max depth') as string },
  });
  const events = await watch(`${widgets}?watch=1`);
  expect((await post(widgets, deep(9_998))).text).toContain(nested(9_998));
  expect((await patch(`${widgets}/deep`, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
  expect((await get(`${widgets}?labelSelector=a%3Db`)).text).toContain(nested(9_998));
  expect((await remove(`${widgets}/deep`)).status).toBe(200);
  expect(await events.take(3)).toHaveLength(3);
  await events.cancel();

  const data = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`key${index}`, 'v']));
  const body = JSON.stringify(configMap('wide', {}, data));
  const all = process.cpuUsage();
  const own = process.threadCpuUsage();
  expect((await post(configMaps, body)).status).toBe(201);
  const [total, here] = [process.cpuUsage(all), process.threadCpuUsage(own)];
  expect(here.user).toBeLessThan(total.user / 2);
});

test('a client that hangs up ends the work for it', async () => {
  const { server, post } = await harness();
  await post(configMaps, configMap('warm', {}, { pad: 'p'.repeat(70_000) }));
  const gone = new AbortController();
  // Takes more than a second to read.
  const body = `metadata: {name: gone}\nannotations: [${'1, '.repeat(300_000)}]`;
  const headers = { 'content-type': 'application/yaml' };
  const lost = server.fetch(configMaps, { method: 'POST', headers, body, signal: gone.signal });
  await settle();
  gone.abort(new Error('hung up'));
  await expect(lost).rejects.toThrow('hung up');
  expect((await post(configMaps, configMap('next', {}, { pad: 'p'.repeat(70_000) }))).status).toBe(201);
  expect(server.journal.commits().map(({ name }) => name)).not.toContain('gone');
});
