/** §2.6 Update. */
import type { Context } from '../harness/context.js';
import { MERGE_PATCH } from '../harness/context.js';
import type { Doc } from '../harness/doc.js';
import { check, checkNewer, created, failure, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import type { WidgetApi } from '../harness/widgets.js';
import {
  configMaps,
  createConfigMap,
  deploymentDraft,
  deployments,
  jobs,
  leases,
  podDraft,
  podNamespace,
  pods,
  secrets,
  services,
} from './paths.js';

interface Made {
  ns: string;
  widgets: WidgetApi;
  path: string;
  made: Doc;
}

async function widget(
  t: Context,
  specification: Record<string, unknown> = {},
  metadata: Record<string, unknown> = {},
): Promise<Made> {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made = created(await t.post(widgets.path(ns), widgets.draft('u', specification, metadata)));
  return { ns, widgets, path: widgets.path(ns, 'u'), made };
}

const edit = (doc: Doc, change: (copy: Doc) => void): Doc => {
  const copy = structuredClone(doc);
  change(copy);
  return copy;
};

const conflict = (resource: string, name: string) => ({
  code: 409,
  reason: 'Conflict',
  message: `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
});

spec(37, 'PUT with the current revision writes, with a stale one answers Conflict', async (t) => {
  const { path, made, widgets, ns } = await widget(t);
  const updated = ok(
    await t.put(
      path,
      edit(made, ({ spec: s }) => (s.size = 2)),
    ),
  );
  checkNewer(updated.metadata.resourceVersion, made.metadata.resourceVersion, 'revision');
  same(
    [updated.spec.size, updated.metadata.uid, updated.metadata.creationTimestamp],
    [2, made.metadata.uid, made.metadata.creationTimestamp],
    'object',
  );
  failure(
    await t.put(
      path,
      edit(made, ({ spec: s }) => (s.size = 3)),
    ),
    { ...conflict(widgets.resource, 'u'), details: { name: 'u', group: widgets.group, kind: 'widgets' } },
  );
  const configMap = await createConfigMap(t, ns, 'u');
  ok(
    await t.put(
      configMaps(ns, 'u'),
      edit(configMap, (copy) => (copy.data = { a: '1' })),
    ),
  );
  failure(await t.put(configMaps(ns, 'u'), configMap), {
    ...conflict('configmaps', 'u'),
    details: { name: 'u', kind: 'configmaps' },
  });
});

spec(37, 'of two writers with the same revision exactly one wins', async (t) => {
  const { path, made } = await widget(t);
  const answers = await Promise.all(
    [1, 2, 3, 4, 5].map((size) =>
      t.put(
        path,
        edit(made, ({ spec: s }) => (s.size = size + 10)),
      ),
    ),
  );
  same(answers.map(({ status }) => status).toSorted(), [200, 409, 409, 409, 409], 'statuses');
});

spec(38, 'a write that changes nothing keeps the revision', async (t) => {
  const { path, made, ns } = await widget(t, { tags: ['a'], map: { x: 'y' } });
  const revision = made.metadata.resourceVersion;
  const put = async (change: (copy: Doc) => void) => ok(await t.put(path, edit(made, change))).metadata.resourceVersion;
  same(await put(() => {}), revision, 'the same object');
  same(await put((copy) => (copy.status = { ready: true })), revision, 'status through the main path');
  same(await put((copy) => (copy.spec.unknown = 1)), revision, 'an unknown field');
  same(await put((copy) => (copy['bogus'] = 1)), revision, 'an unknown field at the root');
  same(await put((copy) => (copy.metadata.generation = 77)), revision, 'generation');
  same(await put((copy) => (copy.metadata.creationTimestamp = '2001-01-01T00:00:00Z')), revision, 'creationTimestamp');
  same(await put((copy) => delete copy.spec.color), revision, 'a field that has a default');
  const configMap = await createConfigMap(t, ns, 'u', { data: { a: '1' } });
  same(
    ok(await t.put(configMaps(ns, 'u'), configMap)).metadata.resourceVersion,
    configMap.metadata.resourceVersion,
    'ConfigMap',
  );
  const deployment = created(await t.post(deployments(ns), deploymentDraft('u')));
  same(
    ok(
      await t.put(
        deployments(ns, 'u'),
        edit(deployment, (copy) => delete copy.spec.strategy),
      ),
    ).metadata.resourceVersion,
    deployment.metadata.resourceVersion,
    'Deployment',
  );
});

spec(39, 'a custom resource is not updated without a revision', async (t) => {
  const { path, made, widgets } = await widget(t);
  for (const resourceVersion of [undefined, '', '0']) {
    const body = edit(made, (copy) => {
      if (resourceVersion === undefined) delete (copy.metadata as Partial<Doc['metadata']>).resourceVersion;
      else copy.metadata.resourceVersion = resourceVersion;
    });
    failure(await t.put(path, body), {
      code: 422,
      reason: 'Invalid',
      message: `${widgets.resource} "u" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
      details: { name: 'u', group: widgets.group, kind: 'widgets' },
      causes: [
        {
          reason: 'FieldValueInvalid',
          field: 'metadata.resourceVersion',
          message: 'Invalid value: 0: must be specified for an update',
        },
      ],
    });
  }
});

