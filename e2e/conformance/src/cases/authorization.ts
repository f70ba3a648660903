/** §2.12 RBAC, impersonation, tokens of service accounts. */
import { APPLY_PATCH, MERGE_PATCH, type Context } from '../harness/context.js';
import type { Json } from '../harness/doc.js';
import { check, created, failure, matches, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const AUTHN = '/apis/authentication.k8s.io/v1';
const AUTHZ = '/apis/authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';

const user = (name: string) => ({ kind: 'User', apiGroup: group, name });
const as = (name: string, headers: Record<string, string> = {}) => ({
  headers: { 'impersonate-user': name, ...headers },
});

async function clusterRole(t: Context, rules: unknown[], more: object = {}): Promise<string> {
  const name = t.unique('role');
  created(await t.post(`${RBAC}/clusterroles`, { metadata: { name }, rules, ...more }));
  t.defer(() => t.delete(`${RBAC}/clusterroles/${name}`));
  return name;
}

async function bindCluster(t: Context, role: string, subjects: unknown[]): Promise<void> {
  const name = t.unique('binding');
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: role };
  created(await t.post(`${RBAC}/clusterrolebindings`, { metadata: { name }, roleRef, subjects }));
  t.defer(() => t.delete(`${RBAC}/clusterrolebindings/${name}`));
}

/** A user of this case alone, with these rules in the whole cluster. */
async function userWith(t: Context, rules: unknown[]): Promise<string> {
  const name = t.unique('user');
  await bindCluster(t, await clusterRole(t, rules), [user(name)]);
  return name;
}

const whoAmI = async (t: Context, headers: Record<string, string>): Promise<Json> =>
  created(await t.post(`${AUTHN}/selfsubjectreviews`, {}, { headers })).status.userInfo;

/** Waits until a binding has taken effect: on a real server that takes a moment. */
async function until(t: Context, path: string, name: string, status: number): Promise<void> {
  await t.eventually(
    () => t.get(path, as(name)),
    (answer) => answer.status === status,
    { what: `${status} for ${name} on ${path}` },
  );
}

spec(71, 'impersonation: user, uid, groups and extras', async (t) => {
  same(
    await whoAmI(t, {
      'impersonate-user': 'jane',
      'impersonate-group': 'team',
      'impersonate-uid': '7',
      'impersonate-extra-acme.io%2fproject': 'x',
    }),
    { username: 'jane', uid: '7', groups: ['team', 'system:authenticated'], extra: { 'acme.io/project': ['x'] } },
    'user',
  );
});

spec(71, 'impersonation: the groups of a service account', async (t) => {
  same(
    (await whoAmI(t, { 'impersonate-user': 'system:serviceaccount:a:b' })).groups,
    ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
    'groups of a service account',
  );
});

spec(71, 'impersonation without a user is refused', async (t) => {
  failure(await t.post(`${AUTHN}/selfsubjectreviews`, {}, { headers: { 'impersonate-group': 'x' } }), {
    code: 400,
    reason: 'BadRequest',
    message:
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)} without impersonating a user name',
  });
});

spec(
  71,
  'impersonation is refused to a user who may not: the first mode that applies says so',
  async (t) => {
    const { otherToken } = t.target;
    check(otherToken !== undefined, 'the target has no other token');
    failure(await t.as({ token: otherToken.token }).send('GET', '/api/v1/namespaces/default/pods', as('jane')), {
      code: 403,
      reason: 'Forbidden',
      message: `pods is forbidden: User "${otherToken.user}" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "default"`,
      details: { kind: 'pods' },
    });
    failure(
      await t.as({ token: otherToken.token }).send('GET', '/healthz', as('system:serviceaccount:default:default')),
      {
        code: 403,
        reason: 'Forbidden',
        message: `forbidden: User "${otherToken.user}" cannot impersonate-on:serviceaccount:get path "/healthz"`,
        details: {},
      },
    );
  },
  { needs: ['rbac'] },
);

