import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../retry/outcome.js';
import { KeptTimes } from './keep.js';
import type { Settled } from './policy.js';
import { RestWindows } from './rest-window.js';
import { RunLimiter, runLimitPolicy } from './run-limit.js';
import { SafetyIntervals } from './safety-interval.js';

const failed: Outcome = { type: 'error', error: new Error('x'), afterMs: undefined };
const done: Outcome = { type: 'done' };
const next = (afterMs: number) => ({ afterMs, priority: 0, reason: 'x' });
const settled = (outcome: Outcome, planned?: Settled['next']): Settled =>
  ({ key: 'a', outcome, next: planned, run: { priority: 4 } }) as Settled;

describe('a run limit', () => {
  it('lets so many runs of a key begin within its time, and says how long the next has to wait', async () => {
    const clock = new FakeClock();
    const policy = runLimitPolicy(new RunLimiter({ runs: 2, perMs: 1_000 }), clock);
    const begin = (key: string): unknown => policy.admit?.(key, []);
    expect([begin('a'), begin('b')]).toEqual([0, 0]);
    await clock.advance(400);
    expect([begin('a'), begin('a'), begin('b')]).toEqual([0, 600, 0]);
    await clock.advance(599);
    expect(begin('a')).toBe(1);
    await clock.advance(1);
    expect([begin('a'), begin('a')]).toEqual([0, 400]); // the second one of then still counts
    await clock.advance(400);
    expect([begin('a'), begin('a')]).toEqual([0, 600]);
    await clock.advance(10_000);
    expect([begin('a'), begin('a'), begin('a')]).toEqual([0, 0, 1_000]);
  });

  it.each([1, 2, 3, 7])('holds at every moment, for %i runs in a second', async (runs) => {
    const clock = new FakeClock();
    const limiter = new RunLimiter({ runs, perMs: 1_000 });
    const begun: number[] = [];
    for (let step = 0; step < 200; step++) {
      const now = clock.monotonicNow();
      const left = limiter.begin('a', now);
      if (left === 0) begun.push(now);
      else expect(begun.at(-runs)! + 1_000).toBe(now + left);
      await clock.advance((step * 37) % 190);
    }
    for (const [index, at] of begun.entries())
      if (index >= runs) expect(at - begun[index - runs]!).toBeGreaterThanOrEqual(1_000);
    expect(begun.length).toBeGreaterThan(runs * 5);
  });
});

describe('the rest of a key that failed', () => {
  const setUp = () => {
    const clock = new FakeClock();
    return { clock, rests: new RestWindows(clock) };
  };

  it('lets the first event in, and the others wait for its end', async () => {
    const { clock, rests } = setUp();
    expect(rests.left('a')).toBe(0);
    rests.settle(settled(failed, next(1_000)));
    expect([rests.left('b'), rests.left('a'), rests.left('a')]).toEqual([0, 0, 1_000]);
    await clock.advance(999);
    expect(rests.left('a')).toBe(1);
    await clock.advance(1);
    expect(rests.left('a')).toBeLessThanOrEqual(0);
  });

  it('stays as it is if the event that was let in fails, too, so that noise does not move the retry', async () => {
    const { clock, rests } = setUp();
    rests.settle(settled(failed, next(1_000)));
    rests.left('a');
    await clock.advance(400);
    const again = settled({ type: 'backoff', priority: undefined }, next(5_000));
    rests.settle(again);
    expect([again.next?.afterMs, rests.left('a')]).toEqual([600, 600]);
    await clock.advance(600);
    const later = settled(failed, next(2_000));
    rests.settle(later);
    expect([later.next?.afterMs, rests.left('a'), rests.left('a')]).toEqual([2_000, 0, 2_000]);
  });

  it('begins anew with a retry that no event has caused', async () => {
    const { clock, rests } = setUp();
    rests.settle(settled(failed, next(1_000)));
    await clock.advance(400);
    const again = settled(failed, next(3_000));
    rests.settle(again);
    expect(again.next?.afterMs).toBe(3_000);
  });

  it.each<[string, Settled]>([
    ['succeeds', settled(done)],
    ['is given up', settled({ type: 'terminal', error: new Error('x') })],
    ['fails without another run', settled(failed)],
    ['is planned for later', settled({ type: 'requeueAfter', afterMs: 5, keep: false, priority: undefined }, next(5))],
  ])('is over when the key %s', (_how, end) => {
    const { rests } = setUp();
    rests.settle(end);
    rests.settle(settled(failed, next(1_000)));
    rests.left('a');
    rests.settle(end);
    expect(rests.left('a')).toBe(0);
  });

  it('goes on over a stop', () => {
    const { rests } = setUp();
    rests.settle(settled(failed, next(1_000)));
    rests.left('a');
    rests.settle(settled({ type: 'stopped', error: new Error('x') }));
    expect(rests.left('a')).toBe(1_000);
  });
});

