import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyDefaults,
  canonicalMicroTime,
  canonicalQuantity,
  canonicalTime,
  compilePattern,
  compileSchema,
  formatFieldError,
  lazyPattern,
  matchesFormat,
  pruneUnknown,
  validateListTypes,
  validateValue,
} from './index.js';

function errorsOf(schema: Record<string, unknown>, value: unknown): string[] {
  return validateValue(value, compileSchema({ type: 'object', properties: { a: schema } })).map(formatFieldError);
}

describe('validateValue', () => {
  it.each([
    [{ type: 'string', maxLength: 2 }, 'abc', ['a: Too long: may not be more than 2 bytes']],
    [{ type: 'string', minLength: 2 }, 'a', ['a: Invalid value: "a": a in body should be at least 2 chars long']],
    [{ type: 'string', pattern: '^x$' }, 'a', ['a: Invalid value: "a": a in body should match \'^x$\'']],
    [{ type: 'string', format: 'ipv4' }, 'x', ['a: Invalid value: "x": a in body must be of type ipv4: "x"']],
    [{ type: 'string', format: 'not-a-format' }, 'x', []],
    [{ type: 'integer', maximum: 3 }, 4, ['a: Invalid value: 4: a in body should be less than or equal to 3']],
    [
      { type: 'integer', minimum: 3, exclusiveMinimum: true },
      3,
      ['a: Invalid value: 3: a in body should be greater than 3'],
    ],
    [{ type: 'integer', multipleOf: 2 }, 3, ['a: Invalid value: 3: a in body should be a multiple of 2']],
    [
      { type: 'integer', format: 'int32' },
      2 ** 31,
      ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a'],
    ],
    [{ type: 'number' }, 1, []],
    // Found by e2e/crd: formats and enums as the real server treats them.
    [{ type: 'string', format: 'date-time' }, ['x'], []],
    [
      { type: 'string', format: 'date-time' },
      1,
      ['a: Invalid value: "int64": a in body must be of type date-time: "int64"'],
    ],
    [{ type: 'integer', format: 'int32' }, true, ['a: Invalid value: "": a in body must be of type int32: ""']],
    [{ type: 'string', enum: ['x'], nullable: true }, null, ['a: Unsupported value: null: supported values: "x"']],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      ['a: Invalid value: "boolean": a in body must be of type integer,string: "boolean"'],
    ],
    [
      { type: 'array', items: { type: 'string' }, maxItems: 1 },
      ['a', 'b'],
      ['a: Too many: 2: must have at most 1 items'],
    ],
    [
      { type: 'array', items: { type: 'string' }, minItems: 1 },
      [],
      ['a: Invalid value: 0: a in body should have at least 1 items'],
    ],
    [
      { type: 'array', items: { type: 'string' } },
      [1],
      ['a[0]: Invalid value: "integer": a[0] in body must be of type string: "integer"'],
    ],
    [
      { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 1 },
      { x: '1', y: 2 },
      [
        'a: Too many: 2: must have at most 1 items',
        'a.y: Invalid value: "integer": a.y in body must be of type string: "integer"',
      ],
    ],
    [
      { type: 'object', anyOf: [{ required: ['x'] }, { required: ['y'] }], properties: { x: {}, y: {} } },
      {},
      ['<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)', 'a.x: Required value'],
    ],
    [
      { type: 'object', oneOf: [{ required: ['x'] }, { required: ['y'] }] },
      { x: 1, y: 1 },
      ['<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      { type: 'object', not: { required: ['x'] } },
      { x: 1 },
      ['<nil>: Invalid value: "": "a" must not validate the schema (not)'],
    ],
    [
      { type: 'object', allOf: [{ required: ['x'] }] },
      {},
      ['a.x: Required value', '<nil>: Invalid value: "": "a" must validate all the schemas (allOf). None validated'],
    ],
    [{ type: 'string', nullable: true, enum: ['a'] }, null, ['a: Unsupported value: null: supported values: "a"']],
  ])('%j of %j', (schema, value, expected) => {
    expect(errorsOf(schema, { a: value })).toEqual(expected);
  });
  it('does not fail on any JSON value, whatever the schema', () => {
    const schema = compileSchema({
      type: 'object',
      properties: {
        a: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } },
        b: { type: 'object', additionalProperties: { type: 'string', default: 'x' } },
      },
    });
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = structuredClone(value);
        validateValue(copy, schema);
        validateListTypes(copy, schema);
        applyDefaults(copy, schema);
        pruneUnknown(copy, schema, []);
        // What is pruned and defaulted once stays as it is.
        const again = structuredClone(copy);
        applyDefaults(again, schema);
        pruneUnknown(again, schema, []);
        expect(again).toEqual(copy);
      }),
    );
  });
});

describe('what an update did not change', () => {
  const parts = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', properties: { k: { type: 'string' } } },
    maxItems: 1,
  };
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, maxProperties: 0 };
  it.each([
    ['an object', { ...open, properties: { b: { type: 'string' } } }, [{ b: 'x' }, { b: 'x' }], 0],
    ['a field without a schema', open, [{ b: 'x' }, { b: 'x' }], 1],
    ['a map', { type: 'object', additionalProperties: {}, maxProperties: 0 }, [{ b: 1 }, { b: 1 }], 0],
    ['a map of anything', { type: 'object', additionalProperties: true, maxProperties: 0 }, [{ b: 1 }, { b: 1 }], 1],
    [
      'a list in another order',
      parts,
      [
        [{ k: 'x' }, { k: 'y' }],
        [{ k: 'y' }, { k: 'x' }],
      ],
      0,
    ],
    [
      'items without a key',
      parts,
      [
        [{}, {}],
        [{}, {}],
      ],
      1,
    ],
  ] as const)('%s', (_what, schema, [value, old], errors) => {
    const compiled = compileSchema({ type: 'object', properties: { a: schema } });
    expect(validateValue({ a: value, n: 1 }, compiled, '', { a: old, n: 2 })).toHaveLength(errors);
  });
  it('never covers the type of the root', () => {
    const compiled = compileSchema({ type: 'object', properties: { kind: { type: 'string', maxLength: 1 } } });
    expect(validateValue({ kind: 'Thing', n: 1 }, compiled, '', { kind: 'Thing', n: 2 })).toHaveLength(1);
  });
});

