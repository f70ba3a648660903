// DER, as far as certificates need it: tags below 31.

/** One value: a tag, the length of the content, and the content. */
export function encode(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.length)]), content]);
}

/** Below 128 the length itself, else the number of its bytes and the bytes. */
function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256);
  return [0x80 | bytes.length, ...bytes];
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => encode(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => encode(0x31, ...parts);
export const utf8 = (value: string): Buffer => encode(0x0c, Buffer.from(value));
export const octets = (content: Uint8Array): Buffer => encode(0x04, content);
export const bits = (content: Uint8Array, unused = 0): Buffer => encode(0x03, Buffer.from([unused]), content);
export const boolean = (value: boolean): Buffer => encode(0x01, Buffer.from([value ? 0xff : 0]));
/** A positive integer, the first byte of which is below 0x80. */
export const integer = (...bytes: readonly number[]): Buffer => encode(0x02, Buffer.from(bytes));
/** `[n] EXPLICIT`. */
export const numbered = (n: number, content: Uint8Array): Buffer => encode(0xa0 | n, content);
/** `[n] IMPLICIT` of bytes. */
export const tagged = (n: number, content: Uint8Array): Buffer => encode(0x80 | n, content);

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const number of rest) {
    const base128 = [number & 0x7f];
    for (let left = number >> 7; left > 0; left >>= 7) base128.unshift((left & 0x7f) | 0x80);
    bytes.push(...base128);
  }
  return encode(0x06, Buffer.from(bytes));
}

/** The first and the last second that a certificate can name, in ms since the epoch. */
const [firstMs, lastMs] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];

/** UTCTime from 1950 through 2049, GeneralizedTime beyond (RFC 5280 §4.1.2.5), in whole seconds. */
export function time(ms: number): Buffer {
  const digits = new Date(Math.min(Math.max(ms, firstMs), lastMs)).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  const year = Number(digits.slice(0, 4));
  return year >= 1950 && year < 2050 ? encode(0x17, Buffer.from(digits.slice(2))) : encode(0x18, Buffer.from(digits));
}

/** The values that the content of a value consists of, each with its tag and length. */
export function children(value: Uint8Array): Uint8Array[] {
  const found: Uint8Array[] = [];
  const content = contentOf(value);
  for (let at = 0; at < content.length; ) {
    const end = at + lengthOf(content.subarray(at));
    found.push(content.subarray(at, end));
    at = end;
  }
  return found;
}

export function contentOf(value: Uint8Array): Uint8Array {
  return value.subarray(headLength(value), lengthOf(value));
}

function headLength(value: Uint8Array): number {
  const first = value[1] ?? 0;
  return first < 0x80 ? 2 : 2 + (first & 0x7f);
}

function lengthOf(value: Uint8Array): number {
  const head = headLength(value);
  let length = head === 2 ? (value[1] ?? 0) : 0;
  for (const byte of value.subarray(2, head)) length = length * 256 + byte;
  return head + length;
}
