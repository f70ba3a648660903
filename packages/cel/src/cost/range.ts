/** The largest number of an estimate, 2^64 - 1 upstream, at which additions and products saturate. */
export const unlimited: number = 2 ** 64;

/** A range of sizes or costs. Arithmetic stops at {@link unlimited}. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

const clamp = (value: number): number => Math.min(value, unlimited);

export function range(min: number, max: number = min): Range {
  return { min, max };
}

export const unknown: Range = { min: 0, max: unlimited };
export const zero: Range = { min: 0, max: 0 };
export const one: Range = { min: 1, max: 1 };

export function add(a: Range, b: Range): Range {
  return { min: clamp(a.min + b.min), max: clamp(a.max + b.max) };
}

export function sum(ranges: readonly Range[]): Range {
  return ranges.reduce(add, zero);
}

export function multiply(a: Range, b: Range): Range {
  return { min: clamp(a.min * b.min), max: clamp(a.max * b.max) };
}

/** Times a cost factor, rounded up. */
export function scale(a: Range, factor: number): Range {
  return { min: clamp(Math.ceil(a.min * factor)), max: clamp(Math.ceil(a.max * factor)) };
}

export function union(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}