spec(
  71,
  'constrained impersonation: two verbs, for that request alone',
  async (t) => {
    const { otherToken } = t.target;
    check(otherToken !== undefined, 'the target has no other token');
    const ns = await t.namespace();
    const target = await userWith(t, [{ verbs: ['*'], apiGroups: [''], resources: ['configmaps'] }]);
    const role = await clusterRole(t, [
      { verbs: ['impersonate-on:user-info:list'], apiGroups: [''], resources: ['configmaps'] },
      {
        verbs: ['impersonate:user-info'],
        apiGroups: ['authentication.k8s.io'],
        resources: ['users'],
        resourceNames: [target],
      },
    ]);
    await bindCluster(t, role, [user(otherToken.user)]);
    const path = `/api/v1/namespaces/${ns}/configmaps`;
    const other = t.as({ token: otherToken.token });
    await t.eventually(
      () => other.send('GET', path, as(target)),
      (answer) => answer.status === 200,
      { what: 'the constrained permission' },
    );
    failure(await other.send('GET', `${path}/x`, as(target)), {
      code: 403,
      reason: 'Forbidden',
      message: `configmaps "x" is forbidden: User "${otherToken.user}" cannot impersonate-on:user-info:get resource "configmaps" in API group "" in the namespace "${ns}"`,
    });
    failure(await other.send('GET', path, as(target, { 'impersonate-group': 'system:masters' })), {
      code: 403,
      reason: 'Forbidden',
      message: `groups.authentication.k8s.io "system:masters" is forbidden: User "${otherToken.user}" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed`,
    });
  },
  { needs: ['rbac'] },
);

spec(
  71,
  'denials: scope, subresource, name, non-resource path',
  async (t) => {
    const name = t.unique('user');
    const denied = async (path: string, message: string, details: object, method = 'GET') =>
      failure(await t.send(method, path, as(name)), {
        code: 403,
        reason: 'Forbidden',
        message,
        details: { ...details },
      });
    const who = `User "${name}" cannot`;
    await denied(
      '/api/v1/pods',
      `pods is forbidden: ${who} list resource "pods" in API group "" at the cluster scope`,
      { kind: 'pods' },
    );
    await denied(
      '/api/v1/namespaces/default/pods/x/log',
      `pods "x" is forbidden: ${who} get resource "pods/log" in API group "" in the namespace "default"`,
      { kind: 'pods', name: 'x' },
    );
    await denied(
      '/api/v1/namespaces/default',
      `namespaces "default" is forbidden: ${who} get resource "namespaces" in API group "" in the namespace "default"`,
      { kind: 'namespaces', name: 'default' },
    );
    await denied(
      '/apis/apps/v1/namespaces/default/deployments',
      `deployments.apps is forbidden: ${who} deletecollection resource "deployments" in API group "apps" in the namespace "default"`,
      { kind: 'deployments', group: 'apps' },
      'DELETE',
    );
    await denied(
      '/apis/nope.io/v1/things?watch=true',
      `things.nope.io is forbidden: ${who} watch resource "things" in API group "nope.io" at the cluster scope`,
      { kind: 'things', group: 'nope.io' },
    );
    await denied('/metrics', `forbidden: ${who} get path "/metrics"`, {});
    await denied('/foo%3Cb%3E', `forbidden: ${who} get path "/foo&lt;b&gt;"`, {});
    same((await t.get('/apis', as(name))).status, 200, 'discovery');
  },
  { needs: ['rbac'] },
);

spec(
  71,
  'rules: verbs, subresources, resource names, a list by name, URLs with a star',
  async (t) => {
    const ns = await t.namespace();
    const name = await userWith(t, [
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'services/status'] },
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['only'] },
      { verbs: ['get'], apiGroups: ['*'], resources: ['*/scale'] },
      { verbs: ['get'], nonResourceURLs: ['/foo/*'] },
    ]);
    const status = async (path: string) => (await t.get(path, as(name))).status;
    const base = `/api/v1/namespaces/${ns}`;
    await until(t, `${base}/pods`, name, 200);
    same(
      [
        await status(`${base}/pods/x`),
        await status(`${base}/pods/x/status`),
        await status(`${base}/configmaps/only`),
        await status(`${base}/configmaps/other`),
        await status(`${base}/configmaps`),
        await status(`${base}/configmaps?fieldSelector=metadata.name%3Donly`),
        await status(`/apis/apps/v1/namespaces/${ns}/deployments/x/scale`),
        await status(`/apis/apps/v1/namespaces/${ns}/deployments/x`),
        await status('/foo/bar'),
        await status('/foo'),
      ],
      [404, 403, 404, 403, 403, 200, 404, 403, 404, 403],
      'statuses',
    );
  },
  { needs: ['rbac'] },
);

