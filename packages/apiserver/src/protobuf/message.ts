import {
  isObject,
  setOwn,
  type GoField,
  type GoScalar,
  type GoStruct,
  type GoType,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import { messageCodec, type Codec } from './codec.js';
import { scalarCodec, unionCodec } from './scalars.js';
import { ProtobufError, WireReader } from './wire-reader.js';
import { wireType, writeMessage, type ReverseWriter } from './wire-writer.js';

/** Messages in messages are read to this depth; only JSON schemas go deep. */
const maxDepth = 1_000;

/** One field of a message. */
interface MessageField {
  readonly number: number;
  /** Writes the field of an object, tag included; nothing if Go writes nothing. */
  write(writer: ReverseWriter, object: JsonObject): void;
  /** Reads one occurrence into an object. */
  read(reader: WireReader, object: JsonObject, context: { readonly wire: number; readonly depth: number }): void;
}

interface Message {
  readonly goName: string;
  /** The last field first, because messages are written from their end. */
  readonly fields: readonly MessageField[];
  readonly byNumber: ReadonlyMap<number, MessageField>;
}

/** Order by bytes, as Go sorts the keys of a map. */
function compareKeys(a: string, b: string): number {
  // Without surrogates the order of code units is the order of bytes.
  if (!/[\ud800-\udfff]/.test(a) && !/[\ud800-\udfff]/.test(b)) return a < b ? -1 : a > b ? 1 : 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The Go name of a field, near enough for a message, since the facts have its JSON name. */
function goFieldName({ name, type }: GoField): string {
  if (name === 'metadata') return type.goName.slice(type.goName.indexOf('.') + 1);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function wrongType(wire: number, field: GoField): ProtobufError {
  return new ProtobufError(`proto: wrong wireType = ${wire} for field ${goFieldName(field)}`);
}

/** All messages of the built-in kinds, each compiled when it is first needed. */
class Messages {
  readonly #messages = new WeakMap<GoStruct, Message>();
  readonly #structs = new WeakMap<GoStruct, Codec>();

  of(struct: GoStruct): Message {
    let message = this.#messages.get(struct);
    if (message === undefined) {
      message = this.#compile(struct.goName, [...struct.fields.values()], 0);
      this.#messages.set(struct, message);
    }
    return message;
  }

  /** The message of fields whose numbers are `protobuf[level]`; those with more numbers lie in an embedded message. */
  #compile(goName: string, all: readonly GoField[], level: number): Message {
    const byNumber = new Map<number, MessageField>();
    const embedded = new Map<number, GoField[]>();
    for (const field of all) {
      const number = field.protobuf?.[level];
      if (number === undefined) continue;
      if (field.protobuf?.length === level + 1) byNumber.set(number, this.#field(number, field));
      else embedded.set(number, [...(embedded.get(number) ?? []), field]);
    }
    for (const [number, fields] of embedded)
      byNumber.set(number, embeddedField(number, this.#compile(goName, fields, level + 1)));
    const fields = [...byNumber.values()].sort((a, b) => b.number - a.number);
    return { goName, fields, byNumber };
  }

  #field(number: number, field: GoField): MessageField {
    const { type } = field;
    if (type.form === 'map') return mapField(number, field, { codec: this.#codec(type.of), isBytes: isBytes(type.of) });
    if (type.form === 'list' && type.isMessage !== true) return listField(number, field, this.#codec(type.of));
    const codec = this.#codec(type);
    const isNullable = type.pointer || type.form === 'list' || isBytes(type);
    return plainField(number, field, { codec, isNullable });
  }

  #codec(type: GoType): Codec {
    switch (type.form) {
      case 'scalar':
        return scalarCodec(type.scalar);
      case 'struct':
        return this.#structCodec(type.struct);
      case 'union':
        return unionCodec(type.or, () => this.#structCodec(type.struct));
      case 'list':
        return this.#itemsCodec(type.of);
      case 'map':
        throw new RangeError(`protobuf: ${type.goName} stands where no map can`);
    }
  }

  #structCodec(struct: GoStruct): Codec {
    let codec = this.#structs.get(struct);
    if (codec === undefined) {
      codec = messageCodec(
        {},
        (writer, value) => writeFields(writer, this.of(struct), isObject(value) ? value : {}),
        (reader, before, depth) => readFields(reader, this.of(struct), isObject(before) ? before : {}, depth + 1),
      );
      this.#structs.set(struct, codec);
    }
    return codec;
  }

  /** A named list, which is a message with the items as field 1. */
  #itemsCodec(of: GoType): Codec {
    const item = this.#codec(of);
    return messageCodec(
      null,
      (writer, value) => {
        for (const each of Array.isArray(value) ? value.toReversed() : []) {
          item.write(writer, each);
          writer.tag(1, item.wireType);
        }
      },
      (reader, before, depth) => {
        const items: unknown[] = Array.isArray(before) ? before : [];
        while (!reader.isDone) {
          const tag = reader.varint();
          if (Math.floor(tag / 8) === 1) items.push(item.read(reader, undefined, depth));
          else reader.skip(tag & 7);
        }
        return items;
      },
    );
  }
}

function isBytes(type: GoType): boolean {
  return type.form === 'scalar' && type.scalar === 'bytes';
}

function mapField(
  number: number,
  field: GoField,
  { codec, isBytes }: { readonly codec: Codec; readonly isBytes: boolean },
): MessageField {
  const { name } = field;
  return {
    number,
    write: (writer, object) => {
      const map = object[name];
      if (!isObject(map)) return;
      for (const key of Object.keys(map).sort(compareKeys).reverse()) {
        const before = writer.length;
        const value = map[key] ?? codec.zero;
        if (!isBytes || value !== null) {
          codec.write(writer, value);
          writer.tag(2, codec.wireType);
        }
        const start = writer.length;
        writer.text(key);
        writer.close(1, start);
        writer.close(number, before);
      }
    },
    read: (reader, object, { wire, depth }) => {
      if (wire !== wireType.bytes) throw wrongType(wire, field);
      const entry = reader.message();
      let key = '';
      let value: unknown;
      while (!entry.isDone) {
        const tag = entry.varint();
        if (tag === 0x0a) key = entry.text();
        else if (tag === 0x10 + codec.wireType) value = codec.read(entry, value, depth);
        else entry.skip(tag & 7);
      }
      const map = isObject(object[name]) ? object[name] : {};
      setOwn(map, key, value ?? structuredClone(codec.zero));
      object[name] = map;
    },
  };
}

/** Scalars whose zero Go's JSON leaves out if the field is marked so. */
const plainScalars: ReadonlySet<GoScalar> = new Set(['string', 'bool', 'int32', 'int64', 'float64', 'bytes']);

function plainField(
  number: number,
  field: GoField,
  { codec, isNullable }: { readonly codec: Codec; readonly isNullable: boolean },
): MessageField {
  const { name, omitEmpty, type } = field;
  const dropsZero = omitEmpty && !type.pointer && type.form === 'scalar' && plainScalars.has(type.scalar);
  return {
    number,
    write: (writer, object) => {
      const value = object[name];
      if (isNullable && (value === undefined || value === null)) return;
      codec.write(writer, value ?? codec.zero);
      writer.tag(number, codec.wireType);
    },
    read: (reader, object, { wire, depth }) => {
      if (wire !== codec.wireType) throw wrongType(wire, field);
      const value = codec.read(reader, object[name], depth);
      if (dropsZero && (value === codec.zero || value === '')) delete object[name];
      else object[name] = value;
    },
  };
}

function listField(number: number, field: GoField, codec: Codec): MessageField {
  const { name } = field;
  return {
    number,
    write: (writer, object) => {
      const items = object[name];
      if (!Array.isArray(items)) return;
      for (let index = items.length - 1; index >= 0; index--) {
        codec.write(writer, items[index] ?? codec.zero);
        writer.tag(number, codec.wireType);
      }
    },
    read: (reader, object, { wire, depth }) => {
      const items: unknown[] = Array.isArray(object[name]) ? object[name] : [];
      if (wire === codec.wireType) items.push(codec.read(reader, undefined, depth));
      else if (wire === wireType.bytes) {
        // Packed numbers, one after the other.
        const packed = reader.message();
        while (!packed.isDone) items.push(codec.read(packed, undefined, depth));
      } else throw wrongType(wire, field);
      object[name] = items;
    },
  };
}

/** An embedded struct, which is a message on the wire, and no level in JSON. Go writes it always. */
function embeddedField(number: number, message: Message): MessageField {
  return {
    number,
    write: (writer, object) => {
      const before = writer.length;
      writeFields(writer, message, object);
      writer.close(number, before);
    },
    read: (reader, object, { wire, depth }) => {
      if (wire !== wireType.bytes)
        throw new ProtobufError(`proto: wrong wireType = ${wire} for field ${message.goName}`);
      readFields(reader.message(), message, object, depth + 1);
    },
  };
}

function writeFields(writer: ReverseWriter, message: Message, object: JsonObject): void {
  for (const field of message.fields) field.write(writer, object);
}

function readFields(reader: WireReader, message: Message, object: JsonObject, depth: number): JsonObject {
  if (depth > maxDepth) throw new ProtobufError('exceeded max depth');
  const { goName, byNumber } = message;
  const name = goName.slice(goName.indexOf('.') + 1);
  while (!reader.isDone) {
    const tag = reader.varint();
    const wire = tag & 7;
    const number = Math.floor(tag / 8) | 0;
    if (wire === wireType.endGroup) throw new ProtobufError(`proto: ${name}: wiretype end group for non-group`);
    if (number <= 0) throw new ProtobufError(`proto: ${name}: illegal tag ${number} (wire type ${wire})`);
    const field = byNumber.get(number);
    if (field === undefined) reader.skip(wire);
    else field.read(reader, object, { wire, depth });
  }
  return object;
}

let opened: Messages | undefined;

function messages(): Messages {
  opened ??= new Messages();
  return opened;
}

/**
 * An object as Go's generated code marshals it. Values missing in JSON are written as the zero value that Go has there.
 */
export function encodeMessage(struct: GoStruct, object: JsonObject): Uint8Array {
  const message = messages().of(struct);
  return writeMessage((writer) => writeFields(writer, message, object));
}

/**
 * The JSON of a message. Zero values that Go's JSON would leave out are left out; fields missing on the wire are
 * absent.
 *
 * @throws ProtobufError with the message of Go's generated code; JsonSyntaxError if embedded JSON is invalid
 */
export function decodeMessage(struct: GoStruct, bytes: Uint8Array): JsonObject {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return readFields(new WireReader(buffer), messages().of(struct), {}, 0);
}
