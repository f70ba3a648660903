// A Date cannot be frozen, and has no members that a comparison would see.
import type { KubeObject } from '@kctl/apimachinery';
import { expect, it } from 'vitest';
import { createIndexer } from '../src/index.js';
import { deepFreeze, shareFreeze } from '../src/internal/index.js';

interface Task extends KubeObject {
  status: { times: Date[] };
}
const task = (ms: number): Task => ({
  metadata: { name: 'a', resourceVersion: String(ms) },
  status: { times: [new Date(ms)] },
});

it('stores no Date, and names its field', () => {
  const indexer = createIndexer<Task>();
  const refusal = 'status.times[0] is a Date, which cannot be frozen: expected a string';
  expect(() => indexer.put(task(1))).toThrow(refusal);
  expect(() => indexer.replace([task(3)], '3')).toThrow(refusal);
  expect(indexer.list()).toEqual([]);
});

it('shares no Date with another one', () => {
  expect(() => shareFreeze({ at: new Date(2) }, { at: new Date(1) })).toThrow('at is a Date');
  expect(() => shareFreeze({ at: [new Date(2)] }, { at: [new Date(1)] })).toThrow('at[0] is a Date');
  expect(() => shareFreeze({ at: new Date(2) }, { at: '2026-01-02T03:04:05Z' } as never)).toThrow('at is a Date');
  expect(() => deepFreeze(new Date())).toThrow('the value is a Date');
  expect(shareFreeze({ at: {} }, { at: {} })).toEqual({ at: {} });
});
