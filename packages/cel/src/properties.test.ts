import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CelCompileError,
  CelEvaluationError,
  createCelEnvironment,
  createRuleValidator,
  structuralSchema,
} from './index.js';
import { celValue, Failure, jsonNumber, valueJson } from './internal/index.js';

const environment = createCelEnvironment({ variables: { a: 'dyn', b: 'dyn' } });
const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 });
const words = [
  ...[
    'a',
    'b',
    'x',
    '1',
    '2.5',
    '"s"',
    "b'x'",
    'true',
    'null',
    '[',
    ']',
    '{',
    '}',
    '(',
    ')',
    '.',
    ',',
    ':',
    '?',
    '!',
    '-',
  ],
  ...[
    '+',
    '*',
    '/',
    '%',
    '==',
    '!=',
    '<',
    '<=',
    'in',
    '&&',
    '||',
    'all',
    'map',
    'filter',
    'has',
    'size',
    'matches',
    'type',
  ],
  ...[
    'optional',
    'of',
    'format',
    'split',
    'duration',
    'quantity',
    'url',
    'Object',
    '`',
    '"',
    '\\',
    '\n',
    'é',
    '\u{1f600}',
  ],
];

function run(expression: string, activation: Record<string, unknown>): unknown {
  try {
    return environment.compile(expression).evaluate(activation, { costLimit: 10_000 }).value;
  } catch (error) {
    if (error instanceof CelCompileError || error instanceof CelEvaluationError) return error.name;
    throw error;
  }
}

describe('properties', () => {
  it('an expression, whatever it is, gives a value or an error of CEL', () => {
    const text = fc.array(fc.constantFrom(...words), { maxLength: 14 }).map((parts) => parts.join(' '));
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ maxLength: 40 })), json, json, (expression, a, b) => {
        run(expression, { a, b });
      }),
      { numRuns: 3000 },
    );
  });

  it('JSON that goes in comes out', () => {
    fc.assert(
      fc.property(json, (given) => {
        const value = celValue(given);
        if (value instanceof Failure) throw new Error(value.message);
        // An integer beyond 2^53 comes out as a bigint: it is an int64.
        const expected: unknown = JSON.parse(JSON.stringify(given), (_key, item: unknown) => {
          const number = typeof item === 'number' ? jsonNumber(item) : item;
          return typeof number === 'bigint' && !Number.isSafeInteger(item) ? number : item;
        });
        expect(valueJson(value)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('equality is that of the data, and symmetric', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(run('a == a', { a })).toBe(true);
        expect(run('a == b', { a, b })).toBe(run('b == a', { a, b }));
        expect(run('a != b', { a, b })).toBe(run('a == b', { a, b }) === false);
      }),
      { numRuns: 500 },
    );
  });

  it('integers do as 64-bit integers do, or say that they overflow', () => {
    const int = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(int, int, (a, b) => {
        const within = (value: bigint): unknown => (BigInt.asIntN(64, value) === value ? value : 'CelEvaluationError');
        expect(run('a + b', { a, b })).toBe(within(a + b));
        expect(run('a - b', { a, b })).toBe(within(a - b));
        expect(run('a * b', { a, b })).toBe(within(a * b));
        expect(run('a < b', { a, b })).toBe(a < b);
      }),
      { numRuns: 500 },
    );
  });

  it('an object that is not changed is not refused', () => {
    const rule = (text: string) => ({ 'x-kubernetes-validations': [{ rule: text }] });
    const schema = structuralSchema({
      type: 'object',
      properties: {
        s: { type: 'string', ...rule('self.size() < 3') },
        l: { type: 'array', items: { type: 'integer', ...rule('self > 2') }, ...rule('self.size() < 2') },
        m: { type: 'object', additionalProperties: { type: 'integer', ...rule('self % 2 == 0') } },
      },
      ...rule('has(self.s)'),
    });
    const validator = createRuleValidator(schema);
    const object = fc.record(
      { s: fc.string(), l: fc.array(fc.integer()), m: fc.dictionary(fc.string(), fc.integer()) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(object, (value) => {
        const created = validator?.validate(value);
        const updated = validator?.validate(structuredClone(value), { old: value });
        expect(updated?.errors).toEqual([]);
        expect(updated?.warnings).toEqual(created?.errors);
      }),
      { numRuns: 300 },
    );
  });
});
