import { expect, it } from 'vitest';
import { validateSchemaSource } from './structural.js';

const text = { type: 'string' };
const object = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });
const list = (items: object, type: string, keys?: readonly string[]): object => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': type,
  ...(keys === undefined ? {} : { 'x-kubernetes-list-map-keys': keys }),
});
const keyed = (property: object): object => object({ a: property }, { required: ['a'] });
const withDefault = { type: 'string', default: 'q' };

/** What kube-apiserver 1.36.3 says of a definition with the schema as field `f`. */
const cases: readonly [string, object, readonly string[]][] = [
  [
    'nullable items of a set',
    list({ type: 'string', nullable: true }, 'set'),
    ['f.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set'],
  ],
  [
    'nullable items of a map',
    list(object({ a: text }, { nullable: true, required: ['a'] }), 'map', ['a']),
    ['f.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map'],
  ],
  ['nullable items of an atomic list', list({ type: 'string', nullable: true }, 'atomic'), []],
  [
    'a nullable key',
    list(keyed({ type: 'string', nullable: true }), 'map', ['a']),
    [
      'f.items.properties[a].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
    ],
  ],
  [
    'a set of objects',
    list(object({ a: text }), 'set'),
    [
      'f.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  ],
  [
    'a set of granular objects',
    list(object({ a: text }, { 'x-kubernetes-map-type': 'granular' }), 'set'),
    [
      'f.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  ],
  ['a set of atomic objects', list(object({ a: text }, { 'x-kubernetes-map-type': 'atomic' }), 'set'), []],
  [
    'a set of sets',
    list(list(text, 'set'), 'set'),
    [
      'f.items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  ],
  ['a set of lists', list({ type: 'array', items: text }, 'set'), []],
  [
    'a map of texts',
    list(text, 'map', ['a']),
    [`f.items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`],
  ],
  [
    'a map of anything',
    list({ 'x-kubernetes-preserve-unknown-fields': true }, 'map', ['a']),
    [`f.items.type: Invalid value: "": must be object if parent array's x-kubernetes-list-type is map`],
  ],
  [
    'a key that is an object',
    list(keyed(object({})), 'map', ['a']),
    [
      `f.items.properties[a].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
    ],
  ],
  [
    'a key that is a list',
    list(keyed({ type: 'array', items: text }), 'map', ['a']),
    [
      `f.items.properties[a].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
    ],
  ],
  [
    'a key given twice',
    list(keyed(text), 'map', ['a', 'a']),
    ['f.x-kubernetes-list-map-keys: Invalid value: ["a","a"]: must not contain duplicate entries'],
  ],
  [
    'a key that is no property',
    list(object({ a: text }), 'map', ['b']),
    ['f.x-kubernetes-list-map-keys: Invalid value: ["b"]: entries must all be names of item properties'],
  ],
  [
    'a key that may be missing',
    list(object({ a: text }), 'map', ['a']),
    [
      'f.items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    ],
  ],
  [
    'a map without keys',
    list(object({ a: text }), 'map'),
    ['f.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map'],
  ],
  [
    'keys of a set',
    list(text, 'set', ['a']),
    ['f.x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty'],
  ],
  [
    'keys without a list type',
    { type: 'array', items: text, 'x-kubernetes-list-map-keys': ['a'] },
    ['f.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty'],
  ],
  [
    'a list type without a type',
    { 'x-kubernetes-list-type': 'set', 'x-kubernetes-preserve-unknown-fields': true },
    ['f.type: Required value: must be array if x-kubernetes-list-type is specified'],
  ],
  [
    'a list type of a text',
    { type: 'string', 'x-kubernetes-list-type': 'set' },
    ['f.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified'],
  ],
  [
    'an unknown list type',
    list(text, 'bag'),
    ['f.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"'],
  ],
  [
    'a default without what it requires',
    object({ d: object({ x: withDefault }, { required: ['x'], default: {} }) }),
    ['f.properties[d].default.x: Required value'],
  ],
  [
    'a default whose rule needs another default',
    object({ d: object({ x: withDefault }, { default: {}, 'x-kubernetes-validations': [{ rule: 'self.x == "q"' }] }) }),
    ['f.properties[d].default: Invalid value: "object": no such key: x evaluating rule: self.x == "q"'],
  ],
  [
    'a default whose rule sees it bare',
    object({ d: object({ x: withDefault }, { default: {}, 'x-kubernetes-validations': [{ rule: '!has(self.x)' }] }) }),
    [],
  ],
  [
    'a default with too few properties',
    object({ d: object({ x: withDefault }, { default: {}, minProperties: 1 }) }),
    ['f.properties[d].default: Invalid value: 0:  in body should have at least 1 properties'],
  ],
];

it.each(cases)('judges %s as the real server does', (_name, schema, problems) => {
  const source = { type: 'object', properties: { f: schema } };
  const found = validateSchemaSource(JSON.parse(JSON.stringify(source)), 's', false);
  expect(found.map(({ field, message }) => `${field.replace('s.properties[f]', 'f')}: ${message}`)).toEqual(problems);
});
