/** §2.11 Dry run and field validation. */
import { JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from '../harness/context.js';
import { check, created, failure, names, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import { configMaps, createConfigMap, deploymentDraft, deployments, NAMESPACES } from './paths.js';

spec(69, 'dryRun=All: a create is checked, answered and not kept', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made = created(await t.post(`${widgets.path(ns)}?dryRun=All`, widgets.draft('a')));
  same(
    [made.metadata.resourceVersion, made.spec.color, Boolean(made.metadata.uid)],
    [undefined, 'blue', true],
    'object',
  );
  failure(await t.get(widgets.path(ns, 'a')), { code: 404, reason: 'NotFound' });
  failure(await t.post(`${widgets.path(ns)}?dryRun=All`, widgets.draft('a', { size: 'x' })), {
    code: 422,
    reason: 'Invalid',
  });
  created(await t.post(widgets.path(ns), widgets.draft('a')));
  failure(await t.post(`${widgets.path(ns)}?dryRun=All`, widgets.draft('a')), { code: 409, reason: 'AlreadyExists' });
});

spec(69, 'dryRun=All: update, patch and status', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made = created(await t.post(widgets.path(ns), widgets.draft('a')));
  const put = ok(await t.put(`${widgets.path(ns, 'a')}?dryRun=All`, { ...made, spec: { ...made.spec, size: 7 } }));
  same([put.spec.size, put.metadata.generation], [7, 2], 'PUT');
  same(
    ok(await t.patch(`${widgets.path(ns, 'a')}?dryRun=All`, MERGE_PATCH, { spec: { size: 8 } })).spec.size,
    8,
    'PATCH',
  );
  same(
    ok(await t.patch(`${widgets.path(ns, 'a', 'status')}?dryRun=All`, MERGE_PATCH, { status: { ready: true } })).status,
    { ready: true },
    'status',
  );
  same(ok(await t.get(widgets.path(ns, 'a'))), made, 'object');
  failure(
    await t.put(`${widgets.path(ns, 'a')}?dryRun=All`, {
      ...made,
      metadata: { ...made.metadata, resourceVersion: '1' },
    }),
    { code: 409, reason: 'Conflict' },
  );
});

spec(69, 'dryRun=All: built-ins, scale, deletion and deletecollection', async (t) => {
  const ns = await t.namespace();
  const made = created(await t.post(`${deployments(ns)}?dryRun=All`, deploymentDraft('a')));
  same([made.spec.replicas, made.metadata.resourceVersion], [1, undefined], 'object');
  created(await t.post(deployments(ns), deploymentDraft('a')));
  same(
    ok(await t.patch(`${deployments(ns, 'a')}/scale?dryRun=All`, MERGE_PATCH, { spec: { replicas: 9 } })).spec.replicas,
    9,
    'scale',
  );
  same(ok(await t.delete(`${deployments(ns, 'a')}?dryRun=All`)).status, 'Success', 'DELETE');
  same(names(ok(await t.delete(`${deployments(ns)}?dryRun=All`))), ['a'], 'deletecollection');
  same(ok(await t.get(deployments(ns, 'a'))).spec.replicas, 1, 'object');
});

spec(69, 'dryRun=All makes no event', async (t) => {
  const ns = await t.namespace();
  const made = await createConfigMap(t, ns, 'a');
  const watch = await t.watch(configMaps(ns), {
    query: { resourceVersion: made.metadata.resourceVersion, fieldSelector: 'metadata.name!=kube-root-ca.crt' },
  });
  created(await t.post(`${configMaps(ns)}?dryRun=All`, { metadata: { name: 'dry' } }));
  ok(await t.delete(`${configMaps(ns, 'a')}?dryRun=All`));
  await createConfigMap(t, ns, 'b');
  const event = await watch.next();
  same([event.type, event.object.metadata.name], ['ADDED', 'b'], 'event');
});

