/** Particulars of single kinds, paths and shapes, in which a server is easily more lenient than the real one. */
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH } from '../harness/context.js';
import { created, failure, matches, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import { configMaps, createConfigMap, CRDS } from './paths.js';

const metadataOf = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1`;

spec(10, 'half of a character that stands alone is stored as U+FFFD', async (t) => {
  const ns = await t.namespace();
  const one = configMaps(ns, 'a');
  const json = String.raw`{"metadata":{"name":"a","annotations":{"k":"x\ud800y"}},"data":{"a":"\udfff\ud83d\ude00"}}`;
  const made = created(await t.post(configMaps(ns), json));
  same([made.metadata.annotations, made.data], [{ k: 'x\ufffdy' }, { a: '\ufffd😀' }], 'create');
  const merged = ok(await t.patch(one, MERGE_PATCH, String.raw`{"data":{"a":"\ud800\ud800"}}`));
  same(merged.data, { a: '\ufffd\ufffd' }, 'merge patch');
  const added = ok(await t.patch(one, JSON_PATCH, String.raw`[{"op":"add","path":"/data/a","value":"\ude00\ud83d"}]`));
  same(added.data, { a: '\ufffd\ufffd' }, 'JSON patch');
});

spec(1, 'a path with an empty segment names nothing', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  for (const path of ['//', '//api', '//apis', `/${configMaps(ns, 'a')}`, '//apis/apps/v1/deployments']) {
    for (const method of ['GET', 'DELETE']) {
      const { status: code, text } = await t.send(method, path);
      same([code, text], [404, '404 page not found\n'], path);
    }
  }
  for (const path of [
    `/api//v1/namespaces/${ns}/configmaps/a`,
    `/api/v1//namespaces/${ns}/configmaps/a`,
    `/api/v1/namespaces/${ns}//configmaps/a`,
    `/api/v1/namespaces/${ns}/configmaps//a`,
    '/apis/apps//v1/deployments',
  ])
    for (const method of ['GET', 'DELETE'])
      failure(await t.send(method, path), {
        code: 404,
        reason: 'NotFound',
        message: 'the server could not find the requested resource',
      });
  ok(await t.get(configMaps(ns, 'a')));
});

spec(14, 'an object is not shown as a list of metadata, nor a list as the metadata of an object', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('w')));
  const list = { accept: metadataOf('PartialObjectMetadataList') };
  const object = { accept: metadataOf('PartialObjectMetadata') };
  const notAList = {
    code: 406,
    reason: 'NotAcceptable',
    message: /not a list \(\*core\.ConfigMap\)$/,
  };
  failure(await t.get(configMaps(ns, 'a'), list), notAList);
  failure(await t.get(widgets.path(ns, 'w'), list), { code: 500, reason: undefined, message: 'content is not a list' });
  failure(await t.post(`${configMaps(ns)}?dryRun=All`, { metadata: { name: 'b' } }, list), notAList);
  failure(await t.put(`${configMaps(ns, 'a')}?dryRun=All`, { metadata: { name: 'a' } }, list), notAList);
  const isAList = {
    code: 406,
    reason: 'NotAcceptable',
    message: /is a list \(\*(core\.ConfigMapList|unstructured\.UnstructuredList)\)$/,
  };
  failure(await t.get(configMaps(ns), object), isAList);
  failure(await t.get(widgets.path(ns), object), isAList);
  failure(await t.delete(`${configMaps(ns)}?dryRun=All`, undefined, object), isAList);
});

spec(24, 'claims and volumes are protected from the start', async (t) => {
  const ns = await t.namespace();
  const claim = {
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const claims = `/api/v1/namespaces/${ns}/persistentvolumeclaims`;
  same(
    created(await t.post(`${claims}?dryRun=All`, claim)).metadata.finalizers,
    ['kubernetes.io/pvc-protection'],
    'dry run',
  );
  const made = created(await t.post(claims, claim));
  same(made.metadata.finalizers, ['kubernetes.io/pvc-protection'], 'claim');
  const kept = ok(await t.put(`${claims}/c`, { ...made, metadata: { ...made.metadata, finalizers: [] } }));
  same(kept.metadata.finalizers, undefined, 'an update takes the finalizer off');
  const volume = {
    metadata: { name: t.unique('v') },
    spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } },
  };
  same(
    created(await t.post('/api/v1/persistentvolumes?dryRun=All', volume)).metadata.finalizers,
    ['kubernetes.io/pv-protection'],
    'volume',
  );
});

spec(24, 'the writer of a DaemonSet owns the annotation that counts its templates', async (t) => {
  const ns = await t.namespace();
  const sets = `/apis/apps/v1/namespaces/${ns}/daemonsets`;
  const template = (image: string): object => ({
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image }] },
  });
  const draft = (image: string): object => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: { a: 'b' } }, template: template(image) },
  });
  const owners = (object: Awaited<ReturnType<typeof created>>): unknown =>
    (object.metadata.managedFields ?? []).map(({ manager, fieldsV1 }: { manager: string; fieldsV1: object }) => [
      manager,
      (Reflect.get(fieldsV1, 'f:metadata') as unknown) ?? null,
    ]);
  const annotation = { 'f:deprecated.daemonset.template.generation': {} };
  const both = { 'f:annotations': { '.': {}, ...annotation } };
  same(owners(created(await t.post(`${sets}?fieldManager=one`, draft('i')))), [['one', both]], 'create');
  const put = ok(await t.put(`${sets}/d?fieldManager=two`, draft('i')));
  same(
    owners(put),
    [
      ['one', { 'f:annotations': {} }],
      ['two', { 'f:annotations': annotation }],
    ],
    'update without it',
  );
  const applied = created(
    await t.patch(`${sets}/e?fieldManager=three`, APPLY_PATCH, { ...draft('i'), metadata: { name: 'e' } }),
  );
  same(owners(applied), [['three', null]], 'apply');
});

