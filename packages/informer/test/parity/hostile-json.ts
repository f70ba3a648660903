import type { Chance } from '../model/random.js';

/** A JSON text of what might be an object, written as no API server writes it, but as JSON allows it (mostly). */
export interface HostileText {
  readonly text: string;
  /** Whether a key that counts may occur again behind the bytes that are scanned: only a read of the object finds that. */
  readonly isAmbiguous: boolean;
}

type Member = readonly [key: string, text: string];

/** Writes texts by the choices of one chance. */
class Writer {
  readonly #chance: Chance;
  isAmbiguous = false;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  space(): string {
    return this.#chance.maybe(0.8) ? '' : this.#chance.pick([' ', '\t', '\n', '\r\n', ' \t ']);
  }

  string(value: string): string {
    if (this.#chance.maybe(0.93)) return JSON.stringify(value);
    const escaped = Array.from(value, (character) =>
      this.#chance.maybe(0.5)
        ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
        : JSON.stringify(character).slice(1, -1),
    );
    return `"${escaped.join('')}"`;
  }

  object(members: readonly Member[], repeats = 0.03): string {
    const written = [...members];
    for (const member of members)
      if (this.#chance.maybe(repeats))
        written.splice(this.#chance.int(written.length + 1), 0, [
          member[0],
          this.#chance.pick([member[1], this.wrong()]),
        ]);
    const texts = written.map(
      ([key, text]) => `${this.space()}${this.string(key)}${this.space()}:${this.space()}${text}${this.space()}`,
    );
    return `{${texts.length === 0 ? this.space() : texts.join(',')}}`;
  }

  array(texts: readonly string[]): string {
    return `[${this.space()}${texts.join(`${this.space()},${this.space()}`)}${this.space()}]`;
  }

  /** A value where another type is expected. */
  wrong(): string {
    return this.#chance.pick([
      'null',
      'true',
      '5',
      '-1',
      '1.5',
      '9007199254740993',
      '""',
      '"\\u0041"',
      '[]',
      '{}',
      '[null]',
    ]);
  }

  maybeWrong(text: string): string {
    return this.#chance.maybe(0.04) ? this.wrong() : text;
  }

  /** Any value, nested. */
  noise(depth = 0): string {
    const chance = this.#chance;
    const kind = chance.int(depth > 4 ? 4 : 6);
    if (kind === 4) return this.array(Array.from({ length: chance.int(4) }, () => this.noise(depth + 1)));
    if (kind === 5)
      return this.object(
        Array.from({ length: chance.int(4) }, (): Member => [chance.pick(noiseKeys), this.noise(depth + 1)]),
      );
    return kind === 0
      ? this.string(chance.pick(noiseTexts))
      : kind === 1
        ? this.number()
        : chance.pick(['true', 'null']);
  }

  number(): string {
    return this.#chance.pick(['0', '-0', '1', '1.0', '1e3', '-7', '12345678901234567890', '1E+2', '0.10', '3e400']);
  }

  shuffled(members: readonly Member[], probability: number): Member[] {
    const rest = [...members];
    if (!this.#chance.maybe(probability)) return rest;
    return Array.from({ length: rest.length }, () => rest.splice(this.#chance.int(rest.length), 1)[0]!);
  }
}

const noiseKeys = [
  'metadata',
  'kind',
  'items',
  'name',
  'spec',
  'managedFields',
  'a"b',
  'ké',
  ']}',
  'object',
  'type',
  '__proto__',
];
const noiseTexts = ['', 'x', '"', '\\', 'é', '],"a', '}}', '{"type":"ADDED","object":{}}', '\u0000', '\ud800', 'kind"'];

/** An object of `Thing`, or nearly. */
export function hostileObject(chance: Chance): HostileText {
  const write = new Writer(chance);
  const some = (probability: number, key: string, text: () => string): Member[] =>
    chance.maybe(probability) ? [[key, write.maybeWrong(text())]] : [];
  const metadata: Member[] = [
    ...some(0.97, 'name', () => write.string(chance.pick(['x', 'y', 'näme', 'x']))),
    ...some(0.9, 'namespace', () => write.string(chance.pick(['a', 'b', '']))),
    ...some(0.9, 'uid', () => write.string(chance.pick(['u1', 'u2', '']))),
    ...some(0.95, 'resourceVersion', () => write.string(String(1 + chance.int(50)))),
    ...some(0.5, 'generation', () => chance.pick(['1', '0', '2147483648', '9007199254740991', '123456789012345678'])),
    ...some(0.1, 'deletionTimestamp', () => write.string('2026-01-01T00:00:00Z')),
    ...some(0.5, 'labels', () =>
      write.object([
        ['app', write.string('wéb')],
        ['kind"', write.string('"')],
      ]),
    ),
    ...some(0.3, 'annotations', () => write.noise()),
    ...some(0.3, 'ownerReferences', () =>
      write.array([
        write.object([
          ['uid', write.string('o')],
          ['kind', '"K"'],
        ]),
      ]),
    ),
    ...some(0.4, 'managedFields', () =>
      write.array([
        write.object([
          ['manager', write.string(chance.pick(noiseTexts))],
          ['f', write.noise()],
        ]),
      ]),
    ),
    ...some(0.2, chance.pick(['url', 'nick', 'uidx', 'namespaces']), () => write.noise()),
  ];
  const node = (): string =>
    chance.pick([write.string('n1'), write.string('n"2'), write.number(), 'true', 'null', write.noise()]);
  const spec = write.shuffled(
    [...some(0.8, 'node', node), ...some(0.5, 'zone', node), ...some(0.5, 'pad', () => write.noise())],
    0.5,
  );
  const type = chance.next();
  const members: Member[] = [
    ...(type < 0.55 ? [['apiVersion', write.maybeWrong(write.string('example.com/v1'))] as const] : []),
    ...(type < 0.5 || type > 0.95
      ? [['kind', write.maybeWrong(write.string(chance.maybe(0.95) ? 'Thing' : 'Other'))] as const]
      : []),
    ...some(0.98, 'metadata', () => write.object(write.shuffled(metadata, 0.5))),
    ...some(0.8, 'spec', () => write.object(spec, 0.02)),
    ...some(0.4, 'status', () => write.noise()),
    // A part that index values may have been read of, once more.
    ...some(0.04, 'spec', () => write.object([['node', node()]])),
  ];
  const text = `${write.space()}${write.object(write.shuffled(members, 0.3), 0.02)}${write.space()}`;
  return { text, isAmbiguous: hasRepeatedKey(text) };
}

/** Where a key that is there twice counts: the type, the metadata, and what {@link hostileObject} has index paths to. */
const counting = [
  [[], ['apiVersion', 'kind', 'metadata', 'spec']],
  [['spec'], ['node', 'zone']],
  [['metadata', 'labels'], ['app']],
] as const;

/** Whether a key that counts is there twice, found by a reader that forgets nothing. */
function hasRepeatedKey(text: string): boolean {
  const whole = readPairs(text) ?? [];
  return counting.some(([path, names]) => {
    let objects: Pairs[] = [whole];
    for (const part of path)
      objects = objects.flatMap((pairs) =>
        pairs.filter(([key]) => key === part).flatMap(([, value]) => (Array.isArray(value) ? [value as Pairs] : [])),
      );
    return objects.some((pairs) => {
      const keys = pairs.map(([key]) => key).filter((key) => names.some((name) => name === key));
      return new Set(keys).size !== keys.length;
    });
  });
}

type Pairs = readonly [key: string, value: unknown][];

/** The members of an object text, and of the objects directly in it, repeated keys included. */
function readPairs(text: string): [string, unknown][] | undefined {
  let at = 0;
  const skip = (): void => {
    while (' \t\r\n'.includes(text[at] ?? 'x')) at++;
  };
  const string = (): string => {
    const start = at++;
    while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    return JSON.parse(text.slice(start, ++at)) as string;
  };
  const value = (): unknown => {
    skip();
    if (text[at] === '"') return string();
    if (text[at] === '{') return object();
    if (text[at] === '[') {
      at++;
      skip();
      while (text[at] !== ']') {
        value();
        skip();
        if (text[at] === ',') at++;
        skip();
      }
      at++;
      return undefined;
    }
    while (!',}] \t\r\n'.includes(text[at] ?? ',')) at++;
    return undefined;
  };
  const object = (): [string, unknown][] => {
    const pairs: [string, unknown][] = [];
    at++;
    skip();
    while (text[at] !== '}') {
      skip();
      const key = string();
      skip();
      at++;
      pairs.push([key, value()]);
      skip();
      if (text[at] === ',') at++;
      skip();
    }
    at++;
    return pairs;
  };
  skip();
  return text[at] === '{' ? object() : undefined;
}
