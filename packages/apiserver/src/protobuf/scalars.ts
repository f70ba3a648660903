import { isObject, jsonText, type GoScalar } from '@kctl/crd/internal/engine';
import { scanJson } from '../json/strict-json.js';
import { messageCodec, type Codec } from './codec.js';
import { ProtobufError, type WireReader } from './wire-reader.js';
import { wireType, type ReverseWriter } from './wire-writer.js';

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function integerOf(value: unknown): number | bigint {
  return typeof value === 'number' || typeof value === 'bigint' ? value : 0;
}

const text: Codec = {
  wireType: wireType.bytes,
  zero: '',
  write: (writer, value) => {
    const before = writer.length;
    writer.text(textOf(value));
    writer.varint(writer.length - before);
  },
  read: (reader) => reader.text(),
};

const bool: Codec = {
  wireType: wireType.varint,
  zero: false,
  write: (writer, value) => writer.byte(value === true ? 1 : 0),
  read: (reader) => reader.bool(),
};

const int64: Codec = {
  wireType: wireType.varint,
  zero: 0,
  write: (writer, value) => writer.int64(integerOf(value)),
  read: (reader) => reader.int64(),
};

const int32: Codec = { ...int64, read: (reader) => reader.int32() };

const float64: Codec = {
  wireType: wireType.fixed64,
  zero: 0,
  write: (writer, value) => writer.float64(Number(integerOf(value))),
  read: (reader) => reader.float64(),
};

const bytes: Codec = {
  wireType: wireType.bytes,
  zero: null,
  write: (writer, value) => {
    const content = Buffer.from(textOf(value), 'base64');
    writer.raw(content);
    writer.varint(content.length);
  },
  read: (reader) => reader.bytes().toString('base64'),
};

/** Calls back for each field of a message that is small and known. */
function eachField(reader: WireReader, take: (number: number, type: number) => boolean): void {
  while (!reader.isDone) {
    const tag = reader.varint();
    if (!take(Math.floor(tag / 8), tag & 7)) reader.skip(tag & 7);
  }
}

function writeNumber(writer: ReverseWriter, number: number, value: number | bigint): void {
  writer.int64(value);
  writer.tag(number, wireType.varint);
}

const endOfYears = 253_402_300_800;
const startOfYears = -62_135_596_800;

interface Timestamp {
  seconds: number | bigint;
  nanos: number;
}

function readTimestamp(reader: WireReader): { readonly seconds: number; readonly nanos: number } {
  const found: Timestamp = { seconds: 0, nanos: 0 };
  eachField(reader, (number, type) => {
    if (type !== wireType.varint) return false;
    if (number === 1) found.seconds = reader.int64();
    else if (number === 2) found.nanos = reader.int32();
    else return false;
    return true;
  });
  const { seconds, nanos } = found;
  if (typeof seconds === 'bigint' || seconds < startOfYears || seconds >= endOfYears)
    throw new ProtobufError('Time.MarshalJSON: year outside of range [0,9999]');
  return { seconds, nanos };
}

/** A Timestamp; the zero time is an empty one. Of fractions, a Time has none and a MicroTime six digits. */
function time(digits: 0 | 6): Codec {
  return messageCodec(
    null,
    (writer, value) => {
      if (typeof value !== 'string') return;
      const ms = Date.parse(value);
      const seconds = Math.floor(ms / 1000);
      if (Number.isNaN(ms) || seconds === startOfYears) return;
      const fraction = digits === 0 ? '' : (/\.(\d+)/.exec(value)?.[1] ?? '');
      writeNumber(writer, 2, Number(fraction.slice(0, digits).padEnd(9, '0')));
      writeNumber(writer, 1, seconds);
    },
    (reader) => {
      if (reader.isDone) return null;
      const { seconds, nanos } = readTimestamp(reader);
      if (digits === 0) return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
      const micros = Math.trunc(nanos / 1000);
      const carried = seconds + Math.floor(micros / 1_000_000);
      const rest = micros - Math.floor(micros / 1_000_000) * 1_000_000;
      return `${new Date(carried * 1000).toISOString().slice(0, 19)}.${String(rest).padStart(6, '0')}Z`;
    },
  );
}

