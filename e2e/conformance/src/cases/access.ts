/** §2.12 Authentication, reviews, leases, events, limits. */
import { MERGE_PATCH } from '../harness/context.js';
import type { Json } from '../harness/doc.js';
import { check, created, failure, matches, names, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import { configMaps, createConfigMap, leases } from './paths.js';

const AUTHN = '/apis/authentication.k8s.io/v1';
const AUTHZ = '/apis/authorization.k8s.io/v1';

spec(71, 'a bad bearer token answers 401', async (t) => {
  failure(await t.as({ token: 'wrong' }).send('GET', '/api/v1/namespaces'), {
    code: 401,
    reason: 'Unauthorized',
    message: 'Unauthorized',
  });
});

spec(71, 'a bearer token is who it says it is', async (t) => {
  const self = created(
    await t.post(`${AUTHN}/selfsubjectreviews`, { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
  );
  check(
    typeof self.status.userInfo.username === 'string' &&
      (self.status.userInfo.groups as string[]).includes('system:authenticated'),
    JSON.stringify(self.status),
  );
  const { otherToken } = t.target;
  if (otherToken === undefined) return;
  const other = created(
    await t.as({ token: otherToken.token }).send('POST', `${AUTHN}/selfsubjectreviews`, {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    }),
  );
  same(other.status.userInfo.username, otherToken.user, 'user');
});

spec(
  71,
  'a client certificate is who its subject says',
  async (t) => {
    const credentials = await t.target.issueClientCertificate?.({
      commonName: 'jane',
      organizations: ['team-a', 'team-b'],
    });
    check(credentials !== undefined, 'the target issues no certificates');
    const self = created(
      await t.as(credentials).send('POST', `${AUTHN}/selfsubjectreviews`, {
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      }),
    );
    same(
      [self.status.userInfo.username, self.status.userInfo.groups],
      ['jane', ['team-a', 'team-b', 'system:authenticated']],
      'user',
    );
  },
  { needs: ['client-certificates'] },
);

spec(
  71,
  'a denied user is told who may not do what',
  async (t) => {
    const { otherToken } = t.target;
    check(otherToken !== undefined, 'the target has no other token');
    failure(await t.as({ token: otherToken.token }).send('GET', '/api/v1/namespaces/default/pods'), {
      code: 403,
      reason: 'Forbidden',
      message: `pods is forbidden: User "${otherToken.user}" cannot list resource "pods" in API group "" in the namespace "default"`,
      details: { kind: 'pods' },
    });
  },
  { needs: ['rbac'] },
);

spec(
  71,
  'nobody without credentials, or only as system:anonymous',
  async (t) => {
    const answer = await t.as({}).send('GET', '/api/v1/namespaces/default/configmaps');
    check(answer.status === 401 || answer.status === 403, `${answer.status} ${answer.text}`);
    if (answer.status === 403) matches(answer.body.message, /User "system:anonymous"/, 'message');
    else failure(answer, { code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
  },
  { needs: ['anonymous'] },
);

spec(72, 'SelfSubjectAccessReview', async (t) => {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } },
  };
  const review = created(await t.post(`${AUTHZ}/selfsubjectaccessreviews`, body));
  same([review.kind, review.status.allowed, review.spec], ['SelfSubjectAccessReview', true, body.spec], 'review');
});

spec(72, 'SubjectAccessReview and LocalSubjectAccessReview of the admin group', async (t) => {
  const specification = {
    user: 'x',
    groups: ['system:masters'],
    resourceAttributes: { namespace: 'default', verb: 'delete', resource: 'pods' },
  };
  const review = created(
    await t.post(`${AUTHZ}/subjectaccessreviews`, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: specification,
    }),
  );
  same(review.status.allowed, true, 'allowed');
  const local = created(
    await t.post(`${AUTHZ}/namespaces/default/localsubjectaccessreviews`, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'LocalSubjectAccessReview',
      metadata: { namespace: 'default' },
      spec: specification,
    }),
  );
  same(local.status.allowed, true, 'allowed locally');
});

spec(
  72,
  'SelfSubjectRulesReview',
  async (t) => {
    const review = created(
      await t.post(`${AUTHZ}/selfsubjectrulesreviews`, {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectRulesReview',
        spec: { namespace: 'default' },
      }),
    );
    check(
      (review.status.resourceRules as Json[]).some(
        ({ verbs, apiGroups, resources }: Json) =>
          verbs.includes('*') && apiGroups.includes('*') && resources.includes('*'),
      ),
      JSON.stringify(review.status),
    );
  },
  { needs: ['reviews'] },
);

