/** §2.7 Subresources. */
import { MERGE_PATCH } from '../harness/context.js';
import { checkNewer, created, failure, matches, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import { configMaps, deploymentDraft, deployments, NAMESPACES, podDraft, podNamespace, pods } from './paths.js';

spec(43, '/status of a custom resource changes status alone', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made = created(
    await t.post(widgets.path(ns), widgets.draft('a', { size: 1 }, { labels: { a: '1' }, annotations: { a: '1' } })),
  );
  const path = widgets.path(ns, 'a', 'status');
  const put = ok(
    await t.put(path, {
      ...made,
      metadata: { ...made.metadata, labels: { a: '2' }, annotations: { a: '2' } },
      spec: { size: 9 },
      status: { ready: true },
    }),
  );
  same(
    [put.spec.size, put.metadata.labels, put.metadata.annotations, put.status],
    [1, { a: '1' }, { a: '1' }, { ready: true }],
    'PUT',
  );
  checkNewer(put.metadata.resourceVersion, made.metadata.resourceVersion, 'revision');
  const patched = ok(await t.patch(path, MERGE_PATCH, { spec: { size: 8 }, status: { phase: 'x' } }));
  same([patched.spec.size, patched.status], [1, { ready: true, phase: 'x' }], 'PATCH');
  same(ok(await t.get(path)), ok(await t.get(widgets.path(ns, 'a'))), 'GET');
  failure(await t.put(path, { ...made, status: {} }), { code: 409, reason: 'Conflict' });
});

spec(43, '/status of a custom resource validates and prunes', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('a')));
  failure(await t.patch(widgets.path(ns, 'a', 'status'), MERGE_PATCH, { status: { ready: 'yes' } }), {
    code: 422,
    reason: 'Invalid',
    causes: [{ reason: 'FieldValueTypeInvalid', field: 'status.ready' }],
  });
  same(
    ok(await t.patch(widgets.path(ns, 'a', 'status'), MERGE_PATCH, { status: { ready: true, bogus: 1 } })).status,
    { ready: true },
    'status',
  );
});

spec(
  43,
  'managedFields of /status stand apart',
  async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    created(await t.post(widgets.path(ns), widgets.draft('a')));
    const patched = ok(
      await t.patch(
        widgets.path(ns, 'a', 'status'),
        MERGE_PATCH,
        { status: { ready: true } },
        { query: { fieldManager: 'm' } },
      ),
    );
    same(
      patched.metadata.managedFields?.find((entry) => entry.subresource === 'status')?.fieldsV1,
      { 'f:status': { '.': {}, 'f:ready': {} } },
      'entry',
    );
  },
  { needs: ['managed-fields'] },
);

spec(
  43,
  'a write of /status whose spec is not of its type forgets who owns what; the spec stays',
  async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    const made = created(await t.post(widgets.path(ns), widgets.draft('a')));
    const patched = ok(
      await t.patch(widgets.path(ns, 'a', 'status'), MERGE_PATCH, { spec: { size: 'x' }, status: { ready: true } }),
    );
    same([patched.spec, patched.metadata.managedFields], [made.spec, undefined], 'object');
  },
  { needs: ['managed-fields'] },
);

spec(43, '/status of a Deployment ignores spec and labels', async (t) => {
  const ns = await t.namespace();
  const made = created(await t.post(deployments(ns), deploymentDraft('a')));
  const put = ok(
    await t.put(`${deployments(ns, 'a')}/status`, {
      ...made,
      metadata: { ...made.metadata, labels: { a: '2' } },
      spec: { ...made.spec, replicas: 7 },
      status: { replicas: 2, observedGeneration: 1 },
    }),
  );
  same(
    [put.spec.replicas, put.metadata.labels, put.status],
    [1, undefined, { replicas: 2, observedGeneration: 1 }],
    'object',
  );
});

