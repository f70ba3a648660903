import { parseJson } from '@kctl/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AlikeParser } from './alike-parser.js';
import { alikeParts, parseSpliced } from './alike-parts.js';

interface Pod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly volumes: readonly unknown[]; readonly containers: readonly unknown[] };
  readonly status: { readonly conditions: readonly unknown[] };
}

const condition = (type: string): object => ({ type, status: 'True', lastTransitionTime: '2026-03-14T09:26:53Z' });
const pod = (name: string, image = `web:${name}`): object => ({
  metadata: { name, annotations: { note: `${name} `.repeat(30) } },
  spec: {
    volumes: [{ name: 'token', projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3607 } }] } }],
    containers: [{ name: 'main', image, resources: { limits: { cpu: '500m', memory: '256Mi', storage: '1Gi' } } }],
  },
  status: { conditions: ['Ready', 'Initialized', 'PodScheduled'].map(condition) },
});
const text = (...of: Parameters<typeof pod>): string => JSON.stringify(pod(...of));
const read = (parser: AlikeParser, of: string, base?: unknown): Pod => parser.parse(of, base) as Pod;

function expectFrozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  expect(Object.isFrozen(value)).toBe(true);
  for (const part of Object.values(value)) expectFrozen(part);
}

describe('AlikeParser', () => {
  it('shares what a text has in common with those before it, and reads the rest', () => {
    const parser = new AlikeParser();
    const names = ['a', 'bcdef', 'c', 'a-much-longer-name', 'e'];
    const pods = names.map((name) => read(parser, text(name)));
    expect(pods).toEqual(names.map((name) => pod(name)));
    for (const each of pods) expectFrozen(each);
    const [, learned, ...later] = pods;
    for (const { spec, status } of later) {
      expect(spec.volumes).toBe(learned?.spec.volumes);
      expect(status.conditions).toBe(learned?.status.conditions);
      expect(spec.containers).not.toBe(learned?.spec.containers);
    }
  });

  it('shares with the version before first of all, also where that has no part of those that are known', () => {
    const parser = new AlikeParser();
    const first = read(new AlikeParser(), text('a'));
    for (const name of ['b', 'c', 'd']) read(parser, text(name));
    const next = read(parser, text('a', 'web:2'), first);
    expect(next).toEqual(pod('a', 'web:2'));
    expect(next.spec.volumes).toBe(first.spec.volumes);
    expect(next.status).toBe(first.status);
    expect(next.metadata).toBe(first.metadata);
    expectFrozen(next);
    expect(read(parser, text('a', 'web:2'), next)).toBe(next);
  });

  it('learns again when other objects come', () => {
    const parser = new AlikeParser();
    for (const name of ['a', 'b', 'c']) read(parser, text(name));
    const other = (name: string): string =>
      JSON.stringify({
        metadata: { name, note: `${name} `.repeat(60) },
        rules: ['get', 'list', 'watch', 'patch'].map(condition),
      });
    const others = Array.from({ length: 40 }, (_, index) => parser.parse(other(`x${index}`), undefined)) as {
      rules: unknown;
    }[];
    expect(others).toEqual(Array.from({ length: 40 }, (_, index) => JSON.parse(other(`x${index}`)) as unknown));
    expect(others.at(-1)?.rules).toBe(others.at(-2)?.rules);
  });

  it('reads a text whose strings look like what stands for a part', () => {
    const parser = new AlikeParser();
    for (const name of ['a', 'b', 'c']) read(parser, text(name));
    // The known part lies elsewhere, and in its place a string that says so.
    for (const name of ['\u007f0', '\u007f1', String.raw`\u007f0`, String.raw`\u007F0`]) {
      const forged = text('d').replace('"volumes"', `"volumes":"${name}","volumeClaims"`);
      expect(read(parser, forged)).toEqual(JSON.parse(forged));
    }
  });

  it('reads a text where a known part lies elsewhere', () => {
    const parser = new AlikeParser();
    for (const name of ['a', 'b', 'c']) read(parser, text(name));
    const moved = text('d').replace('"volumes"', '"volumeClaims"');
    expect(read(parser, moved)).toEqual(JSON.parse(moved));
    const twice = text('e').replace('"containers"', '"volumes":0,"containers"');
    expect(read(parser, twice)).toEqual(JSON.parse(twice));
  });

  it('keeps integers beyond 2^53, within known parts and beside them', () => {
    const parser = new AlikeParser();
    const large = (name: string): string =>
      text(name, '9').replace('3607', '36070000000000000001').replace('"image":"9"', '"image":90000000000000000001');
    for (const name of ['a', 'b', 'c', 'd']) expect(read(parser, large(name))).toEqual(parseJson(large(name)));
  });

  it('fails where JSON.parse fails, and goes on', () => {
    const parser = new AlikeParser();
    for (const name of ['a', 'b', 'c']) read(parser, text(name));
    const whole = text('d');
    const start = whole.indexOf('"volumes"');
    for (let length = 0; length < whole.length; length += 7)
      expect(() => read(parser, whole.slice(0, length))).toThrow(SyntaxError);
    // A known part where a key should be, and within a string that is never closed.
    const part = JSON.stringify((pod('d') as Pod).spec.volumes);
    for (const broken of [`{${part}:1}`, `{"a":"${part}"}`])
      expect(() => read(parser, `${whole.slice(0, start)}"x":${broken},${whole.slice(start)}`)).toThrow(SyntaxError);
    expect(read(parser, whole)).toEqual(pod('d'));
  });
});

