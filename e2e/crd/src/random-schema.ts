import type { Random } from './random.js';

export type Json = Record<string, unknown>;

const names = ['alpha', 'beta', 'gamma', 'delta', 'my-field', 'namespace'] as const;
const formats = [
  ...([
    'date-time',
    'datetime',
    'duration',
    'ipv4',
    'ipv6',
    'cidr',
    'uuid',
    'uuid3',
    'uuid4',
    'uuid5',
    'byte',
  ] as const),
  ...(['email', 'uri', 'date', 'hostname', 'mac', 'password', 'hexcolor', 'rgbcolor', 'isbn', 'isbn10'] as const),
  ...(['isbn13', 'creditcard', 'ssn', 'bsonobjectid', 'k8s-short-name', 'k8s-long-name', 'k8sshortname'] as const),
  'quantity',
] as const;
/** Where the types of Go and of JavaScript end. */
export const borders = [
  ...[2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 32],
  ...[2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 53)],
  ...[2 ** 63, 2 ** 63 - 1024, -(2 ** 63), -(2 ** 63) - 2048, 2 ** 64],
  ...[1e20, 1e21, 1e22, -1e21, 1e300, 1e-6, 1e-7, 5e-324, 3.4e38, 3.5e38, -0, 0.1, 0.1 + 0.2, 0.3, 2.5, 1e15 + 0.5],
] as const;

function rule(random: Random, expression: string): Json {
  const extra: Json = {};
  if (random.chance(0.5)) extra['message'] = `not ${expression.length}`;
  if (random.chance(0.2))
    extra['reason'] = random.pick(['FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate']);
  return { rule: expression, ...extra };
}

function withRules(random: Random, schema: Json, expressions: readonly [string, ...string[]]): Json {
  if (!random.chance(0.35)) return schema;
  const rules = [rule(random, random.pick(expressions))];
  if (random.chance(0.2))
    rules.push({ rule: 'oldSelf.hasValue() ? self == oldSelf.value() : true', optionalOldSelf: true });
  return { ...schema, 'x-kubernetes-validations': rules };
}

function text(random: Random): Json {
  if (random.chance(0.2)) return { type: 'string', format: random.pick(formats) };
  if (random.chance(0.25)) {
    const schema: Json = { type: 'string', enum: ['a', 'b', 'c'] };
    return random.chance(0.5) ? { ...schema, default: random.pick(['a', 'b', 'c']) } : schema;
  }
  const schema: Json = { type: 'string', maxLength: 2 + random.below(8) };
  if (random.chance(0.3)) schema['minLength'] = random.below(3);
  if (random.chance(0.3)) schema['pattern'] = random.pick(['^[a-c]*$', 'a', '^x?[0-9]*$']);
  else if (random.chance(0.3)) schema['default'] = 'a'.repeat(Math.min(2, Number(schema['maxLength'])));
  return withRules(random, schema, [
    'self.size() < 4',
    "self != 'bad'",
    'self == oldSelf',
    "!self.contains('z')",
    "self.matches('^[a-z]*$')",
  ]);
}

function integer(random: Random): Json {
  const schema: Json = { type: 'integer' };
  if (random.chance(0.4)) schema['minimum'] = random.below(4);
  if (random.chance(0.4)) schema['maximum'] = 4 + random.below(8);
  if (random.chance(0.15)) schema['exclusiveMaximum'] = schema['maximum'] !== undefined;
  if (random.chance(0.2)) schema['multipleOf'] = 2;
  else if (random.chance(0.3) && schema['minimum'] === undefined && schema['exclusiveMaximum'] !== true)
    schema['default'] = 3;
  if (random.chance(0.3)) schema['format'] = random.pick(['int32', 'int64']);
  return withRules(random, schema, ['self != 5', 'self >= oldSelf', 'self % 2 == 0', 'self < 100']);
}

/** Without those beyond an int64: Go converts them as the machine does, amd64 to the smallest integer, arm64 to the nearest. */
const bounds = borders.filter((border) => Math.abs(border) < 2 ** 63) as [number, ...number[]];

