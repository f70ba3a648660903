import { describe, expect, it } from 'vitest';
import { shownValue } from './shown-value.js';

describe('shownValue', () => {
  it.each([
    ['a "b"', '"a \\"b\\""'],
    ['x'.repeat(500), `"${'x'.repeat(200)}"…`],
    [Number.NaN, 'NaN'],
    [true, 'true'],
    [1n, '1'],
    [undefined, 'undefined'],
    [null, 'null'],
    [{ token: 'secret' }, 'of type object'],
    [Object.create(null), 'of type object'],
    [() => 1, 'of type function'],
    [Symbol('s'), 'of type symbol'],
  ])('names %s', (value, text) => {
    expect(shownValue(value)).toBe(text);
  });
});
