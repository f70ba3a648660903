/** §2.10 CustomResourceDefinitions. */
import type { Context } from '../harness/context.js';
import { JSON_PATCH, MERGE_PATCH } from '../harness/context.js';
import type { Doc, Draft, Json } from '../harness/doc.js';
import { check, created, failure, names, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import { CRDS } from './paths.js';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const condition = (doc: Doc, type: string): Json =>
  ((doc.status.conditions ?? []) as Json[]).find((entry) => entry.type === type);

interface Version {
  name: string;
  [field: string]: unknown;
}

/** A definition of the kind Thing in a group of its own. */
function definition(group: string, versions: readonly Version[], rest: Draft = {}): Draft {
  return {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: versions.map((version, index) => ({
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object' } },
        ...version,
      })),
      ...rest,
    },
  };
}

interface Things {
  group: string;
  ns: string;
  path(name?: string, version?: string): string;
  create(name: string, fields: object, version?: string): Promise<Doc>;
  crdPath: string;
}

async function things(
  t: Context,
  schema: object,
  rest: { version?: object; spec?: Draft; versions?: readonly Version[] } = {},
): Promise<Things> {
  const group = `${t.unique('t')}.kctl.test`;
  const versions = rest.versions ?? [
    { name: 'v1', schema: { openAPIV3Schema: { type: 'object', ...schema } }, ...rest.version },
  ];
  await t.crd(definition(group, versions, rest.spec));
  const ns = await t.namespace();
  const path = (name?: string, version = 'v1') =>
    [`/apis/${group}/${version}/namespaces/${ns}/things`, name].filter((part) => part !== undefined).join('/');
  return {
    group,
    ns,
    path,
    crdPath: `${CRDS}/things.${group}`,
    create: async (name, fields, version = 'v1') =>
      created(
        await t.post(path(undefined, version), {
          apiVersion: `${group}/${version}`,
          kind: 'Thing',
          metadata: { name },
          ...fields,
        }),
      ),
  };
}

spec(61, 'conditions, accepted names, stored versions and defaults of a definition', async (t) => {
  const group = `${t.unique('t')}.kctl.test`;
  const doc = await t.crd(definition(group, [{ name: 'v1' }]));
  same(
    [
      condition(doc, 'NamesAccepted').status,
      condition(doc, 'NamesAccepted').reason,
      condition(doc, 'NamesAccepted').message,
    ],
    ['True', 'NoConflicts', 'no conflicts found'],
    'NamesAccepted',
  );
  same(
    [condition(doc, 'Established').status, condition(doc, 'Established').reason, condition(doc, 'Established').message],
    ['True', 'InitialNamesAccepted', 'the initial names have been accepted'],
    'Established',
  );
  same(
    [doc.status.acceptedNames, doc.status.storedVersions],
    [{ plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }, ['v1']],
    'status',
  );
  same(
    [doc.spec.names, doc.spec.conversion],
    [{ plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }, { strategy: 'None' }],
    'spec',
  );
  same(doc.metadata.generation, 1, 'generation');
});

