/** A generator of documents by a seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }

  /** Up to a number of pieces in a row. */
  text(pieces: readonly [string, ...string[]], length: number): string {
    return Array.from({ length: this.below(length + 1) }, () => this.pick(pieces)).join('');
  }
}

const digits = ['0', '1', '7', '8', '9', '-', '+', '.', '_', 'e', 'E', 'x', 'o', 'b', 'X', 'O', 'B'] as const;
const letters = [
  'n',
  'a',
  'N',
  'A',
  'i',
  'f',
  'I',
  'y',
  'Y',
  's',
  't',
  'r',
  'u',
  '~',
  '=',
  '<',
  ':',
  ' ',
  '/',
  'T',
  'Z',
  '#',
] as const;
const words = ['-0', '0x', '1e', '.inf', 'true', 'null', '2020-01-02', '12:30:45', '<<'] as const;
const tags = [
  '',
  '',
  '',
  '',
  '',
  '',
  '!!str ',
  '!!int ',
  '!!float ',
  '!!bool ',
  '!!null ',
  '!!binary ',
  '!!timestamp ',
  '!own ',
  '! ',
] as const;

/** A document with one scalar, in every style and at every place. */
export function scalarDocument(random: Random): string {
  const scalar = random.pick([...digits, ...letters, ...words]) + random.text([...digits, ...letters, ...words], 6);
  const written = random.pick([scalar, scalar, scalar, `'${scalar.replaceAll("'", "''")}'`, JSON.stringify(scalar)]);
  const value = `${random.pick(tags)}${written}`;
  return random.pick([
    `a: ${value}`,
    `a: ${value}\nb: 1\n`,
    `[${value}]`,
    `- ${value}`,
    `- - ${value}\n  - x`,
    `${value}: 1`,
    `{a: ${value}}`,
    `{${value}: b}`,
    `? ${value}\n: x`,
    `a:\n  ${value}\n  ${scalar}`,
    `a: |\n  ${scalar}\n`,
    `a: >-\n  ${scalar}\n  x\n`,
    `a: &x ${value}\nb: *x\n`,
  ]);
}

const keys = ['a', 'b', 'c', 'on', '1', '"q"'] as const;

/** A document as people write them: nested collections of both styles, scalars over several lines, anchors and merges. */
export function structuredDocument(random: Random, indent = '', depth = 0): string {
  const count = 1 + random.below(3);
  const isSequence = depth > 0 && random.next() < 0.4;
  const used = new Set<string>();
  return Array.from({ length: count }, (): string => {
    const key = random.pick(keys);
    if (!isSequence && used.has(key)) return '';
    used.add(key);
    const start = isSequence ? `${indent}-` : `${indent}${key}:`;
    if (depth < 4 && random.next() < 0.35)
      return `${start}${isSequence ? ' ' : '\n'}${nested(random, indent, depth, isSequence)}`;
    return `${start}${scalarOverLines(random, indent)}\n`;
  }).join(random.pick(['', '', '\n', `${indent}# comment\n`]));
}

function nested(random: Random, indent: string, depth: number, isInline: boolean): string {
  const inner = `${indent}${' '.repeat(2 + 2 * random.below(2))}`;
  const text = structuredDocument(random, inner, depth + 1);
  return isInline ? `\n${text}` : text;
}

function scalarOverLines(random: Random, indent: string): string {
  const word = (): string => random.pick(['x', 'y z', 'a: b', '# no', "it's", '"', '- d', '', '  deep', '1', 'é']);
  const plain = random.pick(['x', 'yes', '0o17', '1.5', '.', '~', 'a b', 'http://x:1/y#z']);
  const below = random.pick([indent, `${indent}  `, `${indent}    `, '']);
  const lines = (): string => [word(), word(), word()].join(`\n${indent}  `);
  switch (random.below(9)) {
    case 0:
      return ` |${random.pick(['', '-', '+'])}\n${indent}  ${lines().replaceAll('\n\n', '\n')}`;
    case 1:
      return ` >${random.pick(['', '-', '+'])}\n${indent}  first\n${indent}  ${lines()}`;
    case 2:
      return ` "x ${random.pick(['\\n', '\\t', '\\u00e9', '\\x41', ''])}\n${below}y"`;
    case 3:
      return ` 'x\n\n${below}it''s'`;
    case 4:
      return ` {\n${below}  a: 1, b: [x, "y",\n${below}z]\n${below}}`;
    case 5:
      return ` [\n${below}  1,\n${below}  {a: b}\n${below}]`;
    case 6:
      return ` ${plain} # comment`;
    case 7:
      return ` ${plain}\n${indent}  ${random.pick(['more', 'words here'])}`;
    default:
      return random.pick(['', ` ${plain}`, ` !!str ${plain}`, ` &x${random.below(3)} ${plain}`]);
  }
}

const pieces = [
  ...digits,
  ...letters,
  ...words,
  ...[
    '\n',
    '\t',
    '\r',
    '"',
    "'",
    '{',
    '[',
    ',',
    '|',
    '>',
    '&',
    '*',
    '!',
    '%',
    '@',
    '`',
    '\\',
    '?',
    '- ',
    ': ',
    '---',
    '...',
    '\n\n',
  ],
  ...['\u0085', '\u2028', '\u00a0', '\ufeff', '\u0007', '\u007f', 'é', '😀', ' \n', '  ', 'yes', '0o7'],
] as unknown as readonly [string, ...string[]];

/** A value of JSON whose strings are hard to write. */
export function value(random: Random, depth = 0): unknown {
  const kind = random.next();
  if (kind < 0.6 || depth > 3) return random.text(pieces, 6);
  if (kind < 0.65)
    return random.pick<unknown>([
      0,
      1,
      -1,
      1.5,
      1e21,
      1e-7,
      -0.5,
      123_456_789_012,
      9_007_199_254_740_993n,
      true,
      null,
      [],
      {},
    ]);
  const items = Array.from({ length: 1 + random.below(3) }, () => value(random, depth + 1));
  return kind < 0.8 ? items : Object.fromEntries(items.map((item) => [random.text(pieces, 5), item]));
}
