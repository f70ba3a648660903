/** What long runs of random calls on both servers have found, each as a case of its own. */
import { stage } from '../harness/admission-stage.js';
import { startConverter } from '../harness/converter.js';
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH, type Context } from '../harness/context.js';
import type { Draft, Json } from '../harness/doc.js';
import { check, created, failure, ok, same } from '../harness/expect.js';
import { allow, mutate, rule, steady } from '../harness/hook.js';
import { spec } from '../harness/spec.js';
import { configMaps, deploymentDraft, deployments, secrets } from './paths.js';

const needs = ['webhooks'] as const;
const services = (namespace: string, name?: string): string =>
  ['/api/v1/namespaces', namespace, 'services', name].filter((part) => part !== undefined).join('/');
const scaleOf = (name: string): Draft => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name },
  spec: { replicas: 2 },
});
const applied = (manager: string) => ({ query: { fieldManager: manager } });

/** A custom resource of two versions that a webhook converts: v2 has a field with a default that v1 does not know. */
async function keptCrd(t: Context): Promise<{ group: string; path(version: string, namespace: string): string }> {
  const converter = await startConverter(({ spec: from, ...object }, apiVersion) => {
    if (typeof from !== 'object') return { ...object, apiVersion };
    const { tier: _tier, ...rest } = from;
    return { ...object, apiVersion, spec: rest };
  });
  t.defer(() => converter.stop());
  const group = `${t.unique('long')}.kctl.test`;
  const version = (name: string, more: Draft): Draft => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { size: { type: 'integer' }, ...more } } },
      },
    },
  });
  const { clientConfig } = converter;
  await t.crd({
    metadata: { name: `kept.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'kept', singular: 'keep', kind: 'Keep' },
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
      versions: [version('v1', {}), version('v2', { tier: { type: 'string', default: 'gold' } })],
    },
  });
  return { group, path: (name, namespace) => `/apis/${group}/${name}/namespaces/${namespace}/kept` };
}

spec(
  20,
  'the options of a list are judged after the syntax of its selectors, before the fields they name',
  async (t) => {
    const ns = await t.namespace();
    const invalid = { code: 422, reason: 'Invalid' };
    for (const method of ['GET', 'DELETE']) {
      const ask = (query: Record<string, string>) => t.send(method, configMaps(ns), { query });
      failure(await ask({ fieldSelector: 'nope=1', resourceVersionMatch: 'Exact' }), invalid);
      failure(await ask({ fieldSelector: 'nope', resourceVersionMatch: 'Exact' }), { code: 400, reason: 'BadRequest' });
      failure(await ask({ labelSelector: '=', limit: 'x' }), {
        code: 400,
        reason: 'BadRequest',
        message: /^strconv/,
      });
      failure(await ask({ fieldSelector: 'nope=1', resourceVersion: 'x' }), {
        code: 400,
        reason: 'BadRequest',
        message: /field label not supported|not a known field selector/,
      });
      failure(await ask({ resourceVersionMatch: 'Zip', continue: 'x' }), {
        ...invalid,
        causes: [
          { reason: 'FieldValueForbidden', field: 'resourceVersionMatch' },
          { reason: 'FieldValueForbidden', field: 'resourceVersionMatch' },
          { reason: 'FieldValueNotSupported', field: 'resourceVersionMatch' },
        ],
      });
      failure(await ask({ sendInitialEvents: 'true', resourceVersionMatch: 'Exact', resourceVersion: '0' }), {
        ...invalid,
        causes: [
          { reason: 'FieldValueForbidden', field: 'resourceVersionMatch' },
          { reason: 'FieldValueForbidden', field: 'sendInitialEvents' },
        ],
      });
      failure(await ask({ timeoutSeconds: 'x' }), { code: 400, reason: 'BadRequest' });
    }
  },
);

spec(20, 'the options of a watch are judged together, and before the fields that its selector names', async (t) => {
  const ns = await t.namespace();
  const ask = (query: Record<string, string>) =>
    t.get(configMaps(ns), { query: { watch: 'true', timeoutSeconds: '1', ...query } });
  const invalid = { code: 422, reason: 'Invalid' };
  failure(await ask({ fieldSelector: 'nope=1', resourceVersionMatch: 'Exact' }), {
    ...invalid,
    causes: [
      { reason: 'FieldValueForbidden', field: 'resourceVersionMatch' },
      { reason: 'FieldValueNotSupported', field: 'resourceVersionMatch' },
    ],
  });
  failure(await ask({ sendInitialEvents: 'true', resourceVersionMatch: 'Exact', continue: 'x' }), {
    ...invalid,
    causes: [
      { reason: 'FieldValueForbidden', field: 'resourceVersionMatch' },
      { reason: 'FieldValueNotSupported', field: 'resourceVersionMatch' },
      { reason: 'FieldValueForbidden', field: 'resourceVersionMatch' },
    ],
  });
  // A watch from no revision asks for initial events by itself.
  failure(await ask({ continue: 'x' }), invalid);
  const { metadata } = ok(await t.get(configMaps(ns)));
  same((await ask({ continue: 'x', resourceVersion: metadata.resourceVersion })).status, 200, 'from a revision');
});

spec(
  64,
  'an apply that has all the metadata pruned asks the conversion webhook without them',
  async (t) => {
    const ns = await t.namespace();
    const { group, path } = await keptCrd(t);
    const config = (version: string, metadata: Draft, size?: number): Draft => ({
      apiVersion: `${group}/${version}`,
      kind: 'Keep',
      metadata: { name: 'a', ...metadata },
      ...(size !== undefined && { spec: { size } }),
    });
    created(await t.post(path('v1', ns), config('v1', {}, 1)));
    ok(await t.patch(`${path('v2', ns)}/a`, APPLY_PATCH, config('v2', { labels: { l: 'a' } }), applied('one')));
    failure(await t.patch(`${path('v1', ns)}/a`, APPLY_PATCH, config('v1', {}), applied('one')), {
      code: 500,
      reason: undefined,
      message: `failed to prune fields: failed add back owned items: failed to convert pruned object at version ${group}/v1: conversion webhook for ${group}/v2, Kind=Keep returned invalid metadata: missing metadata in converted object`,
    });
  },
  { needs },
);

spec(
  64,
  'an apply to an object that is none of its type in the version of an owner says so',
  async (t) => {
    const ns = await t.namespace();
    const { group, path } = await keptCrd(t);
    const config = (version: string, metadata: Draft): Draft => ({
      apiVersion: `${group}/${version}`,
      kind: 'Keep',
      metadata: { name: 'a', ...metadata },
      spec: { size: 1 },
    });
    created(await t.post(path('v1', ns), config('v1', { finalizers: ['kctl.test/f', 'kctl.test/f'] })));
    const labelled = config('v2', { labels: { l: 'a' } });
    const message = '.metadata.finalizers: duplicate entries for key [="kctl.test/f"]';
    failure(await t.patch(`${path('v2', ns)}/a`, APPLY_PATCH, labelled, applied('one')), {
      code: 500,
      reason: undefined,
      message,
    });
    ok(await t.patch(`${path('v1', ns)}/a`, MERGE_PATCH, { metadata: { finalizers: null } }));
  },
  { needs },
);

spec(
  66,
  'the patch of a webhook counts as a change by what it says, not by the defaults that follow it',
  async (plain) => {
    const t = steady(plain);
    const { ns, hook } = await stage(t);
    const { group, path } = await keptCrd(t);
    const rules = [rule('apps', 'deployments'), rule(group, 'kept', { apiVersions: ['v2'] })];
    await hook.install('Mutating', [
      hook.entry('m.kctl.test', { rules, reinvocationPolicy: 'IfNeeded' }),
      hook.entry('n.kctl.test', { rules }),
    ]);
    const asked = () => hook.take().map(({ url }) => url.split('?')[0]);
    hook.answer = ({ url }) => (url.startsWith('/n?') ? mutate([{ op: 'remove', path: '/spec/replicas' }]) : allow());
    const made = created(await t.post(deployments(ns), deploymentDraft('a')));
    same([made['spec'].replicas, asked()], [1, ['/m', '/n', '/m']], 'a default that the patch has removed');
    hook.answer = ({ url }) =>
      url.startsWith('/n?') ? mutate([{ op: 'add', path: '/spec/size', value: 1 }]) : allow();
    const body = { apiVersion: `${group}/v1`, kind: 'Keep', metadata: { name: 'a' }, spec: { size: 1 } };
    created(await t.post(path('v1', ns), body));
    same(asked(), ['/m', '/n'], 'a default that the object gets after the patch');
  },
  { needs },
);

spec(30, 'a Service keeps its address in an update that wants another uid', async (t) => {
  const ns = await t.namespace();
  created(await t.post(services(ns), { metadata: { name: 'a' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } }));
  const { details } = failure(await t.patch(services(ns, 'a'), MERGE_PATCH, { metadata: { uid: 'zzz' } }), {
    code: 422,
    reason: 'Invalid',
  });
  same([...new Set(details.causes.map(({ field }: Json) => field))], ['metadata.uid'], 'causes');
});

spec(52, 'bytes that are null are not the empty ones that they are read as', async (t) => {
  const ns = await t.namespace();
  const draft = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { a: '' } };
  created(await t.patch(secrets(ns, 'a'), APPLY_PATCH, draft, applied('one')));
  const patched = ok(await t.patch(secrets(ns, 'a'), MERGE_PATCH, { metadata: { finalizers: ['kctl.test/f'] } }));
  const none = [{ op: 'replace', path: '/data/a', value: null }];
  const nulled = ok(await t.patch(secrets(ns, 'a'), JSON_PATCH, none));
  same(nulled['data'], { a: '' }, 'data');
  same(
    nulled.metadata['managedFields']?.map(({ manager, fieldsV1 }: Json) => [manager, fieldsV1['f:data']]),
    [['unknown', { 'f:a': {} }]],
    'owners',
  );
  check(nulled.metadata.resourceVersion !== patched.metadata.resourceVersion, 'null makes a revision');
  const marked = ok(await t.delete(secrets(ns, 'a'))).metadata.resourceVersion;
  const emptied = ok(await t.patch(secrets(ns, 'a'), MERGE_PATCH, {})).metadata.resourceVersion;
  same(emptied, ok(await t.get(secrets(ns, 'a'))).metadata.resourceVersion, 'after the deletion');
  check(marked !== nulled.metadata.resourceVersion, 'the deletion makes a revision');
  ok(await t.patch(secrets(ns, 'a'), JSON_PATCH, none));
  const before = ok(await t.get(secrets(ns, 'a')));
  const { metadata } = ok(await t.put(secrets(ns, 'a'), before));
  check(metadata.resourceVersion !== before.metadata.resourceVersion, 'so does what is read, written back');
  same(
    ok(await t.put(secrets(ns, 'a'), { ...before, metadata })).metadata.resourceVersion,
    metadata.resourceVersion,
    'once more',
  );
  ok(await t.patch(secrets(ns, 'a'), MERGE_PATCH, { metadata: { finalizers: null } }));
});

spec(52, 'labels of a custom resource that an apply leaves empty are stored so, until the next write', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const { apiVersion } = widgets;
  const config = { apiVersion, kind: 'Widget', metadata: { name: 'a', labels: {} }, spec: { size: 1 } };
  const write = {
    PUT: async (object: Json) => ok(await t.put(widgets.path(ns, 'a'), object)),
    PATCH: async () => ok(await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, {})),
    DELETE: async () => ok(await t.delete(widgets.path(ns, 'a'))),
  };
  for (const [method, act] of Object.entries(write)) {
    const finalizers = ['kctl.test/f'];
    const draft = { ...config, metadata: { ...config.metadata, finalizers } };
    const first = created(await t.patch(widgets.path(ns, 'a'), APPLY_PATCH, draft, applied('one')));
    if (method === 'DELETE') {
      ok(await t.delete(widgets.path(ns, 'a')));
      const annotated = { ...draft, metadata: { ...draft.metadata, annotations: {} } };
      ok(await t.patch(widgets.path(ns, 'a'), APPLY_PATCH, annotated, applied('one')));
    }
    same([first.metadata.labels, first.metadata['generation']], [undefined, 1], 'created');
    const before = ok(await t.get(widgets.path(ns, 'a')));
    const after = await act(before);
    check(after.metadata.resourceVersion !== before.metadata.resourceVersion, `${method} makes a revision`);
    const again = await act(after);
    same(again.metadata.resourceVersion, after.metadata.resourceVersion, `${method} once more`);
    ok(await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, { metadata: { finalizers: null } }));
    await t.delete(widgets.path(ns, 'a'));
  }
});

spec(
  66,
  'an object that goes with its last finalizer is shown as admission has left it',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook } = await stage(t);
    created(
      await t.post(widgets.path(ns), widgets.draft('a', {}, { annotations: { a: '1' }, finalizers: ['kctl.test/f'] })),
    );
    ok(await t.delete(widgets.path(ns, 'a')));
    const rules = [rule(widgets.group, 'widgets', { operations: ['UPDATE'] })];
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules })]);
    hook.answer = () => mutate([{ op: 'remove', path: '/metadata/annotations/a' }]);
    const gone = ok(await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, { metadata: { finalizers: null } }));
    same(gone.metadata['annotations'], {}, 'annotations');
    failure(await t.get(widgets.path(ns, 'a')), { code: 404, reason: 'NotFound' });
  },
  { needs },
);

spec(55, 'the deletion of a definition says when it began, and counts as no change of it', async (t) => {
  const group = `${t.unique('gone')}.kctl.test`;
  const name = `gones.${group}`;
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
  await t.crd({
    metadata: { name, finalizers: ['kctl.test/f'] },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gones', singular: 'gone', kind: 'Gone' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  const before = ok(await t.get(path));
  const first = ok(await t.delete(path));
  const after = ok(await t.get(path));
  for (const { metadata } of [first, after])
    same(
      [metadata['generation'], metadata['deletionGracePeriodSeconds'], typeof metadata['deletionTimestamp']],
      [before.metadata['generation'], undefined, 'string'],
      'generation, grace, time',
    );
  const second = ok(await t.delete(path)).metadata;
  same([second['generation'], second['deletionGracePeriodSeconds']], [before.metadata['generation'], 0], 'once more');
  ok(await t.patch(path, MERGE_PATCH, { metadata: { finalizers: null } }));
});

spec(68, 'a warning beyond ASCII comes with a watch as it comes with a list', async (t) => {
  const ns = await t.namespace();
  const group = `${t.unique('warned')}.kctl.test`;
  await t.crd({
    metadata: { name: `warned.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'warned', singular: 'warn', kind: 'Warn' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          deprecated: true,
          deprecationWarning: 'd\u00e9pass\u00e9',
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  });
  const path = `/apis/${group}/v1/namespaces/${ns}/warned`;
  const list = await t.get(path);
  const watch = await t.get(path, { query: { watch: 'true', timeoutSeconds: '1' } });
  same([list.warnings.length, watch.warnings], [1, list.warnings], 'warnings');
});

