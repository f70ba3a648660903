/** §2.5 Create. */
import type { Json } from '../harness/doc.js';
import { check, created, failure, matches, names, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import {
  CRDS,
  configMaps,
  createConfigMap,
  deploymentDraft,
  deployments,
  NAMESPACES,
  podDraft,
  podNamespace,
  pods,
  secrets,
  services,
} from './paths.js';

const NAME_CAUSE = {
  reason: 'FieldValueRequired',
  field: 'metadata.name',
  message: 'Required value: name or generateName is required',
};
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

spec(31, 'the server sets uid, creationTimestamp, resourceVersion and generation', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const widget = created(await t.post(widgets.path(ns), widgets.draft('a')));
  const { metadata } = widget;
  matches(metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 'uid');
  matches(metadata.creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'creationTimestamp');
  matches(metadata.resourceVersion, /^\d+$/, 'resourceVersion');
  same([metadata.generation, metadata.name, metadata.namespace], [1, 'a', ns], 'generation, name, namespace');
  same([widget.kind, widget.apiVersion], ['Widget', widgets.apiVersion], 'kind');
  same(ok(await t.get(widgets.path(ns, 'a'))), widget, 'what GET answers');
  const configMap = await createConfigMap(t, ns, 'a');
  same(configMap.metadata.generation, undefined, 'generation of a ConfigMap');
  same(
    created(await t.post(deployments(ns), deploymentDraft('d'))).metadata.generation,
    1,
    'generation of a Deployment',
  );
});

spec(
  31,
  'managedFields name the manager and the fields',
  async (t) => {
    const ns = await t.namespace();
    const made = await createConfigMap(t, ns, 'a', { data: { a: '1' } });
    const named = created(
      await t.post(`${configMaps(ns)}?fieldManager=me`, { metadata: { name: 'b' }, data: { b: '2' } }),
    );
    const [entry] = named.metadata.managedFields ?? [];
    same(
      [entry.manager, entry.operation, entry.apiVersion, entry.fieldsType, entry.fieldsV1],
      ['me', 'Update', 'v1', 'FieldsV1', { 'f:data': { '.': {}, 'f:b': {} } }],
      'entry',
    );
    same(made.metadata.managedFields?.length, 1, 'entries');
  },
  { needs: ['managed-fields'] },
);

spec(
  31,
  'uid, creationTimestamp, generation, deletionTimestamp and selfLink of a client are overwritten',
  async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    const sent = {
      uid: 'mine',
      creationTimestamp: '2001-01-01T00:00:00Z',
      generation: 7,
      deletionTimestamp: '2001-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 5,
      selfLink: '/x',
    };
    const drafts = [
      [widgets.path(ns), widgets.draft('a', {}, sent)],
      [configMaps(ns), { metadata: { name: 'a', ...sent } }],
    ] as const;
    for (const [path, draft] of drafts) {
      const { metadata } = created(await t.post(path, draft));
      check(metadata.uid !== 'mine' && metadata.creationTimestamp > '2020', `${path}: ${JSON.stringify(metadata)}`);
      same(
        [metadata.deletionTimestamp, metadata.deletionGracePeriodSeconds, metadata.selfLink],
        [undefined, undefined, undefined],
        path,
      );
    }
    same(ok(await t.get(widgets.path(ns, 'a'))).metadata.generation, 1, 'generation');
  },
);

