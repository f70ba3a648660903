/** A seeded source of random choices: one seed, one history. */
export interface Chance {
  /** In [0, 1). */
  next(): number;
  /** An integer in [0, below). */
  int(below: number): number;
  /** True with this probability. */
  maybe(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** mulberry32: small, fast, good enough to choose faults. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return { next, int, maybe: (probability) => next() < probability, pick: (from) => from[int(from.length)]! };
}
