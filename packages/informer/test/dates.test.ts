import type { KubeObject } from '@kctl/apimachinery';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { expect, it } from 'vitest';
import { ObjectDecoder } from '../src/decoders/object-decoder.js';
import { datesAsText } from '../src/decoders/dates.js';

const at = new Date('2026-01-02T03:04:05Z');
const inMs = new Date('2026-01-02T03:04:05.678Z');

/** A model of @kubernetes/client-node. */
const model = (creationTimestamp: Date) => ({
  metadata: { namespace: 'shop', name: 'web', uid: 'u', resourceVersion: '1', creationTimestamp },
  status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: inMs }], hostIP: '10.0.0.1' },
});

function decoder(skipped: unknown[]) {
  return new ObjectDecoder<KubeObject>({
    kind: Pod,
    freeze: true,
    keepManagedFields: false,
    transform: undefined,
    onSkip: (skip) => void skipped.push(skip),
  });
}

it('stores strings in the place of Dates, listed and watched', () => {
  const decoded = decoder([]);
  const expected = {
    metadata: { creationTimestamp: '2026-01-02T03:04:05Z' },
    status: { conditions: [{ lastTransitionTime: '2026-01-02T03:04:05.678Z' }] },
  };
  expect(decoded.item(model(at) as never, () => undefined).stored?.object).toMatchObject(expected);
  const event = { type: 'ADDED', object: model(at) } as never;
  expect(decoded.frame(event, () => undefined).stored?.object).toMatchObject(expected);
});

it('does not store an object whose Date is not valid, and names the field', () => {
  const skipped: unknown[] = [];
  const item = decoder(skipped).item(model(new Date(Number.NaN)) as never, () => undefined);
  expect(item.stored).toBeUndefined();
  expect(skipped).toMatchObject([
    { reason: 'unreadable', error: { message: 'metadata.creationTimestamp is a Date that is not valid' } },
  ]);
});

it('does not store a Date that a transform has made', () => {
  const skipped: unknown[] = [];
  const decoded = new ObjectDecoder<KubeObject>({
    kind: Pod,
    freeze: true,
    keepManagedFields: false,
    transform: ({ metadata }) => ({ metadata: { ...metadata, creationTimestamp: at as never } }),
    onSkip: (skip) => void skipped.push(skip),
  });
  expect(decoded.item(model(at) as never, () => undefined).stored).toBeUndefined();
  const message = expect.stringContaining('metadata.creationTimestamp is a Date');
  expect(skipped).toMatchObject([{ reason: 'transform', error: { message } }]);
});

it('copies only what has a Date', () => {
  const value = { a: [{ b: 1 }], c: [{ d: at }, 'x'] };
  const text = datesAsText(value);
  expect(text).toEqual({ a: [{ b: 1 }], c: [{ d: '2026-01-02T03:04:05Z' }, 'x'] });
  expect(text.a).toBe(value.a);
  expect(value.c[0]).toEqual({ d: at });
  expect(datesAsText(value.a)).toBe(value.a);
  expect(datesAsText(null)).toBeNull();
});
