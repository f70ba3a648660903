import { escapeField, unescapeField } from '../schema/escape.js';
import { withTypeAndObjectMeta, type StructuralSchema } from '../schema/structural.js';
import { parseBase64 } from './base64.js';
import { jsonNumber } from './json-number.js';
import { concatLists } from './list.js';
import { parseDateTimeField, parseDurationField, parseRfc3339 } from './time.js';
import {
  Duration,
  Failure,
  ListValue,
  MapValue,
  Timestamp,
  noSuchOverload,
  type Equality,
  type Operand,
  type Value,
} from './value.js';
import { isDeepStrictEqual } from 'node:util';

function isJson(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON as CEL sees it without a schema. Lists and maps are views; nothing is copied. */
export function jsonValue(raw: unknown): Value | Failure {
  switch (typeof raw) {
    case 'string':
    case 'boolean':
      return raw;
    case 'number':
    case 'bigint':
      return jsonNumber(raw);
    case 'object':
      if (raw === null) return null;
      return Array.isArray(raw) ? new JsonList(raw, jsonValue) : new JsonMap(raw);
    case 'undefined':
      return null;
    default:
      return new Failure(`invalid data, got a ${typeof raw}`);
  }
}

/** A JSON array as a list. */
export class JsonList extends ListValue {
  readonly #raw: readonly unknown[];
  readonly #convert: (raw: unknown) => Value | Failure;

  constructor(raw: readonly unknown[], convert: (raw: unknown) => Value | Failure) {
    super();
    this.#raw = raw;
    this.#convert = convert;
  }

  override get size(): number {
    return this.#raw.length;
  }

  override get raw(): readonly unknown[] {
    return this.#raw;
  }

  override at(index: number): Value | Failure {
    return this.#convert(this.#raw[index]);
  }

  override concat(other: ListValue): ListValue | Failure {
    return concatLists(this, other);
  }
}

/** A JSON object as a map of any values. */
export class JsonMap extends MapValue {
  readonly #raw: object;
  #size: number | undefined;

  constructor(raw: object) {
    super();
    this.#raw = raw;
  }

  override get size(): number {
    this.#size ??= Object.keys(this.#raw).length;
    return this.#size;
  }

  override get raw(): object {
    return this.#raw;
  }

  override get(key: Value): Value | Failure | undefined {
    if (typeof key !== 'string') return undefined;
    return Object.hasOwn(this.#raw, key) ? jsonValue(Reflect.get(this.#raw, key)) : undefined;
  }

  override keys(): Iterable<Value> {
    return Object.keys(this.#raw);
  }
}

/** A JSON object with a schema, which is an object with fields, or a map of values of one type. */
class TypedMap extends MapValue {
  readonly #raw: Readonly<Record<string, unknown>>;
  readonly #schema: StructuralSchema;

  constructor(raw: Readonly<Record<string, unknown>>, schema: StructuralSchema) {
    super();
    this.#raw = raw;
    this.#schema = schema;
  }

  override get size(): number {
    return Object.keys(this.#raw).length;
  }

  override get raw(): object {
    return this.#raw;
  }

  #schemaOf(name: string): StructuralSchema | undefined {
    return this.#schema.properties === undefined ? this.#schema.additional : this.#schema.properties.get(name);
  }

  override get(key: Value): Value | Failure | undefined {
    if (typeof key !== 'string') return noSuchOverload;
    const isObject = this.#schema.properties !== undefined;
    const name = isObject ? unescapeField(key) : key;
    if (name === undefined || !Object.hasOwn(this.#raw, name)) return undefined;
    const raw = this.#raw[name];
    if (isObject && raw === null) return undefined;
    const schema = this.#schemaOf(name);
    return schema === undefined ? undefined : schemaValue(raw, schema);
  }

  override *keys(): Iterable<Value> {
    for (const name of Object.keys(this.#raw)) {
      if (this.#schemaOf(name) === undefined) continue;
      yield this.#schema.properties === undefined ? name : (escapeField(name) ?? name);
    }
  }

  override equalTo(other: Operand, equals: Equality): boolean | Failure {
    if (!(other instanceof MapValue)) return mismatch(other);
    if (this.size !== other.size) return false;
    for (const [name, raw] of Object.entries(this.#raw)) {
      if (this.#schemaOf(name) === undefined) {
        // Fields without a schema are compared as data, which only another object with a schema lets see.
        if (!(other instanceof TypedMap)) return noSuchOverload;
        if (Object.hasOwn(other.raw, name) && !isDeepStrictEqual(raw, Reflect.get(other.raw, name))) return false;
        continue;
      }
      const [mine, their] = [this.get(name), other.get(name)];
      if ((mine === undefined) !== (their === undefined)) return false;
      if (mine === undefined || their === undefined) continue;
      const equal = equals(mine, their);
      if (equal !== true) return equal;
    }
    return true;
  }
}

function mismatch(other: Operand): Failure {
  return other instanceof Failure ? other : noSuchOverload;
}

/** The item as JSON, if it is a scalar or a view of JSON. */
function rawItem(item: Operand): unknown {
  if (typeof item === 'bigint') return Number.isSafeInteger(Number(item)) ? Number(item) : item;
  if (item instanceof MapValue) return item.raw;
  return typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean' ? item : undefined;
}

function rawItems(list: ListValue): readonly unknown[] | undefined {
  if (list.raw !== undefined) return list.raw;
  const items = Array.from(list, rawItem);
  return items.includes(undefined) ? undefined : items;
}

/** A list with a schema, of type atomic. */
class TypedList extends JsonList {
  override equalTo(other: Operand, equals: Equality): boolean | Failure {
    if (!(other instanceof ListValue)) return mismatch(other);
    const { size } = this;
    if (size !== other.size) return false;
    for (let index = 0; index < size; index++) {
      const equal = equals(this.at(index), other.at(index));
      if (equal !== true) return equal;
    }
    return true;
  }
}

/** The item as an element of a JSON set; a symbol, which no set contains, if CEL reads it as another value. */
function setItem(item: Operand): unknown {
  return typeof item === 'number' && Number.isInteger(item) ? Symbol('double') : (rawItem(item) ?? Symbol('other'));
}

/** A list with `x-kubernetes-list-type: set`: equal in any order; `+` is the union. */
class SetList extends JsonList {
  readonly #convert: (raw: unknown) => Value | Failure;

  constructor(raw: readonly unknown[], convert: (raw: unknown) => Value | Failure) {
    super(raw, convert);
    this.#convert = convert;
  }

  override equalTo(other: Operand): boolean | Failure {
    if (!(other instanceof ListValue)) return mismatch(other);
    if (other.size !== this.size) return false;
    const mine = new Set(this.raw);
    // Values that CEL does not read as they are written (a date, a whole double) are in no set, because upstream looks
    // up the value that CEL reads.
    return Array.from(other, setItem).every((item) => mine.has(item));
  }

  override concat(other: ListValue): ListValue | Failure {
    const theirs = rawItems(other);
    if (theirs === undefined) return super.concat(other);
    return new SetList([...new Set([...this.raw, ...theirs])], this.#convert);
  }
}

/** A list with `x-kubernetes-list-type: map`: equal in any order of its keys; `+` replaces items with the same key. */
class KeyedList extends JsonList {
  readonly #convert: (raw: unknown) => Value | Failure;
  readonly #keys: readonly string[];

  constructor(raw: readonly unknown[], keys: readonly string[], convert: (raw: unknown) => Value | Failure) {
    super(raw, convert);
    this.#convert = convert;
    this.#keys = keys;
  }

  #keyOf(item: unknown): string {
    return JSON.stringify(
      isJson(item)
        ? this.#keys.map((key) => (typeof item[key] === 'bigint' ? String(item[key]) : (item[key] ?? null)))
        : null,
    );
  }

  override equalTo(other: Operand, equals: Equality): boolean | Failure {
    if (!(other instanceof ListValue)) return mismatch(other);
    if (other.size !== this.size) return false;
    const mine = new Map(this.raw.map((item) => [this.#keyOf(item), item]));
    for (const their of other) {
      const raw = rawItem(their);
      const key = this.#keyOf(raw);
      if (!isJson(raw) || !mine.has(key)) return false;
      const equal = equals(this.#convert(mine.get(key)), their);
      if (equal !== true) return equal;
    }
    return true;
  }

  override concat(other: ListValue): ListValue | Failure {
    const theirs = rawItems(other);
    if (theirs === undefined) return super.concat(other);
    const merged = new Map(this.raw.map((item) => [this.#keyOf(item), item]));
    for (const item of theirs) merged.set(this.#keyOf(item), item);
    return new KeyedList([...merged.values()], this.#keys, this.#convert);
  }
}

function goType(raw: unknown): string {
  switch (typeof raw) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int64';
    case 'number':
      return typeof jsonNumber(raw) === 'bigint' ? 'int64' : 'float64';
    default:
      return Array.isArray(raw) ? '[]interface {}' : 'map[string]interface {}';
  }
}

function stringValue(raw: unknown, format: string | undefined): Value | Failure {
  if (typeof raw !== 'string') return new Failure(`invalid data, expected string, got ${goType(raw)}`);
  switch (format) {
    case 'duration': {
      const nanos = parseDurationField(raw);
      return nanos === undefined
        ? new Failure(`Invalid duration ${raw}: unable to parse ${raw} as duration`)
        : new Duration(nanos);
    }
    case 'date': {
      const nanos = /^\d{4}-\d{2}-\d{2}$/.test(raw) ? parseRfc3339(`${raw}T00:00:00Z`) : undefined;
      return nanos === undefined ? new Failure(`Invalid date formatted string ${raw}`) : new Timestamp(nanos);
    }
    case 'date-time': {
      const nanos = parseDateTimeField(raw);
      return nanos === undefined ? new Failure(`Invalid date-time formatted string ${raw}`) : new Timestamp(nanos);
    }
    case 'byte': {
      const bytes = parseBase64(raw);
      return bytes ?? new Failure(`Invalid byte formatted string ${raw}`);
    }
    default:
      return raw;
  }
}

function arrayValue(raw: unknown, schema: StructuralSchema): Value | Failure {
  if (!Array.isArray(raw))
    return new Failure('invalid data, expected an array for the provided schema with type=array');
  const { items } = schema;
  if (items === undefined) return new Failure('invalid array type, expected Items with a non-empty Schema');
  const convert = (item: unknown): Value | Failure => schemaValue(item, items);
  if (schema.listType === 'set') return new SetList(raw, convert);
  if (schema.listType === 'map') {
    return new KeyedList(raw, schema.listMapKeys ?? [], convert);
  }
  return new TypedList(raw, convert);
}

function numericValue(raw: unknown, type: 'integer' | 'number'): Value | Failure {
  if (typeof raw !== 'number' && typeof raw !== 'bigint') {
    const expected = type === 'integer' ? 'int' : 'float';
    return new Failure(`invalid data, expected ${expected}, got ${goType(raw)}`);
  }
  if (type === 'number') return Number(raw);
  const value = jsonNumber(raw);
  return typeof value === 'bigint' ? value : new Failure('invalid data, expected int, got float64');
}

/** JSON as CEL sees it under a structural schema. A value that does not fit the schema fails when it is read. */
export function schemaValue(raw: unknown, schema: StructuralSchema): Value | Failure {
  if (schema.dynamic === true) return jsonValue(raw);
  if (raw === null || raw === undefined) {
    return schema.nullable === true ? null : new Failure('invalid data, got null for schema with nullable=false');
  }
  if (schema.intOrString === true) {
    if (typeof raw === 'string') return raw;
    const value = typeof raw === 'number' || typeof raw === 'bigint' ? jsonNumber(raw) : undefined;
    if (typeof value === 'bigint') return value;
    return new Failure('invalid data, expected XIntOrString value to be either a string or integer');
  }
  switch (schema.type) {
    case 'object':
      if (!isJson(raw)) return new Failure('invalid data, expected a map for the provided schema with type=object');
      return new TypedMap(raw, schema.embedded === true ? withTypeAndObjectMeta(schema) : schema);
    case 'array':
      return arrayValue(raw, schema);
    case 'string':
      return stringValue(raw, schema.format);
    case 'integer':
    case 'number':
      return numericValue(raw, schema.type);
    case 'boolean':
      return typeof raw === 'boolean' ? raw : new Failure(`invalid data, expected bool, got ${goType(raw)}`);
    case undefined:
      return schema.preserveUnknown === true ? jsonValue(raw) : new Failure('invalid type');
    default:
      return new Failure('invalid type');
  }
}
