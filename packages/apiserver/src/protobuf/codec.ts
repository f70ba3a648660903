import type { WireReader } from './wire-reader.js';
import type { ReverseWriter } from './wire-writer.js';

/**
 * Encoding of values of one Go type on the wire. Values are as in JSON, with base64 strings for bytes, and strings for
 * times.
 */
export interface Codec {
  readonly wireType: number;
  /** Written if JSON has no value and the field is not optional. */
  readonly zero: unknown;
  /** Writes a value; of what has a length, with the length. */
  write(writer: ReverseWriter, value: unknown): void;
  /** Reads a value. `before` is the value of an earlier occurrence of the same field, since messages are merged. */
  read(reader: WireReader, before: unknown, depth: number): unknown;
}

/** A codec of a message, from what writes and reads its fields. */
export function messageCodec(
  zero: unknown,
  write: (writer: ReverseWriter, value: unknown) => void,
  read: (reader: WireReader, before: unknown, depth: number) => unknown,
): Codec {
  return {
    wireType: 2,
    zero,
    write: (writer, value) => {
      const before = writer.length;
      write(writer, value);
      writer.varint(writer.length - before);
    },
    read: (reader, before, depth) => read(reader.message(), before, depth),
  };
}
