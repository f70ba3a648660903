import { describe, expect, it } from 'vitest';
import { isYamlError, readYaml, readYamlDocuments } from '../src/index.js';

const value = (text: string): unknown => readYaml(text).value;
const failure = (text: string): string => {
  try {
    return `no failure: ${JSON.stringify(value(text))}`;
  } catch (error) {
    if (isYamlError(error)) return error.message;
    throw error;
  }
};

// Each row was read by sigs.k8s.io/yaml 1.6; e2e/yaml compares thousands more with it.
const strings = [
  '.',
  '._',
  '-.',
  'e3',
  'E5',
  '-e1',
  '.e5',
  'e1234567',
  '1e400',
  '-1e400',
  '.5_0',
  '0x',
  '0b',
  '0o8',
  '+',
  '--1',
];
const more = ['12:30', '1:30.5', '2024-01-02', '2024-01-02T03:04:05Z', '=', 'nUll', 'yEs', '.Nan', '_1', '1e', '0x1p4'];
const numbers: readonly (readonly [string, number | bigint])[] = [
  ['0o644', 420],
  ['0O17', 15],
  ['0644', 420],
  ['08', 8],
  ['0x1F', 31],
  ['0X1f', 31],
  ['0b101', 5],
  ['-0b101', -5],
  ['0b+1', 1],
  ['1_000', 1000],
  ['0_', 0],
  ['+1', 1],
  ['1.', 1],
  ['.5', 0.5],
  ['-.5', -0.5],
  ['1e5', 100_000],
  ['1.5E-3', 0.0015],
  ['1_0.5', 10.5],
  ['9007199254740993', 9_007_199_254_740_993n],
  ['18446744073709551615', 18_446_744_073_709_551_615n],
  ['18446744073709551616', 18_446_744_073_709_552_000],
];

describe('plain scalars', () => {
  it.each([...strings, ...more])('%j is a string', (text) => {
    expect(value(`a: ${text}`)).toEqual({ a: text });
    expect(value(`[${text}]`)).toEqual([text]);
  });

  it.each(numbers)('%s is %s', (text, number) => {
    expect(value(`a: ${text}`)).toEqual({ a: number });
  });

  it('are booleans and null by the words of YAML 1.1', () => {
    for (const word of ['y', 'Y', 'yes', 'On', 'TRUE']) expect(value(`- ${word}`)).toEqual([true]);
    for (const word of ['n', 'N', 'no', 'Off', 'FALSE']) expect(value(`- ${word}`)).toEqual([false]);
    for (const word of ['~', 'null', 'Null', 'NULL', '']) expect(value(`- ${word}`)).toEqual([null]);
  });

  it.each(['.inf', '-.Inf', '+.INF', '.nan', '.NaN'])('%s has no JSON form', (text) => {
    expect(failure(`a: 1\nb: ${text}`)).toMatch(/^line 2: unsupported value: (?:NaN|[-+]Inf)$/);
  });
});

describe('tags', () => {
  it('decide the type of a scalar, quoted or not', () => {
    const text = '[!!str 1, !!int "5", !!float 1, !!bool "yes", !!null "", !own 5, ! 5, !!timestamp 2024-01-02]';
    expect(value(text)).toEqual(['1', 5, 1, true, null, '5', '5', '2024-01-02']);
    expect(value('a: !!binary aGVsbG8=')).toEqual({ a: 'hello' });
    expect(value('a: !!binary |\n  aGVs\n  bG8=\n')).toEqual({ a: 'hello' });
  });

  it.each([
    ['!!int x', 'cannot decode "x" as a !!int'],
    ['!!int 1.5', 'cannot decode "1.5" as a !!int'],
    ['!!bool 1', 'cannot decode "1" as a !!bool'],
    ['!!null x', 'cannot decode "x" as a !!null'],
    ['!!binary x', '!!binary value contains invalid base64 data'],
    ['!!timestamp 2024-13-01', 'cannot decode "2024-13-01" as a !!timestamp'],
  ])('%s is refused', (text, message) => {
    expect(failure(`a: ${text}`)).toBe(`line 1: ${message}`);
  });
});

describe('keys', () => {
  it('become strings as Go writes them', () => {
    expect(value('{1: a, 0x10: b, true: c, off: d, 1.5: e, 1e6: f, 2024-01-02: g}')).toEqual({
      1: 'a',
      16: 'b',
      true: 'c',
      false: 'd',
      1.5: 'e',
      '1e+06': 'f',
      '2024-01-02': 'g',
    });
    expect(Object.keys(value('__proto__: 1') as object)).toEqual(['__proto__']);
  });

  it.each(['~: 1', '? [a]\n: 1', '? {a: 1}\n: 1', '18446744073709551615: 1'])('%j is refused', (text) => {
    expect(failure(text)).toMatch(/^line 1: (?:unsupported|invalid) map key/);
  });

  it('that are there twice have the last value, and are reported', () => {
    expect(readYaml('a: 1\nb: 2\na: 3\n1: x\n"1": z\n')).toMatchObject({
      value: { a: 3, b: 2, 1: 'z' },
      duplicates: [{ line: 3, key: '"a"' }],
    });
  });

  it('are merged at the place of <<, over what stands before it', () => {
    const base = 'base: &b {a: 1, b: 2}\nother: &o {b: 3, c: 4}\n';
    expect(value(`${base}x: {a: 0, <<: *b, b: 5}`)).toMatchObject({ x: { a: 1, b: 5 } });
    expect(value(`${base}x: {<<: [*b, *o]}`)).toMatchObject({ x: { a: 1, b: 2, c: 4 } });
    expect(value(`${base}x: {<<: *b, <<: *o}`)).toMatchObject({ x: { a: 1, b: 3, c: 4 } });
    expect(value('x: {"<<": 1}')).toEqual({ x: { '<<': 1 } });
    expect(failure('x: {<<: 1}')).toContain('map merge requires map or sequence of maps as the value');
  });
});