spec(69, 'a JSON patch of a policy whose test fails leaves its object alone, but for its kind', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('b')));
  const policies = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolic';
  const name = t.unique('policy');
  const here = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } } };
  const expression =
    '[JSONPatch{op: "test", path: "/metadata/name", value: "a"}, JSONPatch{op: "add", path: "/metadata/labels", value: {"l": "a"}}]';
  t.defer(() => t.delete(`${policies}ies/${name}`));
  created(
    await t.post(`${policies}ies`, {
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        matchConstraints: {
          ...here,
          resourceRules: [
            { apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['*/*'] },
          ],
        },
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
      },
    }),
  );
  t.defer(() => t.delete(`${policies}ybindings/${name}`));
  created(
    await t.post(`${policies}ybindings`, { metadata: { name }, spec: { policyName: name, matchResources: here } }),
  );
  await t.eventually(
    () => t.post(`${widgets.path(ns)}?dryRun=All`, widgets.draft('a')),
    ({ body }) => body.metadata?.labels?.['l'] === 'a',
    { what: 'the policy' },
  );
  same(ok(await t.patch(widgets.path(ns, 'b', 'scale'), MERGE_PATCH, { spec: { replicas: 2 } }))['spec'], {
    replicas: 2,
  });
  const { message } = failure(await t.post(widgets.path(ns), { ...widgets.draft('a..b'), kind: 'Zip' }), {
    code: 422,
    reason: 'Invalid',
  });
  check(message.startsWith('Widget.'), message);
});

