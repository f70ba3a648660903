import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Node, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { describe, expect, it } from 'vitest';
import { accessTo, compareAccess, createAccessRecorder, formatAccess, generateRbac } from './index.js';
import { accessOf, policyRules } from './internal/index.js';

const get = (path: string) => ({ method: 'GET', path, status: 200 });

describe('accessOf', () => {
  it.each([
    ['GET', '/api/v1/pods', 'list pods  '],
    ['GET', '/api/v1/pods?watch=1', 'watch pods  '],
    ['GET', '/api/v1/namespaces/a/pods/b', 'get pods a b'],
    ['GET', '/api/v1/namespaces/a/pods/b/log', 'get pods/log a b'],
    ['GET', '/api/v1/namespaces', 'list namespaces  '],
    ['GET', '/api/v1/namespaces/a', 'get namespaces a a'],
    ['PATCH', '/api/v1/namespaces/a/status', 'patch namespaces/status a a'],
    ['DELETE', '/apis/apps/v1/namespaces/a/deployments', 'deletecollection deployments.apps a '],
    ['DELETE', '/apis/apps/v1/namespaces/a/deployments/b', 'delete deployments.apps a b'],
    ['PUT', '/apis/apps/v1/namespaces/a/deployments/b/status', 'update deployments/status.apps a b'],
    ['POST', '/api/v1/namespaces/a/configmaps', 'create configmaps a '],
    ['GET', '/prefix/api/v1/nodes/n', 'get nodes  n'],
    ['GET', '/api/v1/nodes?fieldSelector=metadata.name%3Dn&watch=true', 'watch nodes  n'],
  ])('%s %s', (method, path, expected) => {
    const [use] = accessOf({ method, path, status: 200 });
    const { verb, resource, group, namespace = '', name = '' } = use ?? { verb: '', resource: '', group: '' };
    expect(`${verb} ${resource}${group === '' ? '' : `.${group}`} ${namespace} ${name}`).toBe(expected);
  });

  it('asks for create where a patch or an update made the object', () => {
    const path = '/api/v1/namespaces/a/configmaps/b';
    expect(accessOf({ method: 'PATCH', path, status: 201 }).map(({ verb }) => verb)).toEqual(['patch', 'create']);
    expect(accessOf({ method: 'PATCH', path, status: 200 }).map(({ verb }) => verb)).toEqual(['patch']);
  });

  it.each(['/api', '/apis', '/apis/apps', '/apis/apps/v1', '/openapi/v3', '/version', '/healthz', '/'])(
    'finds none in %s, which every client may read',
    (path) => expect(accessOf(get(path))).toEqual([]),
  );
});