const invalid: [
  title: string,
  name: string | undefined,
  change: (crdSpec: Json) => void,
  causes: { reason: string; field: string; message?: string }[],
][] = [
  [
    'a name that is not plural.group',
    'zz',
    () => {},
    [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.name',
        message: 'Invalid value: "zz": must be spec.names.plural+"."+spec.group',
      },
    ],
  ],
  [
    'no storage version',
    undefined,
    (s) => (s.versions[0].storage = false),
    [
      { reason: 'FieldValueInvalid', field: 'spec.versions' },
      {
        reason: 'FieldValueInvalid',
        field: 'status.storedVersions',
        message: 'Invalid value: null: must have at least one stored version',
      },
    ],
  ],
  [
    'no schema',
    undefined,
    (s) => delete s.versions[0].schema,
    [{ reason: 'FieldValueRequired', field: 'spec.versions[0].schema.openAPIV3Schema', message: 'Required value' }],
  ],
  [
    'a property without type',
    undefined,
    (s) => (s.versions[0].schema.openAPIV3Schema.properties = { a: {} }),
    [
      {
        reason: 'FieldValueRequired',
        field: 'spec.validation.openAPIV3Schema.properties[a].type',
        message: 'Required value: must not be empty for specified object fields',
      },
    ],
  ],
  [
    'a default of the wrong type',
    undefined,
    (s) => (s.versions[0].schema.openAPIV3Schema.properties = { a: { type: 'integer', default: 'x' } }),
    [
      {
        reason: 'FieldValueTypeInvalid',
        field: 'spec.validation.openAPIV3Schema.properties[a].default',
        message: 'Invalid value: "string":  in body must be of type integer: "string"',
      },
    ],
  ],
  [
    'an unknown scope',
    undefined,
    (s) => (s.scope = 'Zip'),
    [
      {
        reason: 'FieldValueNotSupported',
        field: 'spec.scope',
        message: 'Unsupported value: "Zip": supported values: "Cluster", "Namespaced"',
      },
    ],
  ],
  [
    'an unknown type',
    undefined,
    (s) => (s.versions[0].schema.openAPIV3Schema.properties = { a: { type: 'zip' } }),
    [
      {
        reason: 'FieldValueNotSupported',
        field: 'spec.validation.openAPIV3Schema.properties[a].type',
        message:
          'Unsupported value: "zip": supported values: "array", "boolean", "integer", "number", "object", "string"',
      },
    ],
  ],
  [
    'an array without items',
    undefined,
    (s) => (s.versions[0].schema.openAPIV3Schema.properties = { a: { type: 'array' } }),
    [
      {
        reason: 'FieldValueRequired',
        field: 'spec.validation.openAPIV3Schema.properties[a].items',
        message: 'Required value: must be specified',
      },
    ],
  ],
  [
    'a root that is no object',
    undefined,
    (s) => (s.versions[0].schema.openAPIV3Schema = { type: 'array', items: { type: 'string' } }),
    [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.validation.openAPIV3Schema.type',
        message: 'Invalid value: "array": must be object at the root',
      },
    ],
  ],
  [
    'columns with a bad type and path',
    undefined,
    (s) => (s.versions[0].additionalPrinterColumns = [{ name: 'A', type: 'zip', jsonPath: 'spec' }]),
    [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.additionalPrinterColumns[0].type',
        message: 'Invalid value: "zip": must be one of boolean,date,integer,number,string',
      },
      {
        reason: 'FieldValueInvalid',
        field: 'spec.additionalPrinterColumns[0].JSONPath',
        message: 'Invalid value: "spec": must be a simple json path starting with .',
      },
    ],
  ],
  [
    'a list map without keys',
    undefined,
    (s) =>
      (s.versions[0].schema.openAPIV3Schema.properties = {
        a: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          items: { type: 'object', properties: { n: { type: 'string' } } },
        },
      }),
    [
      {
        reason: 'FieldValueRequired',
        field: 'spec.validation.openAPIV3Schema.properties[a].x-kubernetes-list-map-keys',
        message: 'Required value: must not be empty if x-kubernetes-list-type is map',
      },
    ],
  ],
  [
    'properties beside additionalProperties',
    undefined,
    (s) =>
      (s.versions[0].schema.openAPIV3Schema.properties = {
        a: { type: 'object', properties: { x: { type: 'string' } }, additionalProperties: { type: 'string' } },
      }),
    [
      {
        reason: 'FieldValueForbidden',
        field: 'spec.validation.openAPIV3Schema.properties[a].additionalProperties',
        message: 'Forbidden: additionalProperties and properties are mutual exclusive',
      },
    ],
  ],
  [
    'a selectable field that is none',
    undefined,
    (s) => (s.versions[0].selectableFields = [{ jsonPath: '.spec.nope' }]),
    [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.selectableFields[0].jsonPath',
        message: 'Invalid value: ".spec.nope": is an invalid path: does not refer to a valid field',
      },
    ],
  ],
  [
    'an unknown conversion',
    undefined,
    (s) => (s.conversion = { strategy: 'Zip' }),
    [
      {
        reason: 'FieldValueNotSupported',
        field: 'spec.conversion.strategy',
        message: 'Unsupported value: "Zip": supported values: "None", "Webhook"',
      },
    ],
  ],
];
for (const [title, name, change, causes] of invalid)
  spec(61, `a definition with ${title} answers 422`, async (t) => {
    const group = `${t.unique('t')}.kctl.test`;
    const draft = definition(group, [{ name: 'v1' }]);
    change(draft['spec'] as Json);
    const crdName = name ?? `things.${group}`;
    t.defer(() => t.delete(`${CRDS}/${crdName}`));
    failure(
      await t.post(CRDS, {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        ...draft,
        metadata: { name: crdName },
      }),
      {
        code: 422,
        reason: 'Invalid',
        details: { name: crdName, group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' },
        causes,
      },
    );
  });

spec(61, 'a protected group needs the approval annotation', async (t) => {
  const group = `${t.unique('t')}.k8s.io`;
  failure(
    await t.post(CRDS, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      ...definition(group, [{ name: 'v1' }]),
    }),
    {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueRequired',
          field: 'metadata.annotations[api-approved.kubernetes.io]',
          message:
            'Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
        },
      ],
    },
  );
});