spec(43, '/status of a Pod', async (t) => {
  const ns = await podNamespace(t);
  created(await t.post(pods(ns), podDraft('a')));
  const patched = ok(
    await t.patch(`${pods(ns, 'a')}/status`, MERGE_PATCH, {
      metadata: { labels: { a: 'b' } },
      spec: { nodeName: 'n' },
      status: { phase: 'Running', podIP: '10.1.1.1', conditions: [{ type: 'Ready', status: 'True' }] },
    }),
  );
  same(
    [patched.status.phase, patched.status.podIP, patched.status.podIPs, patched.spec.nodeName],
    ['Running', '10.1.1.1', [{ ip: '10.1.1.1' }], undefined],
    'status',
  );
  same(patched.metadata.labels, { a: 'b' }, 'labels');
  const main = ok(await t.patch(pods(ns, 'a'), MERGE_PATCH, { status: { phase: 'Failed' } }));
  same(main.status.phase, 'Running', 'status through the main path');
});

spec(44, '/scale of a Deployment', async (t) => {
  const ns = await t.namespace();
  const made = created(await t.post(deployments(ns), deploymentDraft('a')));
  const path = `${deployments(ns, 'a')}/scale`;
  const scale = ok(await t.get(path));
  same(
    [scale.kind, scale.apiVersion, scale.spec, scale.status],
    ['Scale', 'autoscaling/v1', { replicas: 1 }, { replicas: 0, selector: 'app=a' }],
    'scale',
  );
  same(
    [
      scale.metadata.name,
      scale.metadata.namespace,
      scale.metadata.uid,
      scale.metadata.resourceVersion,
      scale.metadata.creationTimestamp,
    ],
    ['a', ns, made.metadata.uid, made.metadata.resourceVersion, made.metadata.creationTimestamp],
    'metadata',
  );
  const patched = ok(await t.patch(path, MERGE_PATCH, { spec: { replicas: 3 } }));
  same([patched.kind, patched.spec], ['Scale', { replicas: 3 }], 'PATCH');
  const parent = ok(await t.get(deployments(ns, 'a')));
  same(
    [parent.spec.replicas, parent.metadata.generation, parent.metadata.resourceVersion],
    [3, 2, patched.metadata.resourceVersion],
    'parent',
  );
  const put = ok(await t.put(path, { ...patched, spec: { replicas: 5 } }));
  same([put.spec.replicas, ok(await t.get(deployments(ns, 'a'))).spec.replicas], [5, 5], 'PUT');
  failure(await t.put(path, { ...patched, spec: { replicas: 6 } }), { code: 409, reason: 'Conflict' });
  failure(await t.patch(path, MERGE_PATCH, { spec: { replicas: -1 } }), { code: 422, reason: 'Invalid' });
  failure(await t.get(`${deployments(ns, 'nope')}/scale`), {
    code: 404,
    reason: 'NotFound',
    message: 'deployments.apps "nope" not found',
  });
});

spec(44, '/scale of a custom resource by its paths', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made = created(await t.post(widgets.path(ns), widgets.draft('a', { replicas: 2 })));
  ok(await t.patch(widgets.path(ns, 'a', 'status'), MERGE_PATCH, { status: { replicas: 1, selector: 'x=y' } }));
  const path = widgets.path(ns, 'a', 'scale');
  const scale = ok(await t.get(path));
  same(
    [scale.kind, scale.apiVersion, scale.metadata.uid, scale.spec, scale.status],
    ['Scale', 'autoscaling/v1', made.metadata.uid, { replicas: 2 }, { replicas: 1, selector: 'x=y' }],
    'scale',
  );
  same(ok(await t.patch(path, MERGE_PATCH, { spec: { replicas: 4 } })).spec, { replicas: 4 }, 'PATCH');
  const parent = ok(await t.get(widgets.path(ns, 'a')));
  same([parent.spec.replicas, parent.metadata.generation], [4, 2], 'parent');
  same(
    ok(
      await t.put(path, {
        ...scale,
        metadata: { ...scale.metadata, resourceVersion: parent.metadata.resourceVersion },
        spec: { replicas: 0 },
      }),
    ).spec,
    {},
    'PUT: a zero is left out',
  );
});

