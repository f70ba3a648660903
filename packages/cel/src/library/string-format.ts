import { typeName, typeOfValue } from '../values/type-of.js';
import type { Toil } from '../values/equal.js';
import { formatRfc3339, formatSeconds } from '../values/time.js';
import { Duration, Failure, ListValue, MapValue, Timestamp, TypeValue, Uint, type Value } from '../values/value.js';
import { formatParts, type FormatClause } from '../values/format-clauses.js';
import { fixedDouble, formatDouble, goQuote, scientificDouble } from '../values/go-format.js';

const maxText = 2 ** 24;
/** Digits after the decimal point if a clause gives no precision, and always of a scientific one. */
const defaultPrecision = 6;

/** Thrown inside of a format; its message is the failure. */
class FormatProblem extends Error {}

function nameOf(value: Value | Failure): string {
  return value instanceof Failure ? 'error' : typeName(typeOfValue(value));
}

function refuse(clause: string, value: Value | Failure): never {
  throw new FormatProblem(`${clause}, was given ${nameOf(value)}`);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bytesText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    const text = 'invalid UTF-8 in bytes, cannot convert to string';
    throw new FormatProblem(`could not convert argument "${text}" to string`);
  }
}

/** Formats a value inside of a list or map as CEL would write it. */
function nested(value: Value | Failure, toil: Toil): string {
  toil.toil(1);
  if (value instanceof Failure) throw new FormatProblem(value.message);
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return Number.isFinite(value) ? fixedDouble(value, 6) : goQuote(formatDouble(value));
  if (value instanceof Uint8Array) return `b${goQuote(bytesText(value))}`;
  if (value instanceof Timestamp) return `timestamp("${formatRfc3339(value.unixNanos)}")`;
  if (value instanceof Duration) return `duration("${formatSeconds(value.nanos)}")`;
  return plain(value, toil) ?? fail(`no formatting function for ${nameOf(value)}`);
}

function fail(problem: string): never {
  throw new FormatProblem(problem);
}

function mapKey(key: Value): string {
  if (typeof key === 'string') return goQuote(key);
  if (typeof key === 'boolean' || typeof key === 'bigint') return String(key);
  return key instanceof Uint
    ? String(key.magnitude)
    : fail(`no formatting function for map key of type ${nameOf(key)}`);
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Formats values that look the same on their own and inside of a list; undefined for a type without a string form. */
function plain(value: Value, toil: Toil): string | undefined {
  if (value === null) return 'null';
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Uint) return String(value.magnitude);
  if (value instanceof TypeValue) return typeName(value.denoted);
  if (value instanceof ListValue) return `[${Array.from(value, (item) => nested(item, toil)).join(', ')}]`;
  if (!(value instanceof MapValue)) return undefined;
  const entries = Array.from(value.keys(), (key): [string, string] => [
    mapKey(key),
    nested(value.get(key) ?? null, toil),
  ]);
  entries.sort(([a], [b]) => compareBytes(a, b));
  return `{${entries.map(([key, text]) => `${key}:${text}`).join(', ')}}`;
}

const stringClause =
  'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps';

function string(value: Value, toil: Toil): string {
  toil.toil(1);
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatDouble(value);
  if (value instanceof Uint8Array) return bytesText(value);
  if (value instanceof Timestamp) return formatRfc3339(value.unixNanos);
  if (value instanceof Duration) return formatSeconds(value.nanos);
  return plain(value, toil) ?? refuse(stringClause, value);
}

function integer(value: Value, clause: string): bigint {
  if (typeof value === 'bigint') return value;
  return value instanceof Uint ? value.magnitude : refuse(clause, value);
}

const doubleTexts: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

function double(value: Value, clause: string): number {
  if (typeof value === 'number') return value;
  return doubleTexts.get(value) ?? refuse(`${clause} clause can only be used on doubles`, value);
}

function infinite(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value < 0 ? '-∞' : '∞';
}

/**
 * Formats a number as `golang.org/x/text` does for English, with grouped thousands, no sign before a zero, and at most
 * 255 decimals.
 */
function fixed(value: number, precision: number): string {
  if (!Number.isFinite(value)) return infinite(value);
  const text = fixedDouble(value === 0 ? 0 : value, precision);
  const point = text.indexOf('.');
  const whole = point < 0 ? text : text.slice(0, point);
  return whole.replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, ',') + (point < 0 ? '' : text.slice(point));
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Likewise, such as `1.500000×10⁰³`. The precision is used as the width in cel-go before version 4 of its strings. */
function scientific(value: number, width: number): string {
  if (!Number.isFinite(value)) return infinite(value).padStart(width);
  const { mantissa, exponent } = scientificDouble(value === 0 ? 0 : value, defaultPrecision);
  const digits = Array.from(String(Math.abs(exponent)).padStart(2, '0'), (digit) => superscripts[Number(digit)] ?? '');
  return `${mantissa}×10${exponent < 0 ? '⁻' : ''}${digits.join('')}`.padStart(width);
}

function hex(value: Value): string {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (bytes instanceof Uint8Array) return Buffer.from(bytes).toString('hex');
  return integer(bytes, 'only integers, byte buffers, and strings can be formatted as hex').toString(16);
}

function binary(value: Value): string {
  if (typeof value === 'boolean') return String(Number(value));
  return integer(value, 'only integers and bools can be formatted as binary').toString(2);
}

function formatted({ verb, precision = defaultPrecision }: FormatClause, value: Value, toil: Toil): string {
  switch (verb) {
    case 's':
      return string(value, toil);
    case 'd':
      return integer(value, 'decimal clause can only be used on integers').toString();
    case 'f':
      return fixed(double(value, 'fixed-point'), precision % 2 ** 8);
    case 'e':
      return scientific(double(value, 'scientific'), precision % 2 ** 16);
    case 'b':
      return binary(value);
    case 'x':
      return hex(value);
    case 'X':
      return hex(value).toUpperCase();
    default:
      return integer(value, 'octal clause can only be used on integers').toString(8);
  }
}

function argument(value: Value | Failure): Value {
  return value instanceof Failure ? fail(value.message) : value;
}

/** CEL's `'%s of %d'.format([…])`, as version 2 of cel-go's strings has it, which Kubernetes uses. */
export function formatText(template: string, args: ListValue, toil: Toil): string | Failure {
  let index = 0;
  let result = '';
  for (const part of formatParts(template)) {
    if (part.kind === 'text') {
      result += part.text;
      continue;
    }
    if (index >= args.size) return new Failure(`index ${index} out of range`);
    if (part.kind === 'end') return new Failure('unexpected end of string');
    if (part.kind === 'problem') return new Failure(`could not parse formatting clause: ${part.problem}`);
    try {
      result += formatted(part, argument(args.at(index++)), toil);
    } catch (error) {
      if (error instanceof FormatProblem) return new Failure(`error during formatting: ${error.message}`);
      throw error;
    }
    if (result.length > maxText) return new Failure('string is too long');
  }
  return result;
}
