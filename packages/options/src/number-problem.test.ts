import { describe, expect, it } from 'vitest';
import { numberProblem } from './number-problem.js';

describe('numberProblem', () => {
  it('finds nothing wrong with a number in its range', () => {
    expect(numberProblem('timeoutMs', 0)).toBeUndefined();
    expect(numberProblem('timeoutMs', 0.5, { above: 0 })).toBeUndefined();
    expect(numberProblem('port', 65_535, { most: 65_535, integer: true })).toBeUndefined();
    expect(numberProblem('graceMs', Infinity, { orInfinity: true })).toBeUndefined();
  });

  it.each([
    ['timeoutMs', -1, {}, 'timeoutMs -1 is not valid: expected a number of ms ≥ 0'],
    ['timeoutMs', NaN, {}, 'timeoutMs NaN is not valid: expected a number of ms ≥ 0'],
    ['timeoutMs', Infinity, {}, 'timeoutMs Infinity is not valid: expected a number of ms ≥ 0'],
    ['timeoutMs', '30s', {}, 'timeoutMs "30s" is not valid: expected a number of ms ≥ 0'],
    ['timeoutMs', undefined, {}, 'timeoutMs undefined is not valid: expected a number of ms ≥ 0'],
    ['timeoutMs', {}, {}, 'timeoutMs of type object is not valid: expected a number of ms ≥ 0'],
    ['everyMs', 0, { above: 0 }, 'everyMs 0 is not valid: expected a number of ms > 0'],
    ['port', 70_000, { most: 65_535, integer: true }, 'port 70000 is not valid: expected an integer ≥ 0 and ≤ 65535'],
    ['retries', 1.5, { integer: true }, 'retries 1.5 is not valid: expected an integer ≥ 0'],
    [
      'retries',
      NaN,
      { integer: true, orInfinity: true, remedy: '0 never retries' },
      'retries NaN is not valid: expected an integer ≥ 0 or Infinity; 0 never retries',
    ],
  ])('says of %s %o what is expected', (field, value, range, problem) => {
    expect(numberProblem(field, value, range)).toBe(problem);
  });
});