spec(
  66,
  'the Scale of a custom resource that a webhook has patched keeps what a Scale does not know for the webhooks of its round',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook } = await stage(t);
    created(await t.post(widgets.path(ns), widgets.draft('a')));
    const rules = [rule(widgets.group, 'widgets/scale')];
    await hook.install('Mutating', [
      hook.entry('m.kctl.test', { rules, reinvocationPolicy: 'IfNeeded' }),
      hook.entry('n.kctl.test', { rules }),
    ]);
    const put = async (add: (url: string) => object): Promise<unknown> => {
      hook.answer = ({ url }) => mutate([{ op: 'add', ...add(url) }]);
      const scale = ok(await t.put(widgets.path(ns, 'a', 'scale'), scaleOf('a')));
      same(scale['data'], undefined, 'data');
      return hook.take().map(({ url, request }) => [url.split('?')[0], request.object.data]);
    };
    same(
      await put((url) => ({ path: '/data', value: url.startsWith('/n?') ? 'n' : 'm' })),
      [
        ['/m', undefined],
        ['/n', 'm'],
        ['/m', undefined],
      ],
      'both change it',
    );
    same(
      await put(() => ({ path: '/data', value: 'm' })),
      [
        ['/m', undefined],
        ['/n', 'm'],
      ],
      'one changes it',
    );
  },
  { needs },
);

