/** A double as Go's `strconv.FormatFloat(x, 'g', -1, 64)` writes it: `1e+06` from a million on, `1e-05` below 0.0001. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}

/** A finite double with so many digits behind the point, as Go's `%f`: never with an exponent. */
export function fixedDouble(value: number, digits: number): string {
  if (Math.abs(value) < 1e21) return value.toFixed(digits);
  return `${BigInt(value)}${digits === 0 ? '' : `.${'0'.repeat(digits)}`}`;
}

const quotes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** A string in double quotes with the escapes of CEL. */
export function quoteText(text: string): string {
  return `"${text.replaceAll(/["\\\u0007\b\f\n\r\t\v]/g, (char) => quotes[char] ?? char)}"`;
}
