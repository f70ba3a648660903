/** Definitions that take long: to check, to serve, to describe, and to read objects by. */
import type { HostileCase, HostileRequest } from './cases.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = 'hostile.kctl.test';
const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);

interface Definition {
  readonly plural: string;
  /** Of each version, the stored one first. */
  readonly versions: readonly Readonly<Record<string, unknown>>[];
  readonly more?: Readonly<Record<string, unknown>>;
}

function body({ plural, versions, more = {} }: Definition): Readonly<Record<string, unknown>> {
  const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1)}`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: versions.map((spec, index) => ({
        name: `v${index + 1}`,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      })),
      ...more,
    },
  };
}

function post(path: string, value: unknown): HostileRequest {
  return { method: 'POST', path, body: JSON.stringify(value) };
}

function patch(path: string, value: unknown, contentType = 'application/merge-patch+json'): HostileRequest {
  return { method: 'PATCH', path, contentType, body: JSON.stringify(value) };
}

function get(path: string, accept = 'application/json'): HostileRequest {
  return { method: 'GET', path, accept };
}

/** About 1 MB: 6,000 fields with a default, a pattern and a description. */
const wide = {
  type: 'object',
  properties: Object.fromEntries(
    numbers(6_000).map((index) => [
      `field${index}`,
      {
        type: 'string',
        default: `value-${index}`,
        pattern: '^[a-z][a-z0-9-]*$',
        maxLength: 63,
        description: `Field ${index} of a definition whose author has left nothing out, in one sentence.`,
      },
    ]),
  ),
};

/** About 1 MB as generators write it: objects in objects, whose leaves have no defaults. */
function nested(depth: number, width: number): Readonly<Record<string, unknown>> {
  if (depth === 0) return { type: 'string', description: 'A leaf of a tree of objects, which has a description.' };
  const properties = Object.fromEntries(numbers(width).map((index) => [`member${index}`, nested(depth - 1, width)]));
  return { type: 'object', description: 'An object within an object within an object.', properties };
}

const ruled = {
  type: 'object',
  properties: { size: { type: 'integer' } },
  'x-kubernetes-validations': numbers(1_000).map((index) => ({ rule: `self.size >= -${index}` })),
};

const scattered = {
  type: 'object',
  properties: Object.fromEntries(
    numbers(1_000).map((index) => [
      `f${index}`,
      { type: 'string', maxLength: 10, 'x-kubernetes-validations': [{ rule: `self != 'x${index}'` }] },
    ]),
  ),
};

const wideDefinition = (plural: string): HostileRequest => post(crds, body({ plural, versions: [wide] }));
const objects = (plural: string, version = 'v1'): string => `/apis/${group}/${version}/namespaces/default/${plural}`;

function object(plural: string, name: string, spec: unknown): HostileRequest {
  const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1)}`;
  return post(objects(plural), { apiVersion: `${group}/v1`, kind, metadata: { name }, spec });
}

const documents = [
  ['v3 document', `/openapi/v3/apis/${group}/v1`, 'application/json'],
  [
    'v3 document in protobuf',
    `/openapi/v3/apis/${group}/v1`,
    'application/com.github.proto-openapi.spec.v3@v1.0+protobuf',
  ],
  ['v3 index', '/openapi/v3', 'application/json'],
  ['v2 document', '/openapi/v2', 'application/json'],
  ['v2 document in protobuf', '/openapi/v2', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'],
] as const;

/** Cases about definitions. */
export const definitionCases: readonly HostileCase[] = [
  { name: 'definition of 1.2 MB: 6,000 fields', request: wideDefinition('wides'), statuses: [201] },
  {
    name: 'definition of 1.2 MB: 10,000 leaves in objects',
    request: post(crds, body({ plural: 'trees', versions: [nested(4, 10)] })),
    statuses: [201],
  },
  {
    name: 'definition of 1.2 MB: a label more',
    setUp: [wideDefinition('labels')],
    request: patch(`${crds}/labels.${group}`, { metadata: { labels: { a: 'b' } } }),
    statuses: [200],
  },
  {
    name: 'definition of 1.2 MB: another default',
    setUp: [wideDefinition('defaults')],
    request: patch(
      `${crds}/defaults.${group}`,
      [
        {
          op: 'replace',
          path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/field1/default',
          value: 'other',
        },
      ],
      'application/json-patch+json',
    ),
    statuses: [200],
  },
  {
    name: 'definition of 1.2 MB that is not structural: 6,000 fields without a type',
    request: post(
      crds,
      body({
        plural: 'bad',
        versions: [{ type: 'object', properties: Object.fromEntries(numbers(20_000).map((each) => [`f${each}`, {}])) }],
      }),
    ),
    statuses: [422],
  },
  {
    name: 'definition with 1,000 rules in one place',
    request: post(crds, body({ plural: 'ruled', versions: [ruled] })),
    statuses: [201],
  },
  {
    name: 'definition with 1,000 rules in as many places',
    request: post(crds, body({ plural: 'scattered', versions: [scattered] })),
    statuses: [201],
  },
  {
    name: 'deletion of a definition of 1.2 MB',
    setUp: [wideDefinition('gone')],
    request: { method: 'DELETE', path: `${crds}/gone.${group}` },
    statuses: [200],
  },
  {
    name: 'list of definitions of 1.2 MB, as a Table',
    setUp: [wideDefinition('listed')],
    request: get(crds, 'application/json;as=Table;v=v1;g=meta.k8s.io'),
    statuses: [200],
  },
  {
    name: 'list of definitions of 1.2 MB, in protobuf',
    setUp: [wideDefinition('encoded')],
    request: get(crds, 'application/vnd.kubernetes.protobuf'),
    statuses: [200],
  },
  ...documents.map(([form, path, accept], index) => ({
    name: `definition of 1.2 MB: ${form}`,
    setUp: [wideDefinition(`described${index}`)],
    request: get(path, accept),
    statuses: [200],
  })),
  {
    name: 'small object of a definition of 1.2 MB: 6,000 defaults',
    setUp: [wideDefinition('filled')],
    request: object('filled', 'one', {}),
    statuses: [201],
  },
  {
    name: 'small object of a definition with 1,000 rules',
    setUp: [post(crds, body({ plural: 'judged', versions: [ruled] }))],
    request: object('judged', 'one', { size: 1 }),
    statuses: [201],
  },
  {
    name: 'small object of a definition of two versions of 1.2 MB, as the other version',
    setUp: [
      post(crds, body({ plural: 'paired', versions: [nested(3, 16), nested(3, 16)] })),
      object('paired', 'one', { member0: { member1: { member2: 'x' } } }),
    ],
    request: get(`${objects('paired', 'v2')}/one`),
    statuses: [200],
  },
  {
    name: 'objects that another state of a definition of 1.2 MB has written',
    setUp: [
      wideDefinition('older'),
      object('older', 'one', {}),
      object('older', 'two', {}),
      patch(
        `${crds}/older.${group}`,
        [{ op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/more', value: { type: 'string' } }],
        'application/json-patch+json',
      ),
    ],
    request: get(objects('older')),
    statuses: [200],
  },
];