spec(
  71,
  'a RoleBinding is about its namespace, and binds service accounts and groups',
  async (t) => {
    const ns = await t.namespace();
    const role = await clusterRole(t, [{ verbs: ['list'], apiGroups: [''], resources: ['secrets'] }]);
    const name = t.unique('user');
    const team = t.unique('team');
    created(
      await t.post(`${RBAC}/namespaces/${ns}/rolebindings`, {
        metadata: { name: 'b' },
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
        subjects: [user(name), { kind: 'ServiceAccount', name: 'sa', namespace: ns }, { ...user(team), kind: 'Group' }],
      }),
    );
    const path = `/api/v1/namespaces/${ns}/secrets`;
    await until(t, path, name, 200);
    ok(await t.get(path, as(`system:serviceaccount:${ns}:sa`)));
    ok(await t.get(path, as('x', { 'impersonate-group': team })));
    same((await t.get('/api/v1/namespaces/default/secrets', as(name))).status, 403, 'elsewhere');
    same((await t.get('/api/v1/secrets', as(name))).status, 403, 'everywhere');
  },
  { needs: ['rbac'] },
);

spec(
  71,
  'a user cannot grant what the user does not hold',
  async (t) => {
    const name = await userWith(t, [
      { verbs: ['create', 'update', 'patch', 'get'], apiGroups: [group], resources: ['*'] },
      { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['bind'], apiGroups: [group], resources: ['clusterroles'], resourceNames: ['view'] },
    ]);
    await until(t, `${RBAC}/clusterroles/view`, name, 200);
    const role = t.unique('granted');
    t.defer(() => t.delete(`${RBAC}/clusterroles/${role}`));
    const post = (rules: unknown[], more: object = {}) =>
      t.post(`${RBAC}/clusterroles`, { metadata: { name: role }, rules, ...more }, as(name));
    const who = `clusterroles.rbac.authorization.k8s.io "${role}" is forbidden: user "${name}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:`;
    failure(
      await post([
        { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['pods'] },
        { verbs: ['get'], nonResourceURLs: ['/x'] },
      ]),
      {
        code: 403,
        reason: 'Forbidden',
        message: `${who}\n{APIGroups:[""], Resources:["pods"], Verbs:["list"]}\n{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}\n{NonResourceURLs:["/x"], Verbs:["get"]}`,
        details: { name: role, group, kind: 'clusterroles' },
      },
    );
    failure(await post([], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }), {
      code: 403,
      reason: 'Forbidden',
      message: `clusterroles.rbac.authorization.k8s.io "${role}" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
    });
    created(await post([{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]));
    const bind = (roleName: string) => {
      const binding = t.unique('granted');
      t.defer(() => t.delete(`${RBAC}/clusterrolebindings/${binding}`));
      return t.post(
        `${RBAC}/clusterrolebindings`,
        {
          metadata: { name: binding },
          roleRef: { apiGroup: group, kind: 'ClusterRole', name: roleName },
          subjects: [user(name)],
        },
        as(name),
      );
    };
    created(await bind('view'));
    failure(await bind('absent'), {
      code: 404,
      reason: 'NotFound',
      message: 'clusterrolebindings.rbac.authorization.k8s.io "absent" not found',
    });
    failure(await bind('cluster-admin'), {
      code: 403,
      reason: 'Forbidden',
      message:
        /\{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]\}\n\{NonResourceURLs:\["\*"\], Verbs:\["\*"\]\}$/,
    });
    const finalizers = (value: string[] | null) =>
      t.patch(`${RBAC}/clusterroles/${role}`, MERGE_PATCH, { metadata: { finalizers: value } }, as(name));
    ok(await finalizers(['kctl.test/keep']));
    ok(await finalizers(null));
  },
  { needs: ['rbac'] },
);

spec(71, 'roles and bindings that every cluster has', async (t) => {
  const view = ok(await t.get(`${RBAC}/clusterroles/view`));
  same(
    view['aggregationRule'],
    { clusterRoleSelectors: [{ matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } }] },
    'aggregationRule',
  );
  const basic = ok(await t.get(`${RBAC}/clusterrolebindings/system:basic-user`)) as Json;
  same(
    [basic.roleRef.name, basic.subjects, basic.metadata.labels],
    [
      'system:basic-user',
      [{ kind: 'Group', apiGroup: group, name: 'system:authenticated' }],
      { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
    ],
    'binding',
  );
});

spec(72, 'access reviews: reasons, and what is wrong with them', async (t) => {
  const ns = await t.namespace();
  const name = await userWith(t, [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]);
  await until(t, `/api/v1/namespaces/${ns}/pods/x`, name, 404);
  const ask = (resource: string) =>
    t.post(`${AUTHZ}/subjectaccessreviews`, {
      spec: { user: name, resourceAttributes: { namespace: ns, verb: 'get', resource } },
    });
  const allowed = created(await ask('pods')).status;
  same(allowed.allowed, true, 'allowed');
  matches(allowed.reason, /^RBAC: allowed by ClusterRoleBinding "binding-.*" of ClusterRole "role-.*" to User "user-/);
  same(created(await ask('secrets')).status, { allowed: false }, 'denied');
  failure(await t.post(`${AUTHZ}/selfsubjectaccessreviews`, { spec: {} }), {
    code: 422,
    reason: 'Invalid',
    message:
      '.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
  });
  failure(
    await t.post(`${AUTHZ}/namespaces/${ns}/localsubjectaccessreviews`, {
      metadata: { namespace: ns },
      spec: { user: name, nonResourceAttributes: { path: '/x', verb: 'get' } },
    }),
    {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueInvalid',
          field: 'spec.nonResourceAttributes',
          message: 'Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request',
        },
      ],
    },
  );
});

const tokenOf = async (t: Context, ns: string, spec: object = {}): Promise<string> =>
  created(await t.post(`/api/v1/namespaces/${ns}/serviceaccounts/sa/token`, { spec })).status.token as string;

async function account(t: Context): Promise<string> {
  const ns = await t.namespace();
  created(await t.post(`/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'sa' } }));
  return ns;
}

