/** Byte values of JSON's punctuation. */
export const quote = 0x22;
export const backslash = 0x5c;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const comma = 0x2c;
export const colon = 0x3a;

/** Kinds of bytes that a scan outside of strings has to stop at. */
export const classPlain = 0;
export const classQuote = 1;
export const classOpen = 2;
export const classClose = 3;

/** Byte → class. One table look-up instead of a chain of comparisons makes the scan fast. */
export const classOf: Uint8Array = makeClassTable();

function makeClassTable(): Uint8Array {
  const table = new Uint8Array(256);
  table[quote] = classQuote;
  table[openBrace] = classOpen;
  table[openBracket] = classOpen;
  table[closeBrace] = classClose;
  table[closeBracket] = classClose;
  return table;
}

/** Whether a byte is JSON white space. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The first position at or after `at` that is not white space. */
export function skipSpace(bytes: Uint8Array, at: number, end: number): number {
  let position = at;
  while (position < end && isSpace(bytes[position])) position++;
  return position;
}

/** The position after the string that opens at `at`; -1 if it does not end. */
export function skipString(bytes: Uint8Array, at: number, end: number): number {
  for (let position = at + 1; position < end; position++) {
    const byte = bytes[position];
    if (byte === quote) return position + 1;
    if (byte === backslash) position++;
  }
  return -1;
}

/** The position after the key that opens at `at`; −1 if it does not end, or is written with an escape sequence. */
export function skipKey(bytes: Uint8Array, at: number, end: number): number {
  for (let position = at + 1; position < end; position++) {
    const byte = bytes[position];
    if (byte === quote) return position + 1;
    if (byte === backslash) return -1;
  }
  return -1;
}

/** Reports whether the bytes at `at` are those of an ASCII string. */
export function isText(bytes: Uint8Array, at: number, text: readonly number[]): boolean {
  for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text[index]) return false;
  return true;
}

/** The position after the object or array that opens at `at`; -1 if it does not end. */
export function skipContainer(bytes: Uint8Array, at: number, end: number): number {
  let depth = 0;
  for (let position = at; position < end; position++) {
    const kind = classOf[bytes[position] ?? 0];
    if (kind === classPlain) continue;
    if (kind === classQuote) {
      for (position++; position < end; position++) {
        const byte = bytes[position];
        if (byte === quote) break;
        if (byte === backslash) position++;
      }
    } else if (kind === classOpen) depth++;
    else if (--depth === 0) return position + 1;
  }
  return -1;
}

/** The position after the JSON value that starts at `at`; -1 if it does not end. */
export function skipValue(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at];
  if (first === quote) return skipString(bytes, at, end);
  if (first === openBrace || first === openBracket) return skipContainer(bytes, at, end);
  let position = at;
  while (position < end) {
    const byte = bytes[position];
    if (byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte)) break;
    position++;
  }
  return position === at ? -1 : position;
}

/**
 * The position after the array that opens at `at`; -1 if it does not end. Uses two native searches instead of walking
 * byte by byte if the array contains no array, because managedFields is the largest part of metadata and field sets
 * hold no arrays. With no `[` before a `]`, that one closes the array, provided that it is not within a string. It is
 * not within one if the quote that follows it opens a string, as the letter after that quote shows (a closing quote is
 * followed by punctuation). If this cannot be seen, the bytes are walked.
 */
export function skipFlatArray(bytes: Uint8Array, at: number, end: number): number {
  const nextOpen = bytes.indexOf(openBracket, at + 1);
  let close = bytes.indexOf(closeBracket, at + 1);
  for (let tries = 0; tries < 4 && close > 0 && close + 4 < end; tries++) {
    if (nextOpen >= 0 && nextOpen < close) break;
    const after = bytes[close + 1] === closeBrace ? close + 2 : close + 1;
    if (bytes[after] === comma && bytes[after + 1] === quote && isLetter(bytes[after + 2])) return close + 1;
    close = bytes.indexOf(closeBracket, close + 1);
  }
  return skipValue(bytes, at, end);
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
}

/** Position of the value after the colon at or behind `at`; −1 if absent. */
export function afterColon(bytes: Uint8Array, at: number, end: number): number {
  let position = at;
  if (bytes[position] !== colon) {
    position = skipSpace(bytes, position, end);
    if (bytes[position] !== colon) return -1;
  }
  position++;
  return isSpace(bytes[position]) ? skipSpace(bytes, position, end) : position;
}
