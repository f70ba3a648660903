import type { Curve } from './axes.js';

/** A figure at one value of what grows. */
export interface Measured {
  readonly at: number;
  readonly value: number;
}

/**
 * With which power a figure grows at the end of its curve: the slope between the last two points, both axes logarithmic.
 * The beginning says nothing, as what a process takes anyway hides what grows. Null where the last value is below what
 * the curve is looked at from: it is noise.
 */
export function exponentOf(curve: Curve, points: readonly Measured[]): number | null {
  const [before, last] = points.slice(-2);
  if (before === undefined || last === undefined || last.value < curve.from) return null;
  return Math.log(last.value / before.value) / Math.log(last.at / before.at);
}

/** What a figure may grow more than the work does: the noise of a good machine. */
const tolerance = 0.15;

/** Whether a figure grows more than the work does. */
export function isDefect(curve: Curve, exponent: number | null): boolean {
  return exponent !== null && exponent > curve.inherent + tolerance;
}
