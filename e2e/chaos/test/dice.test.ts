import { describe, expect, it } from 'vitest';
import { createDice } from '../src/dice.js';
import { drawFault } from '../src/faults.js';

describe('dice', () => {
  it('repeats itself for a seed, and for no other', () => {
    const draw = (seed: number): string => {
      const dice = createDice(seed);
      return JSON.stringify(Array.from({ length: 50 }, () => drawFault(dice, { userAgent: 'it' }, 'all')));
    };
    expect(draw(7)).toBe(draw(7));
    expect(draw(7)).not.toBe(draw(8));
  });

  it('keeps within its bounds, and reaches them', () => {
    const dice = createDice(1);
    const drawn = Array.from({ length: 500 }, () => dice.between(2, 5));
    expect([...new Set(drawn)].sort()).toEqual([2, 3, 4, 5]);
  });

  it('draws by weight', () => {
    const dice = createDice(1);
    const heavy = Array.from({ length: 1000 }, () =>
      dice.weighted([
        [9, 'heavy'],
        [1, 'light'],
      ]),
    ).filter((value) => value === 'heavy').length;
    expect(heavy).toBeGreaterThan(850);
    expect(heavy).toBeLessThan(950);
  });
});