spec(
  66,
  'an apply that owns nothing has the first patch of a webhook count by what it changes',
  async (plain) => {
    const t = steady(plain);
    const { ns, hook } = await stage(t);
    const rules = [rule('', 'configmaps', { operations: ['CREATE'] })];
    await hook.install('Mutating', [
      hook.entry('m.kctl.test', { rules, reinvocationPolicy: 'IfNeeded' }),
      hook.entry('n.kctl.test', { rules }),
    ]);
    hook.answer = ({ url }) => (url.startsWith('/n?') ? mutate([{ op: 'add', path: '/nothing', value: 2 }]) : allow());
    const asked = async (data?: Draft): Promise<unknown> => {
      const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, ...(data && { data }) };
      created(await t.patch(configMaps(ns, 'a'), APPLY_PATCH, config, applied('one')));
      const urls = hook.take().map(({ url }) => url.split('?')[0]);
      ok(await t.delete(configMaps(ns, 'a')));
      hook.take();
      return urls;
    };
    same(await asked(), ['/m', '/n'], 'nothing');
    same(await asked({ a: '1' }), ['/m', '/n', '/m'], 'something');
  },
  { needs },
);

spec(
  31,
  'the status of a Service is judged by the type that stays, and defaulted by the one of the body',
  async (t) => {
    const ns = await t.namespace();
    created(
      await t.post(services(ns), { metadata: { name: 'a' }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }),
    );
    const field = 'status.loadBalancer.ingress[0]';
    const causes: readonly (readonly [Draft, string, readonly (readonly [reason: string, field: string])[]])[] = [
      [{ ip: '10.0.0.1' }, 'ClusterIP', [['FieldValueRequired', 'ipMode']]],
      [
        { ip: 'x' },
        'ClusterIP',
        [
          ['FieldValueInvalid', 'ip'],
          ['FieldValueRequired', 'ipMode'],
        ],
      ],
      [{ ip: 'x' }, 'LoadBalancer', [['FieldValueInvalid', 'ip']]],
      [{ ip: '10.0.0.1', ipMode: 'Zip' }, 'LoadBalancer', [['FieldValueNotSupported', 'ipMode']]],
      [{ hostname: 'a', ipMode: 'VIP' }, 'LoadBalancer', [['FieldValueForbidden', 'ipMode']]],
      [{ hostname: 'A_' }, 'LoadBalancer', [['FieldValueInvalid', 'hostname']]],
      [{ hostname: '10.0.0.1' }, 'LoadBalancer', [['FieldValueInvalid', 'hostname']]],
    ];
    for (const [ingress, type, expected] of causes)
      failure(
        await t.patch(`${services(ns, 'a')}/status`, MERGE_PATCH, {
          spec: { type },
          status: { loadBalancer: { ingress: [ingress] } },
        }),
        {
          code: 422,
          reason: 'Invalid',
          causes: expected.map(([reason, name]) => ({ reason, field: `${field}.${name}` })),
        },
      );
  },
);