spec(61, 'names that another definition of the group has are not accepted', async (t) => {
  const { group } = await things(t, {});
  const name = `others.${group}`;
  const draft = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: { ...(definition(group, [{ name: 'v1' }])['spec'] as object), names: { plural: 'others', kind: 'Thing' } },
  };
  t.defer(() => t.delete(`${CRDS}/${name}`));
  created(await t.post(CRDS, draft));
  const doc = await t.eventually(
    async () => ok(await t.get(`${CRDS}/${name}`)),
    (found) => condition(found, 'Established') !== undefined,
    { what: 'conditions' },
  );
  same(
    [
      condition(doc, 'NamesAccepted').status,
      condition(doc, 'NamesAccepted').reason,
      condition(doc, 'NamesAccepted').message,
    ],
    ['False', 'ListKindConflict', '"ThingList" is already in use'],
    'NamesAccepted',
  );
  same(
    [condition(doc, 'Established').status, condition(doc, 'Established').reason, condition(doc, 'Established').message],
    ['False', 'NotAccepted', 'not all names are accepted'],
    'Established',
  );
  same((await t.get(`/apis/${group}/v1/namespaces/default/others`)).status, 404, 'the path of what is not established');
});

spec(61, 'scope, group and names.plural of a definition are immutable', async (t) => {
  const { crdPath } = await things(t, {});
  const answer = await t.patch(crdPath, MERGE_PATCH, { spec: { scope: 'Cluster' } });
  same([answer.status, answer.body.reason], [422, 'Invalid'], 'scope');
  check(answer.body.message.includes('spec.scope: Invalid value: "Cluster": field is immutable'), answer.body.message);
  same((await t.patch(crdPath, MERGE_PATCH, { spec: { group: 'other.test' } })).status, 422, 'group');
});

spec(62, 'unknown fields are pruned at every level', async (t) => {
  const { create } = await things(t, {
    properties: {
      spec: {
        type: 'object',
        properties: {
          a: { type: 'integer' },
          list: { type: 'array', items: { type: 'object', properties: { x: { type: 'string' } } } },
          map: { type: 'object', additionalProperties: { type: 'object', properties: { y: { type: 'string' } } } },
        },
      },
    },
  });
  const made = await create('a', {
    bogus: 1,
    spec: { a: 1, b: 2, list: [{ x: '1', z: 2 }], map: { k: { y: '1', z: 2 } } },
  });
  same([made['bogus'], made.spec], [undefined, { a: 1, list: [{ x: '1' }], map: { k: { y: '1' } } }], 'object');
});

spec(62, 'x-kubernetes-preserve-unknown-fields keeps them, but prunes below what is specified', async (t) => {
  const { create } = await things(t, {
    properties: {
      spec: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { known: { type: 'object', properties: { a: { type: 'integer' } } } },
      },
    },
  });
  const made = await create('a', { spec: { other: { deep: [1, { x: 1 }] }, known: { a: 1, b: 2 } } });
  same(made.spec, { other: { deep: [1, { x: 1 }] }, known: { a: 1 } }, 'spec');
});

spec(62, 'preserve-unknown-fields at the root', async (t) => {
  const { create } = await things(t, { 'x-kubernetes-preserve-unknown-fields': true });
  const made = await create('a', { anything: { x: [1, 2] } });
  same(made['anything'], { x: [1, 2] }, 'field');
});

spec(62, 'x-kubernetes-embedded-resource wants a whole object and prunes its metadata', async (t) => {
  const { create, path, group } = await things(t, {
    properties: {
      spec: {
        type: 'object',
        properties: {
          template: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            'x-kubernetes-preserve-unknown-fields': true,
          },
        },
      },
    },
  });
  const made = await create('a', {
    spec: {
      template: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', bogus: 1, labels: { a: 'b' } },
        spec: { x: 1 },
      },
    },
  });
  same(
    made.spec.template,
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { a: 'b' } }, spec: { x: 1 } },
    'template',
  );
  failure(
    await t.post(path(), {
      apiVersion: `${group}/v1`,
      kind: 'Thing',
      metadata: { name: 'b' },
      spec: { template: { metadata: { name: 'p' } } },
    }),
    {
      code: 422,
      reason: 'Invalid',
      causes: [
        { reason: 'FieldValueRequired', field: 'spec.template.apiVersion', message: 'Required value' },
        { reason: 'FieldValueRequired', field: 'spec.template.kind', message: 'Required value' },
      ],
    },
  );
});

