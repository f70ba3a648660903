import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import { expectReleased } from '@kctl/lifetime';
import { withPoolOf } from '@kctl/lifetime';
import { describe, expect, it, vi } from 'vitest';
import { ByteDecoder } from '../src/decoders/byte-decoder.js';
import { createSharedInformer } from '../src/index.js';
import type { ObjectStorage } from '../src/index.js';

interface Thing extends KubeObject {
  spec?: { node: string; words: string[] };
}
const Thing = defineKind<Thing>()({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });

function open(plainBytes?: number, skipped: string[] = []): ByteDecoder<Thing> {
  return new ByteDecoder<Thing>({
    kind: Thing,
    freeze: true,
    keepManagedFields: false,
    transform: undefined,
    fieldPaths: () => undefined,
    compact: plainBytes === undefined ? undefined : { plainBytes },
    onSkip: ({ message }) => skipped.push(message),
  });
}

const uidOf = (place: number): string => `0b5e55ed-0000-4000-8000-${String(place).padStart(12, '0')}`;
const words = Array.from({ length: 40 }, (_, place) => `a word that all objects of the kind have ${place}`);
const text = (place: number, version = 1): string =>
  JSON.stringify({
    metadata: {
      name: `x-${place}`,
      namespace: 'a',
      uid: uidOf(place),
      resourceVersion: String(version),
      generation: place,
      labels: { app: `app-${place}` },
      ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'o', uid: 'ou' }],
    },
    spec: { node: `n${place}`, words },
  });

function decode(from: ByteDecoder<Thing>, bytes: string, present?: StoredObject<Thing>): StoredObject<Thing> {
  const { stored } = from.item(Buffer.from(bytes), () => present);
  if (stored === undefined) throw new Error('not decoded');
  return stored;
}

const many = (from: ByteDecoder<Thing>, count: number): StoredObject<Thing>[] =>
  Array.from({ length: count }, (_, place) => decode(from, text(place)));

// Node 24 and Node 26 cut small buffers from pools of these sizes; a program may choose another one.
describe.each([8, 64, 4096])('objects that are kept compressed, with a pool of %i KiB', (poolKiB) => {
  withPoolOf(poolKiB);

  it('take a fraction of the memory, and say what they said', () => {
    const [plain, compact] = [open(), open(100_000)];
    const expected = many(plain, 2000);
    const stored = many(compact, 2000);
    expect(compact.slabs.liveBytes).toBeLessThan(plain.slabs.liveBytes / 5);
    for (const place of [0, 1, 7, 8, 1000, 1999]) {
      const { name, uid, generation, labels, ownerReferences, deletionTimestamp, object } = stored[place]!;
      expect({ name, uid, generation, labels, ownerReferences, deletionTimestamp, object }).toEqual({
        name: `x-${place}`,
        uid: uidOf(place),
        generation: place,
        labels: expected[place]!.labels,
        ownerReferences: expected[place]!.ownerReferences,
        deletionTimestamp: undefined,
        object: expected[place]!.object,
      });
      expect(Object.isFrozen(object.spec?.words)).toBe(true);
    }
  });

  it('are decompressed once for all neighbours, and not at all for an update', () => {
    const from = open(20_000);
    const stored = many(from, 4000);
    const inflate = vi.spyOn(process.getBuiltinModule('node:zlib'), 'inflateRawSync');
    try {
      for (const each of stored) expect(each.object.spec?.words.length).toBe(40);
      expect(inflate.mock.calls.length).toBeLessThan(4000 / 4);
      const before = inflate.mock.calls.length;
      const old = stored[3]!;
      const next = decode(from, text(3, 2), old);
      expect([old.uid, old.generation, next.generation]).toEqual([uidOf(3), 3, 3]);
      expect(inflate.mock.calls.length).toBe(before);
    } finally {
      inflate.mockRestore();
    }
  });

  it('are one object for all who read them, which goes when no one does', async () => {
    const from = open(0);
    const stored = many(from, 100);
    expect(stored[5]!.object).toBe(stored[5]!.object);
    await expectReleased(() => {
      const released = { object: stored[5]!.object };
      // What was read last is kept to share structure with.
      for (const each of stored.slice(10)) expect(each.object).toBeDefined();
      return { keep: stored, released };
    });
    expect(stored[5]!.object.spec?.node).toBe('n5');
    expect(stored[5]!.isParsed).toBe(false);
  });

  it('share what did not change with a version before that is in use', () => {
    const from = open(0);
    const [first] = many(from, 50);
    const { spec } = first!.object;
    const second = decode(from, text(0, 2), first);
    expect(second.object.spec).toBe(spec);
  });

  it('stay readable when they are retired, also when their block is given up, and leave nothing behind', () => {
    const from = open(0);
    const stored = many(from, 1000);
    for (const each of stored) from.retire(each);
    for (const each of stored) from.retire(each);
    expect(from.slabs.liveBytes).toBe(0);
    expect(stored.map(({ object }) => object.spec?.node)).toEqual(stored.map((_, place) => `n${place}`));
  });

  it('are not handed out where they say something else than their header did', () => {
    const skipped: string[] = [];
    const from = open(0, skipped);
    const double = text(1).replace(/}$/, ',"metadata":{"name":"x-1","namespace":"a","labels":{"app":"other"}}}');
    const stored = decode(from, double);
    many(from, 20);
    for (const each of [1, 2]) {
      expect(() => stored.object, `read ${each}`).toThrow(/a\/x-1/);
    }
    expect(skipped).toEqual(['an object cannot be read']);
  });

  it('may be large', () => {
    const from = open(0);
    const before = many(from, 5);
    const large = decode(from, text(1).replace('"node":"n1"', `"node":"${'n'.repeat(2_000_000)}"`));
    many(from, 20);
    expect(large.object.spec?.node.length).toBe(2_000_000);
    expect(before.map(({ object }) => object.spec?.node)).toEqual(before.map((_, place) => `n${place}`));
  });
});

describe('the option storage', () => {
  const listerWatcher = {
    listFrames: () => Promise.reject(new Error()),
    watchFrames: () => Promise.reject(new Error()),
  };
  const make = (storage: unknown, freeze?: boolean) => () =>
    createSharedInformer<Thing>({
      kind: Thing,
      listerWatcher,
      storage: storage as ObjectStorage,
      ...(freeze === undefined ? {} : { freeze }),
    });

  it.each(['plain', 'compact', {}, { plainBytes: 0 }])('takes %j', (storage) => {
    expect(make(storage)).not.toThrow();
  });

  it.each<[unknown, string]>([
    ['zip', "storage \"zip\" is not valid: expected 'plain', 'compact' or { plainBytes }"],
    [{ plainByte: 1 }, 'did you mean "plainBytes"?'],
    [{ plainBytes: -1 }, 'storage.plainBytes -1 is not valid'],
  ])('refuses %j', (storage, message) => {
    expect(make(storage)).toThrow(TypeError);
    expect(make(storage)).toThrow(message);
  });

  it('refuses mutable objects', () => {
    expect(make('compact', false)).toThrow(/leave out freeze: false/);
  });
});
