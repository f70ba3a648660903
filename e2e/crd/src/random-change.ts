import type { Random } from './random.js';
import { node, type Json } from './random-schema.js';

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every schema below one, itself included. */
function places(schema: Json): Json[] {
  const { properties, items, additionalProperties: values } = schema;
  const below = [...Object.values(isObject(properties) ? properties : {}), items, values].filter(isObject);
  return [schema, ...below.flatMap(places)];
}

/** A change of one schema in place; undefined where it does not apply. */
type Change = (schema: Json, random: Random) => string | undefined;

const bounds = [
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'maxProperties',
  'multipleOf',
] as const;
const ofType: Readonly<Record<string, readonly (typeof bounds)[number][]>> = {
  string: ['minLength', 'maxLength'],
  integer: ['minimum', 'maximum', 'multipleOf'],
  number: ['minimum', 'maximum'],
  array: ['minItems', 'maxItems'],
  object: ['maxProperties'],
};

const moveBound: Change = (schema, random) => {
  const [first, ...others] = ofType[String(schema['type'])] ?? [];
  if (first === undefined) return undefined;
  const name = random.pick([first, ...others]);
  const before = schema[name];
  if (typeof before === 'number' && random.chance(0.2)) delete schema[name];
  else
    schema[name] = Math.max(
      name === 'multipleOf' ? 1 : 0,
      (typeof before === 'number' ? before : 3) + random.below(7) - 3,
    );
  return `${name} ${String(before)} -> ${String(schema[name])}`;
};

const openBound: Change = (schema, random) => {
  const name = random.pick(['Minimum', 'Maximum']);
  if (typeof schema[name.toLowerCase()] !== 'number') return undefined;
  const keyword = `exclusive${name}`;
  if (schema[keyword] === true) delete schema[keyword];
  else schema[keyword] = true;
  return keyword;
};

const changeEnum: Change = (schema, random) => {
  if (schema['type'] !== 'string') return undefined;
  const all = ['a', 'b', 'c', 'ab', ''];
  if (Array.isArray(schema['enum']) && random.chance(0.3)) delete schema['enum'];
  else schema['enum'] = all.filter(() => random.chance(0.6)).concat('d');
  return `enum ${JSON.stringify(schema['enum'])}`;
};

const changeText: Change = (schema, random) => {
  if (schema['type'] !== 'string') return undefined;
  const name = random.pick(['format', 'pattern']);
  if (schema[name] !== undefined && random.chance(0.5)) delete schema[name];
  else
    schema[name] =
      name === 'format' ? random.pick(['uri', 'ipv4', 'date', 'bogus']) : random.pick(['a', '^[a-c]*$', '.*']);
  return `${name} ${String(schema[name])}`;
};

const changeType: Change = (schema, random) => {
  const before = String(schema['type']);
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, node(random, 3));
  return `type ${before} -> ${String(schema['type'])}`;
};

const widenType: Change = (schema, random) => {
  const { type } = schema;
  if (type === 'integer' && random.chance(0.5)) schema['type'] = 'number';
  else if (type === 'number') schema['type'] = 'integer';
  else if (type === 'integer' || type === 'string') {
    for (const key of Object.keys(schema)) if (key !== 'maxLength' && key !== 'minimum') delete schema[key];
    Object.assign(schema, { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] });
  } else return undefined;
  return `type ${type} -> ${schema['type'] === undefined ? 'int-or-string' : JSON.stringify(schema['type'])}`;
};

const changeProperty: Change = (schema, random) => {
  const { properties } = schema;
  if (!isObject(properties)) return undefined;
  const [first, ...others] = Object.keys(properties);
  if (first === undefined || random.chance(0.25)) {
    properties['added'] = node(random, 3);
    if (random.chance(0.3))
      schema['required'] = [...(Array.isArray(schema['required']) ? schema['required'] : []), 'added'];
    return 'property is added';
  }
  const name = random.pick([first, ...others]);
  const wanted: unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  if (random.chance(0.5)) {
    delete properties[name];
    schema['required'] = wanted.filter((each) => each !== name);
  } else schema['required'] = wanted.includes(name) ? wanted.filter((each) => each !== name) : [...wanted, name];
  if (Array.isArray(schema['required']) && schema['required'].length === 0) delete schema['required'];
  return `property ${name}, required ${JSON.stringify(schema['required'])}`;
};

