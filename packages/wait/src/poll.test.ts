import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createBackoff } from './backoff.js';
import { withDeadline } from './deadline.js';
import { DeadlineExceededError, isDeadlineExceeded } from './deadline-error.js';
import { poll, waitUntil } from './poll.js';
import { FakeClock } from './testing/index.js';

describe('poll', () => {
  it('does not repeat what is not a function', async () => {
    const options = { interval: 1, isRetriable: () => true };
    await expect(poll('attempt' as never, options)).rejects.toThrow(/poll: the attempt is .*: expected a function/);
  });

  it('tries at once, then after each interval, until there is a value', async () => {
    const clock = new FakeClock();
    const times: number[] = [];
    const done = poll(
      () => {
        times.push(clock.monotonicNow());
        return times.length === 3 ? 'there' : undefined;
      },
      { interval: 100, clock },
    );
    await clock.advance(200);
    await expect(done).resolves.toBe('there');
    expect(times).toEqual([0, 100, 200]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts the interval from the end of a slow attempt: one attempt at a time', async () => {
    const clock = new FakeClock();
    const starts: number[] = [];
    const done = poll(
      async () => {
        starts.push(clock.monotonicNow());
        await new Promise<void>((resolve) => clock.setTimer(resolve, 50));
        return starts.length === 3 ? true : undefined;
      },
      { interval: 10, clock },
    );
    await clock.advance(170);
    await done;
    expect(starts).toEqual([0, 60, 120]);
  });

  it('takes a backoff as its interval and can wait before the first attempt', async () => {
    const clock = new FakeClock();
    const times: number[] = [];
    const done = poll(() => (times.push(clock.monotonicNow()) === 3 ? true : undefined), {
      interval: createBackoff({ initialMs: 10, factor: 2, clock }),
      immediate: false,
      clock,
    });
    await clock.advance(70);
    await done;
    expect(times).toEqual([10, 30, 70]);
  });

  it('ends with a deadline error that says what was waited for', async () => {
    const clock = new FakeClock();
    const done = poll(() => undefined, { interval: 30, timeoutMs: 100, message: 'pod web did not start', clock });
    const outcome = expect(done).rejects.toSatisfy(
      (error) => isDeadlineExceeded(error) && error.message === 'pod web did not start',
    );
    await clock.advance(100);
    await outcome;
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends with what an attempt throws', async () => {
    const failure = new Error('forbidden');
    await expect(poll(() => Promise.reject(failure), { interval: 1 })).rejects.toBe(failure);
  });

  const refused = (): TypeError =>
    new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) });

  it('goes on while the server cannot be reached, and names the last failure at the timeout', async () => {
    const clock = new FakeClock();
    let attempts = 0;
    const attempt = (): string => {
      if (++attempts < 4) throw refused();
      return 'up';
    };
    const done = poll(attempt, { interval: 10, clock });
    await clock.advance(30);
    await expect(done).resolves.toBe('up');
    attempts = -1_000;
    const late = poll(attempt, { interval: 10, timeoutMs: 50, message: 'no server', clock });
    const outcome = expect(late).rejects.toMatchObject({
      code: 'KCTL_DEADLINE_EXCEEDED',
      message: 'no server',
      timeoutMs: 50,
      cause: refused(),
    });
    await clock.advance(50);
    await outcome;
    expect(clock.pendingTimers).toBe(0);
  });

  it('goes on after the errors that isRetriable names, and only these', async () => {
    const failures = ['not ready', 'not ready', 'broken'];
    const attempt = (): never => {
      throw new Error(failures.shift());
    };
    const isRetriable = (error: unknown): boolean => error instanceof Error && error.message === 'not ready';
    await expect(poll(attempt, { interval: 0, isRetriable })).rejects.toThrow('broken');
    await expect(poll(() => Promise.reject(refused()), { interval: 0, isRetriable: () => false })).rejects.toThrow(
      'fetch failed',
    );
  });

  it('leaves the deadline of an attempt as it is', async () => {
    let attempts = 0;
    const own = new DeadlineExceededError(7);
    const attempt = (): never => {
      throw attempts++ === 0 ? refused() : own;
    };
    await expect(poll(attempt, { interval: 0, timeoutMs: 60_000 })).rejects.toBe(own);
  });

  it('waits for a server that comes up later, as the README says', async () => {
    const placeholder = createServer();
    await new Promise<void>((resolve) => placeholder.listen(0, '127.0.0.1', resolve));
    const { port } = placeholder.address() as AddressInfo;
    await new Promise((resolve) => placeholder.close(resolve));
    const server = createServer((_request, response) => response.end('ok'));
    let attempts = 0;
    const answer = await withDeadline(
      (signal) =>
        poll(
          async () => {
            // The first attempt finds the port closed; the server starts before the second.
            if (++attempts === 2) await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
            return (await fetch(`http://127.0.0.1:${port}/healthz`, { signal })).ok ? 'up' : undefined;
          },
          { interval: createBackoff({ initialMs: 1, factor: 2, jitter: 0.5, capMs: 5_000 }), signal },
        ),
      { timeoutMs: 30_000, message: 'the server did not come up' },
    );
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect([answer, attempts]).toEqual(['up', 2]);
  });

  it('ends on abort with nothing left behind', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const done = waitUntil(() => false, { interval: 10, clock, signal: controller.signal });
    await clock.advance(25);
    controller.abort(new Error('stop'));
    await expect(done).rejects.toThrow('stop');
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('waitUntil', () => {
  it('resolves when the condition holds', async () => {
    const clock = new FakeClock();
    const done = waitUntil(() => Promise.resolve(clock.monotonicNow() >= 50), { interval: 20, clock });
    await clock.advance(60);
    await done;
    expect(clock.monotonicNow()).toBe(60);
  });
});

describe('poll without an interval that is one', () => {
  it.each([NaN, -1, '5s' as never])('refuses interval %s', async (interval) => {
    await expect(poll(() => undefined, { interval })).rejects.toThrow(
      /poll: interval .* is not valid: expected a number/,
    );
  });
});

it('names an interval of null, which plain JavaScript may give', async () => {
  await expect(poll(() => 1, { interval: null as never })).rejects.toThrow('poll: interval null is not valid');
});

it('names an interval that is no backoff, and an isRetriable that is no function', async () => {
  await expect(poll(() => 1, { interval: {} as never })).rejects.toThrow('interval has no method next');
  await expect(poll(() => 1, { interval: 1, isRetriable: true as never })).rejects.toThrow(
    'isRetriable is a value of type boolean',
  );
});
