import { isObject, setOwn, type JsonObject } from '../values/json.js';
import { canonicalMicroTime, canonicalTime } from './go-time.js';
import type { GoField, GoScalar, GoStruct, GoType } from './go-type.js';
import { canonicalQuantity } from './quantity.js';
import { jsonTypeOf } from '../schema/schema.js';

/** Thrown when a JSON value does not fit the Go type; the message is that of Go's decoder. */
export class GoDecodeError extends Error {
  override readonly name = 'GoDecodeError';
}

interface Walk {
  /** JSON names from the root to here, list indexes left out: Go's field stack. */
  readonly names: string[];
  /** The path with indexes, for unknown fields. */
  path: string;
  struct: GoStruct;
  readonly unknown: string[];
  /** The first value of a wrong type: Go reads on, and a type that parses itself may still fail first. */
  fault?: GoDecodeError;
}

/** A value of a wrong type, which does not end the decoding at once. */
class GoTypeError extends GoDecodeError {}

const parsed: ReadonlySet<GoScalar> = new Set(['time', 'microTime', 'duration', 'quantity', 'intOrString']);

function valueName(value: unknown): string {
  const type = jsonTypeOf(value);
  if (type === 'integer') return 'number';
  return type === 'boolean' ? 'bool' : type;
}

function mismatch(walk: Walk, shown: string, goName: string): never {
  const struct = walk.struct.goName.slice(walk.struct.goName.indexOf('.') + 1);
  throw new GoTypeError(
    `json: cannot unmarshal ${shown} into Go struct field ${struct}.${walk.names.join('.')} of type ${goName}`,
  );
}

const limits: Readonly<Record<string, readonly [number | bigint, number | bigint]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
};

function decodeString(value: unknown, type: GoType, walk: Walk): string {
  if (typeof value !== 'string') mismatch(walk, valueName(value), type.goName);
  return value;
}

function decodeInteger(value: unknown, type: GoType, walk: Walk, scalar: 'int32' | 'int64'): unknown {
  if (typeof value !== 'number' && typeof value !== 'bigint') mismatch(walk, valueName(value), type.goName);
  const [low, high] = limits[scalar] ?? [0, 0];
  const isWhole = typeof value === 'bigint' || Number.isInteger(value);
  if (!isWhole || value < low || value > high) mismatch(walk, `number ${value}`, type.goName);
  return value;
}

function decodeScalar(value: unknown, type: GoType, walk: Walk, scalar: GoScalar): unknown {
  switch (scalar) {
    case 'string':
      return decodeString(value, type, walk);
    case 'bool':
      if (typeof value !== 'boolean') mismatch(walk, valueName(value), type.goName);
      return value;
    case 'int32':
    case 'int64':
      return decodeInteger(value, type, walk, scalar);
    case 'float64':
      if (typeof value !== 'number' && typeof value !== 'bigint') mismatch(walk, valueName(value), type.goName);
      return value;
    case 'bytes': {
      const text = decodeString(value, type, walk).replace(/[\r\n]/g, '');
      const bad = /[^A-Za-z0-9+/=]/.exec(text)?.index ?? (text.length % 4 === 0 ? -1 : text.length - (text.length % 4));
      if (bad >= 0) throw new GoTypeError(`illegal base64 data at input byte ${bad}`);
      return text;
    }
    case 'time':
      return canonicalTime(decodeString(value, type, walk));
    case 'microTime':
      return canonicalMicroTime(decodeString(value, type, walk));
    case 'duration':
      return decodeString(value, type, walk);
    case 'quantity':
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
        mismatch(walk, valueName(value), type.goName);
      }
      return canonicalQuantity(String(value));
    case 'intOrString':
      if (typeof value === 'string') return value;
      if (typeof value === 'number' && !Number.isInteger(value)) mismatch(walk, `number ${value}`, 'int32');
      if (typeof value !== 'number') {
        throw new GoDecodeError(`json: cannot unmarshal ${valueName(value)} into Go value of type int32`);
      }
      return value;
    case 'any':
    case 'raw':
      return value;
  }
}

/** An empty list is returned as null, because upstream's storage format does not distinguish the two. */
function decodeList(value: unknown, of: GoType, type: GoType, walk: Walk): unknown[] | null {
  if (!Array.isArray(value)) mismatch(walk, valueName(value), type.goName);
  if (value.length === 0) return null;
  const base = walk.path;
  const items: unknown[] = [];
  for (let index = 0; index < value.length; index++) {
    walk.path = `${base}[${index}]`;
    items.push(decodeType(value[index], of, walk));
  }
  walk.path = base;
  return items;
}

function decodeType(value: unknown, type: GoType, walk: Walk): unknown {
  if (value === null || value === undefined) return zeroOf(type);
  try {
    return decodeValue(value, type, walk);
  } catch (error) {
    if (!(error instanceof GoTypeError) || (type.form === 'scalar' && parsed.has(type.scalar))) throw error;
    walk.fault ??= error;
    return zeroOf(type);
  }
}

