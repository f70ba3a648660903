/** §2.12 What reviews, tokens and evictions are asked with: their bodies, options and selectors. */
import { check, created, failure, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import type { Context } from '../harness/context.js';
import type { Json } from '../harness/doc.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const AUTHN = '/apis/authentication.k8s.io/v1';
const AUTHZ = '/apis/authorization.k8s.io/v1';

/** A service account of this case, and the path of its tokens. */
async function account(t: Context): Promise<{ readonly name: string; readonly path: string; readonly user: string }> {
  const ns = await t.namespace();
  const path = `/api/v1/namespaces/${ns}/serviceaccounts`;
  created(await t.post(path, { metadata: { name: 'acc' } }));
  return { name: 'acc', path: `${path}/acc/token`, user: `system:serviceaccount:${ns}:acc` };
}

spec(
  71,
  'a node is impersonated by the way that its requestor used last',
  async (t) => {
    const requestor = t.unique('requestor');
    const binding = t.unique('binding');
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: requestor }];
    const credentials = await t.target.issueClientCertificate?.({ commonName: requestor });
    check(credentials !== undefined, 'the target issues no certificates');
    created(await t.post(`${RBAC}/clusterrolebindings`, { metadata: { name: binding }, roleRef, subjects }));
    t.defer(() => t.delete(`${RBAC}/clusterrolebindings/${binding}`));
    // The real server's authorizer has the binding a moment later. No node is impersonated here, which would choose a way.
    await t.eventually(
      () => t.as(credentials).send('GET', '/api/v1/namespaces'),
      ({ status }) => status === 200,
      { what: 'the binding being in effect' },
    );
    const groupsOf = async (headers: Record<string, string>): Promise<Json> =>
      created(await t.as(credentials).send('POST', `${AUTHN}/selfsubjectreviews`, { body: {}, headers })).status
        .userInfo.groups;
    const node = { 'impersonate-user': 'system:node:n1' };
    same(await groupsOf(node), ['system:nodes', 'system:authenticated'], 'by a constrained mode');
    same(
      await groupsOf({ ...node, 'impersonate-group': 'a' }),
      ['a', 'system:authenticated'],
      'with groups: the old way alone applies',
    );
    same(await groupsOf(node), ['system:authenticated'], 'the old way comes first now');
    same(await groupsOf({ 'impersonate-user': 'jane' }), ['system:authenticated'], 'jane');
    same(await groupsOf(node), ['system:authenticated'], 'the old way stays as long as it allows');
  },
  { needs: ['client-certificates', 'rbac'] },
);

spec(71, 'a token is bound to an object with a name', async (t) => {
  const { path } = await account(t);
  const bound = (kind: string, name?: string) =>
    t.post(path, { spec: { boundObjectRef: { apiVersion: 'v1', kind, ...(name !== undefined && { name }) } } });
  const refused = { code: 400, reason: 'BadRequest', message: 'Name parameter required.' };
  for (const kind of ['Secret', 'Pod', 'Node']) {
    failure(await bound(kind), refused);
    failure(await bound(kind, ''), refused);
    for (const [name, why] of [
      ['a/b', "may not contain '/'"],
      ['a%b', "may not contain '%'"],
      ['.', "may not be '.'"],
      ['..', "may not be '..'"],
    ] as const)
      failure(await bound(kind, name), {
        code: 400,
        reason: 'BadRequest',
        message: `Name parameter invalid: ${JSON.stringify(name)}: ${why}`,
      });
    failure(await bound(kind, 'missing'), { code: 404, reason: 'NotFound' });
  }
});

spec(71, 'a token request is of its own kind', async (t) => {
  const { path } = await account(t);
  const scheme = 'in scheme "pkg/runtime/scheme.go:111"';
  const refuse = async (kind: string, apiVersion: string, why: string): Promise<void> => {
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    failure(await t.post(path, { kind, apiVersion }), {
      code: 400,
      reason: 'BadRequest',
      message: `${kind} in version "${version}" cannot be handled as a TokenRequest: ${why}`,
    });
  };
  const authn = 'authentication.k8s.io/v1';
  await refuse('Foo', authn, `no kind "Foo" is registered for version "${authn}" ${scheme}`);
  await refuse('tokenrequest', authn, `no kind "tokenrequest" is registered for version "${authn}" ${scheme}`);
  await refuse('TokenRequest', 'v1', `no kind "TokenRequest" is registered for version "v1" ${scheme}`);
  await refuse('Pod', 'v1', 'converting (v1.Pod) to (authentication.TokenRequest): unknown conversion');
  await refuse(
    'TokenReview',
    authn,
    'converting (v1.TokenReview) to (authentication.TokenRequest): unknown conversion',
  );
  await refuse('Scale', 'autoscaling/v1', 'converting (v1.Scale) to (authentication.TokenRequest): unknown conversion');
  for (const query of [{}, { dryRun: 'All' }]) {
    const { status } = created(await t.post(path, {}, { query }));
    check(status.token.length > 100 && status.expirationTimestamp !== null, JSON.stringify(query));
  }
  failure(await t.post('/api/v1/namespaces/missing-namespace/serviceaccounts/acc/token', {}), {
    code: 404,
    reason: 'NotFound',
    message: 'namespaces "missing-namespace" not found',
  });
});