describe('a safety interval', () => {
  it('plans a late run of low priority for each object that is there, spread by a fifth to both sides', () => {
    for (const [random, afterMs] of [
      [0, 800],
      [0.5, 1_000],
      [1, 1_200],
    ] as const) {
      const intervals = new SafetyIntervals({ everyMs: 1_000 }, () => random);
      intervals.observe('a', 'present');
      const run = settled(done);
      intervals.settle(run);
      expect(run.next).toEqual({ afterMs: expect.closeTo(afterMs), priority: -100, reason: 'safety interval' });
    }
  });

  it('plans nothing for what has gone, was never seen, or runs again anyway', () => {
    const intervals = new SafetyIntervals({ everyMs: 1_000 }, () => 0.5);
    for (const presence of [undefined, 'gone'] as const) {
      intervals.observe('a', presence);
      const run = settled(done);
      intervals.settle(run);
      expect(run.next).toBeUndefined();
    }
    intervals.observe('a', 'present');
    intervals.observe('a', undefined);
    const planned = settled(done, next(5));
    intervals.settle(planned);
    expect(planned.next).toEqual(next(5));
  });

  it('drops the late run of an object that has gone, if nothing else asks for it', () => {
    const intervals = new SafetyIntervals({ everyMs: 1_000 }, () => 0.5);
    const reason = 'safety interval';
    expect(intervals.admit('a', [reason])).toBe(Infinity);
    expect([[], ['event'], [reason, 'event'], ['event', reason]].map((each) => intervals.admit('a', each))).toEqual([
      0, 0, 0, 0,
    ]);
    intervals.observe('a', 'present');
    expect(intervals.admit('a', [reason])).toBe(0);
  });
});

describe('a time that is kept', () => {
  const keep = (afterMs: number): Settled =>
    settled({ type: 'requeueAfter', afterMs, keep: true, priority: undefined });

  it('stands over runs before it, at the earliest of all, and is over when it has come', async () => {
    const clock = new FakeClock();
    const times = new KeptTimes(clock);
    const run = (given: Settled): unknown => {
      expect(times.admit('a')).toBe(0);
      times.settle(given);
      return given.kept;
    };
    expect(run(settled(done))).toBeUndefined();
    const kept = (afterMs: number) => ({ afterMs, priority: 4, reason: 'requeue' });
    expect(run(keep(1_000))).toEqual(kept(1_000));
    await clock.advance(300);
    expect(run(settled(done))).toEqual(kept(700));
    expect(run(keep(5_000))).toEqual(kept(700));
    expect(run(keep(100))).toEqual(kept(100));
    await clock.advance(99);
    expect(run(settled(done))).toEqual(kept(1));
    await clock.advance(1);
    expect(run(settled(done))).toBeUndefined();
    expect(run(settled({ type: 'requeueAfter', afterMs: 9, keep: false, priority: undefined }))).toBeUndefined();
  });
});
