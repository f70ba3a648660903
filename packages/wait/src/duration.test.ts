import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { durationSchema, formatDuration, parseDuration } from './index.js';

describe('durations', () => {
  // Text and value of Go's time package: ParseDuration and Duration.String.
  it.each([
    ['0', 0, '0s'],
    ['0s', 0, '0s'],
    ['5s', 5000, '5s'],
    ['30s', 30_000, '30s'],
    ['1478s', 1_478_000, '24m38s'],
    ['-5s', -5000, '-5s'],
    ['+5s', 5000, '5s'],
    ['5.', undefined, undefined],
    ['5.6s', 5600, '5.6s'],
    ['.5s', 500, '500ms'],
    ['1.004s', 1004, '1.004s'],
    ['100.00100s', 100_001, '1m40.001s'],
    ['10ns', 1e-5, '10ns'],
    ['11us', 0.011, '11µs'],
    ['12µs', 0.012, '12µs'],
    ['13ms', 13, '13ms'],
    ['15m', 900_000, '15m0s'],
    ['16h', 57_600_000, '16h0m0s'],
    ['3h30m', 12_600_000, '3h30m0s'],
    ['-1m30.5s', -90_500, '-1m30.5s'],
    ['1h2m3s4ms', 3_723_004, '1h2m3.004s'],
    ['39h9m14.425s', 140_954_425, '39h9m14.425s'],
  ] as const)('%s', (text, ms, written) => {
    if (ms === undefined) expect(() => parseDuration(text)).toThrow(TypeError);
    else {
      expect(parseDuration(text)).toBeCloseTo(ms, 9);
      expect(formatDuration(ms)).toBe(written);
    }
  });

  it('pass as numbers of ms', () => {
    expect(parseDuration(250)).toBe(250);
  });

  it.each([
    [''],
    ['5'],
    ['s'],
    ['5 s'],
    ['5d'],
    ['1h-5m'],
    [' 5s'],
    [Number.NaN],
    [Infinity],
    [null as never],
    [{} as never],
  ])('refuses %j by field and value', (value) => {
    expect(() => parseDuration(value, 'every')).toThrow(
      /^every .* is not valid: expected a number of ms, or a string such as/,
    );
  });

  it('refuses to write what is not a number', () => {
    expect(() => formatDuration(Number.NaN)).toThrow('duration NaN is not valid');
  });

  it('are read as they were written, and fit the schema', () => {
    const pattern = new RegExp(durationSchema.pattern);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (ms) => {
        const text = formatDuration(ms);
        // To the precision of a number of this size.
        expect(Math.abs(parseDuration(text) - ms)).toBeLessThanOrEqual(ms * 4 * Number.EPSILON);
        expect(pattern.test(text)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
