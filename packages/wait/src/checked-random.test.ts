import { expect, it } from 'vitest';
import { checkedRandom, guardedRandom } from './checked-random.js';
import { systemRandom } from './system-clock.js';

it.each([Number.NaN, -0.1, 1.5, null, undefined, '0.5', 5n])('refuses %s', (value) => {
  expect(checkedRandom(() => value as never)).toThrow(
    /^random returned .*: expected a number from 0 to 1, such as Math\.random\(\) returns$/,
  );
});

it.each([0, 0.5, 1])('passes %s on', (value) => {
  expect(checkedRandom(() => value)()).toBe(value);
});

it('goes on with Math.random when the function fails, and reports the first failure alone', () => {
  const reported: unknown[] = [];
  const values = [Number.NaN, 0.25, 7];
  const random = guardedRandom(
    () => values.shift() ?? Number.NaN,
    (error) => reported.push(error),
  );
  const [first, second, third] = [random(), random(), random()];
  expect(second).toBe(0.25);
  for (const value of [first, third]) expect(value >= 0 && value < 1).toBe(true);
  expect(reported).toEqual([expect.objectContaining({ message: expect.stringContaining('random returned NaN') })]);
});

it('reports a function that throws undefined', () => {
  const reported: unknown[] = [];
  const throwing = (): never => {
    throw undefined as unknown as Error;
  };
  guardedRandom(throwing, (error) => reported.push(error))();
  expect(reported).toEqual([new TypeError('random threw undefined: expected a number from 0 to 1')]);
});

it('leaves the randomness of the machine as it is', () => {
  expect(checkedRandom(systemRandom)).toBe(systemRandom);
  expect(guardedRandom(systemRandom, () => undefined)).toBe(systemRandom);
});
