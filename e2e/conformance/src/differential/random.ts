/** Seeded randomness: the same seed makes the same calls. */
export interface Random {
  /** 0 ≤ x < 1 */
  next(): number;
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
  /** One of the values, each as likely as its weight says. */
  weighted<T>(values: readonly (readonly [weight: number, value: T])[]): T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32: 32 bits of state suffice for test data.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: <T>(values: readonly T[]): T => values[below(values.length)] as T,
    weighted<T>(values: readonly (readonly [number, T])[]): T {
      let left = next() * values.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of values) if ((left -= weight) < 0) return value;
      return (values.at(-1) as readonly [number, T])[1];
    },
  };
}