spec(33, 'a strict refusal names a custom resource by the kind that it says it is', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const draft = widgets.draft('a', {}, { bogus: 1 });
  const strict = { query: { fieldValidation: 'Strict' } };
  created(await t.post(widgets.path(ns), widgets.draft('a')));
  for (const kind of ['Zip', 'Widget'])
    for (const answer of [
      await t.post(widgets.path(ns), { ...draft, kind }, strict),
      await t.put(widgets.path(ns, 'a'), { ...draft, kind }, strict),
    ])
      failure(answer, {
        code: 400,
        reason: 'BadRequest',
        message: `${kind} in version "v1" cannot be handled as a ${kind}: strict decoding error: unknown field "metadata.bogus"`,
      });
});

spec(
  66,
  'the Scale of a custom resource that a webhook has made malformed is refused when all webhooks have had it',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook } = await stage(t);
    created(await t.post(widgets.path(ns), widgets.draft('a')));
    const rules = [rule(widgets.group, 'widgets/scale', { operations: ['UPDATE'] })];
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules }), hook.entry('n.kctl.test', { rules })]);
    const broken = [
      ['/metadata/labels', 'x', 'cannot restore map from string'],
      ['/metadata/finalizers', 'x', 'cannot restore slice from string'],
      ['/spec/replicas', 'x', 'unrecognized type: int32'],
    ] as const;
    for (const [path, value, why] of broken) {
      hook.answer = ({ url }) => (url.startsWith('/m?') ? mutate([{ op: 'add', path, value }]) : allow());
      failure(await t.put(widgets.path(ns, 'a', 'scale'), scaleOf('a')), {
        code: 500,
        reason: undefined,
        message: `unable to convert unstructured object to autoscaling/v1, Kind=Scale: ${why}`,
      });
      same(
        hook.take().map(({ url }) => url.split('?')[0]),
        ['/m', '/n'],
        path,
      );
    }
  },
  { needs },
);

