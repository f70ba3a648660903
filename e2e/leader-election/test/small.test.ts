import { expect, it } from 'vitest';
import { runHarness } from '../src/harness.js';
import { starvedMs } from '../src/machine.js';
import { hasSeen } from '../src/readiness.js';
import { findInterleaving, findOverlaps, spansOf } from '../src/witness.js';

const server = process.env['KCTL_TEST_SERVER'] === 'real' ? 'real' : 'embedded';
const durations = { leaseDurationMs: 2_000, renewDeadlineMs: 1_200, retryPeriodMs: 300 };

it('never has two writers in eight rounds of faults', async () => {
  const report = await runHarness({
    rounds: 8,
    seed: 3,
    server,
    durations,
    maxStallMs: 3_000,
    worker: false,
    log: () => undefined,
  });
  expect(report.violations).toEqual([]);
  expect(report.late).toEqual([]);
  expect(report.writes).toBeGreaterThan(100);
});

it.each(['facade', 'bare'] as const)(
  'never has two at work where a manager (%s) is stopped with work that does not end, with and without grace',
  { timeout: 120_000 },
  async (program) => {
    const report = await runHarness({
      rounds: 4,
      seed: 5,
      server,
      durations,
      maxStallMs: 3_000,
      worker: false,
      program,
      faults: ['stop with straggler'],
      log: () => undefined,
    });
    expect(report.violations).toEqual([]);
    expect(report.late).toEqual([]);
    expect(report.failoversMs).toHaveLength(4);
  },
);

it('does not count on a candidate that has not seen the lease yet, however long its start takes', {
  timeout: 300_000,
}, async () => {
  const report = await runHarness({
    rounds: 3,
    seed: 1,
    server,
    durations,
    maxStallMs: 3_000,
    worker: false,
    startDelayMs: 4_000,
    faults: ['kill'],
    log: () => undefined,
  });
  expect(report.late).toEqual([]);
  expect(report.failoversMs).toHaveLength(3);
});

it('takes a candidate for ready by its last look at the lease', () => {
  const sight = { leader: 'a', since: 1_000, now: 2_000, durations };
  const looked = (at: number, holder: string) => ({ what: 'observed', at, verb: 'get', holder }) as const;
  const failed = { what: 'unanswered', at: 1_950, verb: 'get', tookMs: 10, error: 'x' } as const;
  expect(hasSeen([], sight)).toBe(false);
  expect(hasSeen([looked(1_900, 'a')], sight)).toBe(true);
  expect(hasSeen([looked(1_900, 'a'), failed], sight)).toBe(false);
  expect(hasSeen([looked(1_900, 'b')], sight)).toBe(false);
  expect(hasSeen([looked(1_600, 'a')], sight)).toBe(false);
  expect(hasSeen([looked(1_900, 'a')], { ...sight, since: 1_901 })).toBe(false);
});

it('tells a late event loop from a fault of its own making', () => {
  const lagged = (at: number, ms: number) => ({ what: 'lagged', at, ms }) as const;
  const span = { from: 1_000, to: 2_000 };
  expect(starvedMs([lagged(1_500, 300), lagged(1_100, 200), lagged(900, 200)], [], span)).toBe(400);
  expect(starvedMs([{ what: 'stalled', at: 1_200, term: 1 }, lagged(1_500, 300)], [], span)).toBe(0);
  expect(starvedMs([lagged(1_500, 300)], [1_250], span)).toBe(0);
});

it('sees two writers where there are two', () => {
  const at = (term: number, write: number, begin: number, end: number) =>
    [
      { what: 'begin', at: begin, term, write },
      { what: 'end', at: end, term, write, outcome: 'ok' },
    ] as const;
  const a = spansOf('a', [...at(1, 1, 0, 5), ...at(1, 2, 20, 25)], [], []);
  expect(a).toEqual([{ identity: 'a', term: 1, from: 0, to: 25, writes: 2 }]);
  // Between two writes of the other one, and inside neither: they did it at once all the same.
  expect(findOverlaps([...a, ...spansOf('b', at(1, 1, 10, 12), [], [])])).toHaveLength(1);
  expect(findOverlaps([...a, ...spansOf('b', at(1, 1, 26, 30), [], [])])).toEqual([]);
  const applied = ['a', 'b', 'a'].map((writer, index) => ({ writer, term: '1', write: String(index), seenAt: index }));
  expect(findInterleaving(applied)).toHaveLength(1);
  expect(findInterleaving(applied.slice(0, 2))).toEqual([]);
});

it('ends a write that was applied before its process was stopped when it was applied', () => {
  const log = [
    { what: 'begin', at: 0, term: 1, write: 1 },
    { what: 'stalled', at: 1, term: 1 },
    { what: 'resumed', at: 60_000, term: 1 },
    { what: 'end', at: 60_001, term: 1, write: 1, outcome: 'failed' },
  ] as const;
  const [seen] = spansOf('a', log, [{ writer: 'a', term: '1', write: '1', seenAt: 3 }], []);
  expect(seen?.to).toBe(3);
  const [unseen] = spansOf('a', log, [], []);
  expect(unseen?.to).toBe(1);
});
