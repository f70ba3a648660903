import { describe, expect, test } from 'vitest';
import type { ApiServerOptions } from '../src/index.js';
import { harness, type Harness } from './harness.js';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const authorization = '/apis/authorization.k8s.io/v1';
const authentication = '/apis/authentication.k8s.io/v1';

const as = (user: string, headers: Record<string, string> = {}) => ({ 'impersonate-user': user, ...headers });
const subject = (name: string, kind = 'User') => ({ kind, apiGroup: 'rbac.authorization.k8s.io', name });

/** A server with RBAC and what a grant needs. */
async function guarded(options: ApiServerOptions = {}) {
  const server = await harness({ authorization: 'RBAC', ...options });
  const grant = async (user: string, name: string, rules: unknown[], kind = 'User') => {
    const role = await server.post(`${rbac}/clusterroles`, { metadata: { name }, rules });
    expect(role.status).toBe(201);
    const binding = await server.post(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [subject(user, kind)],
    });
    expect(binding.status).toBe(201);
  };
  return { ...server, grant };
}

const whoAmI = async ({ post }: Pick<Harness, 'post'>, headers: Record<string, string>) =>
  (await post(`${authentication}/selfsubjectreviews`, {}, headers)).body.status?.userInfo;

test('a selector of one name counts as the name of a list or watch, where all parameters can be read', async () => {
  const { grant, get, call } = await guarded();
  await grant('jane', 'named', [
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['list', 'deletecollection'] },
  ]);
  const path = '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3D';
  const asJane = as('jane', { 'impersonate-group': 'system:authenticated' });
  expect((await get(`${path}a`, asJane)).status).toBe(200);
  for (const [rest, about] of [
    ['b', 'configmaps "b" is forbidden'],
    ['a&labelSelector=%3D', 'configmaps is forbidden'],
    ['a&limit=x', 'configmaps is forbidden'],
  ] as const) {
    const { status, body } = await get(`${path}${rest}`, asJane);
    expect([status, body.message]).toEqual([403, expect.stringContaining(about)]);
  }
  expect((await call('DELETE', `${path}a`, undefined, asJane)).body.message).toContain('configmaps is forbidden');
});

describe('impersonation', () => {
  test('makes the request as the named user, also where everything is allowed', async () => {
    const server = await harness();
    expect(await whoAmI(server, as('jane', { 'impersonate-group': 'a', 'impersonate-uid': '7' }))).toEqual({
      username: 'jane',
      uid: '7',
      groups: ['a', 'system:authenticated'],
    });
    const [entry] = server.server.journal.requests().slice(-1);
    expect(entry).toMatchObject({ user: 'jane', impersonatedBy: 'kubernetes-admin' });
  });

  test('reads names in UTF-8, as clients send them', async () => {
    const server = await harness();
    const inBytes = (text: string): string => Buffer.from(text).toString('latin1');
    const headers = as(inBytes('jürgen 🎉'), { 'impersonate-group': inBytes('Gäste') });
    expect(await whoAmI(server, headers)).toMatchObject({
      username: 'jürgen 🎉',
      groups: ['Gäste', 'system:authenticated'],
    });
  });

  test('gives service accounts, nodes and the anonymous user their groups', async () => {
    const server = await harness();
    expect((await whoAmI(server, as('system:serviceaccount:ns:sa'))).groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:ns',
      'system:authenticated',
    ]);
    expect((await whoAmI(server, as('system:node:n'))).groups).toEqual(['system:nodes', 'system:authenticated']);
    expect((await whoAmI(server, as('system:anonymous'))).groups).toEqual(['system:unauthenticated']);
  });

  test('needs a user', async () => {
    const server = await harness();
    const answer = await server.post(`${authentication}/selfsubjectreviews`, {}, { 'impersonate-group': 'a' });
    expect([answer.status, answer.body.message]).toEqual([
      400,
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a"}, Extra:map[string][]string(nil)} without impersonating a user name',
    ]);
  });

  test('is refused to who may not, and nothing is written', async () => {
    const { server, get, grant } = await guarded({ tokens: [{ token: 'bob', user: 'bob' }] });
    await grant('bob', 'writer', [{ verbs: ['create', 'get'], apiGroups: [''], resources: ['configmaps'] }]);
    const response = await server.fetch('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      headers: { authorization: 'Bearer bob', 'content-type': 'application/json', 'impersonate-user': 'jane' },
      body: JSON.stringify({ metadata: { name: 'a' } }),
    });
    const body: unknown = await response.json();
    expect([response.status, body]).toMatchObject([
      403,
      {
        message:
          'configmaps is forbidden: User "bob" cannot impersonate-on:user-info:create resource "configmaps" in API group "" in the namespace "default"',
      },
    ]);
    expect((await get('/api/v1/namespaces/default/configmaps/a')).status).toBe(404);
  });

  test('is allowed by the two verbs of a constrained mode, for that verb alone', async () => {
    const { server, grant } = await guarded({ tokens: [{ token: 'bob', user: 'bob' }] });
    await grant('bob', 'constrained', [
      { verbs: ['impersonate-on:user-info:list'], apiGroups: [''], resources: ['configmaps'] },
      { verbs: ['impersonate:user-info'], apiGroups: ['authentication.k8s.io'], resources: ['users'] },
    ]);
    await grant('jane', 'janes', [{ verbs: ['*'], apiGroups: [''], resources: ['configmaps'] }]);
    const send = async (path: string) =>
      (
        await server.fetch(`/api/v1/namespaces/default/configmaps${path}`, {
          headers: { authorization: 'Bearer bob', 'impersonate-user': 'jane' },
        })
      ).status;
    expect([await send(''), await send('/x')]).toEqual([200, 403]);
  });

  test('to the group system:masters needs the verb of old', async () => {
    const { server, grant } = await guarded({ tokens: [{ token: 'bob', user: 'bob' }] });
    const all = { apiGroups: ['*'], resources: ['*'] };
    await grant('bob', 'constrained', [{ verbs: ['impersonate:user-info', 'impersonate-on:user-info:list'], ...all }]);
    const send = () =>
      server.fetch('/api/v1/secrets', {
        headers: { authorization: 'Bearer bob', 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' },
      });
    const refused = await send();
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('system:masters group is not allowed'),
    ]);
    await grant('bob', 'legacy', [{ verbs: ['impersonate'], ...all }]);
    expect((await send()).status).toBe(200);
  });
});