function decodeValue(value: unknown, type: GoType, walk: Walk): unknown {
  switch (type.form) {
    case 'scalar':
      return decodeScalar(value, type, walk, type.scalar);
    case 'list':
      return decodeList(value, type.of, type, walk);
    case 'map': {
      if (!isObject(value)) mismatch(walk, valueName(value), type.goName);
      const base = walk.path;
      const map: JsonObject = {};
      for (const [key, entry] of Object.entries(value)) {
        walk.path = `${base}.${key}`;
        setOwn(map, key, decodeType(entry, type.of, walk));
      }
      walk.path = base;
      return map;
    }
    case 'struct':
      if (!isObject(value)) mismatch(walk, valueName(value), type.goName);
      return decodeFields(value, type.struct, walk);
    case 'union': {
      if (isObject(value)) return decodeFields(value, type.struct, walk);
      if (type.or === 'bool' && typeof value === 'boolean') return value;
      if (type.or === 'bool' || !Array.isArray(value)) mismatch(walk, valueName(value), type.goName);
      const of: GoType =
        type.or === 'structs'
          ? { pointer: false, form: 'struct', struct: type.struct, goName: type.goName }
          : { pointer: false, form: 'scalar', scalar: 'string', goName: 'string' };
      return decodeList(value, of, type, walk);
    }
  }
}

function decodeFields(value: JsonObject, struct: GoStruct, walk: Walk): JsonObject {
  const { path, struct: outer } = walk;
  const given = new Map<string, unknown>();
  for (const name of Object.keys(value)) {
    const field = struct.fields.get(name);
    walk.path = path === '' ? name : `${path}.${name}`;
    if (field === undefined) {
      walk.unknown.push(walk.path);
      continue;
    }
    walk.struct = struct;
    walk.names.push(name);
    given.set(name, decodeType(value[name], field.type, walk));
    walk.names.pop();
  }
  walk.path = path;
  walk.struct = outer;
  return assemble(struct, given);
}

/** The struct as Go marshals it, with fields in order of declaration, zero values omitted or written per their tags. */
function assemble(struct: GoStruct, given: ReadonlyMap<string, unknown>): JsonObject {
  const result: JsonObject = {};
  for (const { field, isLeftOut } of writtenFields(struct)) {
    const isGiven = given.has(field.name);
    if (!isGiven && isLeftOut) continue;
    const value = isGiven ? given.get(field.name) : zeroOf(field.type);
    if (!isOmitted(value, field)) setOwn(result, field.name, value);
  }
  return result;
}

interface WrittenField {
  readonly field: GoField;
  /** Whether its zero value is not written. Most fields of most objects are unset. */
  readonly isLeftOut: boolean;
}

const written = new WeakMap<GoStruct, readonly WrittenField[]>();

/** The fields of a struct in order of declaration. */
function writtenFields(struct: GoStruct): readonly WrittenField[] {
  let fields = written.get(struct);
  if (fields === undefined) {
    fields = [...struct.fields.values()].map((field) => ({ field, isLeftOut: isOmitted(zeroOf(field.type), field) }));
    written.set(struct, fields);
  }
  return fields;
}

function isOmitted(value: unknown, { type, omitEmpty, omitZero }: GoField): boolean {
  if (!omitEmpty && !omitZero) return false;
  if (value === null) {
    // A nil pointer, list or map; or the zero of a struct that marshals to null, which only omitzero leaves out.
    return omitZero || type.pointer || type.form !== 'scalar' || type.scalar === 'any' || type.scalar === 'bytes';
  }
  if (type.pointer) return false;
  switch (type.form) {
    case 'scalar':
      if (value === '' || value === false || value === 0) {
        return type.scalar !== 'intOrString' && type.scalar !== 'duration';
      }
      return false;
    case 'list':
      return omitEmpty && Array.isArray(value) && value.length === 0;
    case 'map':
      return omitEmpty && isObject(value) && Object.keys(value).length === 0;
    case 'struct':
    case 'union':
      return omitZero && isObject(value) && Object.keys(value).length === 0;
  }
}

const zeroScalars: Readonly<Record<GoScalar, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  bytes: null,
  any: null,
  time: null,
  microTime: null,
  duration: '0s',
  quantity: '0',
  intOrString: 0,
  raw: null,
};

function zeroOf(type: GoType): unknown {
  if (type.pointer) return null;
  switch (type.form) {
    case 'scalar':
      return zeroScalars[type.scalar];
    case 'list':
    case 'map':
    case 'union':
      return null;
    case 'struct':
      return assemble(type.struct, new Map());
  }
}

/** The zero value of a struct, as Go marshals it. */
export function zeroStruct(struct: GoStruct): JsonObject {
  return assemble(struct, new Map());
}

/**
 * Passes a JSON object through a Go struct and back, which returns a built-in kind as after Go's decoder and encoder.
 * `unknown` receives the paths of fields that the struct does not have, in the order of the input.
 *
 * @throws GoDecodeError, QuantityError, TimeError if a value does not fit; messages are those of the real server
 */
export function decodeStruct(value: JsonObject, struct: GoStruct, unknown: string[], path = ''): JsonObject {
  const names = path === '' ? [] : path.split('.');
  const walk: Walk = { names, path, struct, unknown };
  const decoded = decodeFields(value, struct, walk);
  if (walk.fault !== undefined) throw walk.fault;
  return decoded;
}
