import { describe, expect, it } from 'vitest';
import { parseIntOrString, scalePercent } from './int-or-string.js';

describe('scalePercent', () => {
  it.each([
    [10, 100, 'up', 10],
    ['10%', 100, 'up', 10],
    ['25%', 10, 'up', 3],
    ['25%', 10, 'down', 2],
    ['0%', 10, 'up', 0],
    ['100%', 7, 'down', 7],
    ['150%', 3, 'up', 5],
    ['-10%', 100, 'up', -10],
  ] as const)('%j of %d, rounded %s, is %d', (value, total, rounding, expected) => {
    expect(scalePercent(value, total, rounding)).toBe(expected);
  });

  it.each(['10', 'http', '1.5%', '%', ' 10%', '10%%'])('refuses %j', (text) => {
    expect(() => scalePercent(text, 10, 'up')).toThrow(JSON.stringify(text));
  });
});

describe('parseIntOrString', () => {
  it('makes numbers of what fits 32 bits and leaves the rest', () => {
    expect(['8080', '-1', 'http', '50%', '1.5', '', '4294967296'].map(parseIntOrString)).toEqual([
      8080,
      -1,
      'http',
      '50%',
      '1.5',
      '',
      '4294967296',
    ]);
  });
});
