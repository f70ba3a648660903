import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { childName } from './index.js';

describe('childName', () => {
  it('joins what fits, and hashes what does not', () => {
    expect(childName('web', 'config')).toBe('web-config');
    expect(childName({ metadata: { name: 'web', namespace: 'shop' } }, '0')).toBe('web-0');
    const long = childName('a'.repeat(70), 'config');
    expect(long).toMatch(/^a{52}-[a-z0-9]{10}$/);
    expect(childName('a'.repeat(70), 'secret')).not.toBe(long);
    // As long as it may be, and one more.
    expect(childName('a'.repeat(56), 'config')).toBe(`${'a'.repeat(56)}-config`);
    expect(childName('a'.repeat(57), 'config')).toHaveLength(63);
    // Fixed for ever: children of releases to come have to be found.
    expect(childName('shop.example.com', 'tls')).toBe(childName('shop.example.com', 'tls'));
    expect(childName('shop.example.com', 'tls')).toMatch(/^shop-example-com-tls-[a-z0-9]{10}$/);
    expect(childName('shop.example.com', 'tls')).not.toBe(childName('shop-example-com', 'tls'));
    expect(childName('web', 'x'.repeat(100), { maxLength: 20 })).toHaveLength(20);
  });

  it('is a DNS label whatever it is made of, the same for the same, another for another', () => {
    const text = fc.string({ minLength: 1, maxLength: 90 });
    const name = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,100}[a-z0-9])?$/);
    fc.assert(
      fc.property(fc.oneof(name, text), fc.oneof(name, text), fc.oneof(name, text), (owner, suffix, other) => {
        const child = childName(owner, suffix);
        expect(child).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
        expect(childName(owner, suffix)).toBe(child);
        if (other !== suffix) expect(childName(owner, other)).not.toBe(child);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['', 'x', {}],
    ['x', '', {}],
    [{ metadata: {} }, 'x', {}],
    [undefined, 'x', {}],
    [null, 'x', {}],
    [{}, 'x', {}],
    [{ metadata: null }, 'x', {}],
    ['x', 'y', { maxLength: 15 }],
    ['x', 'y', { maxLength: 20.5 }],
  ] as const)('refuses %j', (owner, suffix, options) => {
    expect(() => childName(owner as never, suffix, options)).toThrow(/^childName: .* is not valid: expected/);
  });
});
