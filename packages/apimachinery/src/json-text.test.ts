import { describe, expect, it } from 'vitest';
import { parseJson, stringifyJson } from './json-text.js';

describe('parseJson and stringifyJson', () => {
  it('keeps integers beyond 2^53 exact, in both directions', () => {
    const text = '{"a":9007199254740993,"b":-12345678901234567890,"c":[18446744073709551615]}';
    expect(parseJson(text)).toEqual({ a: 9007199254740993n, b: -12345678901234567890n, c: [18446744073709551615n] });
    expect(stringifyJson(parseJson(text))).toBe(text);
  });

  it.each(['{"password":"hunter2"', '{"password":hunter2}', 'hunter2', '{"a":12345678901234567890,hunter2}'])(
    'does not quote what it cannot parse: %s',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
      expect(() => parseJson(text)).toThrow(/^invalid JSON(?: at position \d+)?$/);
    },
  );

  it('leaves safe integers, fractions and digits in strings alone', () => {
    const text = '{"a":9007199254740991,"b":0.1234567890123456,"c":"12345678901234567890","d":1e21,"e":-0.5}';
    expect(parseJson(text)).toEqual({
      a: 9007199254740991,
      b: 0.1234567890123456,
      c: '12345678901234567890',
      d: 1e21,
      e: -0.5,
    });
  });

  it('writes a small bigint as a plain integer and leaves undefined fields out', () => {
    expect(stringifyJson({ a: 5n, b: undefined, c: 123456789012345678901234567890n })).toBe(
      '{"a":5,"c":123456789012345678901234567890}',
    );
  });

  it('still refuses what is no JSON', () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    expect(() => stringifyJson(cyclic)).toThrow(TypeError);
    expect(() => stringifyJson(undefined)).toThrow('undefined is not representable');
    expect(() => parseJson('{"a":')).toThrow(SyntaxError);
  });

  it('refuses a Date that is not valid, with its path', () => {
    const at = new Date(Number.NaN);
    expect(() => stringifyJson({ a: [{ at }] })).toThrow('a[0].at is a Date that is not valid');
    expect(() => stringifyJson({ a: 1n, at })).toThrow('at is a Date that is not valid');
    expect(() => stringifyJson(at)).toThrow('the value is a Date that is not valid');
    expect(stringifyJson({ a: null, b: 'null', at: new Date(0) })).toBe(
      '{"a":null,"b":"null","at":"1970-01-01T00:00:00.000Z"}',
    );
  });

  it('looks for such a Date where JSON.stringify does, not in what writes itself', () => {
    const instant: { at: Date; toJSON: () => null; self?: unknown } = { at: new Date(Number.NaN), toJSON: () => null };
    instant.self = instant;
    expect(stringifyJson({ a: [instant], b: Object.create({ at: instant.at }) as unknown })).toBe(
      '{"a":[null],"b":{}}',
    );
    expect(() => stringifyJson([[{ a: 'null', b: { at: instant.at } }]])).toThrow('[0][0].b.at is a Date');
  });

  it('finds a long integer wherever it lies', () => {
    for (let pad = 0; pad < 40; pad++)
      for (let digits = 14; digits < 22; digits++) {
        const number = '9'.repeat(digits);
        const text = `{"${'p'.repeat(pad)}":"1234567","n":[-${number},${number}]}`;
        const expected = Number.isSafeInteger(Number(number)) ? Number(number) : BigInt(number);
        expect(parseJson(text)).toMatchObject({ n: [-expected, expected] });
        expect(stringifyJson(parseJson(text))).toBe(text);
      }
    expect(parseJson('9007199254740993')).toBe(9007199254740993n);
  });
});
