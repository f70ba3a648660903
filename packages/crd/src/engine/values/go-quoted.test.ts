import { describe, expect, it } from 'vitest';
import { goJsonEscaped, goQuoted, goTimeQuoted, isGoPrintable } from './go-quoted.js';

describe('goQuoted', () => {
  it.each([
    ['', '""'],
    ['plain text', '"plain text"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['\u0007\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
    ['\0\u001b\u007f', '"\\x00\\x1b\\x7f"'],
    ['\u0080\u00a0\u00ad', '"\\u0080\\u00a0\\u00ad"'],
    ['\u200b\u2028\u3000\ufeff\ue000', '"\\u200b\\u2028\\u3000\\ufeff\\ue000"'],
    ['\u{e0001}\u{10ffff}', '"\\U000e0001\\U0010ffff"'],
    ["é日'<>&/😀", `"é日'<>&/😀"`],
    ['\ufffd \ud800 \udfff', '"\ufffd \ufffd \ufffd"'],
  ])('writes %j as Go does', (text, quoted) => {
    expect(goQuoted(text)).toBe(quoted);
  });
});

describe('goTimeQuoted', () => {
  it.each([
    ['5x', '"5x"'],
    ['"\\\n\u007f', '"\\"\\\\\\x0a\u007f"'],
    ['é日😀', String.raw`"\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80"`],
  ])('writes %j byte by byte', (text, quoted) => {
    expect(goTimeQuoted(text)).toBe(quoted);
  });
});

describe('goJsonEscaped', () => {
  it('escapes what could end a script', () => {
    expect(goJsonEscaped('["<a>&\u2028"]')).toBe(String.raw`["\u003ca\u003e\u0026\u2028"]`);
  });
});

describe('isGoPrintable', () => {
  it('takes the space and no other white space', () => {
    expect(['a', ' ', 'é', '😀', '\ud800'].filter((character) => !isGoPrintable(character))).toEqual([]);
    expect(['\t', '\u007f', '\u00a0', '\u00ad', '\u200b', '\u3000', '\u{e0001}'].filter(isGoPrintable)).toEqual([]);
  });
});
