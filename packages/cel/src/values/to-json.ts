import { toBase64 } from './base64.js';
import { formatKey } from './map.js';
import { formatRfc3339, formatSeconds } from './time.js';
import { Duration, Failure, ListValue, MapValue, Optional, StructValue, Timestamp, Uint, type Value } from './value.js';

function mapJson(value: MapValue): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const key of value.keys()) {
    const item = value.get(key) ?? null;
    if (item instanceof Failure) throw new TypeError(item.message);
    setOwn(json, formatKey(key), valueJson(item));
  }
  return json;
}

function setOwn(json: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(json, name, { value, writable: true, enumerable: true, configurable: true });
}

function structJson(value: StructValue): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const [name, field] of value.fields) setOwn(json, name, valueJson(field));
  return json;
}

function intJson(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/**
 * A value as JSON, with ints beyond 2^53 as `bigint`, times and durations as strings, bytes in base64.
 *
 * @throws TypeError for a value without a JSON form, such as a type, a URL, or an optional without a value.
 */
export function valueJson(value: Value): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
      return value;
    case 'bigint':
      return intJson(value);
    default:
  }
  if (value === null) return null;
  if (value instanceof ListValue) {
    return Array.from(value, (item) => {
      if (item instanceof Failure) throw new TypeError(item.message);
      return valueJson(item);
    });
  }
  if (value instanceof MapValue) return mapJson(value);
  if (value instanceof StructValue) return structJson(value);
  if (value instanceof Uint) return intJson(value.magnitude);
  if (value instanceof Timestamp) return formatRfc3339(value.unixNanos);
  if (value instanceof Duration) return formatSeconds(value.nanos);
  if (value instanceof Uint8Array) return toBase64(value);
  if (value instanceof Optional && value.value !== undefined) return valueJson(value.value);
  throw new TypeError('value cannot be written as JSON');
}
