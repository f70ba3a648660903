/** A quantity as it stands in objects: text such as `500m`, `1.5`, `2Gi`, `1e3`, or a JSON number. */
export type Quantity = string | number;

/** How a quantity is written: `500m`, `2Gi` or `1e3`. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** A parsed quantity: exact, in billionths of a unit, which is the finest that Kubernetes represents. */
export interface ParsedQuantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

const code = 'KCTL_QUANTITY';

/** Thrown when a text is not a quantity. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_QUANTITY' = code;
  /** What was given. */
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    super(
      `${JSON.stringify(quantity)} is not a quantity: expected a number with an optional suffix ` +
        '(n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3)',
    );
    this.quantity = quantity;
  }
}

/** Whether an error is a {@link QuantityError}, also one of another copy of this package. */
export function isQuantityError(error: unknown): error is QuantityError {
  return error instanceof Error && 'code' in error && error.code === code;
}

const nano = 1_000_000_000n;
const largest = (2n ** 63n - 1n) * nano;
const grammar = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d+))?$/;
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/**
 * Parses a quantity exactly. As in Kubernetes, what is finer than a billionth is rounded away from zero, and a binary
 * quantity is capped at 2^63 − 1.
 *
 * @throws QuantityError
 */
export function parseQuantity(quantity: Quantity): ParsedQuantity {
  const match = grammar.exec(typeof quantity === 'number' ? String(quantity) : quantity);
  const [, sign, whole = '', fraction = '', binary, decimal = '', exponent] = match ?? [];
  if (match === null || whole + fraction === '') throw new QuantityError(quantity);
  const power = exponent === undefined ? (decimalSuffixes.indexOf(decimal) - 3) * 3 : Number(exponent);
  // Beyond this nothing but zero or the cap could come out, after a number that takes long to compute.
  if (Math.abs(power) > 4096) throw new QuantityError(quantity);
  const factor = binary === undefined ? 1n : 1024n ** BigInt(binarySuffixes.indexOf(binary));
  const size = shiftDecimal(BigInt(whole + fraction) * factor, 9 + power - fraction.length);
  const format = formatOf(binary, exponent, size);
  const nanos = format === 'BinarySI' && size > largest ? largest : size;
  return { nanos: sign === '-' ? -nanos : nanos, format };
}

function formatOf(binary: string | undefined, exponent: string | undefined, nanos: bigint): QuantityFormat {
  if (exponent !== undefined) return 'DecimalExponent';
  // 0.5Ki is binary, 0.0001Ki is not: below one unit, only decimals are exact.
  return binary === undefined || (nanos > 0n && nanos < nano) ? 'DecimalSI' : 'BinarySI';
}

/** `value × 10^places`, rounded up. */
function shiftDecimal(value: bigint, places: number): bigint {
  if (places >= 0) return value * 10n ** BigInt(places);
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
 * The canonical text: no fraction, no loss of precision, the largest suffix that allows it. `1000m` → `1`,
 * `1.5Gi` → `1536Mi`, `0.5` → `500m`. Two quantities with the same value and format have the same text.
 */
export function formatQuantity({ nanos, format }: ParsedQuantity): string {
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
  let mantissa = nanos;
  let step = 0;
  const isExponent = format === 'DecimalExponent';
  for (; (isExponent || step < decimalSuffixes.length - 1) && mantissa % 1000n === 0n; step++) mantissa /= 1000n;
  if (!isExponent) return `${mantissa}${decimalSuffixes[step] ?? ''}`;
  const exponent = (step - 3) * 3;
  return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
}

/**
 * The canonical text of a quantity: how the API server writes it. @throws QuantityError
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

/** Orders quantities by value: `1000m` equals `1`. @throws QuantityError */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const left = parseQuantity(a).nanos;
  const right = parseQuantity(b).nanos;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The exact sum, canonical, in the format of `a` (of `b` where `a` is zero). @throws QuantityError */
export function addQuantities(a: Quantity, b: Quantity): string {
  return combine(a, b, (left, right) => left + right);
}

/** The exact difference `a − b`, canonical, in the format of `a` (of `b` where `a` is zero). @throws QuantityError */
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
