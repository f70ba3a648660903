import { describe, expect, it } from 'vitest';
import { FakeClock } from './testing/index.js';
import { until } from './until.js';

function setUp(work: (call: number) => unknown = () => undefined) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const calls: number[] = [];
  const randoms = [0, 1, 0.5];
  const options = { signal: stop.signal, clock, random: () => randoms.shift() ?? 0 };
  const call = async (signal: AbortSignal): Promise<void> => {
    expect(signal).toBe(stop.signal);
    calls.push(clock.monotonicNow());
    await work(calls.length);
  };
  return { clock, stop, calls, options, call };
}

describe('until', () => {
  it('calls at once, and again a period after each end, until the abort', async () => {
    const t = setUp(async (call) => {
      if (call === 1) await new Promise<void>((resolve) => void t.clock.setTimer(resolve, 50));
    });
    const running = until(t.call, 100, t.options);
    await t.clock.advance(400);
    t.stop.abort(new Error('enough'));
    await running;
    await t.clock.advance(400);
    expect(t.calls).toEqual([0, 150, 250, 350]);
  });

  it('adds a part of the period at random', async () => {
    const t = setUp();
    const running = until(t.call, 100, { ...t.options, jitter: 0.2 });
    await t.clock.advance(330);
    t.stop.abort();
    await running;
    expect(t.calls).toEqual([0, 100, 220, 330]);
  });

  it('does not call after an abort before it, and ends with the error of the work', async () => {
    const t = setUp();
    t.stop.abort();
    await until(t.call, 100, t.options);
    expect(t.calls).toEqual([]);
    const failing = setUp(() => {
      throw new Error('no');
    });
    await expect(until(failing.call, 100, failing.options)).rejects.toThrow('no');
  });

  it.each([
    [{}, 'until: signal is not set'],
    [{ signal: 5 }, 'signal'],
    [{ signal: new AbortController().signal, jitter: -1 }, 'until: jitter -1'],
    [{ signal: new AbortController().signal, random: 1 }, 'random'],
  ])('refuses %o', async (options, message) => {
    await expect(until(() => undefined, 1, options as never)).rejects.toThrow(message);
    await expect(until(() => undefined, Number.NaN, { signal: new AbortController().signal })).rejects.toThrow(
      'until: periodMs NaN',
    );
    await expect(until(5 as never, 1, { signal: new AbortController().signal })).rejects.toThrow('the work is');
  });
});
