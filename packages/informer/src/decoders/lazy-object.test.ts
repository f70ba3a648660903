import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { ByteDecoder } from './byte-decoder.js';
import { LazyObject } from '../bytes/lazy-object.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });

function decoder(compact = false): ByteDecoder<KubeObject> {
  return new ByteDecoder<KubeObject>({
    kind: Thing,
    freeze: true,
    keepManagedFields: false,
    transform: undefined,
    fieldPaths: () => undefined,
    compact: compact ? { plainBytes: 1e9 } : undefined,
    onSkip: () => undefined,
  });
}

function decode(from: ByteDecoder<KubeObject>, text: string): LazyObject<KubeObject> {
  const { stored } = from.item(Buffer.from(text), () => undefined);
  if (!(stored instanceof LazyObject)) throw new Error('not decoded without a parse');
  return stored as LazyObject<KubeObject>;
}

describe('a lazy object', () => {
  const metadata = {
    ...{ name: 'x', namespace: 'a', uid: 'u', resourceVersion: '1', generation: 1 },
    deletionTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'web' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'o', uid: 'ou' }],
  };
  const twice = (other: object): string =>
    `{"apiVersion":"example.com/v1","kind":"Thing","metadata":${JSON.stringify(metadata)},"spec":{},"metadata":${JSON.stringify({ ...metadata, ...other })}}`;

  it.each([
    [{ name: 'y' }],
    [{ namespace: 'b' }],
    [{ uid: 'v' }],
    [{ uid: 'u2' }],
    [{ uid: undefined }],
    [{ resourceVersion: '2' }],
    [{ generation: 2 }],
    [{ generation: undefined }],
    [{ deletionTimestamp: '2026-01-01T00:00:01Z' }],
    [{ deletionTimestamp: undefined }],
  ])('is refused if a second header has %j', (other) => {
    for (const isCompact of [false, true])
      expect(() => decode(decoder(isCompact), twice(other)).object).toThrow('cannot decode a/x');
    expect(decode(decoder(), twice({})).object.metadata).toEqual(metadata);
  });

  it.each([
    ['labels', { labels: { app: 'other' } }],
    ['ownerReferences', { ownerReferences: [] }],
  ] as const)('is refused if a second header has other %s than those that were read', (name, other) => {
    const read = decode(decoder(), twice(other));
    expect(read[name]).toEqual(metadata[name]);
    expect(() => read.object).toThrow('cannot decode a/x');
    expect(() => decode(decoder(true), twice(other)).object).toThrow('cannot decode a/x');
    const unread = decode(decoder(), twice(other));
    expect(unread.object.metadata).toEqual({ ...metadata, ...other });
    expect(unread[name]).toEqual(Reflect.get(other, name));
  });

  it.each([
    ['{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x"},"kind":"Other"}'],
    ['{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x"},"apiVersion":"example.com/v2"}'],
  ])('is refused if it has another type behind its header: %s', (text) => {
    expect(() => decode(decoder(), text).object).toThrow('cannot decode x');
  });

  it('has the type of its kind, also if it has an apiVersion alone, and is frozen', () => {
    const { object } = decode(decoder(), '{"metadata":{"name":"x"},"apiVersion":"v9"}');
    expect([object, Object.isFrozen(object)]).toEqual([
      { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'x' } },
      true,
    ]);
  });

  it.each([
    ['u', 'u', false],
    ['u', 'v', true],
    ['u-1', 'u-2', true],
    ['1-u', '2-u', true],
    ['u', 'u2', true],
    ['', 'u', false],
    ['u', '', false],
    [undefined, 'u', false],
    ['u', undefined, false],
    [undefined, undefined, false],
  ])('with the uid %j is another than one with %j: %s', (uid, otherUid, isAnother) => {
    const from = decoder();
    const make = (of: string | undefined): LazyObject<KubeObject> =>
      decode(from, JSON.stringify({ metadata: { name: 'x', namespace: 'a', uid: of } }));
    // As bytes, and when one of them or both are read.
    for (const isRead of [false, true])
      for (const isOtherRead of [false, true]) {
        const [one, other] = [make(uid), make(otherUid)];
        if (isRead) expect(one.object.metadata.name).toBe('x');
        if (isOtherRead) expect(other.object.metadata.name).toBe('x');
        expect(one.isAnotherThan(other)).toBe(isAnother);
      }
  });

  it('has the labels and owners of its bytes once, and none of those that it lacks', () => {
    const stored = decode(decoder(), twice({}));
    expect(stored.labels).toBe(stored.labels);
    expect(stored.ownerReferences).toBe(stored.ownerReferences);
    expect([Object.isFrozen(stored.labels), Object.isFrozen(stored.ownerReferences)]).toEqual([true, true]);
    for (const text of ['{"metadata":{"name":"x"}}', '{"metadata":{"name":"x"},"spec":{}}']) {
      const bare = decode(decoder(), text);
      const header = (): unknown => [
        ...[bare.uid, bare.namespace, bare.resourceVersion, bare.generation, bare.deletionTimestamp],
        ...[bare.labels, bare.ownerReferences],
      ];
      const before = header();
      expect(before).toEqual(['', '', '', undefined, undefined, {}, []]);
      expect(bare.object.metadata).toEqual({ name: 'x' });
      expect(header()).toEqual(before);
    }
  });

  it('that cannot be read has no labels and owners any longer that were not read before', () => {
    const text = twice({ uid: 'v' });
    const stored = decode(decoder(), text);
    expect(() => stored.object).toThrow('cannot decode a/x');
    expect(() => stored.labels).toThrow('cannot decode a/x');
    expect(() => stored.ownerReferences).toThrow('cannot decode a/x');
  });
});
