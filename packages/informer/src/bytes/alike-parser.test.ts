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

describe('parseSpliced', () => {
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
