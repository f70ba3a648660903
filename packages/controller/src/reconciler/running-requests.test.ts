import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ReconcileRun } from './reconcile-run.js';
import { RunningRequests } from './running-requests.js';

const run = (attempt: number): ReconcileRun => ({ attempt }) as ReconcileRun;

describe('the requests that are reconciled', () => {
  it('are known by their keys until they end, in whatever order', () => {
    for (const order of [
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
      ['b', 'a', 'c'],
    ]) {
      const running = new RunningRequests(new FakeClock());
      expect([running.keys, running.runOf('a')]).toEqual([[], undefined]);
      const runs = new Map(['a', 'b', 'c'].map((key, index) => [key, run(index)]));
      for (const [key, each] of runs) running.begin(key, each);
      const left = new Set(runs.keys());
      for (const key of order) {
        expect(running.keys.toSorted()).toEqual([...left].toSorted());
        for (const [each, one] of runs) expect(running.runOf(each)).toBe(left.has(each) ? one : undefined);
        running.end(key);
        left.delete(key);
      }
      running.begin('d', run(4));
      expect([running.keys, running.runOf('d')]).toEqual([['d'], run(4)]);
    }
  });

  it('count their failures in a row, from the time of the first, each by itself', async () => {
    const clock = new FakeClock();
    const running = new RunningRequests(clock);
    running.succeed('a');
    expect(running.failures('a')).toBe(0);
    const since = clock.monotonicNow();
    expect(running.fail('a')).toEqual({ attempts: 1, since });
    await clock.advance(1_000);
    expect(running.fail('a')).toEqual({ attempts: 2, since });
    expect(running.fail('b')).toEqual({ attempts: 1, since: since + 1_000 });
    expect(['a', 'b', 'c'].map((key) => running.failures(key))).toEqual([2, 1, 0]);
    running.succeed('a');
    expect(['a', 'b'].map((key) => running.failures(key))).toEqual([0, 1]);
    expect(running.fail('a')).toEqual({ attempts: 1, since: since + 1_000 });
  });
});