for (const [kind, method] of [
  ['CreateOptions', 'POST'],
  ['UpdateOptions', 'PUT'],
  ['PatchOptions', 'PATCH'],
  ['DeleteOptions', 'DELETE'],
] as const)
  spec(69, `dryRun with another value answers 422 about ${kind}`, async (t) => {
    const ns = await t.namespace();
    const made = await createConfigMap(t, ns, 'a');
    const path = method === 'POST' ? configMaps(ns) : configMaps(ns, 'a');
    const body = method === 'POST' ? { metadata: { name: 'b' } } : method === 'PUT' ? made : {};
    failure(
      await t.send(method, `${path}?dryRun=Some`, {
        ...(method === 'DELETE' ? {} : { body }),
        ...(method === 'PATCH' ? { contentType: MERGE_PATCH } : {}),
      }),
      {
        code: 422,
        reason: 'Invalid',
        message: `${kind}.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"`,
        details: { group: 'meta.k8s.io', kind },
        causes: [
          {
            reason: 'FieldValueNotSupported',
            field: 'dryRun',
            message: 'Unsupported value: ["Some"]: supported values: "All"',
          },
        ],
      },
    );
  });

spec(69, 'dryRun of a namespace and of generateName', async (t) => {
  const name = t.unique('dry');
  created(await t.post(`${NAMESPACES}?dryRun=All`, { metadata: { name } }));
  failure(await t.get(`${NAMESPACES}/${name}`), { code: 404, reason: 'NotFound' });
  const ns = await t.namespace();
  check(
    created(
      await t.post(`${configMaps(ns)}?dryRun=All`, { metadata: { generateName: 'g-' } }),
    ).metadata.name.startsWith('g-'),
    'no generated name',
  );
});

const strict = (kind: string, problems: string) => ({
  code: 400,
  reason: 'BadRequest',
  message: `${kind} in version "v1" cannot be handled as a ${kind}: strict decoding error: ${problems}`,
});

spec(70, 'Strict refuses unknown and duplicate fields of a custom resource', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const path = `${widgets.path(ns)}?fieldValidation=Strict`;
  failure(await t.post(path, widgets.draft('a', { bogus: 1 })), strict('Widget', 'unknown field "spec.bogus"'));
  failure(
    await t.post(path, { ...widgets.draft('a', { bogus: 1 }), zap: 1 }),
    strict('Widget', 'unknown field "spec.bogus", unknown field "zap"'),
  );
  failure(
    await t.post(
      path,
      `{"apiVersion":"${widgets.apiVersion}","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1,"size":2}}`,
    ),
    strict('Widget', 'duplicate field "spec.size"'),
  );
  failure(await t.post(path, widgets.draft('a', {}, { bogus: 1 })), strict('Widget', 'unknown field "metadata.bogus"'));
  created(await t.post(path, widgets.draft('a', { any: { bogus: 1 }, parts: [{ name: 'x' }] })));
  failure(
    await t.post(path, widgets.draft('b', { parts: [{ name: 'x', zip: 1 }] })),
    strict('Widget', 'unknown field "spec.parts[0].zip"'),
  );
});

spec(70, 'Strict refuses unknown and duplicate fields of a built-in', async (t) => {
  const ns = await t.namespace();
  failure(
    await t.post(`${configMaps(ns)}?fieldValidation=Strict`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      bogus: 1,
    }),
    strict('ConfigMap', 'unknown field "bogus"'),
  );
  failure(
    await t.post(
      `${configMaps(ns)}?fieldValidation=Strict`,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","name":"b"}}',
    ),
    strict('ConfigMap', 'duplicate field "metadata.name"'),
  );
  const draft = deploymentDraft('a');
  const spec70 = draft['spec'] as { template: { spec: { containers: object[] } } };
  spec70.template.spec.containers = [{ name: 'c', image: 'i', bogus: 1 }];
  failure(
    await t.post(`${deployments(ns)}?fieldValidation=Strict`, { apiVersion: 'apps/v1', kind: 'Deployment', ...draft }),
    strict('Deployment', 'unknown field "spec.template.spec.containers[0].bogus"'),
  );
});

