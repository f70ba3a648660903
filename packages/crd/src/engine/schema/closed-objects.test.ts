import { expect, it } from 'vitest';
import { compileSchema } from './compile.js';
import { pruneUnknown } from './prune.js';
import { validateValue } from './validate.js';

it('an object that may have no properties is refused with one', () => {
  const closed = { type: 'object', additionalProperties: false };
  const schema = compileSchema({ type: 'object', properties: { x: closed } });
  const value = { b: { c: 1 }, a: 1 };
  const pruned: string[] = [];
  pruneUnknown({ x: value }, schema, pruned);
  expect(value).toEqual({ b: {}, a: 1 });
  expect(validateValue({ x: {} }, schema, 'spec')).toEqual([]);
  expect(validateValue({ x: value }, schema, 'spec').map(({ field, message }) => `${field}: ${message}`)).toEqual([
    'spec.x: Invalid value: "a": x.a in body is a forbidden property',
    'spec.x: Invalid value: "b": x.b in body is a forbidden property',
  ]);
});