spec(39, 'most built-ins are updated without a revision', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'u');
  same(
    ok(await t.put(configMaps(ns, 'u'), { metadata: { name: 'u' }, data: { a: '2' } })).data,
    { a: '2' },
    'ConfigMap',
  );
  created(await t.post(deployments(ns), deploymentDraft('u')));
  same(
    ok(await t.put(deployments(ns, 'u'), deploymentDraft('u', { spec: { replicas: 4 } }))).spec.replicas,
    4,
    'Deployment',
  );
  created(await t.post(secrets(ns), { metadata: { name: 'u' } }));
  ok(await t.put(secrets(ns, 'u'), { metadata: { name: 'u' }, stringData: { a: 'x' } }));
});

spec(39, 'an absent object answers 404, a Lease is created', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  failure(await t.put(configMaps(ns, 'nope'), { metadata: { name: 'nope' } }), {
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "nope" not found',
  });
  failure(await t.put(widgets.path(ns, 'nope'), widgets.draft('nope')), {
    code: 404,
    reason: 'NotFound',
    message: `${widgets.resource} "nope" not found`,
  });
  failure(await t.put(widgets.path(ns, 'nope'), widgets.draft('nope', {}, { resourceVersion: '5' })), {
    code: 404,
    reason: 'NotFound',
  });
  failure(await t.put(configMaps(ns, 'nope'), { metadata: { name: 'nope', resourceVersion: '5' } }), {
    code: 404,
    reason: 'NotFound',
  });
  const lease = created(await t.put(leases(ns, 'new'), { metadata: { name: 'new' }, spec: { holderIdentity: 'me' } }));
  same(lease.spec.holderIdentity, 'me', 'holder');
});

spec(39, 'an existing Lease is not updated without a revision', async (t) => {
  const ns = await t.namespace();
  created(await t.post(leases(ns), { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } }));
  failure(await t.put(leases(ns, 'l'), { metadata: { name: 'l' }, spec: { holderIdentity: 'you' } }), {
    code: 422,
    reason: 'Invalid',
    message:
      'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    details: { name: 'l', group: 'coordination.k8s.io', kind: 'leases' },
  });
});

spec(40, 'a name that is not that of the URL answers 400', async (t) => {
  const { path, made, ns } = await widget(t);
  failure(
    await t.put(
      path,
      edit(made, (copy) => (copy.metadata.name = 'v')),
    ),
    { code: 400, reason: 'BadRequest', message: 'the name of the object (v) does not match the name on the URL (u)' },
  );
  await createConfigMap(t, ns, 'u');
  failure(await t.put(configMaps(ns, 'u'), { metadata: { name: 'v' } }), {
    code: 400,
    reason: 'BadRequest',
    message: 'the name of the object (v) does not match the name on the URL (u)',
  });
  failure(await t.put(configMaps(ns, 'u'), { metadata: {} }), {
    code: 400,
    reason: 'BadRequest',
    message: 'the name of the object (u based on URL) was undeterminable: name must be provided',
  });
});

spec(40, 'a namespace that is not that of the URL answers 400', async (t) => {
  const { path, made } = await widget(t);
  failure(
    await t.put(
      path,
      edit(made, (copy) => (copy.metadata.namespace = 'other')),
    ),
    {
      code: 400,
      reason: 'BadRequest',
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    },
  );
});