describe('RBAC', () => {
  test('is off by default, and on it starts with what every cluster has', async () => {
    const open = await harness();
    expect((await open.get('/api/v1/secrets', as('jane'))).status).toBe(200);
    expect((await open.get(`${rbac}/clusterroles`)).body.items).toHaveLength(0);
    const { get } = await guarded();
    expect((await get(`${rbac}/clusterroles`)).body.items).toHaveLength(69);
    const denied = await get('/api/v1/namespaces/default/secrets', as('jane'));
    expect([denied.status, denied.body.message, denied.body.details]).toEqual([
      403,
      'secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "default"',
      { kind: 'secrets' },
    ]);
    expect((await get('/metrics', as('jane'))).body.message).toBe('forbidden: User "jane" cannot get path "/metrics"');
  });

  test('follows bindings as they come and go, and a restore', async () => {
    const { server, get, delete: remove, grant } = await guarded();
    const status = async () => (await get('/api/v1/secrets', as('x', { 'impersonate-group': 'team' }))).status;
    const clean = server.snapshot();
    await grant('team', 'readers', [{ verbs: ['list'], apiGroups: [''], resources: ['secrets'] }], 'Group');
    const bound = server.snapshot();
    expect(await status()).toBe(200);
    await remove(`${rbac}/clusterrolebindings/readers`);
    expect(await status()).toBe(403);
    server.restore(bound);
    expect(await status()).toBe(200);
    server.restore(clean);
    expect(await status()).toBe(403);
  });

  test('the aggregation controller runs where it is asked for', async () => {
    const without = await guarded();
    expect((await without.get(`${rbac}/clusterroles/view`)).body.rules).toBeNull();
    const { get } = await guarded({ controllers: { clusterRoleAggregation: true } });
    expect((await get(`${rbac}/clusterroles/view`)).body.rules.length).toBeGreaterThan(5);
    expect((await get(`${rbac}/clusterroles/admin`)).body.rules.length).toBeGreaterThan(20);
  });

  test('a user cannot grant permissions that the user does not have', async () => {
    const { post, grant } = await guarded();
    await grant('bob', 'admins', [
      { verbs: ['*'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles', 'clusterrolebindings'] },
    ]);
    // '*' is also escalate and bind.
    const free = await post(`${rbac}/clusterroles`, { metadata: { name: 'any' }, rules: [] }, as('bob'));
    expect(free.status).toBe(201);
    await grant('eve', 'creators', [
      {
        verbs: ['create'],
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['clusterroles', 'clusterrolebindings'],
      },
    ]);
    const role = await post(
      `${rbac}/clusterroles`,
      { metadata: { name: 'more' }, rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['secrets'] }] },
      as('eve'),
    );
    expect([role.status, role.body.message]).toEqual([
      403,
      'clusterroles.rbac.authorization.k8s.io "more" is forbidden: user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
    ]);
    const binding = await post(
      `${rbac}/clusterrolebindings`,
      {
        metadata: { name: 'more' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [subject('eve')],
      },
      as('eve'),
    );
    expect([binding.status, binding.body.message]).toMatchObject([
      403,
      expect.stringContaining('NonResourceURLs:["*"]'),
    ]);
  });

  test('access reviews answer by the roles', async () => {
    const { post, grant } = await guarded();
    await grant('jane', 'readers', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }]);
    const ask = async (name: string) => {
      const spec = { user: 'jane', resourceAttributes: { verb: 'get', resource: 'pods', name, namespace: 'n' } };
      return (await post(`${authorization}/subjectaccessreviews`, { spec })).body.status;
    };
    expect([await ask('a'), await ask('b')]).toEqual([
      {
        allowed: true,
        reason: 'RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "readers" to User "jane"',
      },
      { allowed: false },
    ]);
    const rules = await post(`${authorization}/selfsubjectrulesreviews`, { spec: { namespace: 'n' } }, as('jane'));
    expect(rules.body.status.resourceRules).toContainEqual({
      verbs: ['get'],
      apiGroups: [''],
      resources: ['pods'],
      resourceNames: ['a'],
    });
  });

  test('refuses an unknown mode', async () => {
    const options = { authorization: 'rbac' };
    await expect(harness(options as ApiServerOptions)).rejects.toThrow(
      'authorization "rbac" is not valid: expected "AlwaysAllow" or "RBAC"',
    );
  });
});
