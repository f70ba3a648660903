import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readYaml, writeYaml } from '../src/index.js';

describe('writeYaml', () => {
  it('quotes strings that a reader of YAML 1.1 or 1.2 takes for something else', () => {
    const values = [
      'on',
      'Off',
      'y',
      'N',
      '1_000',
      '0b1',
      '0o644',
      '0X1F',
      '12:30',
      '2024-01-02',
      '=',
      '<<',
      '~',
      '',
      '08',
      '.5',
    ];
    for (const text of values) expect(writeYaml([text])).toBe(`- ${JSON.stringify(text)}\n`);
    expect(writeYaml(['plain', 'a.b', 'e3', '10.0.0.1/8'])).toBe('- plain\n- a.b\n- e3\n- 10.0.0.1/8\n');
  });

  it('leaves out undefined members, calls toJSON and sorts if it is told to', () => {
    expect(writeYaml({ b: undefined, c: new Date(0), a: [undefined] }, { sortKeys: true })).toBe(
      'a:\n  - null\nc: 1970-01-01T00:00:00.000Z\n'.replace('1970-01-01T00:00:00.000Z', '"1970-01-01T00:00:00.000Z"'),
    );
  });

  it.each([
    [{ a: { b: [Number.NaN] } }, 'writeYaml: a.b[0] is NaN: expected a value of JSON'],
    [{ a: () => 1 }, 'writeYaml: a is a function: expected a value of JSON'],
    [{ a: Symbol('x') }, 'writeYaml: a is a symbol: expected a value of JSON'],
  ])('refuses what has no JSON form', (value, message) => {
    expect(() => writeYaml(value)).toThrow(message);
  });

  it('refuses a cycle', () => {
    const value: { self?: object } = {};
    value.self = value;
    expect(() => writeYaml(value)).toThrow('writeYaml: self is a reference to an object that contains it');
  });

  it('gives what readYaml reads as the same value', () => {
    const piece = fc.constantFrom(
      ...[
        'a',
        '0',
        '1',
        'x',
        'e',
        '.',
        '-',
        '_',
        ':',
        '#',
        ' ',
        '\n',
        '\t',
        '\r',
        '"',
        "'",
        '{',
        '[',
        ',',
        '&',
        '*',
        '!',
      ],
      ...[
        '|',
        '>',
        '%',
        '@',
        '\\',
        '?',
        '---',
        '... ',
        '- ',
        ': ',
        '\u0085',
        '\u2028',
        '\ufeff',
        '\u0007',
        '\u007f',
        '😀',
      ],
      ...['null', 'yes', '0o7', '12:30', '\n\n', ' \n'],
    );
    const text = fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join(''));
    const leaf = fc.oneof(
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
    );
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('value')),
        fc.dictionary(text, tie('value'), { noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(tree, (value) => {
        expect(readYaml(writeYaml(value)).value).toEqual(value);
      }),
      { numRuns: 500, examples: [[[[[{ 'a- [': [] }], { '': { '': 'a:,' } }]]]] },
    );
  });
});