spec(40, 'another uid answers Conflict', async (t) => {
  const { path, made, widgets, ns } = await widget(t);
  failure(
    await t.put(
      path,
      edit(made, (copy) => (copy.metadata.uid = 'zzz')),
    ),
    {
      code: 409,
      reason: 'Conflict',
      message: new RegExp(
        `^Operation cannot be fulfilled on ${widgets.resource.replaceAll('.', '\\.')} "u": StorageError: invalid object, Code: 4, Key: .*, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: zzz, UID in object meta: ${made.metadata.uid}$`,
      ),
    },
  );
  await createConfigMap(t, ns, 'u');
  failure(await t.put(configMaps(ns, 'u'), { metadata: { name: 'u', uid: 'zzz' } }), {
    code: 409,
    reason: 'Conflict',
    message: /UID in precondition: zzz/,
  });
  const cause = {
    reason: 'FieldValueInvalid',
    field: 'metadata.uid',
    message: 'Invalid value: "zzz": field is immutable',
  };
  failure(await t.patch(path, MERGE_PATCH, { metadata: { uid: 'zzz' } }), {
    code: 422,
    reason: 'Invalid',
    causes: [cause, cause],
  });
});

spec(40, 'deletionTimestamp cannot be set, its removal is ignored', async (t) => {
  const { path, made, ns, widgets } = await widget(t, {}, { finalizers: ['kctl.test/f'] });
  const message = 'Invalid value: "2001-01-01T00:00:00Z": field is immutable';
  const answer = await t.put(
    path,
    edit(made, (copy) => (copy.metadata.deletionTimestamp = '2001-01-01T00:00:00Z')),
  );
  same(
    [answer.status, answer.body.reason, answer.body.details.causes[0]],
    [422, 'Invalid', { reason: 'FieldValueInvalid', message, field: 'metadata.deletionTimestamp' }],
    'set',
  );
  const deleted = ok(await t.delete(path));
  const kept = ok(
    await t.put(
      path,
      edit(deleted, ({ metadata }) => {
        delete metadata.deletionTimestamp;
        delete metadata.deletionGracePeriodSeconds;
      }),
    ),
  );
  same(
    [kept.metadata.deletionTimestamp, kept.metadata.deletionGracePeriodSeconds, kept.metadata.resourceVersion],
    [deleted.metadata.deletionTimestamp, 0, deleted.metadata.resourceVersion],
    'removed',
  );
  void [ns, widgets];
});

spec(
  40,
  'managedFields that are absent are kept',
  async (t) => {
    const { path, made } = await widget(t);
    const updated = ok(
      await t.put(
        path,
        edit(made, (copy) => delete copy.metadata.managedFields),
      ),
    );
    same(
      [updated.metadata.resourceVersion, (updated.metadata.managedFields ?? []).length > 0],
      [made.metadata.resourceVersion, true],
      'object',
    );
  },
  { needs: ['managed-fields'] },
);

spec(
  40,
  'who repeats an item of a set owns it',
  async (t) => {
    const { path } = await widget(t);
    const finalizersOf = (doc: Doc, manager: string): unknown =>
      (doc.metadata.managedFields ?? []).find((entry) => entry.manager === manager)?.fieldsV1?.['f:metadata'];
    const owned = { 'f:finalizers': { '.': {}, 'v:"kctl.test/f"': {} } };
    const patch = async (manager: string, finalizers: string[]): Promise<Doc> =>
      ok(await t.patch(path, MERGE_PATCH, { metadata: { finalizers } }, { query: { fieldManager: manager } }));
    same(finalizersOf(await patch('one', ['kctl.test/f']), 'one'), owned, 'once');
    const twice = await patch('two', ['kctl.test/f', 'kctl.test/f']);
    same(finalizersOf(twice, 'two'), { 'f:finalizers': { 'v:"kctl.test/f"': {} } }, 'twice');
  },
  { needs: ['managed-fields'] },
);

spec(41, 'generation: grows with the spec, not with labels or status', async (t) => {
  const { path, made } = await widget(t);
  const put = async (url: string, doc: Doc, change: (copy: Doc) => void) => ok(await t.put(url, edit(doc, change)));
  const labelled = await put(path, made, (copy) => (copy.metadata.labels = { a: 'b' }));
  same(labelled.metadata.generation, 1, 'labels');
  const finalized = await put(path, labelled, (copy) => (copy.metadata.finalizers = ['kctl.test/f']));
  same(finalized.metadata.generation, 1, 'finalizers');
  const reported = await put(`${path}/status`, finalized, (copy) => (copy.status = { ready: true }));
  same([reported.metadata.generation, reported.status], [1, { ready: true }], 'status');
  const changed = await put(path, reported, ({ spec: s }) => (s.size = 5));
  same([changed.metadata.generation, changed.status], [2, { ready: true }], 'spec');
  const deleted = ok(await t.delete(path));
  same(deleted.metadata.generation, 3, 'deletion');
  const patched = ok(await t.patch(path, MERGE_PATCH, { spec: { size: 6 } }));
  same(patched.metadata.generation, 4, 'spec while deleting');
});

