/** Requests that are meant to take long, or much. */
import { answerCases } from './answer-cases.js';
import { definitionCases } from './definition-cases.js';
import { longCases } from './long-cases.js';

/** One request. */
export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly body?: string;
  readonly accept?: string;
}

/** A case: what has to be there before, and the request that is measured. */
export interface HostileCase {
  readonly name: string;
  readonly setUp?: readonly HostileRequest[];
  readonly request: HostileRequest;
  /** What the server may answer. */
  readonly statuses: readonly number[];
  /** Whether the server asks roles. @default false */
  readonly isAuthorized?: boolean;
  /** Whether no HTTP request can be so long: it is measured in process alone. @default false */
  readonly isDirectOnly?: boolean;
}

const configMaps = '/api/v1/namespaces/default/configmaps';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = 'hostile.kctl.test';
const registration = '/apis/admissionregistration.k8s.io/v1';
const json = (value: unknown): string => JSON.stringify(value);
const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);
const post = (path: string, body: unknown): HostileRequest => ({
  method: 'POST',
  path,
  body: typeof body === 'string' ? body : json(body),
});
const yaml = (path: string, body: string): HostileRequest => ({
  method: 'POST',
  path,
  body,
  contentType: 'application/yaml',
});

/** A definition whose objects have a list of numbers, a text and anything else, and these rules. */
function definition(plural: string, rules: readonly string[] = [], more: object = {}): HostileRequest {
  const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1)}`;
  const spec = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: {
      items: { type: 'array', maxItems: 500, items: { type: 'integer' } },
      text: { type: 'string', maxLength: 200_000 },
    },
    'x-kubernetes-validations': rules.map((rule) => ({ rule })),
  };
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return post(crds, {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...more }],
    },
  });
}

const objects = (plural: string): string => `/apis/${group}/v1/namespaces/default/${plural}`;

function object(plural: string, name: string, spec: unknown): HostileRequest {
  const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1)}`;
  return post(objects(plural), { apiVersion: `${group}/v1`, kind, metadata: { name }, spec });
}

function policy(name: string, expressions: readonly string[]): HostileRequest[] {
  const rule = { apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: [name] };
  return [
    post(`${registration}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: expressions.map((expression) => ({ expression })),
      },
    }),
    post(`${registration}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    }),
  ];
}

function mutatingPolicy(name: string, expressions: readonly string[]): HostileRequest[] {
  const rule = { apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: [name] };
  return [
    post(`${registration}/mutatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        reinvocationPolicy: 'Never',
        mutations: expressions.map((expression) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })),
      },
    }),
    post(`${registration}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } }),
  ];
}

/** Webhooks that are down and may be: what is sent to them is written all the same. */
function webhooks(name: string): HostileRequest[] {
  const rules = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: [name] }];
  const hook = {
    name: 'down.kctl.test',
    clientConfig: { url: 'https://127.0.0.1:1/hook' },
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    failurePolicy: 'Ignore',
  };
  return ['mutating', 'validating'].map((type) =>
    post(`${registration}/${type}webhookconfigurations`, { metadata: { name }, webhooks: [hook] }),
  );
}

const wideYaml = `metadata:\n  name: wide\ndata:\n${numbers(60_000)
  .map((index) => `  key${index}: "value ${index} of a wide document"\n`)
  .join('')}`;
const flowYaml = `metadata: {name: flow}\ndata: {${numbers(100_000)
  .map((index) => `k${index}: v`)
  .join(', ')}}`;

const quadratic = 'self.items.all(x, self.items.all(y, x + y >= 0))';
const quadraticPolicy = 'object.spec.items.all(x, object.spec.items.all(y, x + y >= 0))';
const patternRule = "self.text.matches('(a|b|ab)*(c|d|cd)*(a?){40}(x+x+)+y')";