describe('policyRules', () => {
  const needs = [
    accessTo(Deployment, ['list', 'watch']),
    accessTo(Deployment, ['get', 'create']),
    accessTo(Deployment, ['update'], { subresource: 'status' }),
    accessTo(Lease, ['get', 'update'], { namespaces: ['system'], names: ['op'] }),
    accessTo(Lease, ['create'], { namespaces: ['system'] }),
    accessTo(ConfigMap, ['get'], { namespaces: ['a', 'b'] }),
    accessTo(Deployment, ['get'], { namespaces: ['a'], names: ['x'] }),
  ];

  it('grants each resource once, in the namespaces where it is needed, by name where it can', () => {
    const { cluster, namespaces } = policyRules(needs);
    expect(cluster).toEqual([
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'watch', 'create'] },
      { apiGroups: ['apps'], resources: ['deployments/status'], verbs: ['update'] },
    ]);
    expect(Object.fromEntries(namespaces)).toEqual({
      a: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
      b: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
      system: [
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['op'], verbs: ['get', 'update'] },
      ],
    });
  });

  it('is the same for the same needs in any order', () => {
    expect(policyRules(needs.toReversed())).toEqual(policyRules(needs));
  });

  it('shares a rule between resources of the same verbs', () => {
    const { cluster } = policyRules([accessTo(ConfigMap, ['get']), accessTo(Secret, ['get'])]);
    expect(cluster).toEqual([{ apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get'] }]);
  });
});

describe('generateRbac', () => {
  it('makes a service account, roles and bindings to it', () => {
    const objects = generateRbac([accessTo(ConfigMap, ['list']), accessTo(Secret, ['get'], { namespaces: ['shop'] })], {
      name: 'op',
      namespace: 'op-system',
      labels: { app: 'op' },
    });
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`)).toEqual([
      'ServiceAccount op-system/op',
      'ClusterRole /op',
      'ClusterRoleBinding /op',
      'Role shop/op',
      'RoleBinding shop/op',
    ]);
    for (const object of objects) expect(object.metadata.labels).toEqual({ app: 'op' });
    expect(objects[4]).toMatchObject({ subjects: [{ kind: 'ServiceAccount', name: 'op', namespace: 'op-system' }] });
  });

  it('names an option that is not right', () => {
    expect(() => generateRbac([], { name: '', namespace: 'a' })).toThrow('generateRbac: name "" is not valid');
    expect(() => generateRbac([], { name: 'a', nameSpace: 'a' } as never)).toThrow('nameSpace');
  });
});

describe('accessTo', () => {
  it.each<[string, () => unknown]>([
    ['verb "lst" is not valid', () => accessTo(Secret, ['lst' as never])],
    ['expected a list of get, list', () => accessTo(Secret, [])],
    ['create cannot be bound to names', () => accessTo(Secret, ['get', 'create'], { names: ['a'] })],
    ['namespaces [] is not valid', () => accessTo(Secret, ['get'], { namespaces: [] })],
    // An environment variable that is not set: a Role without a namespace, and a name that no object has.
    [
      'namespaces ["a"] is set for nodes, which are not in a namespace: leave it out',
      () => accessTo(Node, ['get'], { namespaces: ['a'] }),
    ],
    ['namespaces [""] is not valid', () => accessTo(Secret, ['get'], { namespaces: [''] })],
    ['names [""] is not valid', () => accessTo(Secret, ['get'], { names: [''] })],
    ['subresource "" is not valid: expected a name', () => accessTo(Secret, ['get'], { subresource: '' })],
    ['is its import right?', () => accessTo(undefined as never, ['get'])],
    ['subResource', () => accessTo(Secret, ['get'], { subResource: 'status' } as never)],
  ])('says %s', (message, run) => expect(run).toThrow(message));
});

describe('compareAccess', () => {
  const needs = [
    accessTo(Deployment, ['list', 'watch', 'patch'], { reason: 'owns(Deployment)' }),
    accessTo(Deployment, ['get'], { when: 'a conflict', reason: 'owns(Deployment)' }),
  ];
  const record = (...requests: (readonly [string, string, number?])[]) => {
    const recorder = createAccessRecorder();
    for (const [method, path, status = 200] of requests) recorder.observe({ method, path, status });
    return recorder;
  };
  const item = '/apis/apps/v1/namespaces/a/deployments/b';
  const all = [
    ['GET', '/apis/apps/v1/deployments'],
    ['GET', '/apis/apps/v1/deployments?watch=true'],
    ['PATCH', item],
  ] as const;

  it('is equal where everything that is declared was used, but for rare cases', () => {
    const difference = compareAccess(needs, record(...all).uses());
    expect(difference).toEqual({ missing: [], unused: [], isEqual: true });
    expect(formatAccess(difference)).toBe('');
  });

  it('names a rule that was removed', () => {
    const reduced = needs.map((need) => ({ ...need, verbs: need.verbs.filter((verb) => verb !== 'patch') }));
    const uses = record(...all, ['PATCH', item, 403]).uses();
    expect(formatAccess(compareAccess(reduced, uses))).toBe(
      "not granted: patch deployments.apps in namespace a (sent 2 times, refused once): add .needs(<the kind of deployments.apps>, ['patch']) to the controller that sends it",
    );
  });

  it('names create where an apply was refused that may patch', () => {
    const uses = record(...all, ['PATCH', item, 403], ['PATCH', item.replace('/b', '/c'), 403]).uses();
    expect(formatAccess(compareAccess(needs, uses))).toBe(
      "not granted: create deployments.apps in namespace a (sent 2 times, refused each time): add .needs(<the kind of deployments.apps>, ['create']) to the controller that sends it",
    );
    const granted = [...needs, accessTo(Deployment, ['create'], { when: 'it is not there' })];
    expect(compareAccess(granted, uses).isEqual).toBe(true);
    const status = record(...all, ['PATCH', `${item}/status`, 403]).uses();
    expect(compareAccess([...needs, accessTo(Deployment, ['patch'], { subresource: 'status' })], status).isEqual).toBe(
      true,
    );
  });

  it('says where a declaration is too narrow', () => {
    const narrow = [accessTo(Secret, ['get'], { namespaces: ['a'], names: ['x'] })];
    const text = formatAccess(compareAccess(narrow, record(['GET', '/api/v1/namespaces/b/secrets/x']).uses()));
    expect(text).toContain(
      'not granted: get secrets in namespace b (sent once): needs(Secret) declares it on x in a alone',
    );
    expect(text).toContain('never used: get secrets, which needs(Secret) declares');
  });

  it('counts requests, keeps the last ones, and forgets', () => {
    const recorder = record(...all, ['GET', '/version']);
    expect(recorder.requests).toBe(4);
    expect(recorder.last().at(-1)).toEqual({ method: 'GET', path: '/version', status: 200 });
    for (let n = 0; n < 500; n++) recorder.observe(get(item));
    expect(recorder.last()).toHaveLength(100);
    const { requests } = recorder;
    expect(recorder.last(requests)).toEqual([]);
    recorder.observe({ method: 'GET', path: '/version', status: 200 });
    expect(recorder.last(requests)).toEqual([{ method: 'GET', path: '/version', status: 200 }]);
    expect(recorder.last(requests - 1)).toHaveLength(2);
    recorder.reset();
    expect([recorder.requests, recorder.uses(), recorder.last()]).toEqual([0, [], []]);
  });
});

describe('accessOf of a path that cannot be read', () => {
  it.each(['/api/v1/namespaces/a/pods/%zz', '/api/v1/namespaces/%E0%A4%A/pods', 'https://'])(
    'has no rights, and does not throw into the request: %s',
    (path) => {
      expect(accessOf({ method: 'GET', path, status: 400 })).toEqual([]);
    },
  );
});
