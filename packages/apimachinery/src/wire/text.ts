/** Returns a range as a string. */
export function readText(bytes: Uint8Array, start: number, end: number): string {
  return asBuffer(bytes).toString('utf8', start, end);
}

/** Returns a range that is known to be ASCII, a little faster than {@link readText}. */
export function readAscii(bytes: Uint8Array, start: number, end: number): string {
  return asBuffer(bytes).toString('latin1', start, end);
}

/** The same memory as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
