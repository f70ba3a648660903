/**
 * A number as Go's Prometheus client writes it (`strconv.FormatFloat(value, 'g', -1, 64)`): 1e-08 and 1.048576e+06 where
 * JavaScript writes 1e-8 and 1048576. The text of an `le` label is part of the identity of its series.
 */
export function goNumber(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (!Number.isFinite(value) || value === 0 || (power >= -4 && power < 6)) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