describe('AlikeParser learns', () => {
  type Run = readonly [kind: 'rules' | 'hosts', count: number, length?: number];
  const partOf = (kind: string, length: number): object[] =>
    Array.from({ length: length > 10_000 ? 400 : 4 }, () => ({ ...condition('get'), kind }));

  /** A text of a kind, which has nothing in common with the texts of the other kind. */
  function textOf(kind: string, index: number, length: number): string {
    const object = { metadata: { name: `${kind}${index}` }, [kind]: partOf(kind, length), pad: '' };
    return JSON.stringify({ ...object, pad: `${index}`.padEnd(length - JSON.stringify(object).length, kind) });
  }

  /** The first text of each run, counted from 1, that shares its part with the text before. */
  function firstShared(runs: readonly Run[]): number[] {
    const parser = new AlikeParser();
    return runs.map(([kind, count, length = 700]) => {
      const parts = Array.from({ length: count }, (_, index) => {
        const parsed = parser.parse(textOf(kind, index, length), undefined);
        return Reflect.get(Object(parsed), kind) as unknown;
      });
      return 1 + parts.findIndex((part, index) => index > 0 && part === parts[index - 1]);
    });
  }

  // The parts of the second text serve from the third on, and are kept for 16 other texts.
  it.each<{ name: string; runs: readonly Run[]; shared: readonly number[] }>([
    {
      name: 'late if its parts have served for few texts',
      runs: [
        ['rules', 17],
        ['hosts', 18],
        ['rules', 34],
      ],
      shared: [2, 18, 34],
    },
    {
      name: 'soon if they have served for as many as they are kept for',
      runs: [
        ['rules', 18],
        ['hosts', 18],
        ['rules', 10],
      ],
      shared: [2, 18, 10],
    },
    {
      name: 'as soon again',
      runs: [
        ['rules', 19],
        ['hosts', 25],
        ['rules', 10],
        ['hosts', 10],
      ],
      shared: [2, 18, 10, 10],
    },
    {
      name: 'later again',
      runs: [
        ['rules', 19],
        ['hosts', 24],
        ['rules', 10],
        ['hosts', 18],
      ],
      shared: [2, 18, 10, 18],
    },
    {
      name: 'ever later while they serve for none, after 1,024 texts at the latest',
      runs: [
        ['rules', 2],
        ['hosts', 18],
        ['rules', 34],
        ['hosts', 66],
        ['rules', 130],
        ['hosts', 258],
        ['rules', 514],
        ['hosts', 1026],
        ['rules', 1026],
      ],
      shared: [2, 18, 34, 66, 130, 258, 514, 1026, 1026],
    },
  ])('$name', ({ runs, shared }) => {
    expect(firstShared(runs)).toEqual(shared);
  });

  it.each([
    ['of 512 characters', 512, 0],
    ['of fewer not', 511, 2],
    ['of 65,536 characters', 65_536, 0],
    ['of more not', 65_537, 2],
    ['of which a fifth is alike', 5 * JSON.stringify(partOf('rules', 700)).length, 0],
    ['of which less is alike not', 5 * JSON.stringify(partOf('rules', 700)).length + 5, 2],
  ])('from texts %s', (_what, length, shared) => {
    // While parts are known, texts that lack them share nothing.
    expect(
      firstShared([
        ['rules', 3, length],
        ['hosts', 9, Math.max(length, 512)],
      ]),
    ).toEqual([2, shared]);
  });
});