spec(71, 'a token is read as the header of a request is', async (t) => {
  const { path, user } = await account(t);
  const { token } = created(await t.post(path, {})).status;
  const review = async (text: string): Promise<Json> =>
    created(await t.post(`${AUTHN}/tokenreviews`, { spec: { token: text } })).status;
  for (const [label, text] of Object.entries({
    plain: token,
    'space after': `${token} `,
    'word after': `${token} more`,
    'line end': `${token}\n`,
    'line before': `\n${token}`,
  }))
    same((await review(text)).user.username, user, label);
  const [head, claims, signature] = token.split('.');
  for (const [label, text] of Object.entries({
    padding: `${token}=`,
    'double padding': `${token}==`,
    'padding inside': `${head}.${claims}=.${signature}`,
    'no signature part': `${head}.${claims}`,
    'other alphabet': `${head}.${claims}.+/${signature.slice(2)}`,
    'exclamation mark': `${token}!`,
  }))
    same(await review(text), { user: {}, error: 'invalid bearer token' }, label);
  const whoAmI = (authorization: string) =>
    t.as({}).send('POST', `${AUTHN}/selfsubjectreviews`, { body: {}, headers: { authorization } });
  for (const text of [`Bearer ${token}`, `bearer ${token} more`, `Bearer ${token} `])
    same(created(await whoAmI(text)).status.userInfo.username, user, 'header');
  for (const text of [`Bearer ${token}==`, `Bearer ${token}!`])
    failure(await whoAmI(text), { code: 401, reason: 'Unauthorized' });
});

