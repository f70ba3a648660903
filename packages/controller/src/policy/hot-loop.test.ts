import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { HotLoopDetector } from './hot-loop.js';

/** A cheap generator of [0, 1) that a test can repeat. */
function pseudoRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe('HotLoopDetector', () => {
  it('tells of a key once in a minute, and starts anew with another outcome', async () => {
    const clock = new FakeClock();
    const detector = new HotLoopDetector(clock, () => 0.5, { maxPerMinute: 3 });
    const runs = (outcome: string, count: number): boolean[] =>
      Array.from({ length: count }, () => detector.record('a', outcome));
    expect(runs('success', 5)).toEqual([false, false, false, true, false]);
    expect(runs('error', 4)).toEqual([false, false, false, true]);
    await clock.advance(60_000);
    expect(runs('error', 4)).toEqual([false, false, false, true]);
  });

  it.each([1, 2, 3, 4, 5])('finds the one hot key among 20,000 that run now and then (seed %d)', (seed) => {
    const detector = new HotLoopDetector(new FakeClock(), pseudoRandom(seed));
    const hot = new Set<string>();
    for (let run = 0; run < 60_000; run++) {
      const key = `key-${run % 20_000}`;
      if (detector.record(key, 'success')) hot.add(key);
      if (run % 30 === 0 && detector.record('hot', 'success')) hot.add('hot');
    }
    expect([...hot]).toEqual(['hot']);
  });
});