describe('alikeParts', () => {
  const parts = (object: object, other = object): string[] =>
    alikeParts(object, JSON.stringify(object), JSON.stringify(other)).map(({ path }) => path.join('.'));
  const part = (name: string, length: number): object => ({ name: name.padEnd(length - '{"name":""}'.length, name) });

  it('are of 48 characters and more, 24 at most, and the largest ones', () => {
    expect(parts({ short: part('a', 47), long: part('b', 48) })).toEqual(['long']);
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`k${at}`, part(`${at}`, 60)]));
    expect(parts(many)).toEqual(Object.keys(many).slice(0, 24));
    expect(parts({ outer: { inner: part('a', 60) } })).toEqual(['outer']);
    expect(parts({ outer: { inner: part('a', 60), own: 1 } }, { outer: { inner: part('a', 60), own: 2 } })).toEqual([
      'outer.inner',
    ]);
  });

  it('are not the whole, nor what begins as a part of a string may', () => {
    expect(parts(part('a', 60))).toEqual([]);
    expect(parts({ list: [part('a', 60)], keys: { '1': 'x'.repeat(60) }, texts: ['-'.repeat(60)] })).toEqual(['list']);
  });

  it('lie one behind the other', () => {
    const same = part('a', 60);
    const object = { first: same, second: same, third: same };
    const text = JSON.stringify(object);
    const starts = alikeParts(object, text, text).map(({ start }) => start);
    expect(starts).toEqual(['first', 'second', 'third'].map((name) => text.indexOf(name) + name.length + 2));
  });
});

describe('parseSpliced', () => {
  it.each([
    [0, true],
    [128, true],
    [129, false],
    [-128, true],
    [-129, false],
  ])('finds a part %i characters behind its place: %s', (shift, isFound) => {
    const source = (pad: number): string =>
      JSON.stringify({ pad: '-'.repeat(pad), part: { name: 'n'.repeat(60) }, end: 1 });
    const parts = alikeParts(JSON.parse(source(200)) as object, source(200), source(200));
    const spliced = parseSpliced(source(200 + shift), parts, undefined);
    if (isFound) expect(spliced).toMatchObject({ kind: 'parsed', value: JSON.parse(source(200 + shift)) as object });
    else expect(spliced).toEqual({ kind: 'absent' });
  });

  it('parses only what is not known', () => {
    const parts = alikeParts(JSON.parse(text('b')), text('b'), text('a'));
    expect(parts.map(({ path }) => path.join('.'))).toEqual(['spec.volumes', 'spec.containers.0.resources', 'status']);
    const saved = parts.reduce((sum, part) => sum + part.text.length, 0);
    // The last part lies far from where it was, but not from the parts before it.
    for (const image of ['c', 'c'.repeat(100)])
      expect(parseSpliced(text('ccc', image), parts, undefined)).toEqual({
        kind: 'parsed',
        value: pod('ccc', image),
        saved,
      });
    expect(parseSpliced('{}', parts, undefined)).toEqual({ kind: 'absent' });
    expect(parseSpliced(`[${text('c')}]`, parts, undefined)).toEqual({ kind: 'misplaced' });
  });
});

