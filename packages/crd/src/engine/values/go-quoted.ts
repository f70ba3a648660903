/** Escapes that Go writes with a letter. */
const letters: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** Characters that `strconv.IsPrint` rejects, and the two that are escaped although they are printable. */
const escaped = /["\\]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu;

const printable = /^[ \p{L}\p{M}\p{N}\p{P}\p{S}]$/u;

/** As `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the space. Half a surrogate pair is U+FFFD, which is a symbol. */
export function isGoPrintable(character: string): boolean {
  return printable.test(character) || /^\p{Cs}$/u.test(character);
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

function escapeOf(character: string): string {
  const letter = letters[character];
  if (letter !== undefined) return letter;
  const code = character.codePointAt(0) ?? 0;
  // Half a surrogate pair has no place in UTF-8: Go reads U+FFFD there, which is printable.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

/**
 * A string as Go's `%q` and `strconv.Quote` write it. JSON escapes control characters in another way, and not U+007F.
 * Characters added to Unicode after version 15 are written as they are, but Go 1.26 escapes them.
 */
export function goQuoted(text: string): string {
  return `"${text.replace(escaped, escapeOf)}"`;
}

/**
 * A string as Go's package time quotes it, with each byte from U+0080 on and each control byte as `\\xNN`, and U+007F
 * as it is.
 */
export function goTimeQuoted(text: string): string {
  const body = text
    .replace(/["\\]/g, '\\$&')
    .replace(/[\0-\x1f]|[^\0-\x7f]/gu, (character) =>
      Array.from(new TextEncoder().encode(character), (byte) => `\\x${hex(byte, 2)}`).join(''),
    );
  return `"${body}"`;
}

const ofHtml = /[<>&\u2028\u2029]/g;

/** JSON as Go's `json.Marshal` writes it, with characters escaped that could end a script in a page. */
export function goJsonEscaped(json: string): string {
  return json.replace(ofHtml, (character) => `\\u${hex(character.charCodeAt(0), 4)}`);
}
