import { jsonNumber } from '@kctl/cel/internal';
import type { FieldError } from '../values/field-error.js';
import { goText, type GoNumber } from '../values/go-number.js';
import type { Schema } from './schema.js';

const [minInt64, maxInt64] = [-(2n ** 63n), 2n ** 63n - 1n];
const int32 = 2n ** 31n;

/** Go's `int64(x)`: the fraction is cut off. Beyond the range machines differ; this is the nearest, as on arm64. */
function toInt64(value: number): bigint {
  if (value >= 2 ** 63) return maxInt64;
  if (value <= -(2 ** 63)) return minInt64;
  return BigInt(Math.trunc(value));
}

/**
 * Whether a float64 counts as an integer. It does within 2^53, if it is an integer or exceeds one by less than 1e-9 of
 * it. Mirrors `IsFloat64AJSONInteger`, which truncates by `uint64(f)`, so a number a little below an integer does not
 * count, nor does a negative number with a fraction. So 1.15 is not a multiple of 0.01, of which it is
 * 114.99999999999999.
 */
export function isNearInteger(value: number): boolean {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return false;
  if (Number.isInteger(value)) return true;
  if (value < 1) return false;
  const whole = Math.trunc(value);
  return (value - whole) / (value + whole) < 1e-9;
}

/**
 * Whether a number equals a value of an enum once converted to that one's type, as Go converts it, so 0.3 is 0 among
 * integers, and 97 is "a" among strings. Mirrors kube-openapi's `Enum`, which compares after `reflect.Value.Convert`.
 */
export function isConvertedTo(value: unknown, wanted: unknown): boolean {
  if (typeof value !== 'number' && typeof value !== 'bigint') return false;
  const number = jsonNumber(value);
  if (typeof wanted === 'string') return typeof number === 'bigint' && wanted === textOfRune(number);
  if (typeof wanted !== 'number' && typeof wanted !== 'bigint') return false;
  const target = jsonNumber(wanted);
  if (typeof target === 'number') return Number(number) === target;
  return (typeof number === 'bigint' ? number : toInt64(number)) === target;
}

/** Go's `string(rune)`. */
function textOfRune(rune: bigint): string {
  const isRune = rune >= 0n && rune <= 0x10ffffn && !(rune >= 0xd800n && rune <= 0xdfffn);
  return isRune ? String.fromCodePoint(Number(rune)) : '\ufffd';
}

/** Whether a number is within the range of a type and its format. Mirrors `IsValueValidAgainstRange`. */
function isInRange(value: GoNumber, type: string | undefined, format: string | undefined): boolean {
  if (type !== 'integer') return format !== 'float' || Number.isFinite(Math.fround(Number(value)));
  const integer = typeof value === 'bigint' ? value : jsonNumber(value); // a bound is a float64 in Go, and compared as text
  if (typeof integer === 'number') return false;
  return format !== 'int32' || (integer >= -int32 && integer < int32);
}

/**
 * Checks the range, `multipleOf`, `minimum` and `maximum` of a number. Mirrors kube-openapi's number validator. An
 * int64 is compared with the bounds as integers, whose fraction is cut off, and a float64 with the bounds as they are.
 *
 * @param path of the value, as messages have it
 * @param field of the value, as causes have it
 */
export function numberErrors(
  value: number | bigint,
  { type, multipleOf, minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false }: Schema,
  { path, field, format, placeless }: NumberPlace,
): FieldError[] {
  const number = jsonNumber(value);
  const errors: FieldError[] = [];
  const kind = `${type ?? ''} ${format === undefined ? '(default format)' : `with format ${format}`}`;
  const isWithin = (what: string, each: GoNumber): boolean => {
    if (isInRange(each, type, format)) return true;
    errors.push(placeless(`${what} value must be of type ${kind} in ${path}`));
    return false;
  };
  const fail = (given: GoNumber, text: string): void =>
    void errors.push({ reason: 'FieldValueInvalid', field, message: `Invalid value: ${goText(given)}: ${text}` });
  isWithin('Checked', number);
  if (multipleOf !== undefined) {
    const [data, factor] = alike(number, multipleOf, isWithin('MultipleOf', multipleOf));
    if (factor <= 0) fail(factor, `factor MultipleOf declared for ${path} must be positive: ${goText(factor)}`);
    else if (!isMultiple(data, factor)) fail(data, `${path} in body should be a multiple of ${goText(factor)}`);
  }
  if (minimum !== undefined) {
    const [data, bound] = alike(number, minimum, isWithin('Minimum boundary', minimum));
    const word = exclusiveMinimum ? 'greater than' : 'greater than or equal to';
    if (exclusiveMinimum ? data <= bound : data < bound)
      fail(data, `${path} in body should be ${word} ${goText(bound)}`);
  }
  if (maximum !== undefined) {
    const [data, bound] = alike(number, maximum, isWithin('Maximum boundary', maximum));
    const word = exclusiveMaximum ? 'less than' : 'less than or equal to';
    if (exclusiveMaximum ? data >= bound : data > bound)
      fail(data, `${path} in body should be ${word} ${goText(bound)}`);
  }
  return errors;
}

/** Position of a number, and its format if the server supports it. */
export interface NumberPlace {
  readonly path: string;
  readonly field: string;
  readonly format: string | undefined;
  /** Makes an error that upstream reports without a path. */
  readonly placeless: (message: string) => FieldError;
}

/**
 * The two as Go compares them, as integers if the value is one and the bound is within its type, as floats otherwise.
 */
function alike(value: GoNumber, bound: number, isBoundInRange: boolean): readonly [GoNumber, GoNumber] {
  return typeof value === 'bigint' && isBoundInRange ? [value, toInt64(bound)] : [Number(value), bound];
}

function isMultiple(value: GoNumber, factor: GoNumber): boolean {
  if (typeof value === 'bigint' && typeof factor === 'bigint') return value % factor === 0n;
  const [data, divisor] = [Number(value), Number(factor)];
  return isNearInteger(divisor < 1 ? (1 / divisor) * data : data / divisor);
}
