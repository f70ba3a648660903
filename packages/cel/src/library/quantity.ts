import type { FunctionEntry } from '../check/functions.js';
import { structType, type CelType } from '../types/type.js';
import { Failure, LibraryValue, noSuchOverload, type Value } from '../values/value.js';

const nano = 1_000_000_000n;
const shape = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[+-]?\d*)$/;
const decimal: Readonly<Record<string, number>> = { '': 0, n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binary: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };
const problem = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const maxDigits = 1000;

class QuantityValue extends LibraryValue {
  override readonly type: CelType = structType('kubernetes.Quantity');
  /** In billionths, as exact as a quantity is. */
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }

  override equals(other: Value): boolean {
    return other instanceof QuantityValue && other.nanos === this.nanos;
  }
}

/** Division that rounds away from zero, as quantities do beyond nano. */
function divideUp(value: bigint, by: bigint): bigint {
  return value % by === 0n ? value / by : value / by + 1n;
}

/** What power of ten a suffix stands for; undefined for one that does not exist, or is larger than any sensible one. */
function exponentOf(suffix: string): number | undefined {
  return decimal[suffix] ?? (/^[eE][+-]?\d{1,3}$/.test(suffix) ? Number(suffix.slice(1)) : undefined);
}

function parseQuantity(text: string): QuantityValue | Failure {
  const match = text.length > maxDigits ? null : shape.exec(text);
  if (match === null || text === '') return new Failure(problem);
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  const bits = binary[suffix];
  const exponent = bits === undefined ? exponentOf(suffix) : 0;
  if (exponent === undefined) return new Failure("unable to parse quantity's suffix");
  // Upstream takes a suffix or a point alone for zero, unless it needs its slow path for it.
  if (whole + fraction === '' && exponent < -9) return new Failure('unable to parse numeric part of quantity');
  const digits = BigInt(whole + fraction);
  const power = exponent + 9 - fraction.length;
  let nanos = bits === undefined ? digits : digits << bits;
  nanos = power >= 0 ? nanos * 10n ** BigInt(power) : divideUp(nanos, 10n ** BigInt(-power));
  return new QuantityValue(sign === '-' ? -nanos : nanos);
}

function onTwo(call: (a: bigint, b: bigint) => Value): FunctionEntry['call'] {
  return ([a, b]) => {
    if (!(a instanceof QuantityValue)) return noSuchOverload;
    if (b instanceof QuantityValue) return call(a.nanos, b.nanos);
    return typeof b === 'bigint' ? call(a.nanos, b * nano) : noSuchOverload;
  };
}

function onOne(call: (value: bigint) => Value | Failure): FunctionEntry['call'] {
  return ([value]) => (value instanceof QuantityValue ? call(value.nanos) : noSuchOverload);
}

function order(a: bigint, b: bigint): bigint {
  return a < b ? -1n : a > b ? 1n : 0n;
}

const isWhole = (nanos: bigint): boolean =>
  nanos % nano === 0n && nanos / nano >= -(2n ** 63n) && nanos / nano <= 2n ** 63n - 1n;

const quantity = 'kubernetes.Quantity';

/** Kubernetes' quantities. */
export const quantityLibrary: readonly FunctionEntry[] = [
  {
    name: 'quantity',
    id: 'string_to_quantity',
    type: `(string): ${quantity}`,
    call: ([text]) => (typeof text === 'string' ? parseQuantity(text) : noSuchOverload),
  },
  {
    name: 'isQuantity',
    id: 'is_quantity_string',
    type: '(string): bool',
    call: ([text]) => (typeof text === 'string' ? !(parseQuantity(text) instanceof Failure) : noSuchOverload),
  },
  // As upstream, which declares it as a function, not as a member.
  { name: 'sign', id: 'quantity_sign', type: `(${quantity}): int`, call: onOne((value) => order(value, 0n)) },
  {
    name: 'isGreaterThan',
    id: 'quantity_is_greater_than',
    type: `${quantity}.(${quantity}): bool`,
    call: onTwo((a, b) => a > b),
  },
  {
    name: 'isLessThan',
    id: 'quantity_is_less_than',
    type: `${quantity}.(${quantity}): bool`,
    call: onTwo((a, b) => a < b),
  },
  { name: 'compareTo', id: 'quantity_compare_to', type: `${quantity}.(${quantity}): int`, call: onTwo(order) },
  {
    name: 'asApproximateFloat',
    id: 'quantity_get_float',
    type: `${quantity}.(): double`,
    call: onOne((value) => Number(value) / 1e9),
  },
  {
    name: 'asInteger',
    id: 'quantity_get_int',
    type: `${quantity}.(): int`,
    call: onOne((value) => (isWhole(value) ? value / nano : new Failure('cannot convert value to integer'))),
  },
  { name: 'isInteger', id: 'quantity_is_integer', type: `${quantity}.(): bool`, call: onOne(isWhole) },
  ...(['add', 'sub'] as const).flatMap((name) => {
    const call = onTwo((a, b) => new QuantityValue(name === 'add' ? a + b : a - b));
    return [
      { name, id: `quantity_${name}`, type: `${quantity}.(${quantity}): ${quantity}`, call },
      { name, id: `quantity_${name}_int`, type: `${quantity}.(int): ${quantity}`, call },
    ];
  }),
];
