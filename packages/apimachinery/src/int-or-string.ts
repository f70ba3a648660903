/** A number, or text such as `25%` or the name of a port: `intstr.IntOrString` as it stands in JSON. */
export type IntOrString = number | string;

/** What {@link scalePercent} does with a fraction. */
export type Rounding = 'up' | 'down';

/** The number where text is one, the text itself otherwise. Mirrors `intstr.Parse`. */
export function parseIntOrString(text: string): IntOrString {
  const value = Number(text);
  return /^[+-]?\d+$/.test(text) && value >= -(2 ** 31) && value < 2 ** 31 ? value : text;
}

/**
 * An absolute number from a number or a percentage of `total`: `scalePercent('25%', 10, 'up')` is 3. Mirrors
 * `intstr.GetScaledValueFromIntOrPercent`.
 *
 * @throws TypeError when the text is not a whole percentage
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
