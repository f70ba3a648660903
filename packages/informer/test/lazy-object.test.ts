import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import type { FieldPaths } from '@kctl/apimachinery/internal/wire';
import { compileFieldPaths } from '@kctl/apimachinery/internal/wire';
import type { StoredObject } from '@kctl/cache-index';
import { describe, expect, it, vi } from 'vitest';
import { ByteDecoder } from '../src/decoders/byte-decoder.js';

interface Thing extends KubeObject {
  spec?: { node: string; list: number[] };
}
const Thing = defineKind<Thing>()({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });

function decoder(skipped: string[] = [], freeze = true, paths?: FieldPaths): ByteDecoder<Thing> {
  return new ByteDecoder<Thing>({
    kind: Thing,
    freeze,
    keepManagedFields: false,
    transform: undefined,
    fieldPaths: () => paths,
    onSkip: ({ message }) => skipped.push(message),
  });
}

function decode(from: ByteDecoder<Thing>, text: string, present?: StoredObject<Thing>): StoredObject<Thing> {
  const stored = from.item(Buffer.from(text), () => present)?.stored;
  if (stored === undefined) throw new Error('not decoded');
  return stored;
}

const text = (version: number, node = 'n1', size = 0): string =>
  JSON.stringify({
    metadata: {
      name: 'x',
      namespace: 'a',
      uid: 'u',
      resourceVersion: String(version),
      generation: 3,
      labels: { app: 'wéb' },
      managedFields: [{ manager: 'm' }],
      ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'o', uid: 'ou' }],
      finalizers: ['f'],
    },
    spec: { node, list: [1, 2], pad: 'p'.repeat(size) },
  });

