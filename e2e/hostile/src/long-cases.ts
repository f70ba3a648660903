/** Long objects by all ways that lead to them, and what is long without being an object. */
import type { HostileCase, HostileRequest } from './cases.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const registration = '/apis/admissionregistration.k8s.io/v1';
const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const group = 'hostile.kctl.test';
const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const merge = 'application/merge-patch+json';
const applied = 'application/apply-patch+yaml';

function send(method: string, path: string, value: unknown, contentType = 'application/json'): HostileRequest {
  return { method, path, contentType, body: typeof value === 'string' ? value : JSON.stringify(value) };
}

const post = (path: string, value: unknown): HostileRequest => send('POST', path, value);
const get = (path: string, accept = 'application/json'): HostileRequest => ({ method: 'GET', path, accept });
const kindOf = (plural: string): string => `${plural.charAt(0).toUpperCase()}${plural.slice(1)}`;
const objects = (plural: string, version = 'v1'): string => `/apis/${group}/${version}/namespaces/default/${plural}`;

/** Two versions with status, scale, a selectable field and columns; the rest is open. */
function definition(plural: string, rules: readonly string[] = []): HostileRequest {
  const spec = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { size: { type: 'integer' }, items: { type: 'array', items: { type: 'integer' } } },
    ...(rules.length > 0 && { 'x-kubernetes-validations': rules.map((rule) => ({ rule })) }),
  };
  const status = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return post(crds, {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind: kindOf(plural) },
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === 'v1',
        subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
        selectableFields: [{ jsonPath: '.spec.size' }],
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'All', type: 'string', jsonPath: '.spec.any[*].a' },
          { name: 'Last', type: 'string', jsonPath: '.spec.any[-1:].b' },
        ],
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
      })),
    },
  });
}

const many = numbers(65_000).map((each) => ({ a: each, b: 'x' }));

function longObject(plural: string, name: string, more: object = {}): object {
  return {
    apiVersion: `${group}/v1`,
    kind: kindOf(plural),
    metadata: { name, labels: { part: 'long' } },
    spec: { size: 1, any: many },
    ...more,
  };
}

function setUp(plural: string, count = 2): HostileRequest[] {
  const made = numbers(count).map((index) => post(objects(plural), longObject(plural, `long${index}`)));
  return [definition(plural), ...made];
}

interface LongCase {
  readonly name: string;
  readonly plural: string;
  readonly request: HostileRequest;
  readonly statuses?: readonly number[];
  readonly count?: number;
}

const fields = Object.fromEntries(numbers(30_000).map((index) => [`k${index}`, 1]));

