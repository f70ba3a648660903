import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  optionalType,
  stringType,
  timestampType,
  typeType,
  uintType,
  type CelType,
} from '../types/type.js';
import {
  Duration,
  LibraryValue,
  ListValue,
  MapValue,
  Optional,
  StructValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './value.js';

const anyList = listType(dynType);
const anyMap = mapType(dynType, dynType);
const anyOptional = optionalType(dynType);
const anyType = typeType();

/** The type of a value at run time; what lists and maps hold is not looked at. */
export function typeOfValue(value: Value): CelType {
  switch (typeof value) {
    case 'boolean':
      return boolType;
    case 'bigint':
      return intType;
    case 'number':
      return doubleType;
    case 'string':
      return stringType;
    default:
      return value === null ? nullType : typeOfObject(value);
  }
}

function typeOfObject(value: Exclude<Value, null | boolean | bigint | number | string>): CelType {
  if (value instanceof ListValue) return anyList;
  if (value instanceof MapValue) return anyMap;
  if (value instanceof LibraryValue || value instanceof StructValue) return value.type;
  if (value instanceof Optional) return anyOptional;
  if (value instanceof Uint) return uintType;
  if (value instanceof Duration) return durationType;
  if (value instanceof Timestamp) return timestampType;
  if (value instanceof TypeValue) return anyType;
  return bytesType;
}

const shown: ReadonlyMap<string, string> = new Map([
  ['null', 'null_type'],
  ['timestamp', 'google.protobuf.Timestamp'],
  ['duration', 'google.protobuf.Duration'],
]);

/** The name of a value's type in messages and as a string. */
export function typeName(type: CelType): string {
  return shown.get(type.name) ?? type.name;
}

/** Whether a value can be an argument for a parameter of this type. */
export function fits(type: CelType, value: Value): boolean {
  if (type.kind === 'dyn' || type.kind === 'param') return true;
  const actual = typeOfValue(value);
  if (actual === type) return true;
  if (type.kind === 'struct' || type.kind === 'opaque') return actual.name === type.name;
  return actual.kind === type.kind;
}
