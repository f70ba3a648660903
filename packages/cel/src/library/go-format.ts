/** A double as Go's `strconv.FormatFloat(x, 'g', -1, 64)` writes it: `1e+06` is `1e+06`, small ones are plain. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 21) return plainDouble(value);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}

function plainDouble(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  return value.toFixed(20).replace(/0+$/, '').replace(/\.$/, '');
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
