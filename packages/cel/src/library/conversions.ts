import type { FunctionEntry } from '../check/functions.js';
import { typeName, typeOfValue } from '../values/type-of.js';
import { formatRfc3339, formatSeconds, isTimeInRange, parseGoDuration, parseRfc3339 } from '../values/time.js';
import { Duration, Failure, noSuchOverload, Timestamp, Uint, type Value } from '../values/value.js';
import { checkedInt, checkedUint } from './arithmetic.js';
import { formatDouble } from '../values/go-format.js';

type Convert = (value: Value) => Value | Failure;

function conversions(name: string, result: string, from: Readonly<Record<string, Convert>>): FunctionEntry[] {
  return Object.entries(from).map(([type, convert]) => ({
    name,
    id: type === result ? `${spell(type)}_to_${spell(result)}` : `${spell(type)}_to_${spell(result)}`,
    type: `(${type}): ${result}`,
    call: ([value = null]) => convert(value),
  }));
}

function spell(type: string): string {
  return type === 'int' || type === 'uint' ? `${type}64` : type;
}

const same: Convert = (value) => value;

function doubleToInt(value: Value): Value | Failure {
  if (typeof value !== 'number') return noSuchOverload;
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) return new Failure('integer overflow');
  return BigInt(Math.trunc(value));
}

function doubleToUint(value: Value): Value | Failure {
  if (typeof value !== 'number') return noSuchOverload;
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) return new Failure('unsigned integer overflow');
  return new Uint(BigInt(Math.trunc(value)));
}

/** The failure of a conversion from a string. */
function unconvertible(to: string): Failure {
  return new Failure(`type conversion error from 'string' to '${to}'`);
}

function parseInteger(value: Value): bigint | Failure | undefined {
  if (typeof value !== 'string') return noSuchOverload;
  const digits = /^[+-]?\d{1,40}$/.exec(value)?.[0];
  return digits === undefined ? undefined : BigInt(digits.replace(/^\+/, ''));
}

function textToInt(value: Value): Value | Failure {
  const number = parseInteger(value);
  const checked = typeof number === 'bigint' ? checkedInt(number) : number;
  return typeof checked === 'bigint' || checked === noSuchOverload ? checked : unconvertible('int');
}

function textToUint(value: Value): Value | Failure {
  const number = typeof value === 'string' && /^[+-]/.test(value) ? undefined : parseInteger(value);
  const checked = typeof number === 'bigint' ? checkedUint(number) : number;
  return checked instanceof Uint || checked === noSuchOverload ? checked : unconvertible('uint');
}

function textToDouble(value: Value): Value | Failure {
  if (typeof value !== 'string') return noSuchOverload;
  if (/^[+-]?inf(?:inity)?$/i.test(value)) return value.startsWith('-') ? -Infinity : Infinity;
  if (/^nan$/i.test(value)) return NaN;
  const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(value) ? Number(value) : NaN;
  return Number.isFinite(number) ? number : unconvertible('double');
}

const truths = new Set(['1', 't', 'true', 'TRUE', 'True', 'T']);
const falsehoods = new Set(['0', 'f', 'false', 'FALSE', 'False', 'F']);

function textToBool(value: Value): Value | Failure {
  if (typeof value !== 'string') return noSuchOverload;
  if (truths.has(value)) return true;
  if (falsehoods.has(value)) return false;
  return unconvertible('bool');
}

function textToTime(value: Value): Value | Failure {
  if (typeof value !== 'string') return noSuchOverload;
  const nanos = parseRfc3339(value);
  if (nanos === undefined || !isTimeInRange(nanos)) return unconvertible('google.protobuf.Timestamp');
  return new Timestamp(nanos);
}

function textToDuration(value: Value): Value | Failure {
  if (typeof value !== 'string') return noSuchOverload;
  const nanos = parseGoDuration(value);
  return nanos === undefined ? unconvertible('google.protobuf.Duration') : new Duration(nanos);
}

function bytesToText(value: Value): Value | Failure {
  if (!(value instanceof Uint8Array)) return noSuchOverload;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    return new Failure('invalid UTF-8 in bytes, cannot convert to string');
  }
}

/** The string form of a value, for types that have one. */
export function textOf(value: Value): string | Failure {
  switch (typeof value) {
    case 'string':
      return value;
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      return formatDouble(value);
    default:
  }
  if (value instanceof Uint) return String(value.magnitude);
  if (value instanceof Timestamp) return formatRfc3339(value.unixNanos);
  if (value instanceof Duration) return formatSeconds(value.nanos);
  return new Failure(`type conversion error from '${typeName(typeOfValue(value))}' to 'string'`);
}

const fromNumber = (value: Value): number => (value instanceof Uint ? Number(value.magnitude) : Number(value));

/** `int(x)`, `string(x)`, `timestamp(x)` and the like. */
export const conversionLibrary: readonly FunctionEntry[] = [
  ...conversions('bool', 'bool', { bool: same, string: textToBool }),
  ...conversions('bytes', 'bytes', {
    bytes: same,
    string: (value) => (typeof value === 'string' ? new TextEncoder().encode(value) : noSuchOverload),
  }),
  ...conversions('double', 'double', { double: same, int: fromNumber, string: textToDouble, uint: fromNumber }),
  ...conversions('int', 'int', {
    int: same,
    double: doubleToInt,
    duration: (value) => (value instanceof Duration ? value.nanos / 1_000_000_000n : noSuchOverload),
    string: textToInt,
    timestamp: (value) => {
      if (!(value instanceof Timestamp)) return noSuchOverload;
      const rest = ((value.unixNanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
      return (value.unixNanos - rest) / 1_000_000_000n;
    },
    uint: (value) => (value instanceof Uint ? checkedInt(value.magnitude) : noSuchOverload),
  }),
  ...conversions('uint', 'uint', {
    uint: same,
    double: doubleToUint,
    int: (value) => (typeof value === 'bigint' ? checkedUint(value) : noSuchOverload),
    string: textToUint,
  }),
  ...conversions('string', 'string', {
    string: same,
    bool: textOf,
    bytes: bytesToText,
    double: textOf,
    duration: textOf,
    int: textOf,
    timestamp: textOf,
    uint: textOf,
  }),
  ...conversions('timestamp', 'timestamp', {
    timestamp: same,
    int: (value) => {
      if (typeof value !== 'bigint') return noSuchOverload;
      const nanos = value * 1_000_000_000n;
      return isTimeInRange(nanos) ? new Timestamp(nanos) : new Failure('timestamp overflow');
    },
    string: textToTime,
  }),
  ...conversions('duration', 'duration', {
    duration: same,
    int: (value) => (typeof value === 'bigint' ? new Duration(value) : noSuchOverload),
    string: textToDuration,
  }),
];
