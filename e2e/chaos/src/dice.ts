/** Reproducible choices. */
export interface Dice {
  /** In [0, 1). */
  next(): number;
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** One of the values, each as likely as its weight says. */
  weighted<T>(items: readonly (readonly [weight: number, value: T])[]): T;
  /** Dice of their own, so that what one loop draws does not depend on how fast another runs. */
  fork(): Dice;
}

/** mulberry32: small, and good enough to choose what to break. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new RangeError('there is nothing to pick from');
    return items[Math.floor(next() * items.length)]!;
  };
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    pick,
    weighted: (items) => {
      let rest = next() * items.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of items) if ((rest -= weight) < 0) return value;
      return items.at(-1)![1];
    },
    fork: () => createDice(Math.floor(next() * 2 ** 32)),
  };
}