it('takes nothing for a part whose text may occur inside of strings', () => {
  const strings = Array.from({ length: 41 }, (_, index) => (index % 2 === 0 ? ':' : ','));
  const known = JSON.stringify(strings);
  const whole = (of: string): string => `{"pad":${JSON.stringify('p'.repeat(500))},${of}}`;
  // Read from within a string, the same characters are other members.
  const other = whole(`"z${known}"`);
  expect(JSON.parse(other)).toHaveProperty('z[', ',');
  const parser = new AlikeParser();
  for (const _ of [1, 2, 3]) expect(parser.parse(whole(`"z":${known}`), undefined)).toHaveProperty('z', strings);
  expect(parser.parse(other, undefined)).toEqual(JSON.parse(other));
});

/** Trees with keys and strings that could be mistaken for something else, large enough to have parts worth sharing. */
const leaf = fc.oneof(
  fc.constantFrom('\u007f0', '{"name":', '"', '\\', '\\u007f1', 'ä😀', '', '0'),
  fc.string({ maxLength: 20 }),
  fc.integer(),
  fc.constantFrom(null, true, 1.5, 123_456_789_012_345),
);
const key = fc.constantFrom('name', 'spec', 'items', '7', '0', '__proto__', 'a b', '', 'Kind', '"quoted"');
const block = fc.oneof(
  fc.array(fc.record({ type: fc.constantFrom('Ready', 'Live'), pad: fc.constant('x'.repeat(40)), of: leaf })),
  fc.record({
    image: leaf,
    limits: fc.constant({ cpu: '500m', memory: '256Mi', storage: '1Gi', more: 'yes'.repeat(9) }),
  }),
);
const tree = fc.dictionary(key, fc.oneof(leaf, block, fc.dictionary(key, fc.oneof(leaf, block), { maxKeys: 3 })), {
  maxKeys: 5,
});

it('reads any sequence of texts as parseJson does, frozen, and shares equal parts with the version before', () => {
  fc.assert(
    fc.property(
      fc.array(tree, { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(fc.nat(2), fc.boolean(), leaf, fc.boolean()), { minLength: 4, maxLength: 30 }),
      (kinds, steps) => {
        const parser = new AlikeParser();
        const versions = new Map<number, unknown>();
        for (const [which, isUpdate, value, isSpaced] of steps) {
          const place = which % kinds.length;
          const object = { metadata: { name: value, pad: 'p'.repeat(400) }, ...kinds[place], last: value };
          const written = JSON.stringify(object, undefined, isSpaced ? 1 : undefined);
          const base = isUpdate ? versions.get(place) : undefined;
          const parsed = parser.parse(written, base);
          expect(parsed).toEqual(parseJson(written));
          expect(JSON.stringify(parsed)).toBe(JSON.stringify(parseJson(written)));
          expectFrozen(parsed);
          if (base !== undefined) expectShared(parsed, base);
          versions.set(place, parsed);
        }
      },
    ),
    { numRuns: 300 },
  );
});

function expectShared(next: unknown, previous: unknown): void {
  if (typeof next !== 'object' || next === null || typeof previous !== 'object' || previous === null) return;
  for (const name of Object.keys(next)) {
    const after = (next as Record<string, unknown>)[name];
    const before = Object.getOwnPropertyDescriptor(previous, name)?.value as unknown;
    if (typeof after !== 'object' || after === null || before === after) continue;
    expect(JSON.stringify(after)).not.toBe(JSON.stringify(before));
    expectShared(after, before);
  }
}
