import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loopCountOf, Slicer } from './slicer.js';
import { FakeClock } from './testing/index.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A slicer of 5 ms by a clock that moves when work says so; `turns`: which turn the event loop is in. */
function open(turns?: () => number) {
  let now = 0;
  const clock = Object.assign(new FakeClock(), { monotonicNow: () => now });
  return {
    slicer: new Slicer(clock, 5, turns === undefined ? {} : { turnOf: turns }),
    take: (ms: number) => (now += ms),
  };
}

describe('Slicer', () => {
  it('gives all that share it one slice in a turn, in the order in which they came', async () => {
    const { slicer, take } = open();
    const done: string[] = [];
    const begin = (name: string, left: number): void =>
      slicer.schedule(() => {
        done.push(name);
        take(2);
        if (left > 1) begin(name, left - 1);
      });
    for (const name of ['a', 'b', 'c', 'd']) begin(name, 2);
    const perTurn: string[] = [];
    for (let seen = 0; seen < 8; seen = done.length) {
      await turn();
      perTurn.push(done.slice(seen).join(''));
    }
    expect(perTurn.filter((text) => text !== '')).toEqual(['abc', 'dab', 'cd']);
  });

  it('lets only one that breathes go on in a turn, with the rest of the slice', async () => {
    const { slicer, take } = open();
    const done: string[] = [];
    const loop = async (name: string): Promise<void> => {
      for (let round = 0; round < 3; round++) {
        await slicer.breathe();
        done.push(`${name}${slicer.isOver ? ' late' : ''}`);
        take(4);
      }
    };
    const scheduled = (): void => {
      done.push('s');
      take(2);
    };
    slicer.schedule(scheduled);
    const loops = [loop('a'), loop('b')];
    slicer.schedule(scheduled);
    const perTurn: string[] = [];
    for (let seen = 0; done.length < 8; seen = done.length) {
      await turn();
      perTurn.push(done.slice(seen).join(''));
    }
    await Promise.all(loops);
    expect(perTurn.filter((text) => text !== '')).toEqual(['sa', 'b', 'sa', 'b', 'a', 'b']);
  });

  it('begins a slice where the event loop has just given control', () => {
    const { slicer, take } = open();
    slicer.begin();
    expect(slicer.isOver).toBe(false);
    take(5);
    expect(slicer.isOver).toBe(true);
  });

  it('has a slice in each turn of the event loop, and one only', () => {
    let loopCount = 7;
    const { slicer, take } = open(() => loopCount);
    slicer.begin();
    take(9);
    expect([slicer.isOver, slicer.isOver]).toEqual([true, true]);
    loopCount++;
    expect([slicer.isOver, slicer.isOver]).toEqual([false, false]);
    take(4);
    expect(slicer.isOver).toBe(false);
    take(1);
    expect([slicer.isOver, slicer.isOver]).toEqual([true, true]);
  });

  it('lets a slice that is not over go on in the next turn, to its end', () => {
    let loopCount = 0;
    const { slicer, take } = open(() => loopCount);
    slicer.begin();
    take(4);
    loopCount++;
    expect(slicer.isOver).toBe(false);
    take(1);
    // The turn that it ends in has had nothing of another one.
    expect(slicer.isOver).toBe(false);
    take(5);
    expect(slicer.isOver).toBe(true);
  });

  it('knows when the event loop of this thread turns: not in a microtask, but when a socket or timer had its turn', async () => {
    const { slicer, take } = open();
    slicer.begin();
    take(5);
    for (let hop = 0; hop < 20; hop++) await Promise.resolve();
    expect(slicer.isOver).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 1));
    await turn();
    expect(slicer.isOver).toBe(false);
  });

  it('has the slices of its own turns where the runtime does not count turns, as in Bun and Deno', async () => {
    expect([undefined, {}, { uvMetricsInfo: {} }, { uvMetricsInfo: { loopCount: 3 } }].map(loopCountOf)).toEqual([
      undefined,
      undefined,
      undefined,
      3,
    ]);
    const { slicer, take } = open(() => 0);
    slicer.begin();
    take(5);
    expect([slicer.isOver, slicer.isOver]).toEqual([true, true]);
    await slicer.breathe();
    expect(slicer.isOver).toBe(false);
  });

  it('works where a test fakes performance', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { slicer, take } = open();
    slicer.begin();
    take(5);
    expect(slicer.isOver).toBe(true);
    await slicer.breathe();
    expect(slicer.isOver).toBe(false);
  });

  it('takes thousands that wait, and what they add', async () => {
    const { slicer, take } = open();
    let done = 0;
    for (let each = 0; each < 5000; each++)
      slicer.schedule(() => {
        take(0.1);
        done++;
        if (each % 10 === 0) slicer.schedule(() => void done++);
      });
    let turns = 0;
    for (; done < 5500; turns++) await turn();
    expect(turns).toBeGreaterThan(90);
  });
});