spec(41, 'generation of a custom resource without status subresource grows with status too', async (t) => {
  const group = `${t.unique('g')}.kctl.test`;
  await t.crd({
    metadata: { name: `plains.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'plains', kind: 'Plain' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { status: { type: 'object', properties: { a: { type: 'integer' } } } },
            },
          },
        },
      ],
    },
  });
  const ns = await t.namespace();
  const path = `/apis/${group}/v1/namespaces/${ns}/plains`;
  const made = created(
    await t.post(path, { apiVersion: `${group}/v1`, kind: 'Plain', metadata: { name: 'a' }, status: { a: 1 } }),
  );
  same([made.metadata.generation, made.status], [1, { a: 1 }], 'created');
  const patched = ok(await t.patch(`${path}/a`, MERGE_PATCH, { status: { a: 2 } }));
  same(patched.metadata.generation, 2, 'status');
  same(
    ok(await t.patch(`${path}/a`, MERGE_PATCH, { metadata: { labels: { a: 'b' } } })).metadata.generation,
    2,
    'labels',
  );
});

spec(41, 'generation of built-ins', async (t) => {
  const ns = await t.namespace();
  created(await t.post(deployments(ns), deploymentDraft('d')));
  const path = deployments(ns, 'd');
  const patch = async (url: string, body: object) => ok(await t.patch(url, MERGE_PATCH, body)).metadata.generation;
  same(await patch(path, { spec: { replicas: 2 } }), 2, 'spec');
  same(await patch(path, { metadata: { labels: { a: 'b' } } }), 2, 'labels');
  same(await patch(path, { metadata: { annotations: { a: 'b' } } }), 3, 'annotations of a Deployment');
  same(await patch(`${path}/status`, { status: { replicas: 1 } }), 3, 'status');
  const network = `/apis/networking.k8s.io/v1/namespaces/${ns}/networkpolicies`;
  same(
    created(await t.post(network, { metadata: { name: 'n' }, spec: { podSelector: {} } })).metadata.generation,
    1,
    'NetworkPolicy',
  );
  same(await patch(`${network}/n`, { spec: { policyTypes: ['Egress'] } }), 2, 'spec of a NetworkPolicy');
  same(await patch(`${network}/n`, { metadata: { annotations: { a: 'b' } } }), 2, 'annotations of a NetworkPolicy');
});

spec(42, 'the spec of a Pod is immutable but for image and a few more', async (t) => {
  const ns = await podNamespace(t);
  const made = created(await t.post(pods(ns), podDraft('p')));
  failure(
    await t.put(
      pods(ns, 'p'),
      edit(made, ({ spec: s }) => (s.restartPolicy = 'Never')),
    ),
    {
      code: 422,
      reason: 'Invalid',
      message:
        /^Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`,`spec\.initContainers\[\*\]\.image`,`spec\.activeDeadlineSeconds`,`spec\.tolerations` \(only additions to existing tolerations\)/,
      causes: [{ reason: 'FieldValueForbidden', field: 'spec' }],
    },
  );
  same(
    ok(
      await t.put(
        pods(ns, 'p'),
        edit(made, ({ spec: s }) => (s.containers[0].image = 'j')),
      ),
    ).spec.containers[0].image,
    'j',
    'image',
  );
  same(
    ok(await t.patch(pods(ns, 'p'), MERGE_PATCH, { metadata: { labels: { a: 'b' } } })).metadata.labels,
    { a: 'b' },
    'labels',
  );
});

spec(42, 'a Pod is replaced by its own manifest; what admission added is kept', async (t) => {
  const ns = await podNamespace(t);
  const manifest = podDraft('p', {
    spec: { terminationGracePeriodSeconds: -1, serviceAccountName: 'default', automountServiceAccountToken: false },
  });
  const made = created(await t.post(pods(ns), manifest));
  const replaced = ok(await t.put(pods(ns, 'p'), manifest));
  same(replaced.spec, made.spec, 'spec');
  same(replaced.metadata.generation, 1, 'generation');
});

spec(42, 'a toleration of a Pod may change how long it lasts, and nothing else', async (t) => {
  const ns = await podNamespace(t);
  const toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 };
  const made = created(await t.post(pods(ns), podDraft('p', { spec: { tolerations: [toleration] } })));
  const tolerate = (change: object) =>
    t.put(
      pods(ns, 'p'),
      edit(made, ({ metadata, spec: s }) => {
        metadata.resourceVersion = '';
        s.tolerations[0] = { ...toleration, ...change };
      }),
    );
  same(ok(await tolerate({ tolerationSeconds: 20 })).spec.tolerations[0].tolerationSeconds, 20, 'tolerationSeconds');
  failure(await tolerate({ key: 'other' }), {
    code: 422,
    reason: 'Invalid',
    causes: [
      {
        reason: 'FieldValueForbidden',
        field: 'spec.tolerations',
        message: 'Forbidden: existing toleration can not be modified except its tolerationSeconds',
      },
    ],
  });
});