spec(62, 'x-kubernetes-int-or-string takes both', async (t) => {
  const { create } = await things(t, {
    properties: { spec: { type: 'object', properties: { port: { 'x-kubernetes-int-or-string': true } } } },
  });
  same((await create('a', { spec: { port: 80 } })).spec, { port: 80 }, 'integer');
  same((await create('b', { spec: { port: 'http' } })).spec, { port: 'http' }, 'string');
});

spec(62, 'null: kept where nullable, else dropped for the default', async (t) => {
  const { create } = await things(t, {
    properties: {
      spec: {
        type: 'object',
        properties: {
          nullable: { type: 'string', nullable: true },
          nullableDefault: { type: 'string', nullable: true, default: 'd' },
          defaulted: { type: 'string', default: 'd' },
          plain: { type: 'string' },
        },
      },
    },
  });
  same(
    (await create('a', { spec: { nullable: null, nullableDefault: null, defaulted: null } })).spec,
    { nullable: null, nullableDefault: null, defaulted: 'd' },
    'spec',
  );
  same(
    (await create('b', { spec: { plain: null } })).spec,
    { nullableDefault: 'd', defaulted: 'd' },
    'a null that nothing allows',
  );
});

spec(62, 'defaults: nested, in lists, in maps, only where the parent is', async (t) => {
  const { create } = await things(t, {
    properties: {
      spec: {
        type: 'object',
        properties: {
          made: { type: 'object', default: {}, properties: { a: { type: 'integer', default: 1 } } },
          absent: { type: 'object', properties: { a: { type: 'integer', default: 1 } } },
          list: { type: 'array', items: { type: 'object', properties: { b: { type: 'string', default: 'x' } } } },
          map: {
            type: 'object',
            additionalProperties: { type: 'object', properties: { c: { type: 'boolean', default: true } } },
          },
          array: { type: 'array', items: { type: 'integer' }, default: [1, 2] },
        },
      },
    },
  });
  same(
    (await create('a', { spec: { list: [{}, { b: 'y' }], map: { k: {} } } })).spec,
    { made: { a: 1 }, list: [{ b: 'x' }, { b: 'y' }], map: { k: { c: true } }, array: [1, 2] },
    'spec',
  );
  same((await create('b', {})).spec, undefined, 'without spec');
});

spec(62, 'defaults are applied on reading what is stored without them, and pruning too', async (t) => {
  const { create, path, crdPath } = await things(t, {
    properties: { spec: { type: 'object', properties: { old: { type: 'string' } } } },
  });
  const made = await create('a', { spec: { old: 'x' } });
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { new: { type: 'string', default: 'd' } } } },
  };
  ok(
    await t.patch(crdPath, JSON_PATCH, [
      { op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: schema },
    ]),
  );
  const read = await t.eventually(
    async () => ok(await t.get(path('a'))),
    (doc) => doc.spec.new === 'd',
    { what: 'the new default' },
  );
  same([read.spec, read.metadata.resourceVersion], [{ new: 'd' }, made.metadata.resourceVersion], 'object');
  // A real server answers 429 while it makes the storage anew.
  const list = await t.eventually(
    () => t.get(path()),
    ({ status }) => status === 200,
  );
  same(
    list.body.items.map((item) => item.spec),
    [{ new: 'd' }],
    'list',
  );
});

const formats: [string, string, string][] = [
  ['date-time', '2026-01-01T00:00:00Z', 'today'],
  ['date', '2026-01-01', '2026-13-01'],
  ['ipv4', '10.0.0.1', '10.0.0'],
  ['ipv6', '::1', '10.0.0.1'],
  ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123'],
  ['email', 'a@b.c', 'ab.c'],
  ['uri', 'https://a.b/c', 'a b'],
  ['byte', 'YQ==', 'a!'],
  ['duration', '1h', 'x'],
  ['cidr', '10.0.0.0/8', '10.0.0.0'],
  ['hostname', 'a.example', '-a'],
];
spec(62, 'formats', async (t) => {
  const { create, path, group } = await things(t, {
    properties: {
      spec: {
        type: 'object',
        properties: Object.fromEntries(formats.map(([format]) => [format, { type: 'string', format }])),
      },
    },
  });
  await create('good', { spec: Object.fromEntries(formats.map(([format, good]) => [format, good])) });
  for (const [format, , bad] of formats) {
    const answer = await t.post(path(), {
      apiVersion: `${group}/v1`,
      kind: 'Thing',
      metadata: { name: 'bad' },
      spec: { [format]: bad },
    });
    same(
      [answer.status, answer.body.details?.causes],
      [
        422,
        [
          {
            reason: 'FieldValueTypeInvalid',
            field: `spec.${format}`,
            message: `Invalid value: ${JSON.stringify(bad)}: spec.${format} in body must be of type ${format}: ${JSON.stringify(bad)}`,
          },
        ],
      ],
      format,
    );
  }
});

