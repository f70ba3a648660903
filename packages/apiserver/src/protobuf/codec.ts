import type { WireReader } from './wire-reader.js';
import type { ReverseWriter } from './wire-writer.js';

/** How values of one Go type stand on the wire. Values are what JSON has: base64 text for bytes, text for times. */
export interface Codec {
  readonly wireType: number;
  /** Written where JSON has no value and the field is not optional. */
  readonly zero: unknown;
  /** Writes a value; of what has a length, with the length. */
  write(writer: ReverseWriter, value: unknown): void;
  /** Reads a value. `before` is what an earlier occurrence of the same field said: messages are merged. */
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