spec(42, 'a gated Pod loses gates, and may be narrowed to fewer nodes', async (t) => {
  const ns = await podNamespace(t);
  const affinity = (...keys: string[]) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: keys.map((key) => ({ key, operator: 'Exists' })) }],
      },
    },
  });
  const fields = { schedulingGates: [{ name: 'k.io/a' }], nodeSelector: { a: 'b' }, affinity: affinity('x') };
  created(await t.post(pods(ns), podDraft('p', { spec: fields })));
  const change = (spec: object) => t.patch(pods(ns, 'p'), MERGE_PATCH, { spec }, { query: { dryRun: 'All' } });
  const refused = async (what: object, cause: { reason: string; field: string; message: string }) =>
    failure(await change(what), { code: 422, reason: 'Invalid', causes: [cause] });
  const terms = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';

  ok(await change({ schedulingGates: [] }));
  await refused(
    { schedulingGates: [{ name: 'k.io/a' }, { name: 'k.io/b' }] },
    {
      reason: 'FieldValueForbidden',
      field: 'spec.schedulingGates[1].name',
      message: "Forbidden: only deletion is allowed, but found new scheduling gate 'k.io/b'",
    },
  );
  ok(await change({ nodeSelector: { c: 'd' } }));
  await refused(
    { nodeSelector: { a: 'c' } },
    {
      reason: 'FieldValueInvalid',
      field: 'spec.nodeSelector',
      message: 'Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    },
  );
  ok(await change({ affinity: affinity('x', 'y') }));
  const { body } = await change({ affinity: affinity('y') });
  same(
    body.details?.causes?.map(({ reason, field }: { reason: string; field: string }) => [reason, field]),
    [['FieldValueInvalid', `${terms}[0]`]],
    'causes of another requirement',
  );
});

spec(42, 'the selector of a Deployment is immutable', async (t) => {
  const ns = await t.namespace();
  const made = created(await t.post(deployments(ns), deploymentDraft('d')));
  const body = failure(
    await t.put(
      deployments(ns, 'd'),
      edit(made, ({ spec: s }) => {
        s.selector.matchLabels = { app: 'other' };
        s.template.metadata.labels = { app: 'other' };
      }),
    ),
    { code: 422, reason: 'Invalid', causes: [{ reason: 'FieldValueInvalid', field: 'spec.selector' }] },
  );
  check(body.message.includes('field is immutable'), body.message);
  failure(
    await t.put(
      deployments(ns, 'd'),
      edit(made, ({ spec: s }) => (s.template.metadata.labels = { app: 'other' })),
    ),
    {
      code: 422,
      reason: 'Invalid',
      message:
        'Deployment.apps "d" is invalid: spec.template.metadata.labels: Invalid value: {"app":"other"}: `selector` does not match template `labels`',
    },
  );
});