spec(44, 'a subresource that a custom resource lacks answers 404', async (t) => {
  const group = `${t.unique('s')}.kctl.test`;
  await t.crd({
    metadata: { name: `plains.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'plains', kind: 'Plain' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  const ns = await t.namespace();
  const path = `/apis/${group}/v1/namespaces/${ns}/plains`;
  created(await t.post(path, { apiVersion: `${group}/v1`, kind: 'Plain', metadata: { name: 'a' } }));
  for (const subresource of ['status', 'scale', 'nothing'])
    same((await t.get(`${path}/a/${subresource}`)).status, 404, subresource);
});

spec(45, 'pods/binding assigns a node once', async (t) => {
  const ns = await podNamespace(t);
  created(await t.post(pods(ns), podDraft('a')));
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: 'a' },
    target: { apiVersion: 'v1', kind: 'Node', name: 'n1' },
  };
  const bound = created(await t.post(`${pods(ns, 'a')}/binding`, binding));
  same([bound.kind, bound.status], ['Status', 'Success'], 'answer');
  const pod = ok(await t.get(pods(ns, 'a')));
  same(pod.spec.nodeName, 'n1', 'node');
  const scheduled = (pod.status.conditions as { type: string; status: string }[]).find(
    ({ type }) => type === 'PodScheduled',
  );
  same(scheduled?.status, 'True', 'PodScheduled');
  failure(await t.post(`${pods(ns, 'a')}/binding`, binding), {
    code: 409,
    reason: 'Conflict',
    message: /pod a is already assigned to node "n1"/,
  });
  ok(await t.delete(`${pods(ns, 'a')}?gracePeriodSeconds=0`));
});

spec(45, 'a Binding that is posted to its namespace assigns the pod that it names', async (t) => {
  const ns = await podNamespace(t);
  created(await t.post(pods(ns), podDraft('a')));
  const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
  const path = `/api/v1/namespaces/${ns}/bindings`;
  const bound = created(await t.post(path, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target }));
  same([bound.kind, bound.status], ['Status', 'Success'], 'answer');
  same(ok(await t.get(pods(ns, 'a'))).spec.nodeName, 'n1', 'node');
  failure(await t.post(path, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target }), {
    code: 409,
    reason: 'Conflict',
    message: /pod a is already assigned to node "n1"/,
  });
  failure(await t.post(path, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'none' }, target }), {
    code: 404,
    reason: 'NotFound',
  });
  ok(await t.delete(`${pods(ns, 'a')}?gracePeriodSeconds=0`));
});

spec(
  45,
  'a pod that is gated or being deleted is not bound; one that is gets the annotations of the binding',
  async (t) => {
    const ns = await podNamespace(t);
    const bindingOf = (name: string): object => ({
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, annotations: { 'kctl.test/by': 'a scheduler' } },
      target: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
    });
    created(await t.post(pods(ns), podDraft('gated', { spec: { schedulingGates: [{ name: 'kctl.test/gate' }] } })));
    failure(await t.post(`${pods(ns, 'gated')}/binding`, bindingOf('gated')), {
      code: 409,
      reason: 'Conflict',
      message: 'Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates',
    });
    created(await t.post(pods(ns), podDraft('going', { metadata: { finalizers: ['kctl.test/hold'] } })));
    t.defer(() => t.patch(pods(ns, 'going'), MERGE_PATCH, { metadata: { finalizers: null } }));
    ok(await t.delete(pods(ns, 'going')));
    failure(await t.post(`${pods(ns, 'going')}/binding`, bindingOf('going')), {
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on pods/binding "going": pod going is being deleted, cannot be assigned to a host',
    });
    created(await t.post(pods(ns), podDraft('bound')));
    created(await t.post(`${pods(ns, 'bound')}/binding`, bindingOf('bound')));
    const { metadata, spec: bound } = ok(await t.get(pods(ns, 'bound')));
    same([bound['nodeName'], metadata['annotations']], ['node-1', { 'kctl.test/by': 'a scheduler' }], 'the pod');
    ok(await t.delete(`${pods(ns, 'bound')}?gracePeriodSeconds=0`));
  },
);

spec(45, 'pods/eviction deletes the pod', async (t) => {
  const ns = await podNamespace(t);
  created(await t.post(pods(ns), podDraft('a')));
  const evicted = created(
    await t.post(`${pods(ns, 'a')}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'a', namespace: ns },
    }),
  );
  same([evicted.kind, evicted.status], ['Status', 'Success'], 'answer');
  await t.eventually(
    () => t.get(pods(ns, 'a')),
    ({ status }) => status === 404,
    { what: 'the pod to be gone' },
  );
  failure(
    await t.post(`${pods(ns, 'nope')}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'nope' },
    }),
    { code: 404, reason: 'NotFound', message: 'pods "nope" not found' },
  );
});

spec(45, 'a pod that is evicted and stays says so', async (t) => {
  const ns = await podNamespace(t);
  created(await t.post(pods(ns), podDraft('held', { metadata: { finalizers: ['kctl.test/hold'] } })));
  t.defer(() => t.patch(pods(ns, 'held'), MERGE_PATCH, { metadata: { finalizers: null } }));
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'held', namespace: ns } };
  const before = ok(await t.get(pods(ns, 'held')));
  created(await t.post(`${pods(ns, 'held')}/eviction?dryRun=All`, { ...eviction, deleteOptions: { dryRun: ['All'] } }));
  same(ok(await t.get(pods(ns, 'held'))).metadata, before.metadata, 'metadata after a dry run');
  created(await t.post(`${pods(ns, 'held')}/eviction`, eviction));
  const { metadata, status } = ok(await t.get(pods(ns, 'held')));
  same(typeof metadata['deletionTimestamp'], 'string', 'deletionTimestamp');
  const conditions = (status.conditions ?? []) as Record<string, unknown>[];
  const condition = conditions.find(({ type }) => type === 'DisruptionTarget');
  const { lastTransitionTime, ...rest } = condition ?? {};
  same(typeof lastTransitionTime, 'string', 'lastTransitionTime');
  same(
    rest,
    {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
      lastProbeTime: null,
    },
    'condition',
  );
});

spec(45, 'a pod that is not ready is evicted before its budget has been looked at', async (t) => {
  const ns = await podNamespace(t);
  const budgets = `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`;
  created(await t.post(pods(ns), podDraft('sick', { metadata: { labels: { app: 'sick' } } })));
  const conditions = [{ type: 'Ready', status: 'False' }];
  ok(await t.patch(`${pods(ns, 'sick')}/status`, MERGE_PATCH, { status: { phase: 'Running', conditions } }));
  created(
    await t.post(budgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'b' },
      spec: {
        minAvailable: 1,
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
        selector: { matchLabels: { app: 'sick' } },
      },
    }),
  );
  created(
    await t.post(`${pods(ns, 'sick')}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'sick', namespace: ns },
    }),
  );
});