const claimsOf = (token: string): Json => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

const review = async (t: Context, token: string, audiences?: string[]): Promise<Json> =>
  created(await t.post(`${AUTHN}/tokenreviews`, { spec: { token, ...(audiences === undefined ? {} : { audiences }) } }))
    .status;

spec(
  72,
  'TokenRequest: claims, use as credentials, TokenReview',
  async (t) => {
    const ns = await account(t);
    const token = await tokenOf(t, ns);
    const { aud, exp, iat, nbf, sub, 'kubernetes.io': facts } = claimsOf(token);
    same(
      [sub, exp - iat, nbf - iat, facts.namespace, facts.serviceaccount.name, aud.length],
      [`system:serviceaccount:${ns}:sa`, 3600, 0, ns, 'sa', 1],
      'claims',
    );
    const self = created(await t.as({ token }).send('POST', `${AUTHN}/selfsubjectreviews`, { body: {} })).status
      .userInfo;
    same(
      [self.username, self.groups, Object.keys(self.extra as object)],
      [
        `system:serviceaccount:${ns}:sa`,
        ['system:serviceaccounts', `system:serviceaccounts:${ns}`, 'system:authenticated'],
        ['authentication.kubernetes.io/credential-id'],
      ],
      'user',
    );
    const good = await review(t, token);
    same([good.authenticated, good.user.username, good.audiences], [true, self.username, aud], 'review');
    const elsewhere = await review(t, token, ['elsewhere']);
    same(
      [elsewhere.authenticated, elsewhere.error],
      [
        undefined,
        `[invalid bearer token, token audiences ["${aud[0] as string}"] is invalid for the target audiences ["elsewhere"]]`,
      ],
      'for another audience',
    );
    const vault = await tokenOf(t, ns, { audiences: ['vault'], expirationSeconds: 700 });
    same((await review(t, vault, ['vault', 'x'])).audiences, ['vault'], 'audiences');
    same((await t.as({ token: vault }).send('GET', '/api')).status, 401, 'with a token for others');
  },
  { needs: ['token-requests'] },
);

spec(
  72,
  'TokenRequest: bound to a pod, a secret or a node',
  async (t) => {
    const ns = await account(t);
    created(
      await t.post(`/api/v1/namespaces/${ns}/pods`, {
        metadata: { name: 'p' },
        spec: {
          serviceAccountName: 'sa',
          automountServiceAccountToken: false,
          containers: [{ name: 'c', image: 'i' }],
        },
      }),
    );
    created(await t.post(`/api/v1/namespaces/${ns}/secrets`, { metadata: { name: 's' } }));
    const bound = (kind: string, name: string, more: object = {}) =>
      t.post(`/api/v1/namespaces/${ns}/serviceaccounts/sa/token`, {
        spec: { boundObjectRef: { kind, apiVersion: 'v1', name }, ...more },
      });
    const pod = created(await bound('Pod', 'p', { expirationSeconds: 3607 })).status.token as string;
    const { exp, iat, 'kubernetes.io': facts } = claimsOf(pod);
    same([exp - iat, facts.warnafter - iat, facts.pod.name], [31_536_000, 3607, 'p'], 'claims of a pod');
    same((await review(t, pod)).user.extra['authentication.kubernetes.io/pod-name'], ['p'], 'extra');
    const secret = created(await bound('Secret', 's')).status.token as string;
    ok(await t.delete(`/api/v1/namespaces/${ns}/secrets/s`));
    // The server looks for the secret in its own cache, which hears of the deletion later.
    await t.eventually(
      () => review(t, secret),
      ({ error }) => error === '[invalid bearer token, service account token has been invalidated]',
      { what: 'the refusal of the token of a deleted secret' },
    );
    failure(await bound('Pod', 'absent'), { code: 404, reason: 'NotFound', message: 'pods "absent" not found' });
    failure(await bound('ConfigMap', 'x'), {
      code: 400,
      reason: 'BadRequest',
      message: 'cannot bind token to object of type /v1, Kind=ConfigMap',
    });
  },
  { needs: ['token-requests'] },
);