describe('an object kept as bytes', () => {
  it('stays what it was read as, also where there is no memory to move its neighbours', () => {
    const from = decoder();
    const stored = decode(from, text(7));
    const discard = from.slabs.discard.bind(from.slabs);
    vi.spyOn(from.slabs, 'discard').mockImplementationOnce((tenant) => {
      discard(tenant);
      throw new RangeError('no memory');
    });
    expect(() => stored.object).toThrow('no memory');
    decode(from, text(8, 'n2'));
    expect(stored.object).toMatchObject({ metadata: { resourceVersion: '7' }, spec: { node: 'n1' } });
  });

  it('tells its header without a parse', () => {
    const stored = decode(decoder(), text(7));
    expect(stored).toMatchObject({
      namespace: 'a',
      name: 'x',
      uid: 'u',
      resourceVersion: '7',
      generation: 3,
      deletionTimestamp: undefined,
    });
    expect(stored.labels).toEqual({ app: 'wéb' });
    expect(stored.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'K', name: 'o', uid: 'ou' }]);
    expect(stored.fields(compileFieldPaths(['spec.node', 'spec.none']))).toEqual(['n1', undefined]);
    expect(stored.isParsed).toBe(false);
  });

  it.each([
    ['', undefined],
    ['"generation":0,', 0],
    ['"generation":2147483647,', 2_147_483_647],
    ['"generation":2147483648,', 2_147_483_648],
    ['"generation":9007199254740991,', 9_007_199_254_740_991],
  ])('tells its generation, before and after it is parsed: %s', (written, generation) => {
    const stored = decode(decoder(), text(7).replace('"generation":3,', written));
    expect(stored.generation).toBe(generation);
    expect(stored.object.metadata.generation).toBe(generation);
    expect(stored.generation).toBe(generation);
  });

  it.each([0, 100, 5000, 70_000, 300])('is given its kind, with %i bytes of padding', (size) => {
    const from = decoder();
    for (const pad of [10, size, 40, size + 3]) {
      const { object } = decode(from, text(7, 'ñ', pad));
      expect(object).toMatchObject({ apiVersion: 'example.com/v1', kind: 'Thing', spec: { node: 'ñ', list: [1, 2] } });
      expect(object.spec).toHaveProperty('pad', 'p'.repeat(pad));
    }
  });

  it('is parsed once, frozen, without managedFields, with the kind that list items leave out; its header stays', () => {
    const from = decoder();
    const stored = decode(from, text(7));
    const { object } = stored;
    expect(object).toMatchObject({
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      spec: { node: 'n1' },
      metadata: { finalizers: ['f'] },
    });
    expect(object.metadata).not.toHaveProperty('managedFields');
    expect(Object.isFrozen(object.spec?.list)).toBe(true);
    expect(stored.object).toBe(object);
    expect(stored).toMatchObject({ uid: 'u', labels: { app: 'wéb' }, generation: 3, isParsed: true });
    expect(stored.fields(compileFieldPaths(['spec.node']))).toEqual(['n1']);
    expect(from.slabs.liveBytes).toBe(0);
  });

  it('shares what did not change with the version before, also over versions that nobody read', () => {
    const from = decoder();
    const first = decode(from, text(1));
    const { spec } = first.object;
    const second = decode(from, text(2), first);
    const third = decode(from, text(3), second);
    expect(third.object.spec).toBe(spec);
    expect(third.object).not.toBe(first.object);
  });

  it('shares equal parts with the object that was read before it, where they are frozen', () => {
    const named = (name: string, node: string): string => text(1, node).replace('"name":"x"', `"name":"${name}"`);
    for (const freeze of [true, false]) {
      const from = decoder([], freeze);
      const first = decode(from, named('one', 'n1')).object;
      const second = decode(from, named('two', 'n1')).object;
      const third = decode(from, named('three', 'n2')).object;
      expect([first, second, third].map(({ metadata }) => metadata.name)).toEqual(['one', 'two', 'three']);
      expect([first, second, third].map(({ spec }) => spec?.node)).toEqual(['n1', 'n1', 'n2']);
      expect(second.spec === first.spec).toBe(freeze);
      expect(second.metadata.labels === first.metadata.labels).toBe(freeze);
      expect(third.spec?.list === first.spec?.list).toBe(freeze);
      expect(Object.isFrozen(third.metadata)).toBe(freeze);
    }
  });

  it('is the version that is there already, where nothing changed', () => {
    const from = decoder();
    const first = decode(from, text(1));
    const bytes = from.slabs.liveBytes;
    expect(decode(from, text(1), first)).toBe(first);
    expect(from.slabs.liveBytes).toBe(bytes);
  });

  it('stays readable after it was retired and its slab was compacted', () => {
    const from = decoder();
    const old = decode(from, text(0, 'old', 1000));
    const kept = decode(from, text(0, 'kept', 1000));
    from.retire(old);
    for (let version = 1; version < 3000; version++) from.retire(decode(from, text(version, 'later', 1000)));
    expect(from.slabs.heldBytes).toBeLessThan(9_000_000);
    expect(old.object.spec?.node).toBe('old');
    expect(kept.object.spec?.node).toBe('kept');
    expect(kept.labels).toEqual({ app: 'wéb' });
    from.retire(old);
    expect(from.slabs.liveBytes).toBe(0);
  });

  it('goes the way of the parser where the scanner does not understand it', () => {
    const stored = decode(decoder(), '{"metadata":{"name":"\\u0078","namespace":"a"}}');
    expect(stored).toMatchObject({ name: 'x', isParsed: true });
  });

  it('is skipped, with a report, where it has no name, and where it is not JSON', () => {
    const skipped: string[] = [];
    const from = decoder(skipped);
    expect(from.item(Buffer.from('{"metadata":{}}'), () => undefined)).toMatchObject({
      stored: undefined,
      isUnreadable: false,
    });
    expect(from.item(Buffer.from('{"metadata":'), () => undefined)).toMatchObject({
      stored: undefined,
      isUnreadable: true,
    });
    expect(skipped).toEqual(['an object has no metadata.name', 'an item of a list cannot be read']);
  });

  it.each([
    ['JSON', '{"metadata":{"name":"x","namespace":"a","uid":"u"},"spec":{hunter2}}'],
    ['one object', '{"metadata":{"name":"x","namespace":"a"}}{"metadata":{"name":"y"}}'],
    ['unambiguous', '{"metadata":{"name":"x","namespace":"a"},"spec":{},"metadata":{"name":"y"}}'],
    [
      'of one kind',
      '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x","namespace":"a"},"kind":"Secret"}',
    ],
  ])('says which object it was, once, when its bytes turn out not to be %s; its header stays', (_name, bytes) => {
    const skipped: string[] = [];
    const stored = decode(decoder(skipped), bytes);
    for (let read = 0; read < 2; read++) {
      expect(() => stored.object).toThrow(expect.objectContaining({ code: 'KCTL_OBJECT_DECODE', key: 'a/x' }) as Error);
      expect(stored).toMatchObject({ namespace: 'a', name: 'x', generation: undefined, labels: {}, isParsed: false });
    }
    expect(skipped).toEqual(['an object cannot be read']);
    expect(() => stored.object).toThrow(
      expect.objectContaining({
        cause: expect.objectContaining({ message: expect.not.stringContaining('hunter2') as string }) as Error,
      }) as Error,
    );
  });

  it.each([
    ['an index value', '"spec":{"node":"n1"},"status":{},"spec":{"node":"n2"}', ''],
    ['an index value, within a part', '"spec":{"node":"n1","list":[],"node":"n2"}', ''],
    ['an index value that is then none', '"spec":{"node":"n1"},"status":{},"spec":{}', ''],
    ['an index value, by an escape sequence', '"spec":{"node":"n1"},"status":{},"\\u0073pec":{"node":"n2"}', ''],
    ['a label', '"metadata":{"name":"x","namespace":"a","labels":{"app":"other"}}', ''],
    ['the generation', '"metadata":{"name":"x","namespace":"a","labels":{"app":"web"},"generation":1}', ''],
    ['nothing', '"spec":{"node":"n1"},"status":{},"spec":{"node":"n1","list":[]}', 'read'],
    [
      'a part that does not count',
      '"spec":{"node":"n1"},"status":{"spec":{"node":"n3"}},"status":{"node":"n2"}',
      'read',
    ],
  ])(
    'whose key occurs again, which changes %s: it says the same before and after its read, or is refused',
    (_what, parts, read) => {
      for (const paths of [compileFieldPaths(['spec.node']), compileFieldPaths(['spec.node', 'metadata.labels.app'])])
        for (const before of ['', '"spec":{"node":"n1"},'].slice(0, parts.startsWith('"metadata"') ? 2 : 1)) {
          const bytes = `{"metadata":{"name":"x","namespace":"a","labels":{"app":"web"}},${before}${parts}}`;
          const from = decoder([], true, paths);
          const { stored, fields } = from.item(Buffer.from(bytes), () => undefined);
          if (stored === undefined) throw new Error('not decoded');
          const shown = (): unknown => [stored.labels, stored.generation, stored.fields(paths)];
          const said = shown();
          expect(fields ?? stored.fields(paths)).toEqual(stored.fields(paths));
          if (stored.isParsed || read === 'read')
            expect(stored.object).toEqual({ ...stored.object, ...JSON.parse(bytes) });
          else expect(() => stored.object).toThrow('cannot decode a/x');
          expect(shown()).toEqual(said);
        }
    },
  );

  it('is read again where the version that is there cannot be read', () => {
    const from = decoder();
    const broken = decode(from, '{"metadata":{"name":"x","namespace":"a","resourceVersion":"1"},"spec":{nonsense}}');
    expect(() => broken.object).toThrow('cannot decode a/x');
    const next = decode(
      from,
      '{"metadata":{"name":"x","namespace":"a","resourceVersion":"1"},"spec":{"node":"n"}}',
      broken,
    );
    expect(next.object.spec?.node).toBe('n');
  });

  it('says of its deletion without a parse of the whole', () => {
    const stored = decode(
      decoder(),
      '{"metadata":{"name":"x","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{nonsense}}',
    );
    expect(stored.deletionTimestamp).toBe('2026-01-01T00:00:00Z');
  });

  it('is mutable where freezing is switched off', () => {
    expect(Object.isFrozen(decode(decoder([], false), text(1)).object)).toBe(false);
  });

  it('knows when the fields are those of the version before, by its bytes', () => {
    let paths = compileFieldPaths(['spec.node']);
    const from = new ByteDecoder<Thing>({
      kind: Thing,
      freeze: true,
      keepManagedFields: false,
      transform: undefined,
      fieldPaths: () => paths,
      onSkip: () => undefined,
    });
    let present: StoredObject<Thing> | undefined;
    let known: readonly (string | undefined)[] = [];
    let kept = 0;
    const update = (object: object, isLive = true): boolean => {
      const { stored, fields, hasPresentFields } = from.frame(
        Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object })}\n`),
        () => present,
        isLive,
      );
      if (stored === undefined) throw new Error('not decoded');
      if (!hasPresentFields) known = fields ?? [];
      else kept++;
      if (present !== undefined) from.retire(present);
      present = stored;
      expect(known).toEqual(stored.fields(paths));
      return hasPresentFields;
    };
    const thing = (version: number, spec: object, more: object = {}): object => ({
      metadata: { name: 'x', resourceVersion: String(version), labels: { v: 'x'.repeat(version % 13) } },
      spec,
      status: { version },
      ...more,
    });
    expect(update(thing(1, { node: 'n1' }))).toBe(false);
    expect(update(thing(2, { node: 'n1' }))).toBe(true);
    expect(update(thing(3, { node: 'n1' }), false)).toBe(false);
    expect(update(thing(4, { node: 'n2' }))).toBe(false);
    expect(update(thing(5, { a: 1, node: 'n2' }))).toBe(false);
    expect(update(thing(6, { a: 1, node: 'n2', z: 2 }))).toBe(false);
    expect(update(thing(7, { a: 1, node: 7 }))).toBe(false);
    expect(update(thing(8, { a: 1, node: 71 }))).toBe(false);
    expect(update(thing(9, { a: 1, node: 71 }))).toBe(true);
    expect(update(thing(10, { a: 1 }))).toBe(false);
    expect(update(thing(11, { a: 1 }))).toBe(false);
    expect(update(thing(12, { a: 1, node: 'n' }))).toBe(false);
    expect(update({ spec: { node: 'n' }, ...thing(13, {}) })).toBe(false);
    expect(update(thing(14, { node: 'n' }))).toBe(false);
    expect(present?.object.spec?.node).toBe('n');
    expect(update(thing(15, { node: 'n' }))).toBe(false);
    paths = compileFieldPaths(['spec.node', 'spec.a']);
    expect(update(thing(16, { node: 'n', a: 2 }))).toBe(false);
    expect(update(thing(17, { node: 'n', a: 2 }))).toBe(true);
    for (let version = 18; version < 2000; version++)
      update(thing(version, { node: `n${version >> 4}`, a: version >> 5 }));
    expect(kept).toBeGreaterThan(1000);
  });
});
