// client-go's synctrack, case by case.
import { expect, it } from 'vitest';
import { createAsyncTracker, createLazy, createSingleFileTracker } from '../src/index.js';

it('follows one object after the other (TestSingleFileProcessing)', () => {
  const tracker = createSingleFileTracker();
  tracker.start();
  expect(tracker.hasSynced).toBe(false);
  tracker.upstreamHasSynced();
  expect(tracker.hasSynced).toBe(false);
  tracker.finished();
  expect(tracker.hasSynced).toBe(true);
  // Objects that come later do not count.
  tracker.start();
  expect(tracker.hasSynced).toBe(true);
});

it('has not synced before its source, also with nothing to do (…NoSync, EmptyList)', () => {
  for (const tracker of [createSingleFileTracker(), createAsyncTracker<string>()]) {
    expect(tracker.hasSynced).toBe(false);
    tracker.upstreamHasSynced();
    tracker.upstreamHasSynced();
    expect(tracker.hasSynced).toBe(true);
  }
});

it('refuses to finish more than was started (TestSingleFileProcessing panics)', () => {
  const tracker = createSingleFileTracker();
  tracker.start();
  tracker.finished();
  expect(() => tracker.finished()).toThrow('finished was called more often than start');
});

it('follows keys by several workers, in any order, those that were not started too (TestAsyncTracker…)', () => {
  const tracker = createAsyncTracker<string>();
  for (const key of ['a', 'b', 'a']) tracker.start(key);
  tracker.finished('unknown');
  tracker.finished('b');
  tracker.upstreamHasSynced();
  expect(tracker.hasSynced).toBe(false);
  tracker.finished('a');
  expect(tracker.hasSynced).toBe(true);
});

it('lets callers wait for it, as long as their signal goes on', async () => {
  const tracker = createAsyncTracker<string>();
  tracker.start('a');
  const waits = tracker.waitForSync();
  await expect(tracker.waitForSync({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  tracker.upstreamHasSynced();
  tracker.finished('a');
  await waits;
  await tracker.waitForSync();
});

it('computes a value once until something changes; failures are not kept (TestLazy)', async () => {
  let runs = 0;
  const lazy = createLazy(() => {
    runs++;
    if (runs === 2) throw new Error('not now');
    return runs;
  });
  expect([lazy.get(), lazy.get(), runs]).toEqual([1, 1, 1]);
  lazy.notify();
  expect(() => lazy.get()).toThrow('not now');
  expect([lazy.get(), lazy.get()]).toEqual([3, 3]);

  let fails = true;
  const later = createLazy(() => (fails ? Promise.reject(new Error('down')) : Promise.resolve('up')));
  const first = later.get();
  expect(later.get()).toBe(first);
  await expect(first).rejects.toThrow('down');
  fails = false;
  expect(await later.get()).toBe('up');
});

it('computes again what changed while it was computed', () => {
  let runs = 0;
  const lazy = createLazy((): number => {
    if (++runs === 1) lazy.notify();
    return runs;
  });
  expect([lazy.get(), lazy.get(), lazy.get()]).toEqual([1, 2, 2]);
});
