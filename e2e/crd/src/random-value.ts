import type { Random } from './random.js';
import { borders, type Json } from './random-schema.js';

const texts = [
  '',
  'a',
  'b',
  'c',
  'ab',
  'zz',
  'bad',
  'abcdefghijkl',
  'ä€😀',
  '7',
  'x1',
  '1h',
  '2026-01-02T03:04:05Z',
  '10.0.0.1',
  'aGk=',
  'a@b.c',
  'http://x/y',
  '2026-01-02',
  'fe80::1',
  '::ffff:1.2.3.4',
  '10.0.0.0/8',
  'a.b-c.d',
  'A_b',
  'ab:cd:ef:01:23:45',
  '#fff',
  '1Gi',
  '+.5e3m',
  '2026-02-30',
  '2026-01-02t03:04:05.123456789+02:00',
  '2 hours',
  '-1h30m',
  'YWI=\n',
  'urn:x:y',
  '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
] as const;
/** Texts that meet a format, and some that all but do. */
const textsOf: Readonly<Record<string, readonly [string, ...string[]]>> = {
  email: ['Name <a@b>', '"a b"@[::1] (x)', 'a..b@c', 'g:a@b;', '=?big5?q?a?= <a@b>', 'a@b,', 'ä@ö'],
  uri: ['http://[fe80::1%25e]/', 'http://a:1:2', 'http://a b', '/a b', '*', 'http://a/%zz', 'a:b c', 'x://u@h'],
  isbn: ['0321751043', '978-0321751041', '080442957X', '0321751044', '978 0321751042'],
  isbn10: ['0-321-75104-3', '978-0321751041', '080442957X'],
  isbn13: ['0321751043', '978-0321751041', '9780321751040'],
  creditcard: ['4111 1111 1111 1111', '4111111111111112', '340000000000009', '1234567812345670'],
  ssn: ['123-45-6789', '123456789', '123 45 6789'],
  rgbcolor: ['rgb(0,10,255)', 'rgb( 1 , 2,3)', 'rgb(256,0,0)', 'rgb(01,0,0)'],
  hexcolor: ['#abc', 'ABCDEF', '#abcd'],
  mac: ['abcd.ef01.2345', 'abcdef012345', 'ab:cd-ef:01:23:45'],
  ipv4: ['010.0.0.01', '::ffff:1.2.3.4', '::00ffff:01.2.3.4', '1.2.3'],
  cidr: ['10.0.0.0/08', '::/129', '::ffff:010.1.1.1/100'],
  hostname: ['münchen.de', '😀.com', 'a.b', 'a_b', '1.2.3.4'],
  'date-time': ['2026-01-02T03:04:05x1Z', '2026-01-02T03:04:05Zt', '2026-01-02T24:00:00Z', '2026-01-02T03:04:05'],
  datetime: ['2026-01-02T03:04:05Z', '2026-01-02'],
  date: ['2024-02-29', '2023-02-29', '0000-01-01'],
  duration: ['9999999h', '1 µs', '3 Weeks', '1e3', '.5s', '5 parsecs'],
  uuid3: ['6ba7b810-9dad-31d1-00b4-00c04fd430c8', '6ba7b8109dad31d100b400c04fd430c8'],
  uuid4: ['6ba7b810-9dad-41d1-80b4-00c04fd430c8', '6ba7b810-9dad-41d1-70b4-00c04fd430c8'],
  uuid5: ['6ba7b810-9dad-51d1-80b4-00c04fd430c8'],
  bsonobjectid: ['507f1f77bcf86cd799439011', '507f1f77bcf86cd79943901'],
  'k8s-short-name': ['a-b', 'a.b', 'A', '-a'],
  k8sshortname: ['a-b', 'a.b'],
  'k8s-long-name': ['a-b.c', 'a..b', `${'a'.repeat(70)}.b`],
};
const anything = ['', 'a', 0, 1, -1, 3, 5, 1.5, 2 ** 33, true, false, null, [], {}, ['a'], { a: 1 }] as const;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value for a schema: fitting in kind as a rule, sometimes anything. */
export function valueFor(random: Random, schema: Json): unknown {
  if (random.chance(0.025)) return random.pick(anything);
  if (schema['nullable'] === true && random.chance(0.3)) return null;
  if (Array.isArray(schema['enum']) && random.chance(0.9)) return schema['enum'][random.below(schema['enum'].length)];
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (random.chance(0.1)) return random.pick(borders);
    return random.chance(0.5) ? random.below(9) : random.pick(texts);
  }
  switch (schema['type']) {
    case 'boolean':
      return random.chance(0.5);
    case 'integer':
      if (random.chance(0.3) && typeof schema['multipleOf'] === 'number')
        return nearMultiple(random, schema['multipleOf']);
      return random.chance(0.15) ? random.pick([...borders, -1, 100]) : random.below(10);
    case 'number':
      if (random.chance(0.5) && typeof schema['multipleOf'] === 'number')
        return nearMultiple(random, schema['multipleOf']);
      return random.chance(0.7) ? random.pick(borders) : random.below(10) / random.pick([1, 2, 10]);
    case 'string': {
      const own = textsOf[String(schema['format'])];
      return own !== undefined && random.chance(0.6) ? random.pick(own) : random.pick(texts);
    }
    case 'array':
      return Array.from({ length: random.below(4) }, () =>
        valueFor(random, isObject(schema['items']) ? schema['items'] : {}),
      );
    case 'object':
      return objectFor(random, schema);
    default:
      return random.pick(anything);
  }
}

/** A multiple as a product or as a person writes it, of either sign, or one by a little more or less. */
function nearMultiple(random: Random, factor: number): number {
  const product = random.below(500) * factor;
  const value = random.chance(0.5) ? product : Number(product.toPrecision(4));
  const beside = random.pick([0, 0, 0, 1e-10, -1e-10, 0.5]);
  return random.pick([1, 1, -1]) * (value + beside);
}

function objectFor(random: Random, schema: Json): Json {
  const result: Json = {};
  const { additionalProperties: values, properties } = schema;
  if (isObject(values))
    for (const name of ['a', 'b', 'c.d']) if (random.chance(0.35)) result[name] = valueFor(random, values);
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    const isRequired = Array.isArray(schema['required']) && schema['required'].includes(name);
    if (random.chance(isRequired ? 0.95 : 0.6)) result[name] = valueFor(random, isObject(property) ? property : {});
  }
  if (random.chance(0.05)) result['unknown'] = random.pick(anything);
  return result;
}

/** The value with a part of it made anew. */
export function mutated(random: Random, value: unknown, schema: Json): unknown {
  if (random.chance(0.25)) return valueFor(random, schema);
  if (Array.isArray(value) && isObject(schema['items'])) {
    const { items } = schema;
    const next: unknown[] = value.map((item: unknown) =>
      random.chance(0.4) && isObject(items) ? mutated(random, item, items) : item,
    );
    return random.chance(0.2) ? next.reverse() : next;
  }
  if (!isObject(value)) return random.chance(0.3) ? valueFor(random, schema) : value;
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const entries = Object.entries(value).flatMap(([name, entry]): [string, unknown][] => {
    if (random.chance(0.08)) return [];
    const child = properties[name] ?? schema['additionalProperties'];
    return [[name, isObject(child) && random.chance(0.4) ? mutated(random, entry, child) : entry]];
  });
  return Object.fromEntries(entries);
}
