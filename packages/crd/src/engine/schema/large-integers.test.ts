import { expect, it } from 'vitest';
import { compileSchema } from './compile.js';
import { validateValue } from './validate.js';

it('an integer that no double holds may be one of the values', () => {
  const schema = compileSchema({ type: 'integer', enum: [1, 9_007_199_254_740_993n] });
  expect(validateValue(9_007_199_254_740_993n, schema, 'spec.n')).toEqual([]);
  expect(validateValue(2, schema, 'spec.n').map(({ message }) => message)).toEqual([
    'Unsupported value: 2: supported values: "1", "9007199254740993"',
  ]);
});
