import { describe, expect, it } from 'vitest';
import { shownType, shownValue } from './shown-value.js';

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

describe('shownType', () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  it.each([
    ['secret', 'a value of type string'],
    [5, 'a value of type number'],
    [undefined, 'undefined'],
    [null, 'null'],
    [{ token: 'secret' }, 'a value of type object'],
    [['secret'], 'an array'],
    [Promise.resolve(1), 'a promise'],
    [{ then: () => undefined }, 'a promise'],
    [Object.create(null), 'a value of type object'],
  ])('of a value says %#: %s', (value, text) => {
    expect(shownType(value)).toBe(text);
  });

  it('does not throw, whatever it is given', () => {
    expect(shownType(revoked.proxy)).toBe('a value of type object');
    const hostile = Object.defineProperty({}, 'then', {
      get: () => {
        throw new Error('was read');
      },
    });
    expect(shownType(hostile)).toBe('a value of type object');
  });
});