describe('pruneUnknown §2.10-62', () => {
  it('keeps what is below x-kubernetes-preserve-unknown-fields, but for what is named there', () => {
    const schema = compileSchema({
      type: 'object',
      properties: {
        open: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { shut: { type: 'object', properties: { a: { type: 'string' } } } },
        },
      },
    });
    const value = { open: { any: { thing: 1 }, shut: { a: '1', b: '2' } }, gone: 1 };
    const found: string[] = [];
    pruneUnknown(value, schema, found);
    expect(value).toEqual({ open: { any: { thing: 1 }, shut: { a: '1' } } });
    expect(found).toEqual(['open.shut.b', 'gone']);
  });
});

describe('canonicalQuantity', () => {
  it.each([
    ['1000m', '1'],
    ['0.5', '500m'],
    ['1.5Gi', '1536Mi'],
    ['1024Ki', '1Mi'],
    ['1000', '1k'],
    ['100000', '100k'],
    ['1500', '1500'],
    ['0', '0'],
    ['0Gi', '0'],
    ['-5m', '-5m'],
    ['1e3', '1e3'],
    ['12e6', '12e6'],
    ['1E', '1E'],
    ['512', '512'],
    ['1023Ki', '1023Ki'],
    ['1n', '1n'],
    ['0.1n', '1n'],
    ['+3', '+3'],
    ['1.500', '1.500'],
    ['Ki', '0'],
    ['1000E', '1'],
    ['2Ki', '2Ki'],
    ['0.5Ki', '512'],
    ['100.00', '100'],
    ['1.25', '1250m'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
    expect(canonicalQuantity(canonical)).toBe(canonical);
  });
  it.each([
    ['', 'quantities must match the regular expression'],
    ['x', 'quantities must match the regular expression'],
    ['1x', 'quantities must match the regular expression'],
    ['1.2.3', 'quantities must match the regular expression'],
    ['1 Gi', 'quantities must match the regular expression'],
    ['--1', "unable to parse quantity's suffix"],
    ['Ei', 'unable to parse numeric part of quantity'],
  ])('refuses %j', (text, message) => {
    expect(() => canonicalQuantity(text)).toThrow(message);
  });
});

describe('times', () => {
  it('§2.12-73 are written in UTC, six digits where they are micro', () => {
    expect(canonicalTime('2020-01-01T01:00:00.5+01:00')).toBe('2020-01-01T00:00:00Z');
    expect(canonicalMicroTime('2020-01-01T01:00:00.123456+01:00')).toBe('2020-01-01T00:00:00.123456Z');
    expect(() => canonicalMicroTime('2026-01-01T00:00:00.5Z')).toThrow(
      'parsing time "2026-01-01T00:00:00.5Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".5Z" as ".000000"',
    );
    expect(() => canonicalTime('yesterday')).toThrow('cannot parse "yesterday" as "2006"');
    expect(() => canonicalTime('2023-02-29T00:00:00Z')).toThrow('day out of range');
    expect(() => canonicalTime('1900-02-29T00:00:00Z')).toThrow('day out of range');
    expect(() => canonicalTime('2026-04-31T00:00:00Z')).toThrow('day out of range');
    expect(canonicalTime('2000-02-29T23:59:59.9Z')).toBe('2000-02-29T23:59:59Z');
    expect(canonicalTime('2024-02-29T00:00:00+00:00')).toBe('2024-02-29T00:00:00Z');
  });
});

describe('patterns and formats', () => {
  it('reads what Go has and JavaScript has not', () => {
    const matches = (pattern: string, text: string): boolean => lazyPattern(pattern).test(text);
    expect(matches('(?i)^ABC$', 'abc')).toBe(true);
    expect(matches('^[[:alpha:]]+$', 'abc1')).toBe(false);
    expect(matches('\\Aab\\z', 'ab')).toBe(true);
    expect(matches('^(?i:a)b$', 'Ab')).toBe(true);
    expect(matches('\\pL', '1')).toBe(false);
    expect(compilePattern('(')).toEqual({ problem: 'error parsing regexp: missing closing ): `(`' });
    expect(compilePattern('(?=a)')).toEqual({
      problem: 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    });
  });
  it.each([
    ['date', '2024-02-30', false],
    ['date-time', '2024-02-29T00:00:00Z', true],
    ['uuid', '550e8400-e29b-41d4-a716-446655440000', true],
    ['cidr', '10.0.0.0/33', false],
    ['duration', '1h30m', true],
    ['duration', '1 lightyear', false],
    ['hostname', 'a.b', false],
    ['byte', 'eA==', true],
    ['email', 'a@b', true],
    ['uri', 'https://x', true],
    ['mac', '00:00:5e:00:53:01', true],
    ['nonsense', 'x', undefined],
  ])('%s of %s: %s', (format, text, expected) => {
    expect(matchesFormat(format, text)).toBe(expected);
  });
});