const quantity: Codec = messageCodec(
  '0',
  (writer, value) => {
    const before = writer.length;
    writer.text(typeof value === 'string' ? value : String(integerOf(value)));
    writer.close(1, before);
  },
  (reader) => {
    let found = '0';
    eachField(reader, (number, type) => {
      if (number !== 1 || type !== wireType.bytes) return false;
      found = reader.text() || '0';
      return true;
    });
    return found;
  },
);

const intOrString: Codec = messageCodec(
  0,
  (writer, value) => {
    const isText = typeof value === 'string';
    const before = writer.length;
    if (isText) writer.text(value);
    writer.close(3, before);
    writeNumber(writer, 2, isText ? 0 : integerOf(value));
    writeNumber(writer, 1, isText ? 1 : 0);
  },
  (reader) => {
    let type: number | bigint = 0;
    let number = 0;
    let string = '';
    eachField(reader, (field, wire) => {
      if (field === 1 && wire === wireType.varint) type = reader.int64();
      else if (field === 2 && wire === wireType.varint) number = reader.int32();
      else if (field === 3 && wire === wireType.bytes) string = reader.text();
      else return false;
      return true;
    });
    return type === 0 ? number : string;
  },
);

/** JSON in a message, for RawExtension, FieldsV1, and the JSON of CustomResourceDefinitions. */
const json: Codec = messageCodec(
  null,
  (writer, value) => {
    if (value === null || value === undefined) return;
    const before = writer.length;
    writer.text(jsonText(value));
    writer.close(1, before);
  },
  (reader) => {
    let found: unknown = null;
    eachField(reader, (number, type) => {
      if (number !== 1 || type !== wireType.bytes) return false;
      const content = reader.text();
      found = content === '' ? null : scanJson(content).value;
      return true;
    });
    return found;
  },
);

/** The codec of a scalar, or of a type that marshals itself. */
export function scalarCodec(scalar: GoScalar): Codec {
  switch (scalar) {
    case 'string':
      return text;
    case 'bool':
      return bool;
    case 'int32':
      return int32;
    case 'int64':
      return int64;
    case 'float64':
      return float64;
    case 'bytes':
      return bytes;
    case 'time':
      return time(0);
    case 'microTime':
      return time(6);
    case 'quantity':
      return quantity;
    case 'intOrString':
      return intOrString;
    case 'any':
    case 'raw':
      return json;
    case 'duration':
      throw new RangeError('protobuf: no built-in kind has a metav1.Duration');
  }
}

/** A struct, or instead of it a boolean, a list of such structs, or a list of strings: JSONSchemaPropsOr…. */
export function unionCodec(or: 'bool' | 'structs' | 'strings', struct: () => Codec): Codec {
  const writeStruct = (writer: ReverseWriter, number: number, value: unknown): void => {
    struct().write(writer, value);
    writer.tag(number, wireType.bytes);
  };
  const write = (writer: ReverseWriter, value: unknown): void => {
    if (or === 'bool') {
      if (isObject(value)) writeStruct(writer, 2, value);
      writer.byte(isObject(value) || value === true ? 1 : 0);
      writer.tag(1, wireType.varint);
      return;
    }
    if (isObject(value)) writeStruct(writer, 1, value);
    if (!Array.isArray(value)) return;
    for (const item of value.toReversed()) {
      if (or === 'structs') writeStruct(writer, 2, item);
      else {
        text.write(writer, item);
        writer.tag(2, wireType.bytes);
      }
    }
  };
  const read = (reader: WireReader, _before: unknown, depth: number): unknown => {
    let isAllowed = false;
    let schema: unknown;
    const items: unknown[] = [];
    const [schemaField, itemField] = or === 'bool' ? [2, 0] : [1, 2];
    eachField(reader, (number, type) => {
      if (or === 'bool' && number === 1 && type === wireType.varint) isAllowed = reader.bool();
      else if (number === schemaField && type === wireType.bytes) schema = struct().read(reader, schema, depth);
      else if (number === itemField && type === wireType.bytes)
        items.push(or === 'structs' ? struct().read(reader, undefined, depth) : reader.text());
      else return false;
      return true;
    });
    if (or === 'bool') return schema ?? isAllowed;
    if (items.length > 0) return items;
    return schema ?? (or === 'strings' ? [] : null);
  };
  return messageCodec(null, write, read);
}