for (const value of ['Warn', undefined])
  spec(70, `${value ?? 'no fieldValidation'} warns and drops`, async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    const query = { fieldValidation: value };
    const body = `{"apiVersion":"${widgets.apiVersion}","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1,"size":2,"zz":1},"foo":1}`;
    const answer = await t.post(widgets.path(ns), body, { query });
    same(created(answer).spec, { size: 2, color: 'blue', replicas: 1 }, 'spec');
    same(
      answer.warnings,
      ['duplicate field "spec.size"', 'unknown field "foo"', 'unknown field "spec.zz"'],
      'warnings',
    );
    const builtin = await t.post(
      configMaps(ns),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, bogus: 1 },
      { query },
    );
    created(builtin);
    same(builtin.warnings, ['unknown field "bogus"'], 'warnings');
  });

spec(70, 'Ignore says nothing', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const query = { fieldValidation: 'Ignore' };
  const answer = await t.post(widgets.path(ns), { ...widgets.draft('a', { zz: 1 }), foo: 1 }, { query });
  same([created(answer).spec, answer.warnings], [{ size: 1, color: 'blue', replicas: 1 }, []], 'answer');
  const builtin = await t.post(configMaps(ns), { metadata: { name: 'a' }, bogus: 1 }, { query });
  created(builtin);
  same(builtin.warnings, [], 'warnings');
});

spec(70, 'another value answers 422', async (t) => {
  const ns = await t.namespace();
  failure(await t.post(`${configMaps(ns)}?fieldValidation=Foo`, { metadata: { name: 'a' } }), {
    code: 422,
    reason: 'Invalid',
    message:
      'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Foo": supported values: "", "Ignore", "Strict", "Warn"',
    details: { group: 'meta.k8s.io', kind: 'CreateOptions' },
    causes: [{ reason: 'FieldValueNotSupported', field: 'fieldValidation' }],
  });
});

spec(70, 'a field manager of more than 128 bytes answers 422', async (t) => {
  const ns = await t.namespace();
  failure(await t.post(`${configMaps(ns)}?fieldManager=${'x'.repeat(129)}`, { metadata: { name: 'a' } }), {
    code: 422,
    reason: 'Invalid',
    message: 'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
    causes: [
      { reason: 'FieldValueTooLong', field: 'fieldManager', message: 'Too long: may not be more than 128 bytes' },
    ],
  });
  created(await t.post(`${configMaps(ns)}?fieldManager=${'x'.repeat(128)}`, { metadata: { name: 'a' } }));
});

spec(70, 'Strict and Warn of updates and patches', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made = created(await t.post(widgets.path(ns), widgets.draft('a')));
  const strictly = { query: { fieldValidation: 'Strict' } };
  failure(
    await t.put(widgets.path(ns, 'a'), { ...made, spec: { ...made.spec, zz: 1 } }, strictly),
    strict('Widget', 'unknown field "spec.zz"'),
  );
  const refused = {
    code: 422,
    reason: 'Invalid',
    message: /^ "" is invalid: patch: Invalid value: .*: strict decoding error: unknown field "spec\.zz"$/,
  };
  failure(await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, { spec: { zz: 1 } }, strictly), refused);
  failure(
    await t.patch(widgets.path(ns, 'a'), JSON_PATCH, [{ op: 'add', path: '/spec/zz', value: 1 }], strictly),
    refused,
  );
  const warned = await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, { spec: { zz: 1, size: 2 } });
  same([ok(warned).spec.size, warned.warnings], [2, ['unknown field "spec.zz"']], 'merge patch');
  await createConfigMap(t, ns, 'a');
  failure(await t.patch(configMaps(ns, 'a'), STRATEGIC_PATCH, { bogus: 1 }, strictly), {
    code: 422,
    reason: 'Invalid',
    message: /strict decoding error: unknown field "bogus"$/,
  });
  failure(await t.patch(configMaps(ns, 'a'), MERGE_PATCH, { bogus: 1 }, strictly), {
    code: 422,
    reason: 'Invalid',
    message: /strict decoding error: unknown field "bogus"$/,
  });
  const strategic = await t.patch(configMaps(ns, 'a'), STRATEGIC_PATCH, { bogus: 1, data: { a: '1' } });
  same([ok(strategic).data, strategic.warnings], [{ a: '1' }, ['unknown field "bogus"']], 'strategic');
});
