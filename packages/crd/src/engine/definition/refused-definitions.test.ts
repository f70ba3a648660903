import { expect, it } from 'vitest';
import { validateCrd } from './crd-validation.js';

const text = { type: 'string' };
const object = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });
const withSpec = (properties: object): object => ({
  schema: { openAPIV3Schema: object({ spec: object(properties) }) },
});
const withRoot = (schema: object, more: object = {}): object => ({ schema: { openAPIV3Schema: schema }, ...more });
const deprecated = (deprecationWarning: string): object => ({ ...withSpec({}), deprecated: true, deprecationWarning });
const scaled = (scale: object): object => ({ ...withSpec({}), subresources: { scale } });
const embedded = (more: object): object => ({ type: 'object', 'x-kubernetes-embedded-resource': true, ...more });
const paths = { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r' };
const schema = 'spec.validation.openAPIV3Schema';
const field = `${schema}.properties[spec].properties[a]`;
const unprintable = 'must only contain printable UTF-8 characters; non-printable character found at index';
const either = [{ type: 'integer' }, { type: 'string' }];

/** What kube-apiserver 1.36.3 says of a definition with one version. */
const cases: readonly [name: string, version: object, problems: readonly string[]][] = [
  [
    'an empty deprecation warning',
    deprecated(''),
    ['spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string'],
  ],
  [
    'a deprecation warning of 258 bytes',
    deprecated('ä'.repeat(129)),
    [`spec.versions[0].deprecationWarning: Invalid value: "${'ä'.repeat(129)}": must be <= 256 characters long`],
  ],
  [
    'a deprecation warning with a tab',
    deprecated('äa\tb'),
    [`spec.versions[0].deprecationWarning: Invalid value: "äa\\tb": ${unprintable} 3`],
  ],
  [
    'a path of a column that cannot be read',
    { ...withSpec({}), additionalPrinterColumns: [{ name: 'a', type: 'string', jsonPath: '.spec.a[' }] },
    [],
  ],
  ['an item of a list in a path of scale', scaled({ ...paths, specReplicasPath: '.spec.a[0].r' }), []],
  ['a deprecation warning in any script', deprecated('bald weg – 😀, ü!'), []],
  [
    'a map type of a text',
    withSpec({ a: { ...text, 'x-kubernetes-map-type': 'atomic' } }),
    [`${field}.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified`],
  ],
  [
    'a map type of what has no type',
    withSpec({ a: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-map-type': 'atomic' } }),
    [`${field}.type: Required value: must be object if x-kubernetes-map-type is specified`],
  ],
  [
    'an unknown map type',
    withSpec({ a: { type: 'object', 'x-kubernetes-map-type': 'set' } }),
    [`${field}.x-kubernetes-map-type: Unsupported value: "set": supported values: "atomic", "granular"`],
  ],
  [
    'unknown fields that are not kept',
    withSpec({ a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': false } }),
    [`${field}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`],
  ],
  [
    'unknown fields that are not kept, below a junctor',
    withSpec({ a: { ...text, anyOf: [{ 'x-kubernetes-preserve-unknown-fields': false }] } }),
    [`${field}.anyOf[0].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`],
  ],
  [
    'a default of the kind',
    withRoot(object({ kind: { ...text, default: 'Foo' } })),
    [`${schema}.properties[kind].default: Forbidden: must not be set in top-level kind`],
  ],
  [
    'a default in the metadata',
    withRoot(object({ metadata: object({ name: { ...text, default: 'a' } }) })),
    [`${schema}.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata`],
  ],
  [
    'a description of the metadata',
    withRoot(object({ metadata: { type: 'object', description: 'a' } })),
    [
      `${schema}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
  ],
  ['metadata with what says nothing', withRoot(object({ metadata: { type: 'object', anyOf: [], title: '' } })), []],
  [
    'metadata without other properties',
    withRoot(object({ metadata: { type: 'object', additionalProperties: false } })),
    [
      `${schema}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
  ],
  [
    'no other properties, below a junctor',
    withSpec({ a: object({}, { anyOf: [{ additionalProperties: false }] }) }),
    [`${field}.anyOf[0].additionalProperties: Forbidden: must be undefined to be structural`],
  ],
  [
    'a default of a boolean that is an int-or-string, too',
    withSpec({ a: { type: 'boolean', 'x-kubernetes-int-or-string': true, default: false } }),
    [],
  ],
  [
    'a default of embedded labels',
    withSpec({
      a: embedded({
        properties: {
          metadata: object({ labels: { type: 'object', additionalProperties: { ...text, default: 'x' } } }),
        },
      }),
    }),
    [
      `${field}.properties[metadata].properties[labels].additionalProperties.default: Forbidden: must not be set inside additionalProperties applying to object metadata`,
    ],
  ],
  [
    'a resource embedded in metadata',
    withSpec({
      a: embedded({
        properties: { metadata: object({ x: embedded({ 'x-kubernetes-preserve-unknown-fields': true }) }) },
      }),
    }),
    [
      `${field}.properties[metadata].properties[x].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta`,
    ],
  ],
  [
    'an embedded resource that is a map',
    withSpec({ a: embedded({ 'x-kubernetes-preserve-unknown-fields': true, additionalProperties: true }) }),
    [`${field}.additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set`],
  ],
  [
    'an embedded int-or-string',
    withSpec({ a: embedded({ 'x-kubernetes-int-or-string': true, properties: { kind: text } }) }),
    [
      `${field}.x-kubernetes-embedded-resource: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
    ],
  ],
  [
    'types of an int-or-string that is none',
    withSpec({ a: { 'x-kubernetes-preserve-unknown-fields': true, anyOf: either } }),
    [],
  ],
  [
    'types of an int-or-string two levels down',
    withSpec({ a: { 'x-kubernetes-int-or-string': true, allOf: [{ allOf: [{ anyOf: either }] }] } }),
    [0, 1].map((at) => `${field}.allOf[0].allOf[0].anyOf[${at}].type: Forbidden: must be empty to be structural`),
  ],
  ['no properties at all', withSpec({ a: { type: 'object', additionalProperties: false } }), []],
  [
    'properties, and none beside them',
    withSpec({ a: object({ b: text }, { additionalProperties: false }) }),
    [`${field}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
  ],
  [
    'a default of an embedded resource without a type',
    withSpec({ a: embedded({ 'x-kubernetes-preserve-unknown-fields': true, default: { kind: 'A' } }) }),
    [`${field}.default.apiVersion: Required value`],
  ],
  [
    'a default of the root without a type',
    withRoot(object({ spec: object({}) }, { default: { spec: {} } })),
    [`${schema}.default.apiVersion: Required value`, `${schema}.default.kind: Required value`],
  ],
  [
    'a default of the root with a type',
    withRoot(object({ spec: object({}) }, { default: { apiVersion: 'a/v1', kind: 'A', spec: {} } })),
    [],
  ],
  ['properties, and true for others', withSpec({ a: object({ b: text }, { additionalProperties: true }) }), []],
  [
    'a root that is a text, with a status',
    withRoot(text, { subresources: { status: {} } }),
    [
      `${schema}.type: Invalid value: "string": only "object" is allowed as the type at the root of the schema if the status subresource is enabled`,
      `${schema}.type: Invalid value: "string": must be object at the root`,
    ],
  ],
  [
    'a junctor of the root that speaks of what the root does not name',
    withRoot(object({ a: object({}) }, { anyOf: [{ properties: { b: { minLength: 1 } } }], not: { items: {} } })),
    [
      `${schema}.items: Required value: because it is defined in ${schema}.not.items`,
      `${schema}.properties[b]: Required value: because it is defined in ${schema}.anyOf[0].properties[b]`,
    ],
  ],
  [
    'a junctor below the root that speaks of what is not named',
    withSpec({ a: object({}, { anyOf: [{ properties: { b: { minLength: 1 } } }] }) }),
    [],
  ],
  [
    'a map type below a junctor',
    withSpec({ a: object({}, { allOf: [{ 'x-kubernetes-map-type': 'atomic' }] }) }),
    [
      `${field}.allOf[0].type: Required value: must be object if x-kubernetes-map-type is specified`,
      `${field}.allOf[0].x-kubernetes-map-type: Forbidden: must be undefined to be structural`,
    ],
  ],
  [
    'a default of the wrong type in the values of a map',
    withSpec({ a: { type: 'object', additionalProperties: object({ b: { ...text, default: 1 } }) } }),
    [],
  ],
  [
    'the type null',
    withSpec({ a: { type: 'null' } }),
    [
      `${field}.type: Forbidden: type cannot be set to null, use nullable as an alternative`,
      `${field}.type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    ],
  ],
  [
    'a tuple',
    withSpec({ a: { type: 'array', items: [text] } }),
    [`${field}.items: Forbidden: items must be a schema object and not an array`],
  ],
  [
    'a keyed list without items',
    withSpec({ a: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] } }),
    [
      `${field}.items: Required value: must be specified`,
      `${field}.items: Required value: must have a schema if x-kubernetes-list-type is map`,
    ],
  ],
  [
    'a scale path without a dot',
    scaled({ ...paths, specReplicasPath: 'spec.r', labelSelectorPath: 'status.x' }),
    [
      'spec.subresources.scale.specReplicasPath: Invalid value: "spec.r": must be a simple json path starting with .',
      'spec.subresources.scale.labelSelectorPath: Invalid value: "status.x": must be a simple json path starting with .',
    ],
  ],
  [
    'a selector path of neither spec nor status',
    scaled({ ...paths, labelSelectorPath: '.foo.x' }),
    [
      'spec.subresources.scale.labelSelectorPath: Invalid value: ".foo.x": should be a json path under either .spec or .status',
    ],
  ],
  [
    'a column with the format of a name',
    { ...withSpec({}), additionalPrinterColumns: [{ name: 'A', type: 'string', format: 'name', jsonPath: '.spec' }] },
    [
      'spec.additionalPrinterColumns[0].format: Invalid value: "name": must be one of byte,date,date-time,double,float,int32,int64,password',
    ],
  ],
];

it.each(cases)('judges %s as the real server does', (_name, version, problems) => {
  const found = validateCrd({
    metadata: { name: 'foos.a.example.com' },
    spec: {
      group: 'a.example.com',
      scope: 'Namespaced',
      names: { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' },
      conversion: { strategy: 'None' },
      versions: [{ name: 'v1', served: true, storage: true, ...version }],
    },
    status: { storedVersions: ['v1'] },
  });
  expect(found.map(({ field: where, message }) => `${where}: ${message}`)).toEqual(problems);
});
