import { requireRecord } from './arguments/require-arguments.js';
import {
  isKeptAsWritten,
  maxQuantityDigits,
  type QuantityFormat,
  type QuantityProblem,
  readQuantity,
} from './quantity/quantity-text.js';

/** A quantity as it appears in objects, which is a string such as `500m`, `1.5`, `2Gi`, `1e3`, or a JSON number. */
export type Quantity = string | number;

/** A parsed quantity, exact to billionths of a unit, the finest resolution of Kubernetes. */
export interface ParsedQuantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

const code = 'KCTL_QUANTITY';

const serverMessages: Readonly<Record<QuantityProblem, string>> = {
  format: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  numeric: 'unable to parse numeric part of quantity',
  suffix: "unable to parse quantity's suffix",
};

/** Thrown when a string is not a quantity. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_QUANTITY' = code;
  /** The input. */
  readonly quantity: Quantity;
  /** The invalid part, which is the form as a whole, the suffix, or the number before it. */
  readonly problem: QuantityProblem;

  constructor(quantity: Quantity, problem: QuantityProblem = 'format') {
    super(
      `${shown(quantity)} is not a quantity: expected a number with an optional suffix ` +
        '(n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3)',
    );
    this.quantity = quantity;
    this.problem = problem;
  }

  /** The API server's message for the same input. */
  get serverMessage(): string {
    return serverMessages[this.problem];
  }
}

function shown(given: unknown): string {
  return typeof given === 'string' ? JSON.stringify(given) : String(given);
}

/** Whether an error is a {@link QuantityError}, also one of another copy of this package. */
export function isQuantityError(error: unknown): error is QuantityError {
  return error instanceof Error && 'code' in error && error.code === code;
}

const nano = 1_000_000_000n;
const largest = (2n ** 63n - 1n) * nano;
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/**
 * Parses a quantity exactly. As in Kubernetes, a value finer than a billionth is rounded away from zero, and a binary
 * quantity is capped at 2^63 - 1. Accepts the strings that the API server accepts, including a suffix alone (`Ki`,
 * which is zero); more than 4,096 digits are refused.
 *
 * @throws QuantityError
 */
export function parseQuantity(quantity: Quantity): ParsedQuantity {
  const given: unknown = quantity;
  // A JSON number beyond 2^53 is a bigint.
  const text = typeof given === 'number' || typeof given === 'bigint' ? String(given) : given;
  const read = typeof text === 'string' ? readQuantity(text) : 'format';
  if (typeof read === 'string') throw new QuantityError(quantity, read);
  const { isNegative, digits, bits, power } = read;
  const size = shiftDecimal(digits << bits, 9 + power);
  // 0.5Ki is binary, 0.0001Ki is not. Below one unit, only decimals are exact.
  const isFraction = read.format === 'BinarySI' && size > 0n && size < nano;
  const nanos = read.format === 'BinarySI' && size > largest ? largest : size;
  return { nanos: isNegative ? -nanos : nanos, format: isFraction ? 'DecimalSI' : read.format };
}

/** `value × 10^places`, rounded up. */
function shiftDecimal(value: bigint, places: number): bigint {
  if (value === 0n) return 0n;
  if (places >= 0) return value * 10n ** BigInt(places);
  if (-places > maxQuantityDigits * 2) return 1n;
  const divisor = 10n ** BigInt(-places);
  return (value + divisor - 1n) / divisor;
}

/** Whether a value can be parsed as a quantity. */
export function isQuantity(value: unknown): value is Quantity {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  try {
    parseQuantity(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * The canonical string, with no fraction, no loss of precision and the largest suffix that allows it. `1000m` → `1`,
 * `1.5Gi` → `1536Mi`, `0.5` → `500m`. Two quantities with the same value and format have the same string.
 */
export function formatQuantity(quantity: ParsedQuantity): string {
  requireRecord('formatQuantity', 'quantity', quantity, 'what parseQuantity returns');
  const { nanos, format } = quantity;
  if (typeof nanos !== 'bigint')
    throw new TypeError(
      `formatQuantity: nanos is of type ${typeof nanos}: expected a bigint, as parseQuantity returns`,
    );
  if (nanos === 0n) return '0';
  const size = nanos < 0n ? -nanos : nanos;
  const isBinary = format === 'BinarySI' && size >= 1024n * nano && size % nano === 0n;
  if (!isBinary) return formatDecimal(nanos, format);
  let units = nanos / nano;
  let step = 0;
  for (; step < binarySuffixes.length - 1 && units % 1024n === 0n; step++) units /= 1024n;
  return `${units}${binarySuffixes[step] ?? ''}`;
}

function formatDecimal(nanos: bigint, format: QuantityFormat): string {
  const text = nanos.toString();
  const zeros = text.length - text.replace(/0+$/, '').length;
  const steps = Math.floor(zeros / 3);
  const mantissa = (count: number): string => text.slice(0, text.length - count * 3);
  if (format === 'DecimalExponent') return steps === 3 ? mantissa(3) : `${mantissa(steps)}e${(steps - 3) * 3}`;
  const step = Math.min(steps, decimalSuffixes.length - 1);
  return mantissa(step) + (decimalSuffixes[step] ?? '');
}

/**
 * Returns the canonical string of a quantity, as the API server writes it. @throws QuantityError
 *
 * @example
 * ```ts
 * import { canonicalQuantity } from '@kctl/apimachinery';
 *
 * canonicalQuantity('1000m'); // '1'
 * ```
 */
export function canonicalQuantity(quantity: Quantity): string {
  return formatQuantity(parseQuantity(quantity));
}

/**
 * Returns the string that the API server stores in a built-in object. It is kept as written if the API server's parser
 * considers it canonical (`+1Gi` and `1.500` among others), and is {@link canonicalQuantity} otherwise. A decimal
 * beyond `E` loses its suffix, as on the server.
 *
 * @throws QuantityError
 */
export function storedQuantity(text: string): string {
  if (isKeptAsWritten(text)) {
    parseQuantity(text);
    return text;
  }
  return canonicalQuantity(text).replace(/^(-?\d+?)(?:000)+E$/, '$1');
}

/** Orders quantities by value: `1000m` equals `1`. @throws QuantityError */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const left = parseQuantity(a).nanos;
  const right = parseQuantity(b).nanos;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns the exact sum, canonical, in the format of `a` (of `b` if `a` is zero). @throws QuantityError */
export function addQuantities(a: Quantity, b: Quantity): string {
  return combine(a, b, (left, right) => left + right);
}

/**
 * Returns the exact difference `a − b`, canonical, in the format of `a` (of `b` if `a` is zero). @throws QuantityError
 */
export function subtractQuantities(a: Quantity, b: Quantity): string {
  return combine(a, b, (left, right) => left - right);
}

function combine(a: Quantity, b: Quantity, operate: (left: bigint, right: bigint) => bigint): string {
  const left = parseQuantity(a);
  const right = parseQuantity(b);
  return formatQuantity({ nanos: operate(left.nanos, right.nanos), format: (left.nanos === 0n ? right : left).format });
}

/** The nearest JavaScript number, in units: `500m` → 0.5. @throws QuantityError */
export function quantityToNumber(quantity: Quantity): number {
  const { nanos } = parseQuantity(quantity);
  return nanos % nano === 0n ? Number(nanos / nano) : Number(nanos) / Number(nano);
}
