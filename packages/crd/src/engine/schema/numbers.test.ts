// What kube-apiserver 1.36.3 answers at the borders of Go's numbers; e2e/crd compares them with random ones. Bounds beyond
// int64 are not the server's: Go converts them as the machine does, and ours takes the nearest one.
import { describe, expect, it } from 'vitest';
import { compileSchema, validateValue } from '../index.js';

const messages = (schema: object, value: number): string[] =>
  validateValue({ n: value }, compileSchema({ type: 'object', properties: { n: schema } })).map(
    ({ field, message }) => `${field}: ${message}`,
  );
const integer = { type: 'integer' };
const notInteger = [
  'n: Invalid value: "number": n in body must be of type integer: "number"',
  '<nil>: Invalid value: "": Checked value must be of type integer (default format) in n',
];

describe('numbers as the API server judges them', () => {
  it.each([2 ** 53, -(2 ** 53), 2 ** 62, 2 ** 63 - 1024, -0])('%d is an integer', (value) =>
    expect(messages(integer, value)).toEqual([]),
  );
  it.each([2 ** 63, -(2 ** 63), 2 ** 64, 1e20, 1e21, 1e300, 0.5])('%d is none: its JSON is not an int64', (value) =>
    expect(messages(integer, value)).toEqual(notInteger),
  );

  it.each<[schema: object, value: number, expected: string]>([
    [
      { ...integer, format: 'int32' },
      2 ** 31,
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in n',
    ],
    [
      { type: 'number', format: 'float' },
      3.5e38,
      '<nil>: Invalid value: "": Checked value must be of type number with format float in n',
    ],
    [{ type: 'number', maximum: 2.5 }, 3, 'n: Invalid value: 3: n in body should be less than or equal to 2'],
    [{ type: 'number', maximum: 2.5 }, 3.5, 'n: Invalid value: 3.5: n in body should be less than or equal to 2.5'],
    [
      { type: 'number', maximum: 2.5, exclusiveMaximum: true },
      2,
      'n: Invalid value: 2: n in body should be less than 2',
    ],
    [
      { type: 'number', maximum: 1e6 },
      1234567.5,
      'n: Invalid value: 1.2345675e+06: n in body should be less than or equal to 1e+06',
    ],
    [
      { type: 'number', multipleOf: 0.01 },
      4,
      'n: Invalid value: 0: factor MultipleOf declared for n must be positive: 0',
    ],
    [{ type: 'number', multipleOf: 3 }, 4, 'n: Invalid value: 4: n in body should be a multiple of 3'],
  ])('%j refuses %d', (schema, value, expected) => expect(messages(schema, value)).toEqual([expected]));

  it.each<[schema: object, value: number]>([
    [{ type: 'number', minimum: 0.5 }, 0],
    [{ type: 'number', multipleOf: 0.1 }, 0.3],
    [{ type: 'number', format: 'int32' }, 2 ** 40],
    [{ type: 'number', maximum: 1e21 }, 3],
    [{ type: 'number', enum: [0, 3] }, 0.3],
    [{ type: 'number', enum: [0.5] }, 0.5],
    [{ 'x-kubernetes-int-or-string': true, enum: ['a'] }, 97],
  ])('%j takes %d', (schema, value) => expect(messages(schema, value)).toEqual([]));

  // Each as kube-apiserver 1.36.3 answers it.
  it.each<[factor: number, value: number, isTaken: boolean]>([
    [0.01, 1.15, false],
    [0.01, 2.3, false],
    [0.01, -1.15, false],
    [0.01, 0.07, true],
    [0.1, 0.3, true],
    [0.1, -0.3, true],
    [0.1, 0.7, true],
    [0.1, -0.1, true],
    [0.3, 0.9, true],
    [0.3, 1.1, false],
    [2.5, 5.0000000001, true],
    [2.5, -5.0000000001, false],
    [2.5, 4.9999999999, false],
    [3, 1_000_000_000_000.5, true],
    [3, 2.9999999999999996, false],
    [1_048_576, -(2 ** 63) - 2048, false],
    [1_048_576, 2 ** 63 + 2048, true],
    [1_048_576, -1.5, false],
  ])('multiples of %d: %d is one: %s', (multipleOf, value, isTaken) =>
    expect(messages({ type: 'number', multipleOf }, value).length === 0).toBe(isTaken),
  );
});