spec(62, 'bounds of numbers, strings, arrays and maps', async (t) => {
  const { path, group } = await things(t, {
    properties: {
      spec: {
        type: 'object',
        minProperties: 1,
        maxProperties: 2,
        properties: {
          min: { type: 'integer', minimum: 2, exclusiveMinimum: true },
          max: { type: 'number', maximum: 5 },
          multiple: { type: 'integer', multipleOf: 3 },
          short: { type: 'string', minLength: 2 },
          items: { type: 'array', minItems: 1, items: { type: 'string' } },
          unique: { type: 'string', enum: ['a', 'b'] },
        },
      },
    },
  });
  const attempt = async (specification: object, reason: string, field: string, message: string) =>
    failure(
      await t.post(path(), { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec: specification }),
      { code: 422, reason: 'Invalid', causes: [{ reason, field, message }] },
    );
  await attempt(
    { min: 2 },
    'FieldValueInvalid',
    'spec.min',
    'Invalid value: 2: spec.min in body should be greater than 2',
  );
  await attempt(
    { max: 5.5 },
    'FieldValueInvalid',
    'spec.max',
    'Invalid value: 5.5: spec.max in body should be less than or equal to 5',
  );
  await attempt(
    { multiple: 4 },
    'FieldValueInvalid',
    'spec.multiple',
    'Invalid value: 4: spec.multiple in body should be a multiple of 3',
  );
  await attempt(
    { short: 'a' },
    'FieldValueInvalid',
    'spec.short',
    'Invalid value: "a": spec.short in body should be at least 2 chars long',
  );
  await attempt(
    { items: [] },
    'FieldValueInvalid',
    'spec.items',
    'Invalid value: 0: spec.items in body should have at least 1 items',
  );
  await attempt({}, 'FieldValueInvalid', 'spec', 'Invalid value: 0: spec in body should have at least 1 properties');
  await attempt(
    { unique: 'a', short: 'ab', max: 1 },
    'FieldValueTooMany',
    'spec',
    'Too many: 3: must have at most 2 items',
  );
});

spec(62, 'allOf, anyOf, oneOf and not', async (t) => {
  const { path, group } = await things(t, {
    properties: {
      spec: {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' }, n: { type: 'integer', not: { enum: [13] } } },
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
    },
  });
  const post = (specification: object) =>
    t.post(path(), { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { generateName: 'x-' }, spec: specification });
  created(await post({ a: 'x' }));
  for (const specification of [{}, { a: 'x', b: 'y' }]) {
    const body = failure(await post(specification), { code: 422, reason: 'Invalid' });
    check(body.message.includes('"spec" must validate one and only one schema (oneOf)'), body.message);
  }
  const body = failure(await post({ a: 'x', n: 13 }), { code: 422, reason: 'Invalid' });
  check(body.message.includes('must not validate the schema (not)'), body.message);
});

spec(62, 'list types: set and map are unique, also with several keys', async (t) => {
  const { create, path, group } = await things(t, {
    properties: {
      spec: {
        type: 'object',
        properties: {
          ports: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['port', 'protocol'],
            items: {
              type: 'object',
              required: ['port'],
              properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' } },
            },
          },
        },
      },
    },
  });
  same(
    (await create('a', { spec: { ports: [{ port: 80 }, { port: 80, protocol: 'UDP' }] } })).spec.ports,
    [
      { port: 80, protocol: 'TCP' },
      { port: 80, protocol: 'UDP' },
    ],
    'ports',
  );
  failure(
    await t.post(path(), {
      apiVersion: `${group}/v1`,
      kind: 'Thing',
      metadata: { name: 'b' },
      spec: { ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] },
    }),
    {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueDuplicate',
          field: 'spec.ports[1]',
          message: 'Duplicate value: {"port":80,"protocol":"TCP"}',
        },
      ],
    },
  );
});

