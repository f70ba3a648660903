// Cases after k8s.io/apimachinery/pkg/api/resource/quantity_test.go; test/golden.test.ts compares with Go itself.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  isQuantity,
  isQuantityError,
  parseQuantity,
  quantityToNumber,
  subtractQuantities,
} from './quantity.js';

describe('parseQuantity', () => {
  it.each([null, undefined, {}, [], true])('refuses %j as what is not a quantity', (given) => {
    expect(() => parseQuantity(given as never)).toThrow(expect.toSatisfy(isQuantityError));
  });

  it('takes what a JSON number beyond 2^53 is', () => {
    expect(canonicalQuantity(9007199254740993n as never)).toBe('9007199254740993');
  });
});

describe('canonicalQuantity', () => {
  it.each([
    ['1000m', '1'],
    ['1.5Gi', '1536Mi'],
    ['0.5', '500m'],
    [0.1, '100m'],
    [1e21, '1e21'],
    ['100.035k', '100035'],
    ['1024Mi', '1Gi'],
    ['0.000000000001Ki', '2n'],
    ['9Ei', '9223372036854775807'],
    ['1e3', '1e3'],
    ['-0.5', '-500m'],
  ])('of %j is %j', (quantity, text) => {
    expect(canonicalQuantity(quantity)).toBe(text);
  });

  it('keeps the value and is its own canonical form', () => {
    const text = fc
      .tuple(
        fc.constantFrom('', '-', '+'),
        fc.nat(),
        fc.constantFrom('', '.0', '.25', '.123456789012'),
        fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'e3', 'E-2', 'e+1'),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (quantity) => {
        const canonical = canonicalQuantity(quantity);
        expect(canonicalQuantity(canonical)).toBe(canonical);
        expect(compareQuantities(canonical, quantity)).toBe(0);
      }),
    );
  });
});

describe('arithmetic', () => {
  it('compares by value, beyond what a number can tell apart', () => {
    expect(compareQuantities('1000m', 1)).toBe(0);
    expect(compareQuantities('1Ki', '1k')).toBe(1);
    expect(compareQuantities('-1', '0')).toBe(-1);
    expect(compareQuantities('9007199254740993', '9007199254740992')).toBe(1);
  });

  it('adds and subtracts exactly, in the format of the first, or of the second where the first is zero', () => {
    expect(addQuantities('0.1', '0.2')).toBe('300m');
    expect(addQuantities('1Gi', '512Mi')).toBe('1536Mi');
    expect(addQuantities('0', '1Gi')).toBe('1Gi');
    expect(subtractQuantities('1', '1500m')).toBe('-500m');
    expect(subtractQuantities('1Gi', '1Gi')).toBe('0');
  });

  it('undoes an addition by a subtraction', () => {
    const units = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n });
    fc.assert(
      fc.property(units, units, (a, b) => {
        const [x, y] = [a, b].map((nanos) => formatQuantity({ nanos, format: 'DecimalSI' }));
        expect(compareQuantities(subtractQuantities(addQuantities(x!, y!), y!), x!)).toBe(0);
      }),
    );
  });

  it('gives the nearest number', () => {
    expect(quantityToNumber('500m')).toBe(0.5);
    expect(quantityToNumber('2Gi')).toBe(2 ** 31);
    expect(quantityToNumber('1.1Ki')).toBe(1126.4);
  });
});

describe('parseQuantity', () => {
  it('tells the format', () => {
    expect(parseQuantity('1Ki')).toEqual({ nanos: 1024_000_000_000n, format: 'BinarySI' });
    expect(parseQuantity('1k').format).toBe('DecimalSI');
    expect(parseQuantity('1e3').format).toBe('DecimalExponent');
    expect(parseQuantity('0.5').format).toBe('DecimalSI');
  });

  it.each(['', ' ', '1 ', 'x', '1K', '1.1.1', '1e', 'ee3', 'Ei', '--1', Number.NaN, Infinity, '1e99999999999'])(
    'refuses %j',
    (text) => {
      expect(() => parseQuantity(text)).toThrow(expect.toSatisfy(isQuantityError));
      expect(isQuantity(text)).toBe(false);
    },
  );

  it('takes a sign, a point or a suffix alone for zero, as the API server does', () => {
    for (const text of ['Ki', '+', '-.', '.m', 'e3']) expect(parseQuantity(text).nanos).toBe(0n);
  });

  it('names what is wrong in the words of the API server', () => {
    const messageOf = (text: string): unknown => {
      try {
        return parseQuantity(text);
      } catch (error) {
        return isQuantityError(error) && [error.problem, error.serverMessage];
      }
    };
    expect(messageOf('1ki')).toEqual(['suffix', "unable to parse quantity's suffix"]);
    expect(messageOf('Ei')).toEqual(['numeric', 'unable to parse numeric part of quantity']);
    expect(messageOf('1 Gi')).toMatchObject(['format', expect.stringContaining('must match the regular expression')]);
  });

  it('refuses what would take long to compute with', () => {
    for (const text of ['1e4097', '1'.repeat(4097)]) expect(isQuantity(text)).toBe(false);
    expect(canonicalQuantity('0e4097')).toBe('0');
    expect(canonicalQuantity('1e-2147483648')).toBe('1e-9');
    expect(canonicalQuantity(`1${'0'.repeat(4000)}`)).toHaveLength(3984);
  });

  it('tells quantities from anything else', () => {
    expect([isQuantity('1Gi'), isQuantity(5), isQuantity(null), isQuantity({})]).toEqual([true, true, false, false]);
  });
});