/** Each way to a custom resource of 1.3 MB. */
const ways: readonly LongCase[] = [
  {
    name: 'apply of 30,000 fields by a second manager',
    plural: 'seconds',
    request: send(
      'PATCH',
      `${objects('seconds')}/long0?fieldManager=other&force=true`,
      { apiVersion: `${group}/v1`, kind: 'Seconds', metadata: { name: 'long0' }, spec: fields },
      applied,
    ),
    // With what its owners take it may be more than etcd holds.
    statuses: [200, 500],
  },
  {
    name: 'apply of one field',
    plural: 'onefields',
    request: send(
      'PATCH',
      `${objects('onefields')}/long0?fieldManager=other`,
      { apiVersion: `${group}/v1`, kind: 'Onefields', metadata: { name: 'long0' }, spec: { more: 1 } },
      applied,
    ),
  },
  {
    name: 'merge patch of its status',
    plural: 'stated',
    request: send('PATCH', `${objects('stated')}/long0/status`, { status: { ready: true } }, merge),
  },
  {
    name: 'a long status',
    plural: 'longstated',
    request: send('PATCH', `${objects('longstated')}/long0/status`, { status: { any: numbers(20_000) } }, merge),
  },
  { name: 'GET of its scale', plural: 'scales', request: get(`${objects('scales')}/long0/scale`) },
  {
    name: 'patch of its scale',
    plural: 'scaled',
    request: send('PATCH', `${objects('scaled')}/long0/scale`, { spec: { replicas: 3 } }, merge),
  },
  {
    name: 'creation as a dry run',
    plural: 'dry',
    request: post(`${objects('dry')}?dryRun=All`, longObject('dry', 'new')),
    statuses: [201],
  },
  {
    name: 'patch as a dry run',
    plural: 'drypatched',
    request: send('PATCH', `${objects('drypatched')}/long0?dryRun=All`, { spec: { size: 4 } }, merge),
  },
  {
    name: 'deletion as a dry run',
    plural: 'drygone',
    request: send('DELETE', `${objects('drygone')}/long0?dryRun=All`, {}),
  },
  {
    name: 'deletion of twelve of them by a label, in another version',
    plural: 'cleared',
    count: 12,
    request: { method: 'DELETE', path: `${objects('cleared', 'v2')}?labelSelector=part%3Dlong` },
  },
  {
    name: 'list of twelve of them as a Table whose columns go through all members',
    plural: 'listed12',
    count: 12,
    request: get(objects('listed12'), table),
  },
  {
    name: 'list of twelve of them by a field, in another version',
    plural: 'chosen',
    count: 12,
    request: get(`${objects('chosen', 'v2')}?fieldSelector=spec.size%3D1`),
  },
  {
    name: 'watch from the beginning, in another version',
    plural: 'begun',
    count: 4,
    request: get(
      `${objects('begun', 'v2')}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    ),
  },
  {
    name: 'watch from the beginning, in another version as a Table',
    plural: 'begunrows',
    count: 4,
    request: get(`${objects('begunrows', 'v2')}?watch=true&timeoutSeconds=1`, table),
  },
  {
    name: 'list in another version, as YAML',
    plural: 'yamls',
    request: get(objects('yamls', 'v2'), 'application/yaml'),
  },
  {
    name: 'list in another version, metadata alone',
    plural: 'metas',
    count: 6,
    request: get(objects('metas', 'v2'), 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'),
  },
];

function deep(depth: number): string {
  return `{"spec":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;
}

/** A Pod of about 1 MB. */
const longPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'long', labels: { a: 'b' } },
  spec: {
    containers: numbers(20).map((index) => ({
      name: `c${index}`,
      image: 'image',
      env: numbers(1_000).map((each) => ({ name: `NAME_${each}`, value: `value ${each}` })),
    })),
  },
};

const rbac = '/apis/rbac.authorization.k8s.io/v1';
/** 5,000 rules in five roles, bound to a user. */
const manyRules = numbers(5).flatMap((role) => [
  post(`${rbac}/clusterroles`, {
    metadata: { name: `role${role}` },
    rules: numbers(1_000).map((rule) => ({
      apiGroups: [`g${role}-${rule}`],
      resources: ['a', 'b', 'c'],
      verbs: ['get', 'list'],
      resourceNames: ['x'],
    })),
  }),
  post(`${rbac}/clusterrolebindings`, {
    metadata: { name: `role${role}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `role${role}` },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
  }),
]);

const smallDefinitions = numbers(200).map((index) => definition(`d${index}s`));

/** Of a kind that nobody serves: the garbage collector cannot tell whether they are there. */
const owners = numbers(9_000).map((index) => ({
  apiVersion: 'absent.test/v1',
  kind: 'Absent',
  name: `owner-${index}`,
  uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
}));

function policed(plural: string): HostileRequest[] {
  const rule = { apiGroups: [group], apiVersions: ['*'], operations: ['DELETE'], resources: [plural] };
  return [
    post(`${registration}/validatingadmissionpolicies`, {
      metadata: { name: plural },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: 'oldObject.spec.any.all(x, x.a >= 0)' }],
      },
    }),
    post(`${registration}/validatingadmissionpolicybindings`, {
      metadata: { name: plural },
      spec: { policyName: plural, validationActions: ['Deny'] },
    }),
  ];
}

/** Cases about long objects, and about long lists elsewhere. */
export const longCases: readonly HostileCase[] = [
  ...ways.map(({ name, plural, request, statuses = [200], count }) => ({
    name: `custom resource of 1.3 MB: ${name}`,
    setUp: setUp(plural, count),
    request,
    statuses,
  })),
  {
    name: 'custom resource of 1.3 MB: deletion that a policy judges, in another version',
    setUp: [...setUp('policedlong'), ...policed('policedlong')],
    request: { method: 'DELETE', path: `${objects('policedlong', 'v2')}/long0` },
    statuses: [200, 403, 422],
  },
  {
    name: 'custom resource with 200,000 numbers that a rule goes through',
    setUp: [definition('ruledlist', ['!has(self.items) || self.items.size() >= 0'])],
    request: post(objects('ruledlist'), longObject('ruledlist', 'one', { spec: { items: numbers(200_000) } })),
    statuses: [201, 422],
  },
  ...[9_000, 300_000].map((depth) => ({
    name: `merge patch nested ${depth.toLocaleString('en')} times`,
    setUp: [
      definition(`nested${depth}s`),
      post(objects(`nested${depth}s`), longObject(`nested${depth}s`, 'one', { spec: {} })),
    ],
    request: send('PATCH', `${objects(`nested${depth}s`)}/one`, deep(depth), merge),
    statuses: depth < 10_000 ? [200, 422] : [400, 413, 422],
  })),
  {
    name: 'merge patch with 100,000 members that are taken away',
    setUp: [post(configMaps, { metadata: { name: 'one' }, data: { a: 'b' } })],
    request: send(
      'PATCH',
      `${configMaps}/one`,
      { data: Object.fromEntries(numbers(100_000).map((index) => [`k${index}`, null])) },
      merge,
    ),
    statuses: [200],
  },
  {
    name: 'apply of YAML with 40,000 keys',
    request: send(
      'PATCH',
      `${configMaps}/applied?fieldManager=f`,
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\ndata:\n${numbers(40_000)
        .map((index) => `  key${index}: v\n`)
        .join('')}`,
      applied,
    ),
    statuses: [201, 413, 500],
  },
  ...(
    [
      ['as a Table', get(pods, table), [200]],
      ['watched as a Table', get(`${pods}?watch=true&timeoutSeconds=1`, table), [200]],
      ['in protobuf', get(pods, 'application/vnd.kubernetes.protobuf'), [200]],
      ['by its node', get(`${pods}?fieldSelector=spec.nodeName%3Dn`), [200]],
      [
        'with a strategic merge patch',
        send('PATCH', `${pods}/long`, { metadata: { labels: { c: 'd' } } }, 'application/strategic-merge-patch+json'),
        [200],
      ],
      ['that is bound', post(`${pods}/long/binding`, { metadata: { name: 'long' }, target: { name: 'n' } }), [201]],
      ['that is evicted', post(`${pods}/long/eviction`, { metadata: { name: 'long' } }), [201]],
      ['with a status', send('PATCH', `${pods}/long/status`, { status: { phase: 'Running' } }, merge), [200]],
      ['that is deleted', { method: 'DELETE', path: `${pods}/long` }, [200]],
    ] as const
  ).map(([what, request, statuses]) => ({
    name: `Pod of 1 MB ${what}`,
    setUp: [post(pods, longPod)],
    request,
    statuses,
  })),
  {
    name: 'ConfigMap with 9,000 owners',
    request: post(configMaps, { metadata: { name: 'owned', ownerReferences: owners } }),
    statuses: [201, 422],
  },
  {
    name: 'ConfigMap with 9,000 owners: one owner less',
    setUp: [post(configMaps, { metadata: { name: 'owned', ownerReferences: owners } })],
    request: send('PATCH', `${configMaps}/owned`, { metadata: { ownerReferences: owners.slice(1) } }, merge),
    statuses: [200, 422],
  },
  ...(
    [
      ['set of values', `a in (${numbers(200_000).join(',')})`],
      [
        'conjunction',
        numbers(100_000)
          .map((index) => `k${index}=v`)
          .join(','),
      ],
      ['broken text', `a${'('.repeat(1_100_000)}`],
    ] as const
  ).flatMap(([what, selector]) => [
    {
      name: `label selector of more than 1 MB: ${what}`,
      setUp: [post(configMaps, { metadata: { name: 'one', labels: { a: '1' } } })],
      request: get(`${configMaps}?labelSelector=${encodeURIComponent(selector)}`),
      statuses: [431],
      isDirectOnly: true,
    },
    {
      name: `label selector of 12 KB: ${what}`,
      setUp: [post(configMaps, { metadata: { name: 'one', labels: { a: '1' } } })],
      request: get(`${configMaps}?labelSelector=${encodeURIComponent(selector.slice(0, 4_000))}`),
      statuses: [200, 400],
    },
  ]),
  {
    name: 'field selector of more than 1 MB',
    request: get(
      `${configMaps}?fieldSelector=${encodeURIComponent(
        numbers(60_000)
          .map((index) => `metadata.name!=n${index}`)
          .join(','),
      )}`,
    ),
    statuses: [431],
    isDirectOnly: true,
  },
  ...(
    [
      ['v3 index', '/openapi/v3', 'application/json'],
      ['v3 document', `/openapi/v3/apis/${group}/v1`, 'application/json'],
      ['v2 document', '/openapi/v2', 'application/json'],
      ['v2 document in protobuf', '/openapi/v2', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'],
      ['discovery', '/apis', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'],
    ] as const
  ).map(([what, path, accept]) => ({
    name: `200 definitions: ${what}`,
    setUp: smallDefinitions,
    request: get(path, accept),
    statuses: [200],
  })),
  {
    name: '200 definitions: one more',
    setUp: smallDefinitions,
    request: definition('another'),
    statuses: [201],
  },
  {
    name: 'SubjectAccessReview over 5,000 rules',
    setUp: manyRules,
    isAuthorized: true,
    request: post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: {
        user: 'mallory',
        resourceAttributes: { verb: 'get', group: 'none', resource: 'a', namespace: 'default' },
      },
    }),
    statuses: [201],
  },
  {
    name: 'SelfSubjectRulesReview over 5,000 rules',
    setUp: [
      ...manyRules,
      ...numbers(5).map((role) =>
        post(`${rbac}/clusterrolebindings`, {
          metadata: { name: `mine${role}` },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `role${role}` },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' }],
        }),
      ),
    ],
    isAuthorized: true,
    request: post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'default' } }),
    statuses: [201],
  },
  {
    name: 'SubjectAccessReview of 1.4 MB: 100,000 groups',
    setUp: manyRules,
    isAuthorized: true,
    request: post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: {
        user: 'u',
        groups: numbers(100_000).map((index) => `group-${index}`),
        resourceAttributes: { verb: 'get', group: 'none', resource: 'a' },
      },
    }),
    statuses: [201],
  },
  {
    name: 'ClusterRole of 1.3 MB: 8,000 rules',
    setUp: manyRules,
    isAuthorized: true,
    request: post(`${rbac}/clusterroles`, {
      metadata: { name: 'long' },
      rules: numbers(8_000).map((rule) => ({
        apiGroups: [`g${rule}`],
        resources: ['alphas', 'betas', 'gammas'],
        verbs: ['get', 'list', 'watch'],
        resourceNames: [`name-${rule}`],
      })),
    }),
    statuses: [201],
  },
  {
    name: 'ClusterRoleBinding of 1 MB: 10,000 subjects',
    setUp: manyRules,
    isAuthorized: true,
    request: post(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'long' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'role0' },
      subjects: numbers(10_000).map((index) => ({
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'User',
        name: `user-${index}`,
      })),
    }),
    statuses: [201],
  },
];
