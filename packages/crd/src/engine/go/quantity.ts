/** Resource quantities: `500m`, `1.5Gi`, `1e3`. Mirrors apimachinery's `resource.Quantity`. */

/** Thrown for a text that is not a quantity; the message is Go's. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

/** A parsed quantity: `nanos` × 10^-9, and how it was written. */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: 'binary' | 'decimal' | 'exponent';
}

const scale = 10n ** 9n;

function fail(): never {
  throw new QuantityError(
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  );
}

/** Divides, rounding away from zero, as upstream rounds what is finer than a nano. */
function divideAway(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (quotient * divisor === value) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

/** Parses a quantity. @throws QuantityError */
export function parseQuantity(text: string): Quantity {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?([a-zA-Z]*)([+-]?\d*)$/.exec(text);
  if (match === null) fail();
  const [, sign = '', whole = '', fraction = '', suffix = '', exponent = ''] = match;
  if (whole === '' && fraction === '') fail();
  let value = BigInt(whole + fraction) * scale;
  let divisor = 10n ** BigInt(fraction.length);
  let format: Quantity['format'] = 'decimal';
  const binary = suffix === '' ? -1 : binarySuffixes.findIndex((each) => each === suffix);
  if ((suffix === 'e' || suffix === 'E') && exponent !== '') {
    const power = Number(exponent);
    if (!Number.isInteger(power) || Math.abs(power) > 100) fail();
    if (power >= 0) value *= 10n ** BigInt(power);
    else divisor *= 10n ** BigInt(-power);
    format = 'exponent';
  } else if (exponent !== '') {
    fail();
  } else if (binary > 0) {
    value *= 1024n ** BigInt(binary);
    format = 'binary';
  } else {
    const index = decimalSuffixes.findIndex((each) => each === suffix);
    if (index < 0) fail();
    if (index >= 3) value *= 1000n ** BigInt(index - 3);
    else divisor *= 1000n ** BigInt(3 - index);
  }
  const nanos = divideAway(value, divisor);
  return { nanos: sign === '-' ? -nanos : nanos, format };
}

function formatBinary(nanos: bigint): string {
  let value = divideAway(nanos, scale);
  let power = 0;
  while (value !== 0n && value % 1024n === 0n && power < binarySuffixes.length - 1) {
    value /= 1024n;
    power += 1;
  }
  return `${value}${binarySuffixes[power] ?? ''}`;
}

/** The canonical text: what a real server stores and returns for an equal quantity. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  const isSmall = nanos > -1024n * scale && nanos < 1024n * scale;
  if (format === 'binary' && !isSmall) return formatBinary(nanos);
  let value = nanos;
  let power = 0;
  while (value % 1000n === 0n && power < decimalSuffixes.length - 1) {
    value /= 1000n;
    power += 1;
  }
  if (format !== 'exponent') return `${value}${decimalSuffixes[power] ?? ''}`;
  const exponent = (power - 3) * 3;
  return exponent === 0 ? value.toString() : `${value}e${exponent}`;
}

/** Canonicalises a quantity. @throws QuantityError */
export function canonicalQuantity(text: string): string {
  return formatQuantity(parseQuantity(text.trim()));
}
