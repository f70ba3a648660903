import { isQuantityError, parseQuantity } from '@kctl/apimachinery';
import type { FunctionEntry } from '../check/functions.js';
import { structType, type CelType } from '../types/type.js';
import { Failure, LibraryValue, noSuchOverload, type Value } from '../values/value.js';

const nano = 1_000_000_000n;
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

function quantityOf(text: string): QuantityValue | Failure {
  try {
    return new QuantityValue(parseQuantity(text).nanos);
  } catch (error) {
    if (isQuantityError(error)) return new Failure(error.serverMessage);
    throw error;
  }
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
    call: ([text]) => (typeof text === 'string' ? quantityOf(text) : noSuchOverload),
  },
  {
    name: 'isQuantity',
    id: 'is_quantity_string',
    type: '(string): bool',
    call: ([text]) => (typeof text === 'string' ? !(quantityOf(text) instanceof Failure) : noSuchOverload),
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
