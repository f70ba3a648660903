import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatKey, keyOf, parseKey } from './object-key.js';
import { compareResourceVersions } from './resource-version.js';

describe('object keys', () => {
  it('are taken from objects', () => {
    expect(keyOf({ metadata: { namespace: 'ns', name: 'a' } })).toEqual({ namespace: 'ns', name: 'a' });
    expect(keyOf({ metadata: { namespace: '', name: 'a' } })).toEqual({ name: 'a' });
    expect(() => keyOf({ metadata: { namespace: 'ns' } })).toThrow('metadata.name is not set');
  });

  it('survive their text', () => {
    for (const key of [{ name: 'a' }, { namespace: 'ns', name: 'a' }]) expect(parseKey(formatKey(key))).toEqual(key);
    expect(parseKey('/a')).toEqual({ name: 'a' });
  });

  it.each(['', 'a/b/c', 'ns/'])('refuse %j', (text) => {
    expect(() => parseKey(text)).toThrow('is not a key');
  });
});

describe('compareResourceVersions', () => {
  it('orders as integers do, of any size', () => {
    const version = fc.bigInt({ min: 1n, max: 2n ** 80n });
    fc.assert(
      fc.property(version, version, (a, b) => {
        const expected = a === b ? 'equal' : a < b ? 'older' : 'newer';
        expect(compareResourceVersions(String(a), String(b))).toBe(expected);
      }),
    );
  });

  it.each([
    ['', '1'],
    ['0', '1'],
    ['0', '0'],
    ['01', '1'],
    ['1', 'abc'],
    ['-1', '1'],
    ['', ''],
  ])('does not know how %j relates to %j', (a, b) => {
    expect(compareResourceVersions(a, b)).toBe('unknown');
    expect(compareResourceVersions(b, a)).toBe('unknown');
  });
});
