import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { ObjectDecoder } from './object-decoder.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const decoder = new ObjectDecoder<KubeObject>({
  ...{ kind: Thing, freeze: true, keepManagedFields: false, transform: undefined },
  onSkip: () => undefined,
});
const frame = (raw: unknown): ReturnType<typeof decoder.frame> => decoder.frame(raw as never, () => undefined);

describe('an object decoder', () => {
  it.each([undefined, null, 5, 'ADDED', {}, { object: {} }, { type: 5 }, { type: undefined }])(
    'takes %o for no watch event',
    (raw) => {
      expect(() => frame(raw)).toThrow('a watch event is not { type, … }');
    },
  );

  it('refuses a type that it does not know', () => {
    expect(() => frame({ type: 'CHANGED' })).toThrow('a watch event is of an unknown type: "CHANGED"');
  });

  it('has dates as strings', () => {
    const metadata = { name: 'x', creationTimestamp: new Date(0) };
    const { stored } = frame({ type: 'ADDED', object: { metadata } });
    expect(stored?.object.metadata.creationTimestamp).toBe('1970-01-01T00:00:00Z');
  });

  it.each([
    [{ type: 'BOOKMARK', resourceVersion: '5' }, 'bookmark', '5'],
    [{ type: 'BOOKMARK', resourceVersion: '5', initialEventsEnd: true }, 'initial-end', '5'],
    [{ type: 'BOOKMARK', resourceVersion: 5 }, 'bookmark', ''],
    [{ type: 'ADDED', object: { metadata: { name: 'x', resourceVersion: '7' } } }, 'upsert', '7'],
    [{ type: 'DELETED', object: { metadata: { name: 'x', resourceVersion: '7' } } }, 'delete', '7'],
    [{ type: 'ADDED', object: {} }, 'skipped', ''],
  ])('decodes %j', (raw, kind, resourceVersion) => {
    expect(frame(raw)).toMatchObject({ kind, resourceVersion, isAdded: raw.type === 'ADDED' });
  });
});