spec(72, 'selectors of an access review', async (t) => {
  const ask = (resourceAttributes: object) =>
    t.post(`${AUTHZ}/subjectaccessreviews`, {
      spec: { user: 'nobody', resourceAttributes: { verb: 'list', resource: 'pods', ...resourceAttributes } },
    });
  const requirement = (operator: string, ...values: string[]) => ({ key: 'a', operator, values });
  const refused = async (selector: object, ...why: string[]): Promise<void> => {
    for (const name of ['fieldSelector', 'labelSelector']) {
      const field = `spec.resourceAttributes.${name}`;
      const errors = why.map((text) => text.replaceAll('SELECTOR', field));
      const message = errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`;
      const answer = await ask({ [name]: selector });
      failure(answer, { code: 422, reason: 'Invalid', message: `.authorization.k8s.io "" is invalid: ${message}` });
    }
  };
  await refused(
    {},
    'SELECTOR.requirements: Required value: when SELECTOR is specified, requirements or rawSelector is required',
  );
  await refused(
    { rawSelector: 'a=b', requirements: [requirement('In', 'b')] },
    'SELECTOR.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements',
  );
  await refused(
    { requirements: [requirement('In'), requirement('Exists', 'b')] },
    "SELECTOR.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    "SELECTOR.requirements[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
  );
  const problems = async (asked: object): Promise<Json> => created(await ask(asked)).status.evaluationError;
  const ignored = (name: string, how = '') => `spec.resourceAttributes.${name} ${how}ignored due to parse error`;
  for (const name of ['fieldSelector', 'labelSelector']) {
    same(await problems({ [name]: { rawSelector: 'a=b=c' } }), ignored(name), 'raw');
    same(await problems({ [name]: { requirements: [requirement('Foo', 'b')] } }), ignored(name), 'operator');
    same(
      await problems({ [name]: { requirements: [requirement('Foo', 'b'), requirement('In', 'b')] } }),
      ignored(name, 'partially '),
      'one of two',
    );
    same(await problems({ [name]: { rawSelector: 'a=b' } }), undefined, 'good');
  }
  same(
    await problems({ fieldSelector: { requirements: [requirement('In', 'b', 'c')] } }),
    ignored('fieldSelector'),
    '2',
  );
  same(await problems({ labelSelector: { requirements: [requirement('In', 'b', 'c')] } }), undefined, 'two labels');
  same(
    await problems({ fieldSelector: { rawSelector: 'x' }, labelSelector: { rawSelector: '(' } }),
    `${ignored('fieldSelector')}; ${ignored('labelSelector')}`,
    'both',
  );
});

spec(72, 'reviews have options, owners and no system fields', async (t) => {
  const reviews: readonly (readonly [string, object])[] = [
    [`${AUTHZ}/subjectaccessreviews`, { spec: { user: 'x', resourceAttributes: { verb: 'list' }, foo: 1 } }],
    [`${AUTHN}/tokenreviews`, { spec: { token: 'a', foo: 1 } }],
    [`${AUTHZ}/selfsubjectrulesreviews`, { spec: { namespace: 'default', foo: 1 } }],
  ];
  for (const [path, body] of reviews) {
    const warned = await t.post(path, body);
    created(warned);
    same(warned.headers['warning'], '299 - "unknown field \\"spec.foo\\""', path);
    failure(await t.post(path, body, { query: { fieldValidation: 'Strict' } }), { code: 400, reason: 'BadRequest' });
    failure(await t.post(path, body, { query: { fieldValidation: 'foo' } }), { code: 422, reason: 'Invalid' });
    failure(await t.post(path, body, { query: { dryRun: 'x' } }), { code: 422, reason: 'Invalid' });
  }
  const metadata = { uid: 'x', creationTimestamp: '2020-01-01T00:00:00Z', namespace: 'n' };
  const spec = { user: 'x', resourceAttributes: { verb: 'list' } };
  const answer = created(
    await t.post(`${AUTHZ}/subjectaccessreviews`, { metadata, spec }, { query: { fieldManager: 'me' } }),
  );
  same(Object.keys(answer.metadata), ['managedFields'], 'metadata');
  same(answer.metadata.managedFields?.[0]?.manager, 'me', 'manager');
  const self = created(await t.post(`${AUTHN}/selfsubjectreviews`, { metadata: { name: 'q', labels: { a: 'b' } } }));
  same(Object.keys(self.metadata), ['creationTimestamp'], 'metadata of a SelfSubjectReview');
});

spec(71, 'the selectors of an aggregation rule are checked', async (t) => {
  const refused = async (selector: object, ...why: string[]): Promise<void> => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }, selector] };
    const field = 'aggregationRule.clusterRoleSelectors[1]';
    const body = { metadata: { name: 'refused' }, aggregationRule };
    const errors = [...why.map((text) => `${field}.${text}`), `${field}: Invalid value: null: invalid label selector.`];
    failure(await t.post(`${RBAC}/clusterroles`, body, { query: { dryRun: 'All' } }), {
      code: 422,
      reason: 'Invalid',
      message: `ClusterRole.rbac.authorization.k8s.io "refused" is invalid: [${errors.join(', ')}]`,
    });
  };
  await refused(
    { matchExpressions: [{ key: 'a', operator: 'In' }] },
    "matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  );
  await refused(
    { matchExpressions: [{ key: 'a', operator: 'Foo' }] },
    'matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator',
  );
  await refused(
    { matchLabels: { a: 'c d' } },
    `matchLabels: Invalid value: "c d": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
  );
});

spec(72, 'an eviction and a scale say what they are', async (t) => {
  const ns = await t.namespace();
  const evict = (body: object, query: Record<string, string> = {}) =>
    t.post(`/api/v1/namespaces/${ns}/pods/missing/eviction`, body, { query });
  const other = { code: 400, reason: 'BadRequest', message: 'name in URL does not match name in Eviction object' };
  failure(await evict({ metadata: { name: 'other' } }), other);
  failure(await evict({}), other);
  failure(await evict({ metadata: { name: 'missing' } }), { code: 404, reason: 'NotFound' });
  failure(await evict({ metadata: { name: 'missing', namespace: 'other' } }), { code: 400, reason: 'BadRequest' });
  failure(await evict({ metadata: { name: 'missing' } }, { dryRun: 'x' }), { code: 422, reason: 'Invalid' });
  failure(await evict({ apiVersion: 'policy/v1', kind: 'Foo', metadata: { name: 'missing' } }), {
    code: 400,
    reason: 'BadRequest',
    message:
      'Foo in version "v1" cannot be handled as a Eviction: no kind "Foo" is registered for version "policy/v1" in scheme "pkg/runtime/scheme.go:111"',
  });
  const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
  const labels = { a: 'b' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'x', image: 'y' }] } };
  const deployment = { metadata: { name: 'd' }, spec: { replicas: 0, selector: { matchLabels: labels }, template } };
  created(await t.post(deployments, deployment));
  const scale = (apiVersion: string, kind: string) =>
    t.put(`${deployments}/d/scale`, { apiVersion, kind, metadata: { name: 'd' }, spec: {} });
  ok(await scale('autoscaling/v1', 'Scale'));
  failure(await scale('autoscaling/v1', 'Foo'), { code: 400, reason: 'BadRequest' });
  failure(await scale('v1', 'Pod'), {
    code: 400,
    reason: 'BadRequest',
    message:
      'Pod in version "v1" cannot be handled as a Scale: converting (v1.Pod) to (autoscaling.Scale): unknown conversion',
  });
});