spec(
  72,
  'TokenRequest: what is wrong with one',
  async (t) => {
    const ns = await account(t);
    const post = (body: object, name = 'sa', query = {}) =>
      t.post(`/api/v1/namespaces/${ns}/serviceaccounts/${name}/token`, body, { query });
    failure(await post({ spec: { expirationSeconds: 10 } }), {
      code: 422,
      reason: 'Invalid',
      message:
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
    });
    failure(await post({ metadata: { name: 'other' }, spec: {} }), {
      code: 422,
      reason: 'Invalid',
      message:
        'TokenRequest.authentication.k8s.io "sa" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
    });
    failure(await post({ metadata: { namespace: 'other' }, spec: {} }), { code: 400, reason: 'BadRequest' });
    failure(await post({ metadata: { uid: 'other' }, spec: {} }), {
      code: 409,
      reason: 'Conflict',
      details: { name: 'sa', group: 'authentication.k8s.io', kind: 'TokenRequest' },
    });
    failure(await post({ spec: {} }, 'absent'), {
      code: 404,
      reason: 'NotFound',
      message: 'serviceaccounts "absent" not found',
    });
    failure(await post({ spec: {}, bogus: 1 }, 'sa', { fieldValidation: 'Strict' }), {
      code: 400,
      reason: 'BadRequest',
      message:
        'TokenRequest in version "v1" cannot be handled as a TokenRequest: strict decoding error: unknown field "bogus"',
    });
    const tampered = `${(await tokenOf(t, ns)).split('.').slice(0, 2).join('.')}.AAAA`;
    same((await t.as({ token: tampered }).send('GET', '/api')).status, 401, 'a tampered token');
    same((await review(t, 'garbage')).error, 'invalid bearer token', 'garbage');
  },
  { needs: ['token-requests'] },
);

spec(72, 'keys of the issuer of tokens are published', async (t) => {
  const configuration = ok(await t.get('/.well-known/openid-configuration')) as Json;
  same(configuration.subject_types_supported, ['public'], 'subject types');
  const keys = ok(await t.get('/openid/v1/jwks', { accept: '' })) as Json;
  check(
    (keys.keys as Json[]).every(
      ({ use, kid, alg }: Json) => use === 'sig' && kid !== '' && /^(RS|ES)/.test(alg as string),
    ),
    JSON.stringify(keys),
  );
});

spec(
  69,
  'policies ask the authorizer for the user of the request',
  async (t) => {
    const ns = await t.namespace();
    const quiet = await userWith(t, [{ verbs: ['create'], apiGroups: [''], resources: ['configmaps'] }]);
    const loud = await userWith(t, [{ verbs: ['create', 'shout'], apiGroups: [''], resources: ['configmaps'] }]);
    const base = '/apis/admissionregistration.k8s.io/v1';
    const policy = t.unique('authorized');
    created(
      await t.post(`${base}/validatingadmissionpolicies`, {
        metadata: { name: policy },
        spec: {
          matchConstraints: {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } },
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
            ],
          },
          validations: [
            {
              expression:
                "authorizer.requestResource.check('shout').allowed() && !authorizer.group('').resource('configmaps').check('whisper').allowed()",
              message: 'too quiet',
            },
          ],
        },
      }),
    );
    t.defer(() => t.delete(`${base}/validatingadmissionpolicies/${policy}`));
    created(
      await t.post(`${base}/validatingadmissionpolicybindings`, {
        metadata: { name: policy },
        spec: { policyName: policy, validationActions: ['Deny'] },
      }),
    );
    t.defer(() => t.delete(`${base}/validatingadmissionpolicybindings/${policy}`));
    const post = (name: string) =>
      t.post(`/api/v1/namespaces/${ns}/configmaps?dryRun=All`, { metadata: { name: 'a' } }, as(name));
    const denied = await t.eventually(
      () => post(quiet),
      (answer) => answer.status === 422,
      { what: 'the denial' },
    );
    matches(denied.body.message, /too quiet$/);
    created(await post(loud));
  },
  { needs: ['rbac'] },
);

