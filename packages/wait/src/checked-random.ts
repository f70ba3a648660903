import { shownArgument } from '@kctl/options';
import type { Random } from './clock.js';
import { systemRandom } from './system-clock.js';

/**
 * Returns a source of randomness that refuses what is not a number from 0 to 1, which would make a delay of NaN, or the
 * engine's error about a symbol.
 *
 * @throws TypeError, by the returned function, naming what `random` returned
 */
export function checkedRandom(random: Random): Random {
  if (random === systemRandom) return random;
  return () => {
    const value: unknown = random();
    if (typeof value === 'number' && value >= 0 && value <= 1) return value;
    throw new TypeError(
      `random returned ${shownArgument(value)}: expected a number from 0 to 1, such as Math.random() returns`,
    );
  };
}

/**
 * Returns a source of randomness for loops that must go on: a failure of `random` is reported once, and
 * {@link systemRandom} stands in for it.
 */
export function guardedRandom(random: Random, report: (error: unknown) => void): Random {
  if (random === systemRandom) return random;
  const checked = checkedRandom(random);
  let isReported = false;
  return () => {
    try {
      return checked();
    } catch (error) {
      if (!isReported) report(error ?? new TypeError('random threw undefined: expected a number from 0 to 1'));
      isReported = true;
      return systemRandom();
    }
  };
}