spec(62, 'a schema for metadata.name is enforced', async (t) => {
  const { create, path, group } = await things(t, {
    properties: { metadata: { type: 'object', properties: { name: { type: 'string', pattern: '^a' } } } },
  });
  await create('abc', {});
  failure(await t.post(path(), { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'bcd' } }), {
    code: 422,
    reason: 'Invalid',
    causes: [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.name',
        message: 'Invalid value: "bcd": metadata.name in body should match \'^a\'',
      },
    ],
  });
});

spec(62, 'integers beyond 2^53 survive', async (t) => {
  const { path, group } = await things(t, {
    properties: { spec: { type: 'object', properties: { n: { type: 'integer' } } } },
  });
  const made = await t.post(
    path(),
    `{"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"n":-9223372036854775807}}`,
  );
  created(made);
  check(made.text.includes('"n":-9223372036854775807'), made.text);
  check((await t.get(path('a'))).text.includes('"n":-9223372036854775807'), 'GET lost it');
  const patched = await t.patch(path('a'), MERGE_PATCH, '{"spec":{"n":9007199254740993}}');
  check(patched.text.includes('"n":9007199254740993'), patched.text);
});

spec(64, 'several versions: the schema of the storage version rules what is kept', async (t) => {
  const schema = (field: string) => ({
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { shared: { type: 'string' }, [field]: { type: 'string', default: field } },
        },
      },
    },
  });
  const { create, path, group } = await things(
    t,
    {},
    {
      versions: [
        { name: 'v1', schema: schema('one') },
        { name: 'v2', schema: schema('two') },
      ],
    },
  );
  const made = await create('a', { spec: { shared: 's', two: '2' } }, 'v2');
  same([made.apiVersion, made.spec], [`${group}/v2`, { shared: 's' }], 'v2');
  const one = ok(await t.get(path('a', 'v1')));
  same(
    [one.apiVersion, one.metadata.uid, one.metadata.resourceVersion, one.spec],
    [`${group}/v1`, made.metadata.uid, made.metadata.resourceVersion, { shared: 's', one: 'one' }],
    'v1',
  );
  const list = ok(await t.get(path(undefined, 'v2')));
  same([list.apiVersion, list.items.map((item) => item.apiVersion)], [`${group}/v2`, [`${group}/v2`]], 'list');
  same(
    ok(await t.patch(path('a', 'v1'), MERGE_PATCH, { spec: { one: '1' } })).spec,
    { shared: 's', one: '1' },
    'patch of v1',
  );
  same(ok(await t.patch(path('a', 'v2'), MERGE_PATCH, { spec: { shared: 't' } })).spec, { shared: 't' }, 'patch of v2');
});

spec(64, 'several versions: a watch of each sees the writes of the other', async (t) => {
  const { create, path, group } = await things(t, {}, { versions: [{ name: 'v1' }, { name: 'v2' }] });
  const from = ok(await t.get(path())).metadata.resourceVersion;
  const watch = await t.watch(path(undefined, 'v2'), { query: { resourceVersion: from } });
  const made = await create('a', {});
  const event = await watch.next();
  same(
    [event.type, event.object.apiVersion, event.object.metadata.uid, event.object.metadata.resourceVersion],
    ['ADDED', `${group}/v2`, made.metadata.uid, made.metadata.resourceVersion],
    'event',
  );
});

spec(64, 'several versions: the preferred one comes first in discovery', async (t) => {
  const { group } = await things(
    t,
    {},
    {
      versions: [
        { name: 'v1beta1' },
        { name: 'v2', storage: false },
        { name: 'v1', storage: false },
        { name: 'v1alpha1', storage: false },
      ],
    },
  );
  const body = await t.eventually(
    async () => ok(await t.get(`/apis/${group}`)),
    (found) => found['versions']?.length === 4,
  );
  same(
    (body['versions'] as { version: string }[]).map(({ version }) => version),
    ['v2', 'v1', 'v1beta1', 'v1alpha1'],
    'order',
  );
  same(body['preferredVersion'], { groupVersion: `${group}/v2`, version: 'v2' }, 'preferred');
});

spec(64, 'a version that is not served answers 404, and stops answering when it no longer is', async (t) => {
  const { path, crdPath, create } = await things(
    t,
    {},
    { versions: [{ name: 'v1' }, { name: 'v2' }, { name: 'v3', served: false }] },
  );
  await create('a', {});
  same((await t.get(path('a', 'v3'))).status, 404, 'v3');
  ok(await t.patch(crdPath, JSON_PATCH, [{ op: 'replace', path: '/spec/versions/1/served', value: false }]));
  await t.eventually(
    () => t.get(path('a', 'v2')),
    ({ status }) => status === 404,
    { what: 'v2 to be gone' },
  );
  ok(await t.get(path('a', 'v1')));
});

