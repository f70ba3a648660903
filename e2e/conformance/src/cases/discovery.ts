/** §2.1 Discovery, version, health. */
import type { Doc, Json } from '../harness/doc.js';
import { check, failure, matches, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const header = (value: string | string[] | undefined): string => [value ?? ''].flat().join(', ');

/** The parts of a list's entries that a client relies on. */
const byName = (list: Json, name: string): Json => (list as { name: string }[]).find((entry) => entry.name === name);

spec(1, 'GET /version names major, minor and gitVersion', async (t) => {
  const body = ok(await t.get('/version'));
  matches(body['major'], /^\d+$/, 'major');
  matches(body['minor'], /^\d+\+?$/, 'minor');
  matches(body['gitVersion'], /^v\d+\.\d+\.\d+/, 'gitVersion');
  for (const field of ['gitCommit', 'gitTreeState', 'buildDate', 'goVersion', 'compiler', 'platform'])
    same(typeof body[field], 'string', field);
});

for (const path of ['/healthz', '/livez', '/readyz'])
  spec(1, `GET ${path} answers ok as text`, async (t) => {
    const answer = await t.get(path, { accept: '*/*' });
    same(answer.status, 200, 'status');
    same(answer.text, 'ok', 'body');
    same(header(answer.headers['content-type']), 'text/plain; charset=utf-8', 'content type');
  });

spec(1, 'GET /readyz?verbose lists the checks', async (t) => {
  const answer = await t.get('/readyz?verbose', { accept: '*/*' });
  same(answer.status, 200, 'status');
  matches(answer.text, /^\[\+\]ping ok\n[\s\S]*\nreadyz check passed\n$/, 'body');
});

spec(1, 'GET /readyz/ping answers one check', async (t) => {
  same((await t.get('/readyz/ping', { accept: '*/*' })).text, 'ok', 'body');
});

spec(2, 'GET /apis aggregated repeats its media type and lists resources of every group', async (t) => {
  const answer = await t.get('/apis', { accept: `${AGGREGATED},application/json` });
  const body = ok(answer);
  same(header(answer.headers['content-type']), AGGREGATED, 'content type');
  same([body.kind, body.apiVersion], ['APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2'], 'kind');
  const apps = body.items.find((group) => group.metadata.name === 'apps') as Json;
  check(apps !== undefined, 'no group "apps"');
  const v1 = (apps.versions as Json[])[0];
  same([v1.version, v1.freshness], ['v1', 'Current'], 'version');
  const { subresources, ...deployments } = (v1.resources as Json[]).find(
    (resource: Json) => resource.resource === 'deployments',
  );
  same(
    deployments,
    {
      resource: 'deployments',
      // The group and version are those of the list they stand in.
      responseKind: { group: '', version: '', kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
      verbs: ALL_VERBS,
      shortNames: ['deploy'],
      categories: ['all'],
    },
    'deployments',
  );
  same(
    subresources,
    [
      {
        subresource: 'scale',
        responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        verbs: ['get', 'patch', 'update'],
      },
      {
        subresource: 'status',
        responseKind: { group: '', version: '', kind: 'Deployment' },
        verbs: ['get', 'patch', 'update'],
      },
    ],
    'subresources',
  );
});

spec(2, 'GET /api aggregated holds the group without a name', async (t) => {
  const answer = await t.get('/api', { accept: `${AGGREGATED},application/json` });
  const body = ok(answer);
  same(header(answer.headers['content-type']), AGGREGATED, 'content type');
  same(body.items.length, 1, 'groups');
  const [core] = body.items as Json[];
  same(core.metadata.name ?? '', '', 'name of the group');
  const nodes = (core.versions[0].resources as Json[]).find((resource: Json) => resource.resource === 'nodes');
  same([nodes.scope, nodes.shortNames, nodes.responseKind.kind], ['Cluster', ['no'], 'Node'], 'nodes');
});

spec(2, 'aggregated discovery is chosen by the first acceptable clause', async (t) => {
  const answer = await t.get('/apis', {
    accept: `application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,${AGGREGATED}`,
  });
  same(ok(answer).apiVersion, 'apidiscovery.k8s.io/v2', 'apiVersion');
});

spec(3, 'GET /api is APIVersions', async (t) => {
  const body = ok(await t.get('/api'));
  same([body.kind, body['versions']], ['APIVersions', ['v1']], 'body');
  check(Array.isArray(body['serverAddressByClientCIDRs']), 'no serverAddressByClientCIDRs');
});

spec(3, 'GET /apis is an APIGroupList with preferred versions', async (t) => {
  const body = ok(await t.get('/apis'));
  same([body.kind, body.apiVersion], ['APIGroupList', 'v1'], 'kind');
  same(
    byName(body['groups'], 'apps'),
    {
      name: 'apps',
      versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
    },
    'apps',
  );
  check(byName(body['groups'], '') === undefined, 'the core group is listed under /apis');
});

spec(3, 'GET /apis/apps is an APIGroup', async (t) => {
  same(
    ok(await t.get('/apis/apps')),
    {
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'apps',
      versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
    },
    'body',
  );
});

spec(3, 'GET /apis/apps/v1 lists resources and subresources', async (t) => {
  const body = ok(await t.get('/apis/apps/v1'));
  same([body.kind, body.apiVersion, body['groupVersion']], ['APIResourceList', 'v1', 'apps/v1'], 'kind');
  const { storageVersionHash: _hash, ...deployments } = byName(body['resources'], 'deployments');
  same(
    deployments,
    {
      name: 'deployments',
      singularName: 'deployment',
      namespaced: true,
      kind: 'Deployment',
      verbs: ALL_VERBS,
      shortNames: ['deploy'],
      categories: ['all'],
    },
    'deployments',
  );
  same(
    byName(body['resources'], 'deployments/scale'),
    {
      name: 'deployments/scale',
      singularName: '',
      namespaced: true,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get', 'patch', 'update'],
    },
    'deployments/scale',
  );
  same(
    byName(body['resources'], 'deployments/status'),
    {
      name: 'deployments/status',
      singularName: '',
      namespaced: true,
      kind: 'Deployment',
      verbs: ['get', 'patch', 'update'],
    },
    'deployments/status',
  );
});

spec(3, 'GET /api/v1 lists the core resources', async (t) => {
  const body = ok(await t.get('/api/v1'));
  same([body.kind, body['groupVersion']], ['APIResourceList', 'v1'], 'kind');
  const resources = (body['resources'] as { name: string }[]).map(({ name }) => name);
  for (const name of [
    'configmaps',
    'secrets',
    'pods',
    'pods/status',
    'pods/binding',
    'pods/eviction',
    'services',
    'namespaces',
    'namespaces/finalize',
    'namespaces/status',
    'nodes',
    'events',
    'serviceaccounts',
    'serviceaccounts/token',
    'endpoints',
    'persistentvolumeclaims',
    'replicationcontrollers/scale',
  ])
    check(resources.includes(name), `${name} is missing`);
  const configMaps = byName(body['resources'], 'configmaps');
  same([configMaps.kind, configMaps.namespaced, configMaps.shortNames], ['ConfigMap', true, ['cm']], 'configmaps');
});

const coreKinds = {
  '/apis/batch/v1': { jobs: 'Job', cronjobs: 'CronJob', 'jobs/status': 'Job' },
  '/apis/coordination.k8s.io/v1': { leases: 'Lease' },
  '/apis/events.k8s.io/v1': { events: 'Event' },
  '/apis/networking.k8s.io/v1': { ingresses: 'Ingress', networkpolicies: 'NetworkPolicy' },
  '/apis/rbac.authorization.k8s.io/v1': {
    roles: 'Role',
    clusterroles: 'ClusterRole',
    rolebindings: 'RoleBinding',
    clusterrolebindings: 'ClusterRoleBinding',
  },
  '/apis/policy/v1': { poddisruptionbudgets: 'PodDisruptionBudget' },
  '/apis/autoscaling/v2': { horizontalpodautoscalers: 'HorizontalPodAutoscaler' },
  '/apis/discovery.k8s.io/v1': { endpointslices: 'EndpointSlice' },
  '/apis/storage.k8s.io/v1': { storageclasses: 'StorageClass' },
  '/apis/scheduling.k8s.io/v1': { priorityclasses: 'PriorityClass' },
  '/apis/apiextensions.k8s.io/v1': {
    customresourcedefinitions: 'CustomResourceDefinition',
    'customresourcedefinitions/status': 'CustomResourceDefinition',
  },
  '/apis/admissionregistration.k8s.io/v1': {
    mutatingwebhookconfigurations: 'MutatingWebhookConfiguration',
    validatingwebhookconfigurations: 'ValidatingWebhookConfiguration',
  },
  '/apis/authorization.k8s.io/v1': {
    selfsubjectaccessreviews: 'SelfSubjectAccessReview',
    subjectaccessreviews: 'SubjectAccessReview',
  },
  '/apis/authentication.k8s.io/v1': { tokenreviews: 'TokenReview' },
} as const;
for (const [path, kinds] of Object.entries(coreKinds))
  spec(3, `GET ${path} lists its kinds`, async (t) => {
    const body = ok(await t.get(path));
    for (const [name, kind] of Object.entries(kinds)) same(byName(body['resources'], name)?.kind, kind, name);
  });

spec(4, 'a custom resource is discovered once it is established and is gone once it is deleted', async (t) => {
  const group = `${t.unique('d')}.kctl.test`;
  const crd = await t.crd({
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', shortNames: ['tg'], categories: ['all'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
          subresources: { status: {} },
        },
      ],
    },
  });
  const expected = {
    name: 'things',
    singularName: 'thing',
    namespaced: false,
    kind: 'Thing',
    shortNames: ['tg'],
    categories: ['all'],
  };
  const isListed = (body: Doc) => (body['groups'] as { name: string }[]).some(({ name }) => name === group);
  await t.eventually(async () => ok(await t.get('/apis')), isListed, { what: 'the group in /apis' });
  const resources = ok(await t.get(`/apis/${group}/v1`))['resources'] as Json[];
  const { storageVersionHash: _hash, verbs, ...resource } = byName(resources, 'things');
  same(resource, expected, 'resource');
  same((verbs as string[]).toSorted(), ALL_VERBS, 'verbs');
  same(byName(resources, 'things/status')?.verbs, ['get', 'patch', 'update'], 'verbs of things/status');
  const aggregated = await t.eventually(
    async () =>
      ok(await t.get('/apis', { accept: AGGREGATED })).items.find((item) => item.metadata.name === group) as Json,
    (found) => found !== undefined,
    { what: 'the group in aggregated discovery' },
  );
  same(
    (aggregated.versions[0].resources as Json[]).map(
      ({ resource, scope, shortNames, categories, responseKind }: Json) => ({
        resource,
        scope,
        shortNames,
        categories,
        responseKind,
      }),
    ),
    [
      {
        resource: 'things',
        scope: 'Cluster',
        shortNames: ['tg'],
        categories: ['all'],
        responseKind: { group, version: 'v1', kind: 'Thing' },
      },
    ],
    'aggregated resources',
  );
  ok(await t.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`));
  await t.eventually(
    async () => ok(await t.get('/apis')),
    (body) => !isListed(body),
    { what: 'the group to go' },
  );
  await t.eventually(
    () => t.get(`/apis/${group}/v1`),
    ({ status }) => status === 404,
    { what: 'a 404 for the version' },
  );
});

spec(7, 'an unknown resource, version or subresource of a built-in group answers a Status', async (t) => {
  for (const path of [
    '/apis/apps/v1/nothings',
    '/apis/apps/v9/deployments',
    '/api/v2',
    '/api/v1/namespaces/default/nothings',
    '/api/v1/namespaces/default/configmaps/x/status',
    '/apis/apps/v1/namespaces/default/deployments/x/nothing',
  ])
    failure(await t.get(path), {
      code: 404,
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
      details: {},
    });
});

spec(7, 'an unknown group and an unknown root path answer 404 page not found as text', async (t) => {
  for (const path of ['/apis/nothing.example/v1/things', '/apis/nothing.example', '/nothing-here']) {
    const answer = await t.get(path);
    same([answer.status, answer.text], [404, '404 page not found\n'], path);
    same(header(answer.headers['content-type']), 'text/plain; charset=utf-8', `${path} content type`);
  }
});

spec(
  7,
  'an unknown resource or version of the group of a custom resource answers 404 page not found as text',
  async (t) => {
    const { group } = await t.widgets();
    for (const path of [
      `/apis/${group}/v1/nothings`,
      `/apis/${group}/v1/namespaces/default/nothings/x`,
      `/apis/${group}/v9/widgets`,
    ]) {
      const answer = await t.get(path);
      same([answer.status, answer.text], [404, '404 page not found\n'], path);
    }
  },
);

spec(7, 'GET / lists the known paths', async (t) => {
  const paths = ok(await t.get('/'))['paths'] as string[];
  for (const path of ['/api', '/api/v1', '/apis', '/apis/', '/apis/apps', '/apis/apps/v1', '/healthz', '/version'])
    check(paths.includes(path), `${path} is missing`);
});

spec(7, 'every answer carries Cache-Control and Audit-Id', async (t) => {
  for (const path of ['/api/v1/namespaces', '/api/v1/namespaces/nope', '/apis', '/version', '/healthz']) {
    const { headers } = await t.get(path, { accept: '*/*' });
    same(header(headers['cache-control']), 'no-cache, private', `${path} cache-control`);
    matches(header(headers['audit-id']), /^[0-9a-f-]{36}$/, `${path} audit-id`);
  }
});

spec(7, 'an Audit-Id of the client comes back', async (t) => {
  for (const id of ['11111111-2222-3333-4444-555555555555', 'mine', 'x'.repeat(64)]) {
    const { headers } = await t.get('/api/v1/namespaces', { headers: { 'audit-id': id } });
    same(header(headers['audit-id']), id, 'audit-id');
  }
});

spec(7, 'a method that the resource lacks answers 405', async (t) => {
  const calls = [
    ['POST', '/api/v1/namespaces/default/configmaps/x'],
    ['PUT', '/api/v1/namespaces/default/configmaps'],
    ['PATCH', '/api/v1/namespaces/default/configmaps'],
    ['DELETE', '/api/v1/namespaces'],
    ['POST', '/api/v1/componentstatuses'],
  ] as const;
  for (const [method, path] of calls)
    failure(await t.send(method, path, { body: {} }), {
      code: 405,
      reason: 'MethodNotAllowed',
      message: 'the server does not allow this method on the requested resource',
      details: {},
    });
});