spec(
  72,
  'a PUT or an apply that creates needs the right to create',
  async (t) => {
    const ns = await t.namespace();
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
    const configMaps = `/api/v1/namespaces/${ns}/configmaps`;
    const rules = (verbs: string[]) => [
      { verbs: ['get', ...verbs], apiGroups: ['', 'coordination.k8s.io'], resources: ['configmaps', 'leases'] },
    ];
    const writer = await userWith(t, rules(['update', 'patch']));
    const creator = await userWith(t, rules(['update', 'patch', 'create']));
    for (const each of [writer, creator]) await until(t, `${configMaps}/none`, each, 404);
    const lease = (name: string, more: object = {}) => ({
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: { name, ...more },
    });
    const config = (name: string, data: unknown = { a: 'b' }) => ({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name },
      data,
    });
    const put = (name: string, who: string, query = {}) =>
      t.put(`${leases}/${name}`, lease(name), { ...as(who), query });
    const apply = (name: string, who: string, data?: unknown) =>
      t.patch(`${configMaps}/${name}`, APPLY_PATCH, config(name, data), { ...as(who), query: { fieldManager: 'm' } });
    const refused = (plural: string, name: string, apiGroup: string) => ({
      code: 403,
      reason: 'Forbidden',
      message: `${plural}${apiGroup === '' ? '' : `.${apiGroup}`} ${JSON.stringify(name)} is forbidden: User "${writer}" cannot create resource "${plural}" in API group "${apiGroup}" in the namespace "${ns}"`,
      details: { name, kind: plural, ...(apiGroup !== '' && { group: apiGroup }) },
    });
    failure(await put('one', writer), refused('leases', 'one', 'coordination.k8s.io'));
    failure(await put('one', writer, { dryRun: 'All' }), refused('leases', 'one', 'coordination.k8s.io'));
    failure(await apply('one', writer), refused('configmaps', 'one', ''));
    // Validation comes first.
    failure(await apply('one', writer, { 'bad key': 'x' }), { code: 422, reason: 'Invalid' });
    failure(await t.get(`${leases}/one`), { code: 404, reason: 'NotFound' });
    failure(await t.get(`${configMaps}/one`), { code: 404, reason: 'NotFound' });
    created(await put('one', creator));
    created(await apply('one', creator));
    const { metadata } = ok(await t.get(`${leases}/one`));
    ok(await t.put(`${leases}/one`, { ...lease('one'), metadata: { ...metadata, labels: { a: 'b' } } }, as(writer)));
    ok(await apply('one', writer, { a: 'c', d: 'e' }));
    // Long objects are written elsewhere.
    const pad = 'p'.repeat(100_000);
    failure(await apply('two', writer, { pad }), refused('configmaps', 'two', ''));
    created(await apply('two', creator, { pad }));
  },
  { needs: ['rbac'] },
);

spec(71, 'rules and subjects that are not valid', async (t) => {
  const refused = async (path: string, object: object, message: string): Promise<void> => {
    const answer = await t.post(`${RBAC}/${path}?dryRun=All`, { metadata: { name: 'refused' }, ...object });
    failure(answer, { code: 422, reason: 'Invalid', message });
  };
  const invalid = (kind: string) => `${kind}.rbac.authorization.k8s.io "refused" is invalid:`;
  const url = { nonResourceURLs: ['/x'], verbs: ['get'] };
  await refused(
    'clusterroles',
    { rules: [{ ...url, apiGroups: [''], resources: ['pods'] }] },
    `${invalid('ClusterRole')} rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs`,
  );
  await refused(
    'namespaces/default/roles',
    { rules: [url] },
    `${invalid('Role')} rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs`,
  );
  await refused(
    'clusterroles',
    { aggregationRule: {} },
    `${invalid('ClusterRole')} aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil`,
  );
  await refused(
    'clusterrolebindings',
    {
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'X_', namespace: 'default' }],
    },
    `${invalid('ClusterRoleBinding')} subjects[0].name: Invalid value: "X_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
  );
});