spec(33, 'unknown fields of a patched object are told in the order of their sorted keys', async (t) => {
  const ns = await t.namespace();
  created(await t.post(deployments(ns), deploymentDraft('d')));
  const patched = {
    zip: 1,
    spec: {
      bogus: 1,
      a: 1,
      template: {
        metadata: { z: 1 },
        spec: {
          y: 2,
          containers: Array.from({ length: 12 }, (_unused, index) => ({ x: 1, name: `c${index}`, image: 'i' })),
        },
      },
    },
    metadata: { bogus: 1 },
  };
  const { warnings } = await t.patch(deployments(ns, 'd'), MERGE_PATCH, patched);
  same(
    warnings,
    [
      'metadata.bogus',
      'spec.a',
      'spec.bogus',
      'spec.template.metadata.z',
      ...Array.from({ length: 12 }, (_unused, index) => `spec.template.spec.containers[${index}].x`),
      'spec.template.spec.y',
      'zip',
    ].map((path) => `unknown field ${JSON.stringify(path)}`),
    'warnings',
  );
  const operations = ['/spec/bogus', '/metadata/bogus', '/spec/a'].map((path) => ({ op: 'add', path, value: 1 }));
  same(
    (await t.patch(deployments(ns, 'd'), JSON_PATCH, operations)).warnings,
    ['unknown field "metadata.bogus"', 'unknown field "spec.a"', 'unknown field "spec.bogus"'],
    'warnings of a JSON patch',
  );
});