const toggle =
  (keyword: string): Change =>
  (schema) => {
    if (keyword !== 'nullable' && schema['type'] !== 'object') return undefined;
    if (schema[keyword] === true) delete schema[keyword];
    else schema[keyword] = true;
    return `${keyword} ${String(schema[keyword])}`;
  };

const changeDefault: Change = (schema, random) => {
  if (schema['default'] === undefined) {
    const values: Readonly<Record<string, unknown>> = {
      string: 'a',
      integer: 4,
      number: 4,
      boolean: true,
      object: {},
      array: [],
    };
    schema['default'] = values[String(schema['type'])];
  } else if (random.chance(0.7)) delete schema['default'];
  return `default ${JSON.stringify(schema['default'])}`;
};

const changeList: Change = (schema, random) => {
  const items = schema['items'];
  if (schema['type'] !== 'array' || !isObject(items)) return undefined;
  const before = schema['x-kubernetes-list-type'];
  delete schema['x-kubernetes-list-map-keys'];
  if (before !== undefined && random.chance(0.5)) delete schema['x-kubernetes-list-type'];
  else schema['x-kubernetes-list-type'] = items['type'] === 'object' ? 'atomic' : 'set';
  return `list type ${String(before)} -> ${String(schema['x-kubernetes-list-type'])}`;
};

const openMap: Change = (schema, random) => {
  if (schema['type'] !== 'object') return undefined;
  if (isObject(schema['properties'])) {
    schema['additionalProperties'] = node(random, 3);
    delete schema['properties'];
    delete schema['required'];
    return 'an object becomes a map';
  }
  const values = schema['additionalProperties'];
  delete schema['additionalProperties'];
  schema['properties'] = { a: isObject(values) ? values : {} };
  return 'a map becomes an object';
};

const changeRule: Change = (schema, random) => {
  const keyword = 'x-kubernetes-validations';
  const rules: readonly unknown[] = Array.isArray(schema[keyword]) ? schema[keyword] : [];
  if (rules.length > 0 && random.chance(0.5)) delete schema[keyword];
  else {
    const text = schema['type'] === 'integer' ? 'self != 5' : 'self == self';
    schema[keyword] = [...rules, { rule: random.pick([text, 'self == oldSelf']) }];
  }
  return `rules ${JSON.stringify(schema[keyword])}`;
};

const changeJunctor: Change = (schema, random) => {
  const keyword = random.pick(['anyOf', 'oneOf', 'allOf', 'not']);
  if (schema['x-kubernetes-int-or-string'] === true) return undefined;
  if (schema[keyword] !== undefined) delete schema[keyword];
  else if (schema['type'] === 'string') {
    const [short, long] = [{ maxLength: 1 }, { minLength: 3 }];
    schema[keyword] = keyword === 'not' ? short : [short, long].slice(0, keyword === 'allOf' ? 1 : 2);
  } else return undefined;
  return `${keyword} ${JSON.stringify(schema[keyword])}`;
};

const changes: readonly [Change, ...Change[]] = [
  ...([moveBound, moveBound, moveBound, openBound, changeEnum, changeText, changeType, widenType] as const),
  ...([changeProperty, changeProperty, changeProperty, changeDefault, changeList, openMap, changeRule] as const),
  ...([changeJunctor, toggle('nullable'), toggle('x-kubernetes-preserve-unknown-fields')] as const),
];

/** A copy of a schema with one or two changes. */
export function changed(random: Random, source: Json): { readonly schema: Json; readonly what: readonly string[] } {
  const schema = structuredClone(source);
  const what: string[] = [];
  const wanted = 1 + random.below(2);
  for (let attempt = 0; what.length < wanted && attempt < 100; attempt++) {
    const [root = schema, ...others] = places(schema);
    const place = random.pick([root, ...others]);
    const done = random.pick(changes)(place, random);
    if (done !== undefined) what.push(done);
  }
  return { schema, what };
}
