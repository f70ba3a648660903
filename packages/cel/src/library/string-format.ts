import { typeName, typeOfValue } from '../run/type-of.js';
import type { Toil } from '../values/equal.js';
import { formatRfc3339, formatSeconds } from '../values/time.js';
import { Duration, Failure, ListValue, MapValue, Timestamp, TypeValue, Uint, type Value } from '../values/value.js';
import { fixedDouble, formatDouble, quoteText } from './go-format.js';

const maxText = 2 ** 24;

/** Thrown inside of a format; its text is the failure. */
class FormatProblem extends Error {}

function textual(value: Value | Failure, toil: Toil, isNested: boolean): string {
  toil.toil(1);
  if (value instanceof Failure) throw new FormatProblem(value.message);
  switch (typeof value) {
    case 'string':
      return isNested ? quoteText(value) : value;
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      return isNested && Number.isFinite(value) ? fixedDouble(value, 6) : formatDouble(value);
    default:
      return value === null ? 'null' : compound(value, toil);
  }
}

function compound(value: Exclude<Value, null | string | boolean | bigint | number>, toil: Toil): string {
  if (value instanceof Uint) return String(value.magnitude);
  if (value instanceof Timestamp) return `timestamp("${formatRfc3339(value.unixNanos)}")`;
  if (value instanceof Duration) return `duration("${formatSeconds(value.nanos)}")`;
  if (value instanceof TypeValue) return typeName(value.denoted);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof ListValue) return `[${Array.from(value, (item) => textual(item, toil, true)).join(', ')}]`;
  if (value instanceof MapValue) {
    const entries = Array.from(value.keys(), (key) => {
      const item = value.get(key) ?? null;
      return `${textual(key, toil, true)}:${textual(item, toil, true)}`;
    });
    return `{${entries.sort().join(', ')}}`;
  }
  throw new FormatProblem(
    `error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${typeName(typeOfValue(value))}`,
  );
}

function plainText(value: Value | Failure, toil: Toil): string {
  if (value instanceof Timestamp) return formatRfc3339(value.unixNanos);
  if (value instanceof Duration) return formatSeconds(value.nanos);
  return textual(value, toil, false);
}

function integer(value: Value | Failure, clause: string): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.magnitude;
  const name = value instanceof Failure ? 'error' : typeName(typeOfValue(value));
  throw new FormatProblem(`error during formatting: ${clause} clause can only be used on integers, was given ${name}`);
}

function decimal(value: Value | Failure): string {
  if (typeof value === 'number')
    return Number.isFinite(value) ? formatDouble(value) : formatDouble(value).replace(/^\+/, '');
  return String(integer(value, 'decimal'));
}

function real(value: Value | Failure, precision: number, isScientific: boolean): string {
  if (typeof value !== 'number' && typeof value !== 'bigint' && !(value instanceof Uint)) {
    const name = value instanceof Failure ? 'error' : typeName(typeOfValue(value));
    const clause = isScientific ? 'scientific' : 'fixed-point';
    throw new FormatProblem(`error during formatting: ${clause} clause can only be used on doubles, was given ${name}`);
  }
  const number = Number(value instanceof Uint ? value.magnitude : value);
  if (!Number.isFinite(number)) return formatDouble(number).replace(/^\+/, '');
  if (!isScientific) return fixedDouble(number, Math.min(precision, 100));
  const [mantissa = '', exponent = '0'] = number.toExponential(Math.min(precision, 100)).split('e');
  const digits = exponent.replace(/^[+-]/, '').padStart(2, '0');
  return `${mantissa}e${exponent.startsWith('-') ? '-' : '+'}${digits}`;
}

function hex(value: Value | Failure, isUpper: boolean): string {
  const text = hexDigits(value);
  return isUpper ? text.toUpperCase() : text;
}

function hexDigits(value: Value | Failure): string {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (bytes instanceof Uint8Array) return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  if (typeof bytes === 'bigint' || bytes instanceof Uint) return integer(bytes, 'hex').toString(16);
  const name = bytes instanceof Failure ? 'error' : typeName(typeOfValue(bytes));
  throw new FormatProblem(
    `error during formatting: only integers, byte buffers, and strings can be formatted as hex, was given ${name}`,
  );
}

function binary(value: Value | Failure): string {
  return typeof value === 'boolean' ? String(Number(value)) : integer(value, 'binary').toString(2);
}

function clause(verb: string, precision: number, value: Value | Failure, toil: Toil): string {
  switch (verb) {
    case 's':
      return plainText(value, toil);
    case 'd':
      return decimal(value);
    case 'f':
      return real(value, precision, false);
    case 'e':
      return real(value, precision, true);
    case 'b':
      return binary(value);
    case 'x':
    case 'X':
      return hex(value, verb === 'X');
    case 'o':
      return integer(value, 'octal').toString(8);
    default:
      throw new FormatProblem(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

/** CEL's `'%s of %d'.format([…])`. */
export function formatText(template: string, args: ListValue, toil: Toil): string | Failure {
  let index = 0;
  let size = 0;
  try {
    return template.replaceAll(
      /%(?:%|(?:\.(\d{0,3}))?([\s\S]?))/g,
      (whole, precision: string | undefined, verb: string | undefined) => {
        if (whole === '%%') return '%';
        if (verb === undefined || verb === '')
          throw new FormatProblem('could not parse formatting clause: unexpected end of string');
        if (index >= args.size) throw new FormatProblem(`index ${index} out of range`);
        const text = clause(
          verb,
          precision === undefined || precision === '' ? 6 : Number(precision),
          args.at(index++),
          toil,
        );
        size += text.length;
        if (size > maxText) throw new FormatProblem('string is too long');
        return text;
      },
    );
  } catch (error) {
    if (error instanceof FormatProblem) return new Failure(error.message);
    throw error;
  }
}
