import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createBackoff } from './backoff.js';
import { retry } from './retry.js';
import { FakeClock } from './testing/index.js';

const backoff = (): ReturnType<typeof createBackoff> => createBackoff({ initialMs: 10, factor: 5 });

describe('retry', () => {
  it.each([undefined, 'work', {}, Promise.resolve()])('does not repeat what is not a function: %o', async (work) => {
    await expect(retry(work as never)).rejects.toThrow(/retry: the work is .*: expected a function/);
  });

  it('repeats after the delays of the backoff until it succeeds', async () => {
    const clock = new FakeClock();
    const times: number[] = [];
    const done = retry(
      (attempt) => {
        times.push(clock.monotonicNow());
        if (attempt < 3) throw new Error('again');
        return attempt;
      },
      { backoff: backoff(), clock },
    );
    await clock.advance(60);
    await expect(done).resolves.toBe(3);
    expect(times).toEqual([0, 10, 60]);
  });

  it('gives up with the last error', async () => {
    const clock = new FakeClock();
    const done = retry((attempt) => Promise.reject(new Error(`attempt ${attempt}`)), {
      backoff: backoff(),
      maxAttempts: 3,
      clock,
    });
    const outcome = expect(done).rejects.toThrow('attempt 3');
    await clock.advance(1000);
    await outcome;
  });

  it('does not repeat what is not retriable', async () => {
    let attempts = 0;
    const work = (): never => {
      attempts++;
      throw new Error('final');
    };
    await expect(retry(work, { backoff: backoff(), isRetriable: () => false })).rejects.toThrow('final');
    expect(attempts).toBe(1);
  });

  it('repeats at once without a backoff', async () => {
    const attempts: number[] = [];
    const work = async (attempt: number): Promise<string> => {
      attempts.push(attempt);
      if (attempt < 3) throw new Error('again');
      return 'done';
    };
    await expect(retry(work, { clock: new FakeClock(), maxAttempts: 3 })).resolves.toBe('done');
    await expect(retry((attempt) => attempt)).resolves.toBe(1);
    expect(attempts).toEqual([1, 2, 3]);
  });

  it('stops waiting on abort', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const done = retry(() => Promise.reject(new Error('again')), {
      backoff: backoff(),
      clock,
      signal: controller.signal,
    });
    const outcome = expect(done).rejects.toThrow('stop');
    await clock.advance(5);
    controller.abort(new Error('stop'));
    await outcome;
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('retry without a limit that is one', () => {
  it.each([
    [{ backoff: 100 }, 'backoff is a value of type number: expected a Backoff'],
    [{ backoff: {} }, 'backoff has no method next: expected a Backoff'],
    [{ isRetriable: true }, 'isRetriable is a value of type boolean: expected a function'],
    [{ pause: 5 }, 'pause is a value of type number: expected a function'],
  ])('refuses %j before the first attempt, so that it takes the place of no failure', async (options, text) => {
    let attempts = 0;
    await expect(retry(() => attempts++, options as never)).rejects.toThrow(text);
    expect(attempts).toBe(0);
  });

  it.each([NaN, 0, 1.5])('refuses maxAttempts %s', async (maxAttempts) => {
    const attempts = retry(() => Promise.reject(new Error('again')), {
      backoff: createBackoff({ initialMs: 1 }),
      maxAttempts,
    });
    await expect(attempts).rejects.toThrow(`retry: maxAttempts ${maxAttempts} is not valid: expected an integer ≥ 1`);
  });
});

it('lets the event loop go on between attempts that fail at once, so that a signal of a timer ends it', async () => {
  const abort = new AbortController();
  let attempts = 0;
  setImmediate(() => abort.abort(new Error('enough')));
  const work = (): never => {
    attempts++;
    // Without a turn of the event loop the abort never comes: fail here rather than hang.
    if (attempts > 1_000) abort.abort(new Error('kept the event loop'));
    throw new Error('refused');
  };
  await expect(retry(work, { signal: abort.signal })).rejects.toThrow('enough');
});

it('leaves a pause when its signal is aborted', async () => {
  const controller = new AbortController();
  const done = retry(() => Promise.reject(new Error('again')), {
    pause: () => new Promise(() => undefined),
    signal: controller.signal,
  });
  const outcome = expect(done).rejects.toThrow('enough');
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort(new Error('enough'));
  await outcome;
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});