spec(42, 'immutable ConfigMaps and Secrets', async (t) => {
  const ns = await t.namespace();
  const made = await createConfigMap(t, ns, 'a', { data: { a: '1' }, immutable: true });
  failure(
    await t.put(
      configMaps(ns, 'a'),
      edit(made, (copy) => (copy.data = { a: '2' })),
    ),
    {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueForbidden',
          field: 'data',
          message: 'Forbidden: field is immutable when `immutable` is set',
        },
      ],
    },
  );
  failure(
    await t.put(
      configMaps(ns, 'a'),
      edit(made, (copy) => (copy['immutable'] = false)),
    ),
    {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueForbidden',
          field: 'immutable',
          message: 'Forbidden: field is immutable when `immutable` is set',
        },
      ],
    },
  );
  ok(
    await t.put(
      configMaps(ns, 'a'),
      edit(made, (copy) => (copy.metadata.labels = { a: 'b' })),
    ),
  );
  const secret = created(await t.post(secrets(ns), { metadata: { name: 's' }, immutable: true }));
  failure(
    await t.put(
      secrets(ns, 's'),
      edit(secret, (copy) => (copy.data = { a: 'YQ==' })),
    ),
    { code: 422, reason: 'Invalid', causes: [{ reason: 'FieldValueForbidden', field: 'data' }] },
  );
  const typed = created(await t.post(secrets(ns), { metadata: { name: 't' } }));
  failure(
    await t.put(
      secrets(ns, 't'),
      edit(typed, (copy) => (copy['type'] = 'other')),
    ),
    {
      code: 422,
      reason: 'Invalid',
      causes: [{ reason: 'FieldValueInvalid', field: 'type', message: 'Invalid value: "other": field is immutable' }],
    },
  );
});

spec(42, 'the clusterIP of a Service is immutable, and kept when an update leaves it out', async (t) => {
  const ns = await t.namespace();
  const made = created(await t.post(services(ns), { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }));
  const { clusterIP } = made.spec as { clusterIP: string };
  const kept = ok(
    await t.put(services(ns, 's'), {
      metadata: { name: 's', resourceVersion: made.metadata.resourceVersion },
      spec: { ports: [{ port: 81 }] },
    }),
  );
  same([kept.spec.clusterIP, kept.spec.ports[0].port], [clusterIP, 81], 'kept');
  const answer = await t.put(
    services(ns, 's'),
    edit(kept, ({ spec: s }) => (s.clusterIP = '10.0.0.254')),
  );
  same([answer.status, answer.body.reason], [422, 'Invalid'], 'changed');
  check(
    answer.body.message.includes('spec.clusterIPs[0]: Invalid value: ["10.0.0.254"]: may not change once set'),
    answer.body.message,
  );
});

spec(42, 'template and selector of a Job are immutable', async (t) => {
  const ns = await t.namespace();
  const made = created(
    await t.post(jobs(ns), {
      metadata: { name: 'j' },
      spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } } },
    }),
  );
  const answer = await t.put(
    jobs(ns, 'j'),
    edit(made, ({ spec: s }) => (s.template.spec.containers[0].image = 'j')),
  );
  same(
    [answer.status, answer.body.reason, (answer.body.details.causes as { field: string }[]).map(({ field }) => field)],
    [422, 'Invalid', ['spec.template']],
    'answer',
  );
  same(
    ok(await t.patch(jobs(ns, 'j'), MERGE_PATCH, { spec: { parallelism: 3, suspend: true } })).spec.parallelism,
    3,
    'parallelism',
  );
});

spec(42, 'a StatefulSet may change a few fields of its spec', async (t) => {
  const ns = await t.namespace();
  const path = `/apis/apps/v1/namespaces/${ns}/statefulsets`;
  const made = created(
    await t.post(path, {
      ...deploymentDraft('s'),
      spec: { ...(deploymentDraft('s')['spec'] as object), serviceName: 'x' },
    }),
  );
  failure(
    await t.put(
      `${path}/s`,
      edit(made, ({ spec: s }) => (s.serviceName = 'y')),
    ),
    {
      code: 422,
      reason: 'Invalid',
      message: /^StatefulSet\.apps "s" is invalid: spec: Forbidden: updates to statefulset spec for fields other than /,
      causes: [{ reason: 'FieldValueForbidden', field: 'spec' }],
    },
  );
  same(
    ok(
      await t.put(
        `${path}/s`,
        edit(made, ({ spec: s }) => (s.replicas = 3)),
      ),
    ).spec.replicas,
    3,
    'replicas',
  );
});

spec(42, 'the spec of a PersistentVolumeClaim is immutable', async (t) => {
  const ns = await t.namespace();
  const path = `/api/v1/namespaces/${ns}/persistentvolumeclaims`;
  const made = created(
    await t.post(path, {
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }),
  );
  failure(
    await t.put(
      `${path}/c`,
      edit(made, ({ spec: s }) => (s.accessModes = ['ReadOnlyMany'])),
    ),
    {
      code: 422,
      reason: 'Invalid',
      message:
        /^PersistentVolumeClaim "c" is invalid: spec: Forbidden: spec is immutable after creation except resources\.requests and volumeAttributesClassName for bound claims/,
    },
  );
});