spec(
  72,
  'TokenReview: a good and a bad token',
  async (t) => {
    const review = async (token: string) =>
      created(
        await t.post(`${AUTHN}/tokenreviews`, {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenReview',
          spec: { token },
        }),
      ).status;
    const { otherToken } = t.target;
    if (otherToken !== undefined) {
      const good = await review(otherToken.token);
      same([good.authenticated, good.user.username], [true, otherToken.user], 'good');
    }
    const bad = await review('wrong');
    same([bad.authenticated, bad.user], [undefined, {}], 'bad');
    matches(bad.error as string, /invalid bearer token/, 'error');
  },
  { needs: ['reviews'] },
);

spec(73, 'a Lease under contention: exactly one of two takeovers wins', async (t) => {
  const ns = await t.namespace();
  const made = created(
    await t.post(leases(ns), {
      metadata: { name: 'l' },
      spec: { holderIdentity: 'old', leaseDurationSeconds: 15, leaseTransitions: 0 },
    }),
  );
  const take = (holderIdentity: string) =>
    t.put(leases(ns, 'l'), {
      ...made,
      spec: { ...made.spec, holderIdentity, acquireTime: '2026-01-01T00:00:00.000001Z' },
    });
  const answers = await Promise.all(['a', 'b', 'c'].map(take));
  same(answers.map(({ status }) => status).toSorted(), [200, 409, 409], 'statuses');
  const winner = answers.find(({ status }) => status === 200)?.body;
  same(ok(await t.get(leases(ns, 'l'))).spec.holderIdentity, winner?.spec.holderIdentity, 'holder');
});

spec(73, 'times of a Lease have six digits', async (t) => {
  const ns = await t.namespace();
  const made = created(
    await t.post(leases(ns), {
      metadata: { name: 'l' },
      spec: { renewTime: '2026-01-01T00:00:00.000000Z', acquireTime: '2026-01-01T00:00:00.123456Z' },
    }),
  );
  same(
    [made.spec.renewTime, made.spec.acquireTime],
    ['2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.123456Z'],
    'times',
  );
  failure(
    await t.post(leases(ns), {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'm' },
      spec: { renewTime: '2026-01-01T00:00:00.5Z' },
    }),
    {
      code: 400,
      reason: 'BadRequest',
      message:
        'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00.5Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".5Z" as ".000000"',
    },
  );
});

spec(73, 'a Lease is validated', async (t) => {
  const ns = await t.namespace();
  failure(
    await t.post(leases(ns), { metadata: { name: 'l' }, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
    {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueInvalid',
          field: 'spec.leaseDurationSeconds',
          message: 'Invalid value: 0: must be greater than 0',
        },
        {
          reason: 'FieldValueInvalid',
          field: 'spec.leaseTransitions',
          message: 'Invalid value: -1: must be greater than or equal to 0',
        },
      ],
    },
  );
});

spec(73, 'events of both groups are the same objects', async (t) => {
  const ns = await t.namespace();
  const path = `/apis/events.k8s.io/v1/namespaces/${ns}/events`;
  const modern = created(
    await t.post(path, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'kctl.test/c',
      reportingInstance: 'i',
      action: 'Do',
      reason: 'Done',
      type: 'Normal',
      note: 'a note',
      regarding: { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', namespace: ns },
    }),
  );
  const core = ok(await t.get(`/api/v1/namespaces/${ns}/events/e`)) as Json;
  same(
    [
      core.metadata.uid,
      core.metadata.resourceVersion,
      core.message,
      core.involvedObject.name,
      core.reportingComponent,
      core.action,
    ],
    [modern.metadata.uid, modern.metadata.resourceVersion, 'a note', 'x', 'kctl.test/c', 'Do'],
    'as core/v1',
  );
  created(
    await t.post(`/api/v1/namespaces/${ns}/events`, {
      metadata: { name: 'f' },
      involvedObject: { kind: 'ConfigMap', namespace: ns, name: 'x' },
      reason: 'Old',
      message: 'm',
      source: { component: 's' },
      count: 3,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      type: 'Warning',
    }),
  );
  const old = ok(await t.get(`${path}/f`)) as Json;
  same(
    [old.apiVersion, old.note, old.regarding.name, old.deprecatedSource.component, old.deprecatedCount],
    ['events.k8s.io/v1', 'm', 'x', 's', 3],
    'as events.k8s.io/v1',
  );
  same(names(ok(await t.get(path))), ['e', 'f'], 'list');
});