spec(31, 'a pod of a priority class that is not there, or with a priority of its own, is refused', async (t) => {
  const ns = await podNamespace(t);
  const refused: readonly (readonly [given: object, why: string])[] = [
    [{ priorityClassName: 'nope' }, 'no PriorityClass with name nope was found'],
    [
      { priority: 7 },
      'the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    ],
    [
      { preemptionPolicy: 'Never' },
      'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    ],
  ];
  for (const [given, why] of refused)
    failure(await t.post(pods(ns), podDraft('a', { spec: given })), {
      code: 403,
      reason: 'Forbidden',
      message: `pods "a" is forbidden: ${why}`,
    });
  const computed = { priority: 0, preemptionPolicy: 'PreemptLowerPriority' };
  created(await t.post(pods(ns), podDraft('a', { spec: computed })));
});

spec(32, 'a resourceVersion answers 500 without a reason', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const expected = {
    code: 500,
    reason: undefined,
    message: 'resourceVersion should not be set on objects to be created',
  } as const;
  failure(await t.post(widgets.path(ns), widgets.draft('a', {}, { resourceVersion: '5' })), expected);
  failure(await t.post(configMaps(ns), { metadata: { name: 'a', resourceVersion: '5' } }), expected);
});

spec(32, 'a namespace that is not that of the URL answers 400', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const expected = {
    code: 400,
    reason: 'BadRequest',
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  };
  failure(await t.post(widgets.path(ns), widgets.draft('a', {}, { namespace: 'other' })), expected);
  failure(await t.post(configMaps(ns), { metadata: { name: 'a', namespace: 'other' } }), expected);
});

spec(32, 'a namespace that is missing answers 404 of the namespace', async (t) => {
  const widgets = await t.widgets();
  const expected = {
    code: 404,
    reason: 'NotFound',
    message: 'namespaces "no-such" not found',
    details: { name: 'no-such', kind: 'namespaces' },
  };
  failure(await t.post(widgets.path('no-such'), widgets.draft('a')), expected);
  failure(await t.post(configMaps('no-such'), { metadata: { name: 'a' } }), expected);
});

spec(32, 'a namespaced kind is not created without a namespace', async (t) => {
  const widgets = await t.widgets();
  failure(await t.post('/api/v1/configmaps', { metadata: { name: 'a' } }), { code: 405, reason: 'MethodNotAllowed' });
  same([(await t.post(widgets.everywhere, widgets.draft('a'))).status], [404], 'custom resource');
});

spec(33, 'generateName appends five characters that make no words', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made = created(await t.post(widgets.path(ns), { ...widgets.draft('x'), metadata: { generateName: 'gen-' } }));
  matches(made.metadata.name, /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/, 'name');
  same(made.metadata.generateName, 'gen-', 'generateName');
  const configMap = created(await t.post(configMaps(ns), { metadata: { generateName: 'gen-' } }));
  matches(configMap.metadata.name, /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/, 'name');
  const long = created(await t.post(configMaps(ns), { metadata: { generateName: 'g'.repeat(80) } }));
  matches(long.metadata.name, /^g{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/, 'name of a long prefix');
});

spec(33, 'a namespace whose name is generated has that name as a label', async (t) => {
  const { metadata } = created(await t.post('/api/v1/namespaces', { metadata: { generateName: 'gen-' } }));
  t.defer(() => t.delete(`/api/v1/namespaces/${metadata.name}`));
  same(metadata.labels, { 'kubernetes.io/metadata.name': metadata.name }, 'labels');
});

spec(33, 'name wins over generateName', async (t) => {
  const ns = await t.namespace();
  const made = created(await t.post(configMaps(ns), { metadata: { name: 'named', generateName: 'gen-' } }));
  same([made.metadata.name, made.metadata.generateName], ['named', 'gen-'], 'names');
});

spec(33, 'neither answers 422', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  failure(await t.post(configMaps(ns), { metadata: {} }), {
    code: 422,
    reason: 'Invalid',
    message: `ConfigMap "" is invalid: metadata.name: ${NAME_CAUSE.message}`,
    details: { kind: 'ConfigMap' },
    causes: [NAME_CAUSE],
  });
  failure(await t.post(widgets.path(ns), { ...widgets.draft('a'), metadata: {} }), {
    code: 422,
    reason: 'Invalid',
    message: `${widgets.qualifiedKind} "" is invalid: metadata.name: ${NAME_CAUSE.message}`,
    details: { group: widgets.group, kind: 'Widget' },
    causes: [NAME_CAUSE],
  });
});

