import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText } from '@kctl/crd/internal/engine';
import { JsonSyntaxError, parseJsonFast, scanJson } from './strict-json.js';

describe('scanJson', () => {
  it('reads what JSON.parse reads, the same way', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        expect(jsonText(scanJson(text).value)).toBe(jsonText(JSON.parse(text)));
      }),
      { numRuns: 300 },
    );
  });

  it('refuses what JSON.parse refuses', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', '"', '\\', '\u0001', '-'), (text, at, with_) => {
        const cut = at % (text.length + 1);
        const damaged = text.slice(0, cut) + with_ + text.slice(cut + 1);
        let isFine = true;
        try {
          JSON.parse(damaged);
        } catch {
          isFine = false;
        }
        if (isFine) expect(() => scanJson(damaged)).not.toThrow();
        else expect(() => scanJson(damaged)).toThrow(JsonSyntaxError);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps integers of 64 bits, and writes them back as they were', () => {
    const text = '{"a":-9223372036854775808,"b":9223372036854775807,"c":[9007199254740993]}';
    expect(jsonText(scanJson(text).value)).toBe(text);
    expect(jsonText(parseJsonFast(text))).toBe(text);
  });

  it('reports duplicate keys with their paths; the last one wins', () => {
    expect(scanJson('{"a":1,"b":[{"c":1,"c":2}],"a":3}')).toEqual({
      value: { b: [{ c: 2 }], a: 3 },
      duplicates: ['b[0].c', 'a'],
      literals: [],
      overwritten: [{ a: 1 }],
    });
  });

  it.each([
    ['{"a" :1,"a":2}', ['a']],
    ['{"a"\n:1,"\\u0061":2}', ['a']],
    ['{"b":"x\\":","a" :1,"a" :2}', ['a']],
    ['{"a":{"b":[{"c":1,"c":{"\\"":2}}]}}', ['a.b[0].c']],
    ['{"a":"\\":","b":{"\\":":1}}', []],
    ['{"a": {"b" : "12:00:00"}, "c":[]}', []],
  ])('finds each duplicate of %s, and no other', (text, duplicates) => {
    expect(scanJson(text)).toMatchObject({ value: JSON.parse(text), duplicates, literals: [] });
  });

  it.each([
    ['{"a": 2.0}', [{ path: ['a'], text: '2.0' }]],
    ['{"a":[1,-2e0,2.5]}', [{ path: ['a', 1], text: '-2e0' }]],
    ['{"a":{"b":1e400}}', [{ path: ['a', 'b'], text: '1e400' }]],
    ['{"a":"b: 2.0"}', []],
  ])('keeps the numbers of %s that Go does not read as integers', (text, literals) => {
    expect(scanJson(text).literals).toEqual(literals);
  });

  it('speaks like Go', () => {
    expect(() => scanJson('{"a":')).toThrow('unexpected end of JSON input');
    expect(() => scanJson('x')).toThrow("invalid character 'x' looking for beginning of value");
    expect(() => scanJson('{a:1}')).toThrow("invalid character 'a' looking for beginning of object key string");
    expect(() => scanJson('{"a":1} x')).toThrow("invalid character 'x' after top-level value");
  });

  it('refuses nesting without end instead of overflowing', () => {
    expect(() => scanJson('['.repeat(100_000))).toThrow(JsonSyntaxError);
  });

  it('keeps __proto__ a key', () => {
    const { value } = scanJson('{"__proto__":{"polluted":1}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value as object)).toEqual(['__proto__']);
  });
});