describe('structure', () => {
  it('takes a quoted scalar and a bracket that end below their key', () => {
    expect(value('a: \'x\n\ny\'\nb: "z\nw"\n')).toEqual({ a: 'x\ny', b: 'z w' });
    expect(value('a: {\n  b: [\n1,\n2\n]\n}\nc: |\n  "x\n  y\nd: "e\n"\n')).toEqual({
      a: { b: [1, 2] },
      c: '"x\ny\n',
      d: 'e ',
    });
  });

  it('takes a dash, a question mark or a bracket inside of a plain scalar for a part of it', () => {
    for (const text of ['- a- [\n- a:,', '- b? {\n- a:,', 'c- [: 1\nd: e:,', '- f - "\n- a:,', '[g- fd00::]'])
      expect(() => value(text), text).not.toThrow();
    expect(value('- - a- [: []\n  - {b: "c"}\n- "d:,"\n- e:,')).toEqual([[{ 'a- [': [] }, { b: 'c' }], 'd:,', 'e:,']);
    expect(value('[a- fd00::, b]')).toEqual(['a- fd00::', 'b']);
  });

  it('takes a colon at the end of a plain scalar in a flow collection for a part of it', () => {
    expect(value('a: [10.0.0.0/8, fd00::]\nb: {c: fd00::, d:}\ne: ["x", \'y:\', "z:]"]')).toEqual({
      a: ['10.0.0.0/8', 'fd00::'],
      b: { c: 'fd00::', 'd:': null },
      e: ['x', 'y:', 'z:]'],
    });
    expect(value('{"a":{"b":[]},"c":{}}')).toEqual({ a: { b: [] }, c: {} });
  });

  it('keeps a block scalar as it ends in the string', () => {
    expect(value('a: |\n  x')).toEqual({ a: 'x' });
    expect(value('a: |\n  x\n')).toEqual({ a: 'x\n' });
    expect(value('a: |+\n  x\n\n')).toEqual({ a: 'x\n\n' });
  });

  it('skips a byte order mark, and reads the first document alone', () => {
    expect(value('\ufeffa: 1\n')).toEqual({ a: 1 });
    expect(value('a: 1\n---\nb: [\n')).toEqual({ a: 1 });
    expect(value('# comment\n---\na: 1\n...\nb: 2\n')).toEqual({ a: 1 });
    expect(value('')).toBeNull();
  });

  it('takes JSON that is indented with tabs', () => {
    expect(value('{\n\t"a": [\n\t\t9007199254740993\n\t]\n}')).toEqual({ a: [9_007_199_254_740_993n] });
  });

  it('refuses control characters, unknown anchors and anchors within themselves', () => {
    expect(failure('a: 1\nb: "\u0007"')).toBe('line 2: control characters are not allowed');
    for (const escape of ['\\ud800', '\\ud83d\\ude00', '\\UFFFFFFFF', '\\U00110000'])
      expect(failure(`a: "x${escape}"`)).toBe('line 1: found invalid Unicode character escape code');
    expect(value('a: "\\\\ud800 \\u00e9 \\U0001F600"')).toEqual({ a: '\\ud800 é 😀' });
    expect(value('{"a": "\\ud83d\\ude00"}')).toEqual({ a: '😀' });
    expect(failure('a: *x')).toBe("line 1: unknown anchor 'x' referenced");
    expect(failure('a: &x [*x]')).toBe("line 1: anchor 'x' value contains itself");
  });

  it('gives each alias a value of its own', () => {
    const { a, b } = value('a: &x [1]\nb: *x') as { a: unknown[]; b: unknown[] };
    expect(b).toEqual(a);
    expect(b).not.toBe(a);
  });
});

describe('hostile documents', () => {
  it('end in an error that names the line', () => {
    const deep = '['.repeat(50_000);
    expect(failure(`a: ${deep}${']'.repeat(50_000)}`)).toMatch(/exceeded max depth/);
    let laughs = `a0: &a0 [${Array<string>(9).fill('x').join()}]\n`;
    for (let level = 1; level < 12; level++)
      laughs += `a${level}: &a${level} [${Array<string>(9)
        .fill(`*a${level - 1}`)
        .join()}]\n`;
    expect(failure(laughs)).toMatch(/document contains excessive aliasing/);
    expect(failure(`a: "${'\\q'.repeat(100_000)}"`)).toMatch(/^line 1: /);
  });

  it('with many anchors are read in one pass', () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `a${index}: &x${index} 1\nb${index}: *x${index}`);
    expect(Object.keys(value(lines.join('\n')) as object)).toHaveLength(40_000);
  });
});

describe('readYamlDocuments', () => {
  it('divides a stream as kubectl does, and keeps a mistake in its document', () => {
    const text = '\ufeffa: 1\n--- # comment\n# nothing\n---\nb: [\n---\nc: |\n  x\n---\n--- d: 1\n---\ne: 1';
    expect(
      readYamlDocuments(text).map((each) =>
        'error' in each ? [each.line, each.error.message] : [each.line, each.value],
      ),
    ).toEqual([
      [1, { a: 1 }],
      [5, expect.stringMatching(/^line [56]: /)],
      [7, { c: 'x\n' }],
      [10, 'line 10: invalid Yaml document separator: d: 1'],
      [12, { e: 1 }],
    ]);
  });

  it('reads files with carriage returns', () => {
    expect(readYamlDocuments('a: 1\r\n---\r\nb: |\r\n  x\r\n').map((each) => 'value' in each && each.value)).toEqual([
      { a: 1 },
      { b: 'x\n' },
    ]);
  });
});
