import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CycleStore } from '../src/recording/store.js';
import { answeringClient, createDriver, Widget } from './harness.js';

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}

it('keeps to its budget with ten times as much, and forgets the oldest', async () => {
  const budgetBytes = 2 * 1024 * 1024;
  const { inspection, event, run, clock } = createDriver({ budgetBytes });
  const client = inspection.observeWrites(answeringClient());
  const feed = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at++) {
      // Texts of their own, as they come from a watch: none is a part of another.
      const key = Buffer.from(`namespace-${at % 50}/website-${at}`).toString('latin1');
      event('websites', key, { resourceVersion: String(1_000_000 + at) });
      event('websites', key, { name: `${key}-config`, resourceVersion: String(2_000_000 + at) });
      await run('websites', key, {
        work: async () =>
          void (await client.patch(Widget, { namespace: 'shop', name: `child-${at}` }, { type: 'merge', body: {} })),
        ...(at % 5 === 0 ? { settled: { result: 'error', error: new Error('x'), nextMs: 1000 } } : {}),
      });
      if (at % 100 === 0) await clock.advance(1);
    }
  };
  await feed(0, 100);
  const { runs } = inspection.overview().recorder;
  const perRun = inspection.overview().recorder.bytes / runs;
  const fill = Math.ceil(budgetBytes / perRun);
  const before = heapUsed();
  await feed(100, 10 * fill);
  const grown = heapUsed() - before;
  const { bytes, forgotten, runs: kept } = inspection.overview().recorder;
  expect(bytes).toBeLessThanOrEqual(budgetBytes);
  expect(bytes).toBeGreaterThan(budgetBytes * 0.8);
  expect(kept + forgotten).toBe(10 * fill);
  // Other allocations of the process are in it, too.
  expect(grown).toBeLessThan(budgetBytes * 1.15);
  // Failing keys stay visible when their runs are forgotten.
  expect(inspection.keys({ state: 'failing' }).total).toBeGreaterThan(kept / 5);
  expect(inspection.timeline({ key: 'namespace-0/website-0' }).cycles).toEqual([]);
});

it('holds no long text for a part of it: messages of errors, names, versions', async () => {
  const { inspection, event, run } = createDriver({ recordErrorMessages: true });
  const client = inspection.observeWrites(answeringClient());
  const long = (at: number): string => `${at} is wrong ${Buffer.alloc(1_000_000, 'x').toString('latin1')}`;
  const record = async (at: number): Promise<void> => {
    const key = `shop/website-${at}`;
    event('websites', key, { name: `shop/${long(at)}`, resourceVersion: long(at) });
    const work = async (): Promise<void> =>
      void (await client.patch(Widget, { namespace: 'shop', name: long(at) }, { type: 'merge', body: {} }));
    await run('websites', key, { work, settled: { result: 'error', error: new Error(long(at)), nextMs: 1000 } });
    await run('websites', long(at));
  };
  await record(0);
  const before = heapUsed();
  for (let at = 1; at <= 20; at++) await record(at);
  expect(heapUsed() - before).toBeLessThan(2_000_000);
  const [row] = inspection.keys({ search: 'website-7' }).rows;
  expect(row?.lastFailure).toMatch(/7 is wrong x{400,}\u2026$/);
  expect(Buffer.byteLength(row?.lastFailure ?? '')).toBeLessThan(1_200);
});

it('gives a busy key no more than its share', async () => {
  const { inspection, run } = createDriver({ maxRunsPerKey: 8 });
  await run('websites', 'shop/rare');
  for (let at = 0; at < 1000; at++) await run('websites', 'shop/busy');
  expect(inspection.timeline({ key: 'shop/busy' }).cycles).toHaveLength(8);
  expect(inspection.timeline({ key: 'shop/rare' }).cycles).toHaveLength(1);
  expect(inspection.keys({ search: 'busy' }).rows[0]?.runs).toBeGreaterThanOrEqual(8);
});

it('holds what was begun last, by a model, whatever is recorded in which order', () => {
  const step = fc.record({
    key: fc.integer({ min: 0, max: 12 }),
    events: fc.integer({ min: 0, max: 20 }),
    writes: fc.integer({ min: 0, max: 70 }),
    isFailing: fc.boolean(),
    does: fc.constantFrom('run', 'run', 'run', 'endQueue', 'remove'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const store = new CycleStore({ budgetBytes: 65_536, maxRunsPerKey: 5, at: 0 });
      for (const { key, events, writes, isFailing, does } of steps) {
        const controller = `c${key % 3}`;
        if (does === 'endQueue') store.endQueue(controller);
        else if (does === 'remove') store.remove(controller);
        else {
          const cycle = store.pendingOf(controller, `k${key}`, 0);
          expect(store.pendingOf(controller, `k${key}`, 1)).toBe(cycle);
          cycle.timeline.pending = undefined;
          const event = { atMs: 0, source: 's', type: 'update', object: `o${key}`, resourceVersion: '1' };
          for (let at = 0; at < events; at++) store.addEvent(cycle, event);
          const write = { at: 0, ms: 0, verb: 'update', kind: 'K', subresource: '', object: 'o', resourceVersion: '1' };
          for (let at = 0; at < writes; at++) store.addWrite(cycle, { ...write, failure: undefined });
          cycle.timeline.failuresInRow = isFailing ? 1 : 0;
          expect([...store.newestFirst()][0]).toBe(cycle);
        }
        const cycles = [...store.newestFirst()];
        expect(store.cycles).toBe(cycles.length);
        expect(store.bytes).toBeLessThanOrEqual(65_536);
        const sequences = cycles.map(({ sequence }) => sequence);
        expect(sequences).toEqual(sequences.toSorted((left, right) => right - left));
        const held = [...store.timelines()].flatMap((timeline) => timeline.cycles);
        expect(new Set(held)).toEqual(new Set(cycles));
        for (const timeline of store.timelines()) {
          expect(timeline.cycles.length).toBeLessThanOrEqual(5);
          expect(timeline.count).toBe(timeline.cycles.length);
        }
      }
      for (const controller of ['c0', 'c1', 'c2']) store.remove(controller);
      expect([store.bytes, store.cycles, [...store.timelines()].length]).toEqual([0, 0, 0]);
    }),
    { numRuns: 60 },
  );
});
