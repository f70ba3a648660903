import { wireType } from './wire-writer.js';

/** Thrown for bytes that are not the message that they should be; the messages are those of Go's generated code. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

function endOfInput(): ProtobufError {
  return new ProtobufError('unexpected EOF');
}

/** Groups in groups are skipped to this depth. */
const maxGroups = 100;

/** Reads the fields of one message. */
export class WireReader {
  readonly #buffer: Buffer;
  #at: number;
  readonly #end: number;

  constructor(buffer: Buffer, start = 0, end: number = buffer.length) {
    this.#buffer = buffer;
    this.#at = start;
    this.#end = end;
  }

  get isDone(): boolean {
    return this.#at >= this.#end;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw endOfInput();
    return this.#buffer[this.#at++] ?? 0;
  }

  /** The low and the high 32 bits of a varint; what goes beyond 64 bits is an overflow. */
  #halves(): [low: number, high: number] {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = this.#byte();
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high |= bits >> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) return [low >>> 0, high >>> 0];
    }
    throw new ProtobufError('proto: integer overflow');
  }

  /** A length or a tag. */
  varint(): number {
    const first = this.#buffer[this.#at] ?? 0;
    if (first < 0x80 && this.#at < this.#end) {
      this.#at++;
      return first;
    }
    const [low, high] = this.#halves();
    return high * 2 ** 32 + low;
  }

  int32(): number {
    return this.#halves()[0] | 0;
  }

  /** A bigint if a number would not be exact. */
  int64(): number | bigint {
    const [low, high] = this.#halves();
    if (high < 0x20_0000) return high * 2 ** 32 + low;
    const value = BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low));
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }

  bool(): boolean {
    const [low, high] = this.#halves();
    return low !== 0 || high !== 0;
  }

  float64(): number {
    const at = this.#advance(8);
    return this.#buffer.readDoubleLE(at);
  }

  /** Moves on by a number of bytes, and returns their start. */
  #advance(size: number): number {
    const at = this.#at;
    if (size > this.#end - at) throw endOfInput();
    this.#at += size;
    return at;
  }

  #length(): number {
    const length = this.varint();
    if (length > 0x7fff_ffff) throw new ProtobufError('proto: negative length found during unmarshaling');
    return length;
  }

  text(): string {
    const length = this.#length();
    const at = this.#advance(length);
    return this.#buffer.toString('utf8', at, at + length);
  }

  /** Bytes in the buffer that is read; not a copy. */
  bytes(): Buffer {
    const length = this.#length();
    const at = this.#advance(length);
    return this.#buffer.subarray(at, at + length);
  }

  /** A reader of an embedded message. */
  message(): WireReader {
    const length = this.#length();
    const at = this.#advance(length);
    return new WireReader(this.#buffer, at, at + length);
  }

  /** Moves past the value of a field that is not known. */
  skip(type: number, depth = 0): void {
    switch (type) {
      case wireType.varint:
        this.#halves();
        return;
      case wireType.fixed64:
        this.#advance(8);
        return;
      case wireType.bytes:
        this.#advance(this.#length());
        return;
      case wireType.startGroup:
        if (depth === maxGroups) throw new ProtobufError('proto: groups are nested too deeply');
        for (;;) {
          const inner = this.varint() & 7;
          if (inner === wireType.endGroup) return;
          this.skip(inner, depth + 1);
        }
      case wireType.endGroup:
        throw new ProtobufError('proto: unexpected end of group');
      case wireType.fixed32:
        this.#advance(4);
        return;
      default:
        throw new ProtobufError(`proto: illegal wireType ${type}`);
    }
  }
}