spec(
  45,
  'serviceaccounts/token makes a token that the server accepts',
  async (t) => {
    const ns = await t.namespace();
    const path = `/api/v1/namespaces/${ns}/serviceaccounts`;
    created(await t.post(path, { metadata: { name: 'sa' } }));
    const request = created(
      await t.post(`${path}/sa/token`, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: 3600 },
      }),
    );
    const { token, expirationTimestamp } = request.status as { token: string; expirationTimestamp: string };
    matches(expirationTimestamp, /^\d{4}-.*Z$/, 'expirationTimestamp');
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      Record<string, Record<string, string>>
    > & { sub: string };
    same(
      [claims.sub, claims['kubernetes.io']?.['serviceaccount']?.['name']],
      [`system:serviceaccount:${ns}:sa`, 'sa'],
      'claims',
    );
    const review = created(
      await t.post('/apis/authentication.k8s.io/v1/tokenreviews', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token },
      }),
    );
    same(
      [review.status.authenticated, review.status.user.username, (review.status.user.groups as string[]).toSorted()],
      [
        true,
        `system:serviceaccount:${ns}:sa`,
        ['system:authenticated', 'system:serviceaccounts', `system:serviceaccounts:${ns}`],
      ],
      'review',
    );
    same((await t.as({ token }).send('GET', '/api')).status, 200, 'the token as credentials');
  },
  { needs: ['token-requests'] },
);

