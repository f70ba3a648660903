/** Random choices from a seed (mulberry32). */
export interface Chooser {
  next(): number;
  below(limit: number): number;
  one<T>(values: readonly T[]): T;
  chance(probability: number): boolean;
}

export function chooser(seed: number): Chooser {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    one(values) {
      const value = values[below(values.length)];
      if (value === undefined) throw new RangeError('there is nothing to choose from');
      return value;
    },
    chance: (probability) => next() < probability,
  };
}
