/** How a quantity is written: `500m`, `2Gi` or `1e3`. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** The part that makes a string no quantity, which is the form as a whole, the suffix, or the number before it. */
export type QuantityProblem = 'format' | 'numeric' | 'suffix';

/** A parsed quantity string, `digits × 2^bits × 10^power`. */
export interface QuantityText {
  readonly isNegative: boolean;
  /** Without a sign. */
  readonly digits: bigint;
  readonly bits: bigint;
  readonly power: number;
  readonly format: QuantityFormat;
}

const grammar = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[+-]?\d*)$/;
const powers: ReadonlyMap<string, number> = new Map(
  ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].map((suffix, index) => [suffix, (index - 3) * 3]),
);
const bitsOf: ReadonlyMap<string, bigint> = new Map(
  ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, index) => [suffix, BigInt(index + 1) * 10n]),
);
/** Digits and powers of ten beyond this take long to compute with, and are refused. Upstream takes them. */
export const maxQuantityDigits = 4096;

/**
 * Reads a quantity string as `resource.ParseQuantity` does, including its leniency. A sign, a point or a suffix alone
 * is zero, so `Ki` is a quantity.
 */
export function readQuantity(text: string): QuantityText | QuantityProblem {
  const match = text === '' || text.length > maxQuantityDigits ? null : grammar.exec(text);
  if (match === null) return 'format';
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  const isNegative = sign === '-';
  const digits = BigInt(whole + fraction);
  const hasDigits = whole + fraction !== '';
  const bits = bitsOf.get(suffix);
  // Upstream reads short numbers by themselves, without asking whether there are digits; other ones have to have some.
  if (bits !== undefined && bits >= 50n && !hasDigits) return 'numeric';
  if (bits !== undefined) return { isNegative, digits, bits, power: -fraction.length, format: 'BinarySI' };
  const known = powers.get(suffix);
  const exponent = known ?? exponentOf(suffix);
  if (exponent === undefined) return 'suffix';
  if (!hasDigits && exponent < -9) return 'numeric';
  const power = exponent - fraction.length;
  if (power > maxQuantityDigits && digits !== 0n) return 'format';
  return { isNegative, digits, bits: 0n, power, format: known === undefined ? 'DecimalExponent' : 'DecimalSI' };
}

function exponentOf(suffix: string): number | undefined {
  if (!/^[eE][+-]?\d+$/.test(suffix)) return undefined;
  const exponent = BigInt(suffix.slice(1).replace('+', ''));
  const isInt64 = BigInt.asIntN(64, exponent) === exponent;
  // Upstream keeps the lower 32 bits.
  return isInt64 ? Number(BigInt.asIntN(32, exponent)) : undefined;
}

/**
 * Reports whether upstream's parser keeps a string instead of its canonical form, which it does for short numbers whose
 * ending looks canonical.
 */
export function isKeptAsWritten(text: string): boolean {
  const [, , whole = '', fraction = '', suffix = ''] = grammar.exec(text) ?? [];
  const number = whole.replace(/^0+/, '');
  const digits = number + fraction;
  // A number that begins with 0 is not kept, except `0` itself.
  if (number === '') return text === '0';
  const bits = bitsOf.get(suffix);
  if (bits !== undefined) {
    const isShort = fraction === '' && number.length <= 14 - Math.trunc((Number(bits) * 3) / 10);
    return isShort && BigInt(number) % 8n !== 0n;
  }
  const exponent = powers.get(suffix) ?? exponentOf(suffix);
  if (exponent === undefined || digits.length > 18) return false;
  const scale = exponent - fraction.length;
  return scale >= -9 && scale % 3 === 0 && !digits.endsWith('000');
}