/** Numbers of any size, and bounds at which they are compared. */
function number(random: Random): Json {
  const isInteger = random.chance(0.4);
  const schema: Json = { type: isInteger ? 'integer' : 'number' };
  if (random.chance(0.4)) schema['format'] = random.pick(isInteger ? ['int32', 'int64'] : ['float', 'double', 'int32']);
  if (random.chance(0.3)) {
    const [low = 0, high = 0] = [random.pick(bounds), random.pick(bounds)].sort((a, b) => a - b);
    if (random.chance(0.7)) schema['minimum'] = low;
    if (random.chance(0.7)) schema['maximum'] = high;
    if (random.chance(0.3)) schema['exclusiveMinimum'] = true;
    if (random.chance(0.3)) schema['exclusiveMaximum'] = true;
  }
  if (random.chance(0.2)) schema['multipleOf'] = random.pick(isInteger ? [1, 3, 2 ** 20] : [0.1, 0.5, 0.01, 3, 1e-7]);
  if (random.chance(0.15)) schema['enum'] = [0, 3, random.pick(borders), random.pick(borders)];
  else if (random.chance(0.2)) schema['default'] = random.pick(borders);
  const rules: readonly [string, ...string[]] = isInteger
    ? ['self != 5', 'self < 9007199254740993', 'self >= oldSelf', 'self / 2 * 2 == self', 'double(self) < 1e18']
    : ['self < 1.5', 'self != 0.3', 'self >= oldSelf', 'self * 2.0 > self', 'self < 3', 'string(self) != "1e+21"'];
  return withRules(random, schema, rules);
}

function list(random: Random, depth: number): Json {
  const size: Json = { maxItems: 2 + random.below(4) };
  if (random.chance(0.2)) size['minItems'] = 1;
  if (random.chance(0.3)) {
    const items = { type: 'string', maxLength: 6 };
    return withRules(random, { type: 'array', items, ...size, 'x-kubernetes-list-type': 'set' }, [
      'self.size() != 2',
      "!('b' in self)",
      'self.all(x, x in oldSelf)',
    ]);
  }
  if (random.chance(0.5)) {
    const value = node(random, depth + 1);
    const items = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 5 }, value } };
    const map = {
      type: 'array',
      items,
      ...size,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    };
    return withRules(random, map, ["self.all(item, item.name != 'b')", 'self.size() < 3']);
  }
  return withRules(random, { type: 'array', items: node(random, depth + 1), ...size }, [
    'self.size() != 1',
    'self.size() <= 3',
  ]);
}

function map(random: Random, depth: number): Json {
  const values = node(random, depth + 1);
  const schema = { type: 'object', additionalProperties: values, maxProperties: 2 + random.below(3) };
  return withRules(random, schema, ["!('b' in self)", 'self.size() != 1', "self.all(key, key != 'a')"]);
}

function object(random: Random, depth: number): Json {
  const properties: Json = {};
  const count = 1 + random.below(4);
  for (let index = 0; index < count; index++) properties[random.pick(names)] = node(random, depth + 1);
  const keys = Object.keys(properties);
  const required = keys.filter(() => random.chance(0.25));
  const schema: Json = { type: 'object', properties, ...(required.length > 0 && { required }) };
  if (random.chance(0.1)) schema['x-kubernetes-preserve-unknown-fields'] = true;
  if (random.chance(0.1)) schema['default'] = {};
  const [first = 'alpha', second = first] = keys;
  if (random.chance(0.1)) schema[random.pick(['anyOf', 'oneOf'])] = [{ required: [first] }, { required: [second] }];
  if (random.chance(0.08)) schema['not'] = { required: [first, second] };
  const name = (key: string): string =>
    key === 'my-field' ? 'my__dash__field' : key === 'namespace' ? '__namespace__' : key;
  return withRules(random, schema, [
    `has(self.${name(first)})`,
    `!has(self.${name(first)}) || !has(self.${name(second)}) || true`,
    'self == oldSelf',
  ]);
}

/** A schema of any kind. */
export function node(random: Random, depth: number): Json {
  const kind = random.below(depth > 2 ? 6 : 10);
  const make = (): Json => {
    if (kind === 0) return { type: 'boolean', ...(random.chance(0.3) && { default: random.chance(0.5) }) };
    if (kind === 1)
      return { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], maxLength: 20 };
    if (kind === 2) return integer(random);
    if (kind < 5) return text(random);
    if (kind === 5) return number(random);
    if (kind === 6) return list(random, depth);
    if (kind === 7) return map(random, depth);
    return object(random, depth);
  };
  const schema = make();
  return random.chance(0.15) && schema['default'] === undefined ? { ...schema, nullable: true } : schema;
}