/** Cases about what is sent. */
const requestCases: readonly HostileCase[] = [
  {
    name: 'JSON of 3 MB: one long list of numbers',
    setUp: [definition('lists')],
    request: object('lists', 'long', { any: numbers(400_000) }),
    statuses: [500],
  },
  {
    name: 'JSON of 3 MB: 120,000 small objects',
    setUp: [definition('smalls')],
    request: object('smalls', 'many', { any: numbers(120_000).map((index) => ({ a: index, b: 'x' })) }),
    statuses: [500],
  },
  {
    name: 'JSON of 1.4 MB, which etcd takes: 70,000 small objects',
    setUp: [definition('halves')],
    request: object('halves', 'many', { any: numbers(70_000).map((index) => ({ a: index, b: 'x' })) }),
    statuses: [201],
  },
  {
    name: 'JSON of 1.4 MB that webhooks and policies see: 70,000 small objects',
    setUp: [
      definition('reviewed'),
      ...webhooks('reviewed'),
      ...policy('reviewed', ['has(object.spec.any)']),
      ...mutatingPolicy('reviewed', ['[JSONPatch{op: "add", path: "/metadata/labels", value: {"a": "b"}}]']),
    ],
    request: object('reviewed', 'many', { any: numbers(70_000).map((index) => ({ a: index, b: 'x' })) }),
    statuses: [201],
  },
  {
    name: 'JSON of 3 MB: one ConfigMap with 100,000 keys',
    request: post(configMaps, {
      metadata: { name: 'keys' },
      data: Object.fromEntries(numbers(100_000).map((index) => [`key${index}`, 'value'])),
    }),
    statuses: [500],
  },
  {
    name: 'JSON nested 300,000 times',
    request: post(configMaps, `{"metadata":{"name":"deep"},"data":${'{"a":'.repeat(300_000)}`),
    statuses: [400],
  },
  {
    name: 'JSON nested 9,000 times',
    setUp: [definition('deeps')],
    request: post(
      objects('deeps'),
      `{"apiVersion":"${group}/v1","kind":"Deeps","metadata":{"name":"deep"},"spec":{"any":${'['.repeat(9000)}${']'.repeat(9000)}}}`,
    ),
    statuses: [201, 400, 422],
  },
  { name: 'YAML of 2 MB: 60,000 keys in lines', request: yaml(configMaps, wideYaml), statuses: [201, 400, 413, 422] },
  {
    name: 'YAML of 1 MB: 100,000 keys in one line',
    request: yaml(configMaps, flowYaml),
    statuses: [201, 400, 413, 422],
  },
  {
    name: 'YAML that multiplies itself',
    request: yaml(
      configMaps,
      Array.from('abcdefghi', (name, index) => {
        const inner = index === 0 ? 'lol' : `*${'abcdefghi'[index - 1]}`;
        return `${name}: &${name} [${numbers(9)
          .map(() => inner)
          .join(', ')}]`;
      }).join('\n'),
    ),
    statuses: [400],
  },
  {
    name: 'YAML nested 100,000 times',
    request: yaml(configMaps, `a: ${'['.repeat(100_000)}`),
    statuses: [400],
  },
  {
    name: 'JSON patch that doubles an object with each copy',
    setUp: [definition('patches'), object('patches', 'one', { any: { a: 'x'.repeat(1000) } })],
    request: {
      method: 'PATCH',
      path: `${objects('patches')}/one`,
      contentType: 'application/json-patch+json',
      body: json(numbers(40).map((index) => ({ op: 'copy', from: '/spec/any', path: `/spec/any/b${index}` }))),
    },
    statuses: [422],
  },
  {
    name: 'JSON patch with 10,000 insertions at the front of a long list',
    setUp: [definition('fronts'), object('fronts', 'one', { any: numbers(100_000) })],
    request: {
      method: 'PATCH',
      path: `${objects('fronts')}/one`,
      contentType: 'application/json-patch+json',
      body: json(numbers(10_000).map(() => ({ op: 'add', path: '/spec/any/0', value: 1 }))),
    },
    statuses: [200, 413, 422],
  },
  {
    name: 'CEL rule of a definition: quadratic in 450 items, a million units',
    setUp: [definition('rules', [quadratic])],
    request: object('rules', 'one', { items: numbers(450) }),
    statuses: [201, 422],
  },
  {
    name: 'CEL rules of a definition: ten that are quadratic, ten million units',
    setUp: [
      definition(
        'tenrules',
        numbers(10).map((index) => `self.items.all(x, self.items.all(y, x + y >= -${index}))`),
      ),
    ],
    request: object('tenrules', 'one', { items: numbers(400) }),
    statuses: [201, 422],
  },
  {
    name: 'CEL rule of a definition: a pattern that backtracks elsewhere',
    setUp: [definition('patternrules', [patternRule])],
    request: object('patternrules', 'one', { text: 'abcd'.repeat(40_000) }),
    statuses: [201, 422],
  },
  {
    name: 'CEL of a policy: quadratic, ten million units',
    setUp: [
      definition('policed'),
      ...policy(
        'policed',
        numbers(10).map((index) => `${quadraticPolicy} || ${index} < 0`),
      ),
    ],
    request: object('policed', 'one', { items: numbers(400) }),
    statuses: [201, 422],
  },
  {
    name: 'CEL of a mutating policy: quadratic, three mutations of a million units',
    setUp: [
      definition('mutated'),
      ...mutatingPolicy(
        'mutated',
        numbers(3).map(
          (index) =>
            `${quadraticPolicy} ? [JSONPatch{op: "add", path: "/metadata/labels", value: {"a": "${index}"}}] : []`,
        ),
      ),
    ],
    request: object('mutated', 'one', { items: numbers(400) }),
    statuses: [201, 403, 422],
  },
  {
    name: 'pattern of a schema on a text of 200,000 characters',
    setUp: [
      post(crds, {
        metadata: { name: `patterns.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { plural: 'patterns', kind: 'Patterns' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: {
                  type: 'object',
                  properties: {
                    spec: { type: 'object', properties: { p: { type: 'string', pattern: '(?:a?){400}a{400}$' } } },
                  },
                },
              },
            },
          ],
        },
      }),
    ],
    request: object('patterns', 'one', { p: 'a'.repeat(200_000) }),
    statuses: [201, 422],
  },
  {
    name: 'printer column whose path multiplies what it visits',
    setUp: [
      definition('columns', [], {
        additionalPrinterColumns: [{ name: 'X', type: 'string', jsonPath: '.spec..*..*..*..*..*..*..*..*' }],
      }),
      object('columns', 'one', { any: numbers(12).reduce<unknown>((inner) => ({ a: inner, b: inner }), 1) }),
    ],
    request: {
      method: 'GET',
      path: objects('columns'),
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    },
    statuses: [200],
  },
  ...(
    [
      ['a Table', 'application/json;as=Table;v=v1;g=meta.k8s.io'],
      ['protobuf', 'application/vnd.kubernetes.protobuf'],
      ['metadata', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'],
      ['YAML', 'application/yaml'],
    ] as const
  ).map(([form, accept]) => ({
    name: `list of 10 ConfigMaps with 20,000 keys each, as ${form}`,
    setUp: numbers(10).map((index) =>
      post(configMaps, {
        metadata: { name: `wide${index}` },
        data: Object.fromEntries(numbers(20_000).map((key) => [`key${key}`, 'value'])),
      }),
    ),
    request: { method: 'GET', path: configMaps, accept },
    statuses: [200],
  })),
  {
    name: 'Table of 100 objects with a column whose path multiplies what it visits',
    setUp: [
      definition('manycolumns', [], {
        additionalPrinterColumns: [{ name: 'X', type: 'string', jsonPath: '.spec..*..*..*..*..*..*..*..*' }],
      }),
      ...numbers(100).map((index) =>
        object('manycolumns', `o${index}`, {
          any: numbers(12).reduce<unknown>((inner) => ({ a: inner, b: inner }), 1),
        }),
      ),
    ],
    request: { method: 'GET', path: objects('manycolumns'), accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    statuses: [200],
  },
  {
    name: 'label selector with 100,000 values',
    request: {
      method: 'GET',
      path: `${configMaps}?labelSelector=${encodeURIComponent(`a in (${numbers(1200).join(',')})`)}`,
    },
    statuses: [200, 400, 431],
  },
  {
    name: 'server-side apply of 50,000 fields',
    setUp: [definition('applied')],
    request: {
      method: 'PATCH',
      path: `${objects('applied')}/one?fieldManager=f`,
      contentType: 'application/apply-patch+yaml',
      body: json({
        apiVersion: `${group}/v1`,
        kind: 'Applied',
        metadata: { name: 'one' },
        spec: { any: Object.fromEntries(numbers(50_000).map((index) => [`k${index}`, 1])) },
      }),
    },
    statuses: [201],
  },
];

/** All cases. */
export const hostileCases: readonly HostileCase[] = [...requestCases, ...definitionCases, ...answerCases, ...longCases];
