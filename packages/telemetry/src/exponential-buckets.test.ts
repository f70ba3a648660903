import { describe, expect, it } from 'vitest';
import { exponentialBuckets } from './internal/index.js';

/** `math.Float64bits` of each bound of `prometheus.ExponentialBuckets(10e-9, 10, 12)`. */
const goBits = [
  4487126258331716666n,
  4502148214488346440n,
  4517329193108106637n,
  4532020583610935536n,
  4547007122018943788n,
  4562254508917369340n,
  4576918229304087675n,
  4591870180066957722n,
  4607182418800017408n,
  4621819117588971520n,
  4636737291354636288n,
  4652007308841189376n,
];

describe('exponentialBuckets', () => {
  it('equals the bounds of Go bit by bit', () => {
    const bits = new BigUint64Array(Float64Array.from(exponentialBuckets(10e-9, 10, 12)).buffer);
    expect([...bits]).toEqual(goBits);
  });

  it.each([
    [0, 2, 3],
    [1, 1, 3],
    [1, 2, 0],
    [Number.NaN, 2, 3],
  ])('refuses %d, %d, %d', (start, factor, count) => {
    expect(() => exponentialBuckets(start, factor, count)).toThrow(RangeError);
  });
});