spec(60, 'a deprecated version names the newest served one that follows it', async (t) => {
  const group = `${t.unique('t')}.kctl.test`;
  const schema = { openAPIV3Schema: { type: 'object' } };
  const version = (name: string, rest: object = {}): object => ({
    name,
    served: true,
    storage: false,
    schema,
    ...rest,
  });
  await t.crd({
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        version('v1alpha1', { deprecated: true }),
        version('v1beta1', { deprecated: true, deprecationWarning: 'own words' }),
        version('v1beta2'),
        version('v1', { storage: true }),
        version('v2', { deprecated: true }),
        version('v3', { served: false }),
      ],
    },
  });
  const warnings = async (name: string): Promise<readonly string[]> => {
    const path = `/apis/${group}/${name}/namespaces/default/things`;
    return (
      await t.eventually(
        () => t.get(path),
        (answer) => answer.status === 200,
      )
    ).warnings;
  };
  same(await warnings('v1alpha1'), [`${group}/v1alpha1 Thing is deprecated; use ${group}/v1 Thing`], 'v1alpha1');
  same(await warnings('v1beta1'), ['own words'], 'v1beta1');
  same(await warnings('v2'), [`${group}/v2 Thing is deprecated`], 'v2');
});

spec(60, 'definitions of community groups have a condition about their approval', async (t) => {
  for (const [annotation, expected] of [
    ['https://github.com/kubernetes/kubernetes/pull/1', ['True', 'ApprovedAnnotation', /^approved in https:/]],
    ['unapproved, for a test', ['False', 'UnapprovedAnnotation', /^not approved: "unapproved, for a test"$/]],
  ] as const) {
    const group = `${t.unique('t')}.k8s.io`;
    const made = await t.crd({
      metadata: { name: `things.${group}`, annotations: { 'api-approved.kubernetes.io': annotation } },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    const type = 'KubernetesAPIApprovalPolicyConformant';
    interface Condition {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }
    const find = (conditions: readonly Condition[]): Condition | undefined =>
      conditions.find((each) => each.type === type);
    const answer = await t.eventually(
      () => t.get(`${CRDS}/${made.metadata.name}`),
      ({ body }) => find(body.status.conditions) !== undefined,
      { what: type },
    );
    const condition = find(answer.body.status.conditions);
    const [wanted, reason, message] = expected;
    same([condition?.status, condition?.reason], [wanted, reason], annotation);
    matches(condition?.message ?? '', message, annotation);
  }
});

spec(69, 'the answer to a dry run has the defaults of the status', async (t) => {
  const group = `${t.unique('t')}.kctl.test`;
  const ns = await t.namespace();
  const count = { type: 'object', default: {}, properties: { n: { type: 'integer', default: 5 } } };
  await t.crd({
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { status: count } } },
        },
      ],
    },
  });
  const path = `/apis/${group}/v1/namespaces/${ns}/things`;
  const draft = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' }, status: { n: 9 } };
  same(created(await t.post(`${path}?dryRun=All`, draft)).status, { n: 5 }, 'dry run');
  same(created(await t.post(path, draft)).status, { n: 5 }, 'create');
});

spec(45, 'a manager of a version that is no longer served owns its fields still', async (t) => {
  const group = `${t.unique('t')}.kctl.test`;
  const ns = await t.namespace();
  const text = { type: 'string' };
  const properties = { spec: { type: 'object', properties: { a: text, b: text } } };
  const version = (name: string, rest: object): object => ({
    name,
    served: true,
    storage: false,
    schema: { openAPIV3Schema: { type: 'object', properties } },
    ...rest,
  });
  const name = `things.${group}`;
  await t.crd({
    metadata: { name },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [version('v1', { storage: true }), version('v2', {})],
    },
  });
  const apply = (served: string, manager: string, fields: object, query = ''): ReturnType<typeof t.patch> =>
    t.patch(`/apis/${group}/${served}/namespaces/${ns}/things/a?fieldManager=${manager}${query}`, APPLY_PATCH, {
      apiVersion: `${group}/${served}`,
      kind: 'Thing',
      metadata: { name: 'a' },
      spec: fields,
    });
  created(await apply('v1', 'one', { a: '1', b: '1' }));
  const versions = [version('v1', { storage: true, served: false }), version('v2', {})];
  ok(await t.patch(`${CRDS}/${name}`, MERGE_PATCH, { spec: { versions } }));
  await t.eventually(
    () => t.get(`/apis/${group}/v1/namespaces/${ns}/things/a`),
    (answer) => answer.status === 404,
    { what: 'v1 is not served' },
  );
  failure(await apply('v2', 'two', { a: '2' }), {
    code: 409,
    reason: 'Conflict',
    causes: [{ reason: 'FieldManagerConflict', field: '.spec.a', message: 'conflict with "one"' }],
  });
  const forced = ok(await apply('v2', 'two', { a: '2' }, '&force=true'));
  const owners = (forced.metadata.managedFields ?? []).map((each) => [each.manager, each.apiVersion, each.fieldsV1]);
  same(
    owners,
    [
      ['one', `${group}/v1`, { 'f:spec': { 'f:b': {} } }],
      ['two', `${group}/v2`, { 'f:spec': { 'f:a': {} } }],
    ],
    'owners',
  );
});