spec(33, 'a name that exists answers AlreadyExists', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  await createConfigMap(t, ns, 'a');
  failure(await t.post(configMaps(ns), { metadata: { name: 'a' } }), {
    code: 409,
    reason: 'AlreadyExists',
    message: 'configmaps "a" already exists',
    details: { name: 'a', kind: 'configmaps' },
  });
  created(await t.post(widgets.path(ns), widgets.draft('a')));
  failure(await t.post(widgets.path(ns), widgets.draft('a')), {
    code: 409,
    reason: 'AlreadyExists',
    message: `${widgets.resource} "a" already exists`,
    details: { name: 'a', group: widgets.group, kind: 'widgets' },
  });
});

spec(33, 'a name that exists and is being deleted says so', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('a', {}, { finalizers: ['kctl.test/f'] })));
  ok(await t.delete(widgets.path(ns, 'a')));
  failure(await t.post(widgets.path(ns), widgets.draft('a')), {
    code: 409,
    reason: 'AlreadyExists',
    message: `object is being deleted: ${widgets.resource} "a" already exists`,
  });
  await createConfigMap(t, ns, 'b', { metadata: { finalizers: ['kctl.test/f'] } });
  ok(await t.delete(configMaps(ns, 'b')));
  failure(await t.post(configMaps(ns), { metadata: { name: 'b' } }), {
    code: 409,
    reason: 'AlreadyExists',
    message: 'object is being deleted: configmaps "b" already exists',
  });
});

spec(34, 'names are DNS subdomains', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  for (const name of ['Bad_Name', '-a', 'a.', 'a..b', 'ä']) {
    const message = `Invalid value: ${JSON.stringify(name)}: ${SUBDOMAIN}`;
    failure(await t.post(configMaps(ns), { metadata: { name } }), {
      code: 422,
      reason: 'Invalid',
      message: `ConfigMap ${JSON.stringify(name)} is invalid: metadata.name: ${message}`,
      details: { name, kind: 'ConfigMap' },
      causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name', message }],
    });
    failure(await t.post(widgets.path(ns), widgets.draft(name)), {
      code: 422,
      reason: 'Invalid',
      causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name', message }],
    });
  }
  created(await t.post(configMaps(ns), { metadata: { name: `${'a'.repeat(63)}.${'b'.repeat(189)}` } }));
  failure(await t.post(configMaps(ns), { metadata: { name: 'a'.repeat(254) } }), {
    code: 422,
    reason: 'Invalid',
    causes: [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.name',
        message: `Invalid value: "${'a'.repeat(254)}": must be no more than 253 characters`,
      },
    ],
  });
});

const LABEL_1123 =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
spec(34, 'names of namespaces are labels, those of services likewise and may begin with a digit', async (t) => {
  const ns = await t.namespace();
  failure(await t.post(NAMESPACES, { metadata: { name: 'a.b' } }), {
    code: 422,
    reason: 'Invalid',
    causes: [
      { reason: 'FieldValueInvalid', field: 'metadata.name', message: 'Invalid value: "a.b": must not contain dots' },
    ],
  });
  failure(await t.post(NAMESPACES, { metadata: { name: 'A' } }), {
    code: 422,
    reason: 'Invalid',
    causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name', message: `Invalid value: "A": ${LABEL_1123}` }],
  });
  created(await t.post(services(ns), { metadata: { name: '1a' }, spec: { ports: [{ port: 80 }] } }));
  failure(await t.post(services(ns), { metadata: { name: 'a.b' }, spec: { ports: [{ port: 80 }] } }), {
    code: 422,
    reason: 'Invalid',
    causes: [
      { reason: 'FieldValueInvalid', field: 'metadata.name', message: 'Invalid value: "a.b": must not contain dots' },
    ],
  });
});

spec(34, 'a name with a slash or a percent sign is refused', async (t) => {
  const ns = await t.namespace();
  for (const name of ['a/b', 'a%b', '..'])
    failure(await t.post('/apis/rbac.authorization.k8s.io/v1/namespaces/' + ns + '/roles', { metadata: { name } }), {
      code: 422,
      reason: 'Invalid',
    });
  created(
    await t.post('/apis/rbac.authorization.k8s.io/v1/namespaces/' + ns + '/roles', {
      metadata: { name: 'system:some_Thing' },
    }),
  );
});

const QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
spec(34, 'label keys and values', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const attempt = async (labels: Record<string, string>, causes: { field: string; message: string }[]) => {
    const expected = {
      code: 422,
      reason: 'Invalid',
      causes: causes.map((cause) => ({ reason: 'FieldValueInvalid', ...cause })),
    };
    failure(await t.post(configMaps(ns), { metadata: { name: 'a', labels } }), expected);
    failure(await t.post(widgets.path(ns), widgets.draft('a', {}, { labels })), expected);
  };
  await attempt({ 'a b': 'x' }, [{ field: 'metadata.labels', message: `Invalid value: "a b": ${QUALIFIED}` }]);
  await attempt({ a: 'x y' }, [{ field: 'metadata.labels', message: `Invalid value: "x y": ${LABEL_VALUE}` }]);
  await attempt({ a: 'x'.repeat(64) }, [
    { field: 'metadata.labels', message: `Invalid value: "${'x'.repeat(64)}": must be no more than 63 bytes` },
  ]);
  await attempt({ 'A.io/x': 'y' }, [
    { field: 'metadata.labels', message: `Invalid value: "A.io/x": prefix part ${SUBDOMAIN}` },
  ]);
  await attempt({ '/x': 'y' }, [
    { field: 'metadata.labels', message: 'Invalid value: "/x": prefix part must be non-empty' },
  ]);
  await attempt({ 'a/b/c': 'y' }, [
    {
      field: 'metadata.labels',
      message: `Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    },
  ]);
});

spec(34, 'annotation keys, and 256 KiB of annotations', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  for (const [path, draft] of [
    [configMaps(ns), (annotations: object) => ({ metadata: { name: 'a', annotations } })],
    [widgets.path(ns), (annotations: object) => widgets.draft('a', {}, { annotations })],
  ] as const) {
    failure(await t.post(path, draft({ 'a b': 'x' })), {
      code: 422,
      reason: 'Invalid',
      causes: [
        { reason: 'FieldValueInvalid', field: 'metadata.annotations', message: `Invalid value: "a b": ${QUALIFIED}` },
      ],
    });
    failure(await t.post(path, draft({ big: 'x'.repeat(262_142) })), {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueTooLong',
          field: 'metadata.annotations',
          message: 'Too long: may not be more than 262144 bytes',
        },
      ],
    });
    created(
      await t
        .post(path, draft({ Big: 'x'.repeat(262_141), 'Kctl.Test/X': '' }))
        .then(async (answer) => (answer.status === 422 ? t.post(path, draft({ Big: 'x'.repeat(262_100) })) : answer)),
    );
  }
});

spec(34, 'ownerReferences: uid, name, kind and apiVersion are required, and one controller at most', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u1' };
  const attempt = async (ownerReferences: object[], causes: { field: string; message?: string | RegExp }[]) => {
    const expected = {
      code: 422,
      reason: 'Invalid',
      causes: causes.map((cause) => ({ reason: 'FieldValueInvalid', ...cause })),
    };
    failure(await t.post(configMaps(ns), { metadata: { name: 'a', ownerReferences } }), expected);
    failure(await t.post(widgets.path(ns), widgets.draft('a', {}, { ownerReferences })), expected);
  };
  await attempt(
    [{ ...owner, uid: '' }],
    [{ field: 'metadata.ownerReferences.uid', message: 'Invalid value: "": must not be empty' }],
  );
  await attempt(
    [{ ...owner, name: '' }],
    [{ field: 'metadata.ownerReferences.name', message: 'Invalid value: "": must not be empty' }],
  );
  await attempt(
    [{ ...owner, kind: '' }],
    [{ field: 'metadata.ownerReferences.kind', message: 'Invalid value: "": must not be empty' }],
  );
  await attempt(
    [{ ...owner, apiVersion: '' }],
    [{ field: 'metadata.ownerReferences.apiVersion', message: 'Invalid value: "": version must not be empty' }],
  );
  await attempt(
    [
      { ...owner, controller: true },
      { ...owner, uid: 'u2', name: 'p', controller: true },
    ],
    [{ field: 'metadata.ownerReferences', message: /Only one reference can have Controller set to true/ }],
  );
});

spec(34, 'several problems are told at once', async (t) => {
  const ns = await t.namespace();
  const answer = failure(
    await t.post(configMaps(ns), { metadata: { name: 'Bad', labels: { 'a b': 'x' }, annotations: { 'c d': 'y' } } }),
    {
      code: 422,
      reason: 'Invalid',
      causes: [
        { reason: 'FieldValueInvalid', field: 'metadata.name' },
        { reason: 'FieldValueInvalid', field: 'metadata.labels' },
        { reason: 'FieldValueInvalid', field: 'metadata.annotations' },
      ],
    },
  );
  matches(
    answer.message,
    /^ConfigMap "Bad" is invalid: \[metadata\.name: .*, metadata\.labels: .*, metadata\.annotations: .*\]$/,
    'message',
  );
});

spec(34, 'POST on the path of a custom resource object creates by the name in the body', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const answer = await t.post(widgets.path(ns, 'url-name'), widgets.draft('a'));
  same([answer.status, answer.body.metadata.name], [201, 'a'], 'answer');
});

spec(34, 'PUT on a collection answers 405 for a built-in, 400 for a custom resource', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  failure(await t.put(configMaps(ns), { metadata: { name: 'a' } }), { code: 405, reason: 'MethodNotAllowed' });
  failure(await t.put(widgets.path(ns), widgets.draft('a')), {
    code: 400,
    reason: 'BadRequest',
    message: 'name must be provided',
  });
});

spec(35, 'status is dropped on create', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  same(
    created(await t.post(widgets.path(ns), { ...widgets.draft('a'), status: { ready: true } })).status,
    undefined,
    'custom resource',
  );
  const deployment = created(await t.post(deployments(ns), { ...deploymentDraft('a'), status: { replicas: 7 } }));
  same(deployment.status, {}, 'Deployment');
});

spec(35, 'stringData of a Secret folds into data', async (t) => {
  const ns = await t.namespace();
  const made = created(
    await t.post(secrets(ns), {
      metadata: { name: 'a' },
      data: { a: 'YQ==', b: 'Yg==' },
      stringData: { a: 'x', c: 'ü' },
    }),
  );
  same(
    [made.data, made['stringData'], made['type']],
    [{ a: 'eA==', b: 'Yg==', c: 'w7w=' }, undefined, 'Opaque'],
    'secret',
  );
});

spec(35, 'defaults of a Service', async (t) => {
  const ns = await t.namespace();
  const { spec: made, status } = created(
    await t.post(services(ns), { metadata: { name: 'a' }, spec: { selector: { a: 'b' }, ports: [{ port: 80 }] } }),
  );
  const { clusterIP, clusterIPs, ...rest } = made;
  matches(clusterIP as string, /^(\d+\.){3}\d+$/, 'clusterIP');
  same(clusterIPs, [clusterIP], 'clusterIPs');
  same(
    rest,
    {
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      selector: { a: 'b' },
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    },
    'spec',
  );
  same(status, { loadBalancer: {} }, 'status');
  const headless = created(
    await t.post(services(ns), { metadata: { name: 'h' }, spec: { clusterIP: 'None', ports: [{ port: 80 }] } }),
  );
  same([headless.spec.clusterIP, headless.spec.clusterIPs], ['None', ['None']], 'headless');
  const other = created(await t.post(services(ns), { metadata: { name: 'b' }, spec: { ports: [{ port: 80 }] } }));
  check(other.spec.clusterIP !== clusterIP, 'the same clusterIP twice');
});

spec(35, 'defaults of a Pod', async (t) => {
  const ns = await podNamespace(t);
  const made = created(await t.post(pods(ns), podDraft('a', { spec: { automountServiceAccountToken: false } })));
  const {
    serviceAccount: _account,
    serviceAccountName: _name,
    automountServiceAccountToken: _mount,
    ...rest
  } = made.spec;
  same(
    rest,
    {
      containers: [
        {
          name: 'c',
          image: 'i',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'Always',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    },
    'spec',
  );
  same([made.status.phase, made.status.qosClass], ['Pending', 'BestEffort'], 'status');
});

spec(35, 'quality of service and pull policy of a Pod', async (t) => {
  const ns = await podNamespace(t);
  const make = async (name: string, container: object) =>
    created(
      await t.post(pods(ns), podDraft(name, { spec: { containers: [{ name: 'c', image: 'i', ...container }] } })),
    );
  const limits = { cpu: '1', memory: '1Gi' };
  const guaranteed = await make('g', { resources: { limits } });
  same(
    [guaranteed.status.qosClass, guaranteed.spec.containers[0].resources.requests],
    ['Guaranteed', limits],
    'guaranteed',
  );
  same((await make('b', { resources: { requests: { cpu: '100m' } } })).status.qosClass, 'Burstable', 'burstable');
  same((await make('t', { image: 'i:1' })).spec.containers[0].imagePullPolicy, 'IfNotPresent', 'pull policy of a tag');
  same((await make('l', { image: 'i:latest' })).spec.containers[0].imagePullPolicy, 'Always', 'pull policy of latest');
});

spec(35, 'defaults of a Deployment', async (t) => {
  const ns = await t.namespace();
  const made = created(await t.post(deployments(ns), deploymentDraft('a')));
  same(
    made.spec,
    {
      replicas: 1,
      selector: { matchLabels: { app: 'a' } },
      template: {
        metadata: { labels: { app: 'a' } },
        spec: {
          containers: [
            {
              name: 'c',
              image: 'i',
              resources: {},
              terminationMessagePath: '/dev/termination-log',
              terminationMessagePolicy: 'File',
              imagePullPolicy: 'Always',
            },
          ],
          restartPolicy: 'Always',
          terminationGracePeriodSeconds: 30,
          dnsPolicy: 'ClusterFirst',
          securityContext: {},
          schedulerName: 'default-scheduler',
        },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
    'spec',
  );
  same(
    created(await t.post(deployments(ns), deploymentDraft('z', { spec: { replicas: 0 } }))).spec.replicas,
    0,
    'an explicit zero',
  );
});

const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const selector = { matchLabels: { app: 'a' } };
const pick = (value: Json, fields: readonly string[]): Json =>
  Object.fromEntries(fields.map((field) => [field, value[field]]));
const defaulted: [title: string, path: (ns: string) => string, spec: object, expected: Record<string, unknown>][] = [
  [
    'StatefulSet',
    (ns) => `/apis/apps/v1/namespaces/${ns}/statefulsets`,
    { selector, template, serviceName: 's' },
    {
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    },
  ],
  [
    'DaemonSet',
    (ns) => `/apis/apps/v1/namespaces/${ns}/daemonsets`,
    { selector, template },
    {
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    },
  ],
  ['ReplicaSet', (ns) => `/apis/apps/v1/namespaces/${ns}/replicasets`, { selector, template }, { replicas: 1 }],
  [
    'CronJob',
    (ns) => `/apis/batch/v1/namespaces/${ns}/cronjobs`,
    {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
    },
    { concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
  ],
  [
    'PersistentVolumeClaim',
    (ns) => `/api/v1/namespaces/${ns}/persistentvolumeclaims`,
    { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    { volumeMode: 'Filesystem' },
  ],
  [
    'NetworkPolicy',
    (ns) => `/apis/networking.k8s.io/v1/namespaces/${ns}/networkpolicies`,
    { podSelector: {} },
    { policyTypes: ['Ingress'] },
  ],
  [
    'HorizontalPodAutoscaler',
    (ns) => `/apis/autoscaling/v2/namespaces/${ns}/horizontalpodautoscalers`,
    { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, maxReplicas: 3 },
    {
      minReplicas: 1,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
      ],
    },
  ],
  [
    'Lease',
    (ns) => `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`,
    { holderIdentity: 'me', renewTime: '2026-01-01T02:00:00.500000+02:00' },
    { holderIdentity: 'me', renewTime: '2026-01-01T00:00:00.500000Z' },
  ],
];
for (const [kind, path, draft, expected] of defaulted)
  spec(35, `defaults of a ${kind}`, async (t) => {
    const ns = await t.namespace();
    const made = created(await t.post(path(ns), { metadata: { name: 'a' }, spec: draft }));
    same(pick(made.spec, Object.keys(expected)), expected, 'spec');
  });

spec(35, 'defaults of a Job: a selector and labels of its own', async (t) => {
  const ns = await t.namespace();
  const made = created(
    await t.post(`/apis/batch/v1/namespaces/${ns}/jobs`, {
      metadata: { name: 'a' },
      spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
    }),
  );
  const { uid } = made.metadata;
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': 'a',
    'controller-uid': uid,
    'job-name': 'a',
  };
  same(made.spec.selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } }, 'selector');
  same(made.spec.template.metadata.labels, labels, 'labels of the template');
  same(
    pick(made.spec, [
      'parallelism',
      'completions',
      'backoffLimit',
      'completionMode',
      'suspend',
      'podReplacementPolicy',
      'manualSelector',
    ]),
    {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: 'TerminatingOrFailed',
      manualSelector: false,
    },
    'spec',
  );
});

spec(35, 'a cluster-scoped object, and its list', async (t) => {
  const name = t.unique('pc');
  const path = '/apis/scheduling.k8s.io/v1/priorityclasses';
  t.defer(() => t.delete(`${path}/${name}`));
  const made = created(await t.post(path, { metadata: { name }, value: 10 }));
  same(
    [made.metadata.namespace, made['value'], made['preemptionPolicy'], made.metadata.generation],
    [undefined, 10, 'PreemptLowerPriority', 1],
    'object',
  );
  same(names(ok(await t.get(path, { query: { fieldSelector: `metadata.name=${name}` } }))), [name], 'list');
});

spec(36, 'schema errors of a custom resource have typed causes', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const attempt = async (specification: object, reason: string, field: string, message: string | RegExp) =>
    failure(await t.post(widgets.path(ns), { ...widgets.draft('a'), spec: specification }), {
      code: 422,
      reason: 'Invalid',
      details: { name: 'a', group: widgets.group, kind: 'Widget' },
      causes: [{ reason, field, message }],
    });
  await attempt({}, 'FieldValueRequired', 'spec.size', 'Required value');
  await attempt(
    { size: 'x' },
    'FieldValueTypeInvalid',
    'spec.size',
    'Invalid value: "string": spec.size in body must be of type integer: "string"',
  );
  await attempt(
    { size: -1 },
    'FieldValueInvalid',
    'spec.size',
    'Invalid value: -1: spec.size in body should be greater than or equal to 0',
  );
  await attempt(
    { size: 1, color: 'pink' },
    'FieldValueNotSupported',
    'spec.color',
    'Unsupported value: "pink": supported values: "red", "green", "blue"',
  );
  await attempt(
    { size: 1, parts: [{ name: 'a' }, { name: 'a' }] },
    'FieldValueDuplicate',
    'spec.parts[1]',
    'Duplicate value: {"name":"a"}',
  );
  await attempt({ size: 1, parts: [{ value: 1 }] }, 'FieldValueRequired', 'spec.parts[0].name', 'Required value');
  await attempt({ size: 1, tags: ['a', 'a'] }, 'FieldValueDuplicate', 'spec.tags[1]', 'Duplicate value: "a"');
  await attempt(
    { size: 1, note: 'x'.repeat(21) },
    'FieldValueTooLong',
    'spec.note',
    'Too long: may not be more than 20 bytes',
  );
  await attempt(
    { size: 1, note: 'A' },
    'FieldValueInvalid',
    'spec.note',
    'Invalid value: "A": spec.note in body should match \'^[a-z ]*$\'',
  );
  await attempt(
    { size: 1, list: [1, 2, 3, 4] },
    'FieldValueTooMany',
    'spec.list',
    'Too many: 4: must have at most 3 items',
  );
  await attempt(
    { size: 1, port: 1.5 },
    'FieldValueTypeInvalid',
    'spec.port',
    'Invalid value: "number": spec.port in body must be of type integer,string: "number"',
  );
  await attempt(
    { size: 1, when: 'today' },
    'FieldValueTypeInvalid',
    'spec.when',
    'Invalid value: "today": spec.when in body must be of type date-time: "today"',
  );
  await attempt(
    { size: 1, map: { a: 1 } },
    'FieldValueTypeInvalid',
    'spec.map.a',
    'Invalid value: "integer": spec.map.a in body must be of type string: "integer"',
  );
  await attempt(
    { size: 1, enabled: 'yes' },
    'FieldValueTypeInvalid',
    'spec.enabled',
    'Invalid value: "string": spec.enabled in body must be of type boolean: "string"',
  );
  await attempt(
    { size: 1, parts: {} },
    'FieldValueTypeInvalid',
    'spec.parts',
    'Invalid value: "object": spec.parts in body must be of type array: "object"',
  );
});

spec(36, 'a fraction where an integer is expected has two causes', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  failure(await t.post(widgets.path(ns), widgets.draft('a', { size: 1.5 })), {
    code: 422,
    reason: 'Invalid',
    causes: [
      {
        reason: 'FieldValueTypeInvalid',
        field: 'spec.size',
        message: 'Invalid value: "number": spec.size in body must be of type integer: "number"',
      },
      {
        reason: 'FieldValueInvalid',
        field: '<nil>',
        message: 'Invalid value: "": Checked value must be of type integer (default format) in spec.size',
      },
    ],
  });
});

spec(36, 'several schema errors come at once', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const body = failure(await t.post(widgets.path(ns), { ...widgets.draft('a'), spec: { size: 'x', color: 'pink' } }), {
    code: 422,
    reason: 'Invalid',
  });
  const causes = body.details.causes as { field: string; reason: string }[];
  same(
    causes.map(({ field, reason }) => `${field} ${reason}`).toSorted(),
    ['spec.color FieldValueNotSupported', 'spec.size FieldValueTypeInvalid'],
    'causes',
  );
});

spec(36, 'a built-in tells what is required', async (t) => {
  const ns = await t.namespace();
  failure(await t.post(deployments(ns), { metadata: { name: 'a' }, spec: { template: { spec: {} } } }), {
    code: 422,
    reason: 'Invalid',
    details: { name: 'a', group: 'apps', kind: 'Deployment' },
    causes: [
      { reason: 'FieldValueRequired', field: 'spec.selector', message: 'Required value' },
      {
        reason: 'FieldValueInvalid',
        field: 'spec.template.metadata.labels',
        message: 'Invalid value: null: `selector` does not match template `labels`',
      },
      { reason: 'FieldValueRequired', field: 'spec.template.spec.containers', message: 'Required value' },
    ],
  });
  failure(await t.post(services(ns), { metadata: { name: 'a' }, spec: {} }), {
    code: 422,
    reason: 'Invalid',
    causes: [{ reason: 'FieldValueRequired', field: 'spec.ports', message: 'Required value' }],
  });
});

spec(36, 'ConfigMap keys', async (t) => {
  const ns = await t.namespace();
  const key =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
  failure(await t.post(configMaps(ns), { metadata: { name: 'a' }, data: { 'a b': '1' } }), {
    code: 422,
    reason: 'Invalid',
    causes: [{ reason: 'FieldValueInvalid', field: 'data[a b]', message: `Invalid value: "a b": ${key}` }],
  });
  failure(await t.post(secrets(ns), { metadata: { name: 'a' }, stringData: { 'a b': '1' } }), {
    code: 422,
    reason: 'Invalid',
    causes: [{ reason: 'FieldValueInvalid', field: 'data[a b]', message: `Invalid value: "a b": ${key}` }],
  });
  failure(await t.post(secrets(ns), { metadata: { name: 'a' }, data: { a: 'not base64!' } }), {
    code: 400,
    reason: 'BadRequest',
    message: /illegal base64 data at input byte 3/,
  });
});

spec(36, 'a custom resource definition tells what is required', async (t) => {
  failure(
    await t.post(CRDS, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'a.b' },
      spec: {},
    }),
    {
      code: 422,
      reason: 'Invalid',
      details: { name: 'a.b', group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' },
    },
  );
});
