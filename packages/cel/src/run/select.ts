import { formatKey } from '../values/map.js';
import {
  Failure,
  ListValue,
  MapValue,
  noSuchOverload,
  Optional,
  StructValue,
  Uint,
  type Value,
} from '../values/value.js';

const none = new Optional(undefined);

function listIndex(key: Value): number | undefined {
  if (typeof key === 'bigint') return Number(key);
  if (key instanceof Uint) return Number(key.magnitude);
  return typeof key === 'number' && Number.isInteger(key) ? key : undefined;
}

function formatIndex(key: Value): string {
  return typeof key === 'number' ? String(key) : formatKey(key);
}

/** The value of a key, or undefined if absent. Optionals are unwrapped. */
function find(operand: Value, key: Value): Value | Failure | undefined {
  if (operand instanceof MapValue) return operand.get(key);
  if (operand instanceof ListValue) {
    const index = listIndex(key);
    if (index === undefined) {
      return typeof key === 'number'
        ? new Failure(`unsupported index value: ${key}`)
        : new Failure('unsupported index type');
    }
    return index >= 0 && index < operand.size ? operand.at(index) : undefined;
  }
  if (operand instanceof StructValue && typeof key === 'string') {
    return operand.fields.get(key);
  }
  // As in cel-go, a value without fields does not have the requested one.
  return undefined;
}

/** `operand[key]` and `operand.key`. */
export function select(operand: Value, key: Value): Value | Failure {
  if (operand instanceof Optional) return selectOptional(operand, key);
  const value = find(operand, key);
  if (value !== undefined) return value;
  if (operand instanceof ListValue) return new Failure(`index out of bounds: ${formatIndex(key)}`);
  return new Failure(`no such key: ${formatKey(key)}`);
}

/** `operand[?key]` and `operand.?key`: an optional. */
export function selectOptional(operand: Value, key: Value): Optional | Failure {
  const target = operand instanceof Optional ? operand.value : operand;
  if (target === undefined) return none;
  const value = find(target, key);
  if (value instanceof Failure) return value;
  return value === undefined ? none : new Optional(value);
}

/** `has(operand.key)`. */
export function has(operand: Value, key: string): boolean | Failure {
  const target = operand instanceof Optional ? operand.value : operand;
  if (target === undefined) return false;
  if (target instanceof ListValue) return false;
  const value = find(target, key);
  // As in the API server, a field that does not fit its schema is an error, even if only its presence is tested.
  return value instanceof Failure ? value : value !== undefined;
}

/** `value in map`: whether the map has the key. */
export function hasKey(map: MapValue, key: Value): boolean {
  const value = map.get(key);
  return value !== undefined && value !== noSuchOverload;
}
