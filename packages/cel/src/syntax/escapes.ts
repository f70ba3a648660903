const simple: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
  "'": 39,
  '"': 34,
  '`': 96,
  '?': 63,
};
const widths: Readonly<Record<string, number>> = { x: 2, X: 2, u: 4, U: 8 };

interface Escape {
  readonly code: number;
  /** Whether the code is a byte (`\x41`, `\101`), not a character. */
  readonly isByte: boolean;
  readonly length: number;
}

function readEscape(body: string, offset: number): Escape {
  const char = body[offset + 1] ?? '';
  const plain = simple[char];
  if (plain !== undefined) return { code: plain, isByte: false, length: 2 };
  const width = widths[char];
  if (width !== undefined) {
    const digits = body.slice(offset + 2, offset + 2 + width);
    if (digits.length < width || !/^[0-9a-fA-F]+$/.test(digits)) throw new Error('unable to unescape string');
    const code = Number.parseInt(digits, 16);
    if (width > 2 && (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))) {
      throw new Error('invalid unicode code point');
    }
    return { code, isByte: width === 2, length: 2 + width };
  }
  const octal = /^[0-3][0-7]{2}/.exec(body.slice(offset + 1, offset + 4))?.[0];
  if (octal === undefined) throw new Error('unable to unescape string');
  return { code: Number.parseInt(octal, 8), isByte: true, length: 4 };
}

/** Returns the string for a quoted body. Throws on an escape that is not defined in CEL. */
export function unescapeText(body: string): string {
  if (!body.includes('\\')) return body;
  const parts: string[] = [];
  for (let offset = 0; offset < body.length; ) {
    const next = body.indexOf('\\', offset);
    if (next < 0) {
      parts.push(body.slice(offset));
      break;
    }
    parts.push(body.slice(offset, next));
    const escape = readEscape(body, next);
    parts.push(String.fromCodePoint(escape.code));
    offset = next + escape.length;
  }
  return parts.join('');
}

/** The bytes that the body of a bytes literal stands for: UTF-8, with `\x` and octal escapes as single bytes. */
export function unescapeBytes(body: string, isRaw: boolean): Uint8Array {
  const encoder = new TextEncoder();
  if (isRaw || !body.includes('\\')) return encoder.encode(body);
  const bytes: number[] = [];
  for (let offset = 0; offset < body.length; ) {
    if (body[offset] === '\\') {
      // Bytes have no characters, so only `\x` and octal escapes are allowed.
      if (/[uU]/.test(body[offset + 1] ?? '')) throw new Error('unable to unescape string');
      const escape = readEscape(body, offset);
      if (escape.isByte) bytes.push(escape.code);
      else bytes.push(...encoder.encode(String.fromCodePoint(escape.code)));
      offset += escape.length;
      continue;
    }
    const char = String.fromCodePoint(body.codePointAt(offset) ?? 0);
    bytes.push(...encoder.encode(char));
    offset += char.length;
  }
  return Uint8Array.from(bytes);
}
