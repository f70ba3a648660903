/** Types of values on the wire. */
export const wireType = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

const firstSize = 512;
/** A writer keeps this much memory from one message to the next. */
const mostKept = 64 * 1024;
/** Up to here the characters of a string are tried one by one, which is quicker than two calls into the runtime. */
const shortText = 40;

/**
 * Writes a message from its end to its start, as Go's generated code does. The content is already there when its length
 * is due, so that nothing is measured beforehand.
 */
export class ReverseWriter {
  #buffer: Buffer = Buffer.allocUnsafe(firstSize);
  #at = firstSize;

  /** How many bytes have been written. */
  get length(): number {
    return this.#buffer.length - this.#at;
  }

  /** Returns the written bytes, as a copy; the writer is empty then. */
  finish(): Uint8Array {
    const written = Buffer.from(this.#buffer.subarray(this.#at));
    this.clear();
    return written;
  }

  /** Forgets what has been written; keeps its memory, unless that is much. */
  clear(): void {
    if (this.#buffer.length > mostKept) this.#buffer = Buffer.allocUnsafe(firstSize);
    this.#at = this.#buffer.length;
  }

  #reserve(size: number): number {
    if (this.#at < size) {
      const { length } = this;
      const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, length + size));
      this.#buffer.copy(larger, larger.length - length, this.#at);
      this.#buffer = larger;
      this.#at = larger.length - length;
    }
    this.#at -= size;
    return this.#at;
  }

  byte(value: number): void {
    const at = this.#reserve(1);
    this.#buffer[at] = value;
  }

  /** A whole number from 0 to 2^53 - 1. */
  varint(value: number): void {
    if (value < 0x80) {
      this.byte(value);
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    let at = this.#reserve(size);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#buffer[at++] = (rest % 0x80) | 0x80;
    this.#buffer[at] = rest;
  }

  /** A signed integer of 64 bits, of which a negative one takes ten bytes. */
  int64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)) {
      this.varint(value);
      return;
    }
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    const at = this.#reserve(bytes.length);
    this.#buffer.set(bytes, at);
  }

  float64(value: number): void {
    const at = this.#reserve(8);
    this.#buffer.writeDoubleLE(value, at);
  }

  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#buffer.set(bytes, at);
  }

  /** A string in UTF-8, without its length. */
  text(text: string): void {
    const { length } = text;
    if (length <= shortText) {
      const at = this.#reserve(length);
      let index = 0;
      for (; index < length; index++) {
        const code = text.charCodeAt(index);
        if (code >= 0x80) break;
        this.#buffer[at + index] = code;
      }
      if (index === length) return;
      this.#at += length;
    }
    const at = this.#reserve(Buffer.byteLength(text));
    this.#buffer.write(text, at);
  }

  /** Number and wire type of a field, written last of it. */
  tag(number: number, type: number): void {
    this.varint(number * 8 + type);
  }

  /** Length and tag of what has been written since the writer had `before` bytes. */
  close(number: number, before: number): void {
    this.varint(this.length - before);
    this.tag(number, wireType.bytes);
  }
}

/** The writer of the message before, whose memory fits the next one; nothing while it writes. */
let idle: ReverseWriter | undefined;

/** Returns the output of a function, which may itself write messages this way. */
export function writeMessage(write: (writer: ReverseWriter) => void): Uint8Array {
  const writer = idle ?? new ReverseWriter();
  idle = undefined;
  try {
    write(writer);
    return writer.finish();
  } finally {
    writer.clear();
    idle = writer;
  }
}
