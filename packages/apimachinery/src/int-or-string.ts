/** A number, or a string such as `25%` or the name of a port. The JSON form of `intstr.IntOrString`. */
export type IntOrString = number | string;

/** How {@link scalePercent} rounds a fraction. */
export type Rounding = 'up' | 'down';

/** Returns the number if the string is one, otherwise the string itself. Mirrors `intstr.Parse`. */
export function parseIntOrString(text: string): IntOrString {
  const value = Number(text);
  return /^[+-]?\d+$/.test(text) && value >= -(2 ** 31) && value < 2 ** 31 ? value : text;
}

/**
 * An absolute number from a number or a percentage of `total`: `scalePercent('25%', 10, 'up')` is 3. Mirrors
 * `intstr.GetScaledValueFromIntOrPercent`.
 *
 * @throws TypeError when the string is not a whole percentage
 */
export function scalePercent(value: IntOrString, total: number, rounding: Rounding): number {
  if (typeof value === 'number') return value;
  const percent = /^[+-]?\d+(?=%$)/.exec(value)?.[0];
  if (percent === undefined)
    throw new TypeError(
      `scalePercent: ${JSON.stringify(value)} is neither a number nor a whole percentage such as 25%`,
    );
  const scaled = Number(percent) * total;
  return rounding === 'up' ? Math.ceil(scaled / 100) : Math.floor(scaled / 100);
}