spec(64, 'a deprecated version draws a warning', async (t) => {
  const { path, group } = await things(
    t,
    {},
    {
      versions: [
        { name: 'v1' },
        { name: 'v2', deprecated: true },
        { name: 'v3', deprecated: true, deprecationWarning: 'use v1' },
      ],
    },
  );
  const answer = await t.get(path(undefined, 'v2'));
  ok(answer);
  same(answer.warnings, [`${group}/v2 Thing is deprecated`], 'v2');
  same((await t.get(path(undefined, 'v3'))).warnings, ['use v1'], 'v3');
  same((await t.get(path())).warnings, [], 'v1');
});

spec(64, 'a change of the storage version is remembered in storedVersions', async (t) => {
  const { crdPath, create, path } = await things(t, {}, { versions: [{ name: 'v1' }, { name: 'v2' }] });
  const made = await create('a', {});
  const patched = ok(
    await t.patch(crdPath, JSON_PATCH, [
      { op: 'replace', path: '/spec/versions/0/storage', value: false },
      { op: 'replace', path: '/spec/versions/1/storage', value: true },
    ]),
  );
  same(patched.status.storedVersions, ['v1', 'v2'], 'storedVersions');
  same(ok(await t.get(path('a', 'v2'))).metadata.uid, made.metadata.uid, 'the object');
  same(
    ok(await t.patch(`${crdPath}/status`, MERGE_PATCH, { status: { storedVersions: ['v2'] } })).status.storedVersions,
    ['v2'],
    'storedVersions',
  );
});

spec(
  65,
  'deleting a definition deletes its objects, then itself, then its paths',
  async (t) => {
    const { crdPath, create, path } = await things(t, {});
    await create('a', {});
    const from = ok(await t.get(path())).metadata.resourceVersion;
    const watch = await t.watch(path(), { query: { resourceVersion: from } });
    const deleted = ok(await t.delete(crdPath));
    same(
      [deleted.kind, deleted.metadata.finalizers, condition(deleted, 'Terminating')?.status],
      ['CustomResourceDefinition', ['customresourcecleanup.apiextensions.k8s.io'], 'True'],
      'answer',
    );
    same(
      [condition(deleted, 'Terminating').reason, condition(deleted, 'Terminating').message],
      [
        'InstanceDeletionPending',
        'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      ],
      'Terminating',
    );
    await t.eventually(
      () => t.get(crdPath),
      ({ status }) => status === 404,
      { what: 'the definition to be gone' },
    );
    await t.eventually(
      () => t.get(path()),
      ({ status }) => status === 404,
      { what: 'its path to be gone' },
    );
    const events = await watch.rest();
    same(events[0]?.type, 'DELETED', 'event of the object');
  },
  { isSlow: true },
);

spec(
  65,
  'a definition waits for the finalizers of its objects, which cannot be created any more',
  async (t) => {
    const { crdPath, create, path, group } = await things(t, {});
    created(
      await t.post(path(), {
        apiVersion: `${group}/v1`,
        kind: 'Thing',
        metadata: { name: 'held', finalizers: ['kctl.test/hold'] },
      }),
    );
    await create('free', {});
    ok(await t.delete(crdPath));
    await t.eventually(
      () => t.get(path('free')),
      ({ status }) => status === 404,
      { what: 'the free object to be gone' },
    );
    const late = await t.post(path(), { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'late' } });
    failure(late, {
      code: 403,
      reason: 'Forbidden',
      message: `things.${group} "late" is forbidden: create not allowed while custom resource definition is terminating`,
      details: { name: 'late', group, kind: 'things' },
    });
    ok(await t.get(crdPath));
    ok(await t.patch(path('held'), MERGE_PATCH, { metadata: { finalizers: null } }));
    await t.eventually(
      () => t.get(crdPath),
      ({ status }) => status === 404,
      { what: 'the definition to be gone' },
    );
  },
  { isSlow: true },
);

spec(
  65,
  'a definition of the same name can be made again, without the old objects',
  async (t) => {
    const { crdPath, create, path, group } = await things(t, {});
    await create('a', {});
    ok(await t.delete(crdPath));
    await t.eventually(
      () => t.get(crdPath),
      ({ status }) => status === 404,
      { what: 'the definition to be gone' },
    );
    await t.crd(definition(group, [{ name: 'v1' }]));
    same(names(ok(await t.get(path()))), [], 'objects');
    await create('a', {});
  },
  { isSlow: true },
);

