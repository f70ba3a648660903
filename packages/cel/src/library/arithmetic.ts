import type { FunctionEntry } from '../check/functions.js';
import { isTimeInRange } from '../values/time.js';
import { Duration, Failure, ListValue, noSuchOverload, Timestamp, Uint, type Value } from '../values/value.js';

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;
/** Longest string that an expression may build. */
const maxText = 2 ** 26;

export function checkedInt(value: bigint): bigint | Failure {
  return value < minInt || value > maxInt ? new Failure('integer overflow') : value;
}

export function checkedUint(value: bigint): Uint | Failure {
  return value < 0n || value > maxUint ? new Failure('unsigned integer overflow') : new Uint(value);
}

function checkedDuration(nanos: bigint): Duration | Failure {
  return nanos < minInt || nanos > maxInt ? new Failure('duration overflow') : new Duration(nanos);
}

function checkedTime(nanos: bigint): Timestamp | Failure {
  return isTimeInRange(nanos) ? new Timestamp(nanos) : new Failure('timestamp overflow');
}

interface Operations {
  readonly ints: (a: bigint, b: bigint) => bigint | Failure;
  readonly doubles?: (a: number, b: number) => number;
}

/** An operator over numbers, each type separately, so that they can be listed in cel-go's order. */
interface Operation {
  readonly double: readonly FunctionEntry[];
  readonly int: FunctionEntry;
  readonly uint: FunctionEntry;
}

function operation(name: string, word: string, { ints, doubles }: Operations): Operation {
  const double: FunctionEntry = {
    name,
    id: `${word}_double`,
    type: '(double, double): double',
    call: ([a, b]) =>
      typeof a === 'number' && typeof b === 'number' && doubles !== undefined ? doubles(a, b) : noSuchOverload,
  };
  return {
    double: doubles === undefined ? [] : [double],
    int: {
      name,
      id: `${word}_int64`,
      type: '(int, int): int',
      call: ([a, b]) => {
        if (typeof a !== 'bigint' || typeof b !== 'bigint') return noSuchOverload;
        const result = ints(a, b);
        return result instanceof Failure ? result : checkedInt(result);
      },
    },
    uint: {
      name,
      id: `${word}_uint64`,
      type: '(uint, uint): uint',
      call: ([a, b]) => {
        if (!(a instanceof Uint) || !(b instanceof Uint)) return noSuchOverload;
        const result = ints(a.magnitude, b.magnitude);
        return result instanceof Failure ? result : checkedUint(result);
      },
    },
  };
}

const divisionByZero = new Failure('division by zero');
const modulusByZero = new Failure('modulus by zero');

function addTexts(a: Value | undefined, b: Value | undefined): Value | Failure {
  if (typeof a !== 'string' || typeof b !== 'string') return noSuchOverload;
  return a.length + b.length > maxText ? new Failure('string is too long') : a + b;
}

function addBytes(a: Value | undefined, b: Value | undefined): Value | Failure {
  if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array)) return noSuchOverload;
  const sum = new Uint8Array(a.length + b.length);
  sum.set(a);
  sum.set(b, a.length);
  return sum;
}

const sum = operation('_+_', 'add', { ints: (a, b) => a + b, doubles: (a, b) => a + b });
const difference = operation('_-_', 'subtract', { ints: (a, b) => a - b, doubles: (a, b) => a - b });

const additions: FunctionEntry[] = [
  { name: '_+_', id: 'add_bytes', type: '(bytes, bytes): bytes', call: ([a, b]) => addBytes(a, b) },
  ...sum.double,
  {
    name: '_+_',
    id: 'add_duration_duration',
    type: '(duration, duration): duration',
    call: ([a, b]) =>
      a instanceof Duration && b instanceof Duration ? checkedDuration(a.nanos + b.nanos) : noSuchOverload,
  },
  {
    name: '_+_',
    id: 'add_duration_timestamp',
    type: '(duration, timestamp): timestamp',
    call: ([a, b]) =>
      a instanceof Duration && b instanceof Timestamp ? checkedTime(a.nanos + b.unixNanos) : noSuchOverload,
  },
  {
    name: '_+_',
    id: 'add_timestamp_duration',
    type: '(timestamp, duration): timestamp',
    call: ([a, b]) =>
      a instanceof Timestamp && b instanceof Duration ? checkedTime(a.unixNanos + b.nanos) : noSuchOverload,
  },
  sum.int,
  {
    name: '_+_',
    id: 'add_list',
    type: '(list(A), list(A)): list(A)',
    call: ([a, b]) => (a instanceof ListValue && b instanceof ListValue ? a.concat(b) : noSuchOverload),
  },
  { name: '_+_', id: 'add_string', type: '(string, string): string', call: ([a, b]) => addTexts(a, b) },
  sum.uint,
];

const subtractions: FunctionEntry[] = [
  ...difference.double,
  {
    name: '_-_',
    id: 'subtract_duration_duration',
    type: '(duration, duration): duration',
    call: ([a, b]) =>
      a instanceof Duration && b instanceof Duration ? checkedDuration(a.nanos - b.nanos) : noSuchOverload,
  },
  difference.int,
  {
    name: '_-_',
    id: 'subtract_timestamp_duration',
    type: '(timestamp, duration): timestamp',
    call: ([a, b]) =>
      a instanceof Timestamp && b instanceof Duration ? checkedTime(a.unixNanos - b.nanos) : noSuchOverload,
  },
  {
    name: '_-_',
    id: 'subtract_timestamp_timestamp',
    type: '(timestamp, timestamp): duration',
    call: ([a, b]) =>
      a instanceof Timestamp && b instanceof Timestamp ? checkedDuration(a.unixNanos - b.unixNanos) : noSuchOverload,
  },
  difference.uint,
];

function inOrder({ double, int, uint }: Operation): FunctionEntry[] {
  return [...double, int, uint];
}

/**
 * `+ - * / %` and negation, each with its overloads in cel-go's order. The first that fits binds a type that is still
 * free, such as the item type of `[]`.
 */
export const arithmeticLibrary: readonly FunctionEntry[] = [
  ...additions,
  ...subtractions,
  ...inOrder(operation('_*_', 'multiply', { ints: (a, b) => a * b, doubles: (a, b) => a * b })),
  ...inOrder(
    operation('_/_', 'divide', { ints: (a, b) => (b === 0n ? divisionByZero : a / b), doubles: (a, b) => a / b }),
  ),
  ...inOrder(operation('_%_', 'modulo', { ints: (a, b) => (b === 0n ? modulusByZero : a % b) })),
  {
    name: '-_',
    id: 'negate_double',
    type: '(double): double',
    call: ([a]) => (typeof a === 'number' ? -a : noSuchOverload),
  },
  {
    name: '-_',
    id: 'negate_int64',
    type: '(int): int',
    call: ([a]) => (typeof a === 'bigint' ? checkedInt(-a) : noSuchOverload),
  },
];
