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

/** A finite, positive double times a power of ten, as an integer. Exact ties go to even, as in Go's `strconv`. */
function scaled(value: number, digits: number): bigint {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0) & (2n ** 63n - 1n);
  const biased = Number(raw >> 52n);
  const mantissa = (raw & (2n ** 52n - 1n)) | (biased === 0 ? 0n : 2n ** 52n);
  const exponent = Math.max(biased, 1) - 1075;
  const numerator = (mantissa << BigInt(Math.max(exponent, 0))) * 10n ** BigInt(Math.max(digits, 0));
  const denominator = (1n << BigInt(Math.max(-exponent, 0))) * 10n ** BigInt(Math.max(-digits, 0));
  const [quotient, twice] = [numerator / denominator, (numerator % denominator) * 2n];
  const isUp = twice > denominator || (twice === denominator && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}

/** Digits of the exact value of a double at most; further ones are zeros. */
const maxDigits = 1074;

/** A finite double with so many digits behind the point, as Go's `%f`: never with an exponent. */
export function fixedDouble(value: number, digits: number): string {
  const exact = Math.min(digits, maxDigits);
  const text = scaled(value, exact)
    .toString()
    .padStart(exact + 1, '0');
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const whole = text.slice(0, text.length - exact);
  return `${sign}${whole}${digits === 0 ? '' : `.${text.slice(text.length - exact).padEnd(digits, '0')}`}`;
}

/** A finite double as Go's `%e`: one digit, so many behind the point, and the power of ten. */
export function scientificDouble(value: number, digits: number): { mantissa: string; exponent: number } {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (value === 0) return { mantissa: sign + (0).toFixed(digits), exponent: 0 };
  let exponent = Number(value.toExponential().split('e')[1] ?? '0');
  // The shortest representation may have been rounded up to the next power of ten.
  const lowest = 10n ** BigInt(digits);
  let all = scaled(value, digits - exponent);
  if (all < lowest) all = scaled(value, digits - --exponent);
  if (all >= lowest * 10n) [all, exponent] = [all / 10n, exponent + 1];
  const text = all.toString();
  return { mantissa: `${sign}${text.slice(0, 1)}${digits === 0 ? '' : `.${text.slice(1)}`}`, exponent };
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

function goEscape(char: string): string {
  const known = quotes[char];
  if (known !== undefined) return known;
  const code = char.codePointAt(0) ?? 0;
  const hex = (length: number): string => code.toString(16).padStart(length, '0');
  if (code < 0x80) return `\\x${hex(2)}`;
  return code > 0xffff ? `\\U${hex(8)}` : `\\u${hex(4)}`;
}

/** A string in double quotes as Go's `%q` writes it, with unprintable characters escaped. */
export function goQuote(text: string): string {
  return `"${text.replaceAll(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, goEscape)}"`;
}