spec(65, 'a change of the schema takes effect for later writes', async (t) => {
  const { crdPath, create, path, group } = await things(t, {
    properties: { spec: { type: 'object', properties: { a: { type: 'integer' } } } },
  });
  await create('a', { spec: { a: 100 } });
  ok(
    await t.patch(crdPath, JSON_PATCH, [
      { op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/maximum', value: 10 },
    ]),
  );
  await t.eventually(
    () =>
      t.post(`${path()}?dryRun=All`, {
        apiVersion: `${group}/v1`,
        kind: 'Thing',
        metadata: { name: 'b' },
        spec: { a: 11 },
      }),
    ({ status }) => status === 422,
    { what: 'the new schema' },
  );
  same(ok(await t.get(path('a'))).spec, { a: 100 }, 'what was stored before');
});

spec(65, 'the update of a definition counts its generation', async (t) => {
  const { crdPath } = await things(t, {});
  const patched = ok(
    await t.patch(crdPath, JSON_PATCH, [{ op: 'add', path: '/spec/names/shortNames', value: ['tg'] }]),
  );
  same([patched.metadata.generation, patched.spec.names.shortNames], [2, ['tg']], 'definition');
  await t.eventually(
    async () => ok(await t.get(crdPath)),
    (doc) => doc.status.acceptedNames.shortNames?.[0] === 'tg',
    { what: 'the accepted short name' },
  );
});

spec(65, 'without printer columns there are Name and Age', async (t) => {
  const { create, path } = await things(t, {});
  await create('a', {});
  const table = ok(await t.get(path(), { accept: TABLE })) as Json;
  same(
    [table.columnDefinitions.map(({ name, type }: Json) => [name, type]), table.rows[0].cells[0]],
    [
      [
        ['Name', 'string'],
        ['Age', 'date'],
      ],
      'a',
    ],
    'table',
  );
});

spec(65, 'printer columns: kinds of values, and paths that lead nowhere', async (t) => {
  const columns = [
    ['Str', 'string', '.spec.s'],
    ['Int', 'integer', '.spec.i'],
    ['Num', 'number', '.spec.n'],
    ['Bool', 'boolean', '.spec.b'],
    ['Date', 'date', '.spec.d'],
    ['None', 'string', '.spec.none'],
    ['NoInt', 'integer', '.spec.none'],
    ['Index', 'string', '.spec.list[0]'],
    ['Filter', 'string', '.status.conditions[?(@.type=="Ready")].status'],
    ['Obj', 'string', '.spec.o'],
  ].map(([name, type, jsonPath]) => ({ name, type, jsonPath }));
  const { create, path } = await things(
    t,
    { 'x-kubernetes-preserve-unknown-fields': true },
    { version: { additionalPrinterColumns: columns } },
  );
  await create('a', {
    spec: { s: 'x', i: 3, n: 1.5, b: true, d: '2020-01-01T00:00:00Z', list: ['l0', 'l1'], o: { k: 'v' } },
    status: {
      conditions: [
        { type: 'Other', status: 'False' },
        { type: 'Ready', status: 'True' },
      ],
    },
  });
  const [row] = (ok(await t.get(path(), { accept: TABLE })) as Json).rows;
  const [name, s, i, n, b, d, ...rest] = row.cells as unknown[];
  same([name, s, i, n, b], ['a', 'x', 3, 1.5, true], 'cells');
  check(/^\d+y/.test(String(d)), `date: ${String(d)}`);
  same(rest, [null, null, 'l0', 'True', '{"k":"v"}'], 'cells');
});

spec(65, 'cluster-scoped custom resources', async (t) => {
  const group = `${t.unique('t')}.kctl.test`;
  await t.crd({
    metadata: { name: `things.${group}` },
    spec: { ...(definition(group, [{ name: 'v1' }])['spec'] as object), scope: 'Cluster' },
  });
  const path = `/apis/${group}/v1/things`;
  const made = created(await t.post(path, { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' } }));
  same(made.metadata.namespace, undefined, 'namespace');
  same(names(ok(await t.get(path))), ['a'], 'list');
  same(
    created(
      await t.post(path, { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'b', namespace: 'default' } }),
    ).metadata.namespace,
    undefined,
    'a namespace in the body',
  );
  same((await t.get(`/apis/${group}/v1/namespaces/default/things`)).status, 404, 'a namespaced path');
  same(
    [ok(await t.delete(`${path}/a`)).status, ok(await t.delete(`${path}/b`)).status],
    ['Success', 'Success'],
    'delete',
  );
});