spec(73, 'a watch of one group of events sees what is written through the other', async (t) => {
  const ns = await t.namespace();
  const path = `/apis/events.k8s.io/v1/namespaces/${ns}/events`;
  const watch = await t.watch(path, { query: { resourceVersion: ok(await t.get(path)).metadata.resourceVersion } });
  const made = created(
    await t.post(`/api/v1/namespaces/${ns}/events`, {
      metadata: { name: 'f' },
      involvedObject: { kind: 'ConfigMap', namespace: ns, name: 'x' },
      reason: 'Old',
      message: 'm',
    }),
  );
  const { type, object } = await watch.next();
  same(
    [type, object.apiVersion, object.metadata.resourceVersion, object['note']],
    ['ADDED', 'events.k8s.io/v1', made.metadata.resourceVersion, 'm'],
    'event',
  );
});

spec(73, 'an event must be in the namespace of what it is about', async (t) => {
  const ns = await t.namespace();
  failure(
    await t.post(`/api/v1/namespaces/${ns}/events`, {
      metadata: { name: 'f' },
      involvedObject: { kind: 'ConfigMap', namespace: 'other', name: 'x' },
      reason: 'Old',
    }),
    {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueInvalid',
          field: 'involvedObject.namespace',
          message: 'Invalid value: "other": does not match event.namespace',
        },
      ],
    },
  );
});

spec(73, 'both versions of an autoscaler show the same object', async (t) => {
  const ns = await t.namespace();
  const path = (version: string) => `/apis/autoscaling/${version}/namespaces/${ns}/horizontalpodautoscalers`;
  const made = created(
    await t.post(path('v1'), {
      metadata: { name: 'a' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 50,
      },
    }),
  );
  const other = ok(await t.get(`${path('v2')}/a`)) as Json;
  same(
    [other.metadata.uid, other.spec.metrics],
    [
      made.metadata.uid,
      [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
    ],
    'v2',
  );
});

spec(74, 'many requests at once are all answered', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a', { data: { n: '0' } });
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_unused, index) =>
      index % 2 === 0 ? t.get(configMaps(ns, 'a')) : t.post(configMaps(ns), { metadata: { name: `x${index}` } }),
    ),
  );
  same([...new Set(answers.map(({ status }) => status))].toSorted(), [200, 201], 'statuses');
});

spec(74, 'malformed requests do not take it down', async (t) => {
  const ns = await t.namespace();
  const bodies = [
    '',
    '{',
    '[1,2',
    '"',
    '\u0000',
    '{"a":',
    '{"metadata":{"name":1}}',
    '{"metadata":[]}',
    '{"metadata":"x"}',
    '{"kind":7}',
    '{"metadata":{"labels":{"a":{}}}}',
    '['.repeat(20_000),
    '{"a":'.repeat(11_000),
    '\ud800',
  ];
  for (const body of bodies) {
    const answer = await t.post(configMaps(ns), body, { contentType: 'application/json' });
    check(
      answer.status >= 400 && answer.status < 500,
      `${JSON.stringify(body.slice(0, 40))}: ${answer.status} ${answer.text.slice(0, 300)}`,
    );
    same(answer.body.kind, 'Status', 'kind');
  }
  for (const path of [
    '/api/v1/namespaces/%2e%2e/configmaps',
    '/api/v1/namespaces//configmaps',
    '//api/v1',
    '/api/v1/namespaces/a%00b',
    '/apis/%zz',
  ]) {
    const { status } = await t.get(path);
    check(status >= 200 && status < 500, `${path}: ${status}`);
  }
  ok(await t.get('/api/v1/namespaces/default'));
});

spec(74, 'a patch that conflicts with itself under load ends up with every change', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a', { data: {} });
  const patch = async (index: number) => t.patch(configMaps(ns, 'a'), MERGE_PATCH, { data: { [`k${index}`]: '1' } });
  for (const answer of await Promise.all([1, 2, 3, 4, 5].map(patch))) ok(answer);
  same(Object.keys(ok(await t.get(configMaps(ns, 'a'))).data).length, 5, 'keys');
});
