import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { withDeadline } from './deadline.js';
import { DeadlineExceededError, isDeadlineExceeded } from './deadline-error.js';
import { sleep } from './sleep.js';
import { FakeClock, settle } from './testing/index.js';

describe('withDeadline', () => {
  it('resolves with the result and leaves neither timer nor listener', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    await expect(withDeadline(() => 42, { timeoutMs: 100, clock, signal })).resolves.toBe(42);
    expect(clock.pendingTimers).toBe(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('rejects at the deadline, also when the work does not listen', async () => {
    const clock = new FakeClock();
    const done = withDeadline(() => new Promise<never>(() => undefined), { timeoutMs: 100, clock, message: 'sync' });
    const outcome = expect(done).rejects.toThrow(new DeadlineExceededError(100, 'sync'));
    await clock.advance(100);
    await outcome;
  });

  it('tells the work to stop at the deadline, and ignores what it does afterwards', async () => {
    const clock = new FakeClock();
    let reason: unknown;
    const done = withDeadline(
      async (signal) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
        });
        await sleep(1000, { clock });
        throw new Error('too late to matter');
      },
      { timeoutMs: 100, clock },
    );
    const outcome = expect(done).rejects.toSatisfy(isDeadlineExceeded);
    await clock.advance(100);
    await outcome;
    expect(isDeadlineExceeded(reason)).toBe(true);
    await clock.advance(1000);
  });

  it('rejects with the reason of the outer signal', async () => {
    const clock = new FakeClock();
    const outer = new AbortController();
    const done = withDeadline((signal) => sleep(1000, { clock, signal }), {
      timeoutMs: 500,
      clock,
      signal: outer.signal,
    });
    const reason = new Error('shutdown');
    outer.abort(reason);
    await expect(done).rejects.toBe(reason);
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not begin when the outer signal is aborted', async () => {
    let began = false;
    const reason = new Error('no');
    const work = (): void => {
      began = true;
    };
    await expect(withDeadline(work, { timeoutMs: 1, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(began).toBe(false);
  });

  it('passes on what the work throws, also synchronously', async () => {
    const clock = new FakeClock();
    const failure = new Error('broken');
    const work = (): never => {
      throw failure;
    };
    await expect(withDeadline(work, { timeoutMs: 10, clock })).rejects.toBe(failure);
    expect(clock.pendingTimers).toBe(0);
  });

  it('sets no timer for an infinite deadline', async () => {
    const clock = new FakeClock();
    const done = withDeadline(() => Promise.resolve(clock.pendingTimers), { timeoutMs: Infinity, clock });
    await expect(done).resolves.toBe(0);
  });
});

describe('withDeadline without a time that is one', () => {
  it.each([NaN, '5s' as never])('refuses %s instead of waiting for ever', async (timeoutMs) => {
    const work = withDeadline(() => new Promise(() => undefined), { timeoutMs });
    await expect(work).rejects.toThrow(/withDeadline: timeoutMs .* is not valid: expected a number of ms/);
  });

  it('takes a time that has passed for no time at all', async () => {
    const clock = new FakeClock();
    const work = withDeadline(() => new Promise(() => undefined), { timeoutMs: -1, clock });
    const outcome = expect(work).rejects.toSatisfy(isDeadlineExceeded);
    await clock.advance(0);
    await outcome;
  });

  it('leaves no unhandled rejection, whenever the work aborts and throws', async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', onUnhandled);
    const failure = new Error('in work');
    const works: ((outer: AbortController) => never | Promise<never>)[] = [
      (outer) => {
        outer.abort(new Error('outer'));
        throw failure;
      },
      async (outer) => {
        outer.abort(new Error('outer'));
        throw failure;
      },
      async (outer) => {
        await settle();
        outer.abort(new Error('outer'));
        throw failure;
      },
    ];
    for (const work of works) {
      const outer = new AbortController();
      const done = withDeadline(() => work(outer), { timeoutMs: 1_000, clock: new FakeClock(), signal: outer.signal });
      await expect(done).rejects.toThrow(/in work|outer/);
      await settle();
    }
    process.off('unhandledRejection', onUnhandled);
    expect(unhandled).toEqual([]);
  });
});