spec(45, 'namespaces/finalize', async (t) => {
  const name = t.unique('f');
  const made = created(await t.post(NAMESPACES, { metadata: { name, finalizers: ['kctl.test/hold'] } }));
  t.defer(() => t.patch(`${NAMESPACES}/${name}`, MERGE_PATCH, { metadata: { finalizers: null } }));
  const finalized = ok(
    await t.put(`${NAMESPACES}/${name}/finalize`, {
      ...made,
      spec: { finalizers: ['kubernetes', 'kctl.test/second'] },
    }),
  );
  same(finalized.spec.finalizers, ['kubernetes', 'kctl.test/second'], 'finalizers');
  const restored = ok(
    await t.put(`${NAMESPACES}/${name}/finalize`, { ...finalized, spec: { finalizers: ['kubernetes'] } }),
  );
  same(restored.spec.finalizers, ['kubernetes'], 'finalizers');
  const main = ok(await t.put(`${NAMESPACES}/${name}`, { ...restored, spec: { finalizers: [] } }));
  same(main.spec.finalizers, ['kubernetes'], 'finalizers through the main path');
  ok(await t.delete(`${NAMESPACES}/${name}`));
});

spec(45, 'certificatesigningrequests/approval', async (t) => {
  const name = t.unique('csr');
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  t.defer(() => t.delete(`${path}/${name}`));
  const request = Buffer.from(CSR).toString('base64');
  const made = created(
    await t.post(path, {
      metadata: { name },
      spec: { request, signerName: 'kctl.test/signer', usages: ['client auth'] },
    }),
  );
  same(typeof made.spec.username, 'string', 'username');
  const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'm' };
  const approved = ok(await t.put(`${path}/${name}/approval`, { ...made, status: { conditions: [condition] } }));
  same([approved.status.conditions[0].type, approved.status.conditions[0].reason], ['Approved', 'Test'], 'condition');
});

/** A request for the common name "jane", made once by openssl; the server looks at its form only. */
const CSR = `-----BEGIN CERTIFICATE REQUEST-----
MIHJMHECAQAwDzENMAsGA1UEAwwEamFuZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABGhr5m+mGdNXtCtL79p4aewhPFcNN/oMQ6ZNLybA07oxR16kyucNPU3D59a+
MVLEH9jm8VHFHjJOi9/OThpfkCagADAKBggqhkjOPQQDAgNIADBFAiBfDtdlMcu3
D5uSda5mJUZrECbx+nhzaW5SxzEa50RbywIhALAkSbNqZ/YrqvAVLeRvqVl7X4Wk
ZujGOc8xI5Yuf/aU
-----END CERTIFICATE REQUEST-----
`;

spec(43, '/status of a Namespace and of a ConfigMap', async (t) => {
  const ns = await t.namespace();
  const patched = ok(
    await t.patch(`${NAMESPACES}/${ns}/status`, MERGE_PATCH, {
      status: { conditions: [{ type: 'X', status: 'True' }] },
    }),
  );
  same(patched.status.conditions, [{ type: 'X', status: 'True', lastTransitionTime: null }], 'conditions');
  failure(await t.get(`${configMaps(ns, 'a')}/status`), {
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
  });
});
