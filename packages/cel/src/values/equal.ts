import {
  Duration,
  Failure,
  LibraryValue,
  ListValue,
  MapValue,
  Optional,
  StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Operand,
  type Value,
} from './value.js';
import { sameType } from '../types/type.js';

/** Counts the steps of a comparison; throws when they are too many. */
export interface Toil {
  toil(steps: number): void;
}

type Numeric = bigint | number | Uint;

export function isNumeric(value: unknown): value is Numeric {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;
}

function plain(value: Numeric): bigint | number {
  return value instanceof Uint ? value.magnitude : value;
}

/** -1, 0 or 1; undefined with NaN. Beside a double an integer is the nearest double, as in cel-go. */
export function compareNumbers(a: Numeric, b: Numeric): number | undefined {
  const [x, y] = alike(plain(a), plain(b));
  if (x < y) return -1;
  if (x > y) return 1;
  return x === y ? 0 : undefined;
}

function alike(a: bigint | number, b: bigint | number): readonly [bigint, bigint] | readonly [number, number] {
  return typeof a === 'bigint' && typeof b === 'bigint' ? [a, b] : [Number(a), Number(b)];
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** Element by element. A comparison that fails counts as equal, as in cel-go's lists. */
function equalLists(a: ListValue, b: ListValue, toil: Toil): boolean {
  const { size } = a;
  if (size !== b.size) return false;
  for (let index = 0; index < size; index++) {
    if (equalValues(a.at(index), b.at(index), toil) === false) return false;
  }
  return true;
}

/** Entry by entry. A comparison that fails counts as equal, as in cel-go's maps. */
function equalMaps(a: MapValue, b: MapValue, toil: Toil): boolean {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    const x = a.get(key);
    const y = b.get(key);
    if (y === undefined || (x !== undefined && equalValues(x, y, toil) === false)) return false;
  }
  return true;
}

function equalStructs(a: StructValue, b: StructValue, toil: Toil): boolean {
  if (!sameType(a.type, b.type) || a.fields.size !== b.fields.size) return false;
  for (const [name, value] of a.fields) {
    const other = b.fields.get(name);
    if (other === undefined || equalValues(value, other, toil) !== true) return false;
  }
  return true;
}

/** Compares two values by their type. Null is like any other value here. */
function ownEquality(a: Operand, b: Operand, toil: Toil): boolean | Failure {
  toil.toil(1);
  if (a instanceof Failure) return a;
  if (a instanceof ListValue || a instanceof MapValue) {
    const own = a.equalTo(b, (x, y) => ownEquality(x, y, toil));
    if (own !== undefined) return own;
    if (a instanceof ListValue) return b instanceof ListValue && equalLists(a, b, toil);
    return b instanceof MapValue && equalMaps(a, b, toil);
  }
  return b instanceof Failure ? false : equalScalars(a, b, toil);
}

type Scalar = Exclude<Value, ListValue | MapValue>;

function equalScalars(a: Scalar, b: Value, toil: Toil): boolean | Failure {
  if (isNumeric(a)) return isNumeric(b) && compareNumbers(a, b) === 0;
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b);
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.unixNanos === b.unixNanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.denoted.name === b.denoted.name;
  if (a instanceof LibraryValue) return a.equals(b);
  if (a instanceof StructValue) return b instanceof StructValue && equalStructs(a, b, toil);
  if (!(a instanceof Optional) || !(b instanceof Optional)) return false;
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return ownEquality(a.value, b.value, toil);
}

/**
 * CEL's `==`. Numbers compare across their types; values of different types are not equal. Fails if an object with a
 * schema is compared with an incomparable value, as in the API server; `!=` is true there.
 */
export function equalValues(a: Operand, b: Operand, toil: Toil): boolean | Failure {
  if (a !== null && b !== null) return ownEquality(a, b, toil);
  toil.toil(1);
  return a === b;
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const x = a.charCodeAt(index);
    const y = b.charCodeAt(index);
    if (x === y) continue;
    // By code points, as Go compares UTF-8: a surrogate stands above the rest of its plane.
    const isXHigh = x >= 0xd800 && x <= 0xdfff;
    const isYHigh = y >= 0xd800 && y <= 0xdfff;
    if (isXHigh !== isYHigh) return isXHigh ? 1 : -1;
    return x < y ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(a.length - b.length);
}

function compareBig(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The order of two values; undefined if they have no order. NaN is unordered: `'unordered'`. */
export function compareValues(a: Value, b: Value): number | 'unordered' | undefined {
  if (isNumeric(a)) return isNumeric(b) ? (compareNumbers(a, b) ?? 'unordered') : undefined;
  if (typeof a === 'string') return typeof b === 'string' ? compareTexts(a, b) : undefined;
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : undefined;
  if (a instanceof Duration) return b instanceof Duration ? compareBig(a.nanos, b.nanos) : undefined;
  if (a instanceof Timestamp) return b instanceof Timestamp ? compareBig(a.unixNanos, b.unixNanos) : undefined;
  return undefined;
}
