import { getEventListeners } from 'node:events';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { abortReason, isAbortError, sleep } from './sleep.js';
import { systemClock } from './system-clock.js';
import { FakeClock, settle } from './testing/index.js';

describe('sleep', () => {
  it('resolves when its time has come, and lets go of the signal', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    let isOver = false;
    const done = sleep(100, { clock, signal }).then(() => {
      isOver = true;
    });
    await clock.advance(99);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await done;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('refuses a signal that is none, and leaves no timer that fails later', async () => {
    const clock = new FakeClock();
    const signal = new AbortController() as never;
    await expect(sleep(5, { clock, signal })).rejects.toThrow('sleep: signal is an AbortController');
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([undefined, null, 5, {}])('rejects if its clock returns %j in place of a timer', async (timer) => {
    const clock = Object.assign(new FakeClock(), { setTimer: () => timer as never });
    await expect(sleep(5, { clock })).rejects.toThrow(
      /^clock\.setTimer\(\) returned .*: expected a timer with cancel\(\)$/,
    );
  });

  it('takes a clock and a timer that are functions', async () => {
    const timer = Object.assign(() => undefined, { cancel: () => undefined });
    const clock = Object.assign(() => undefined, {
      now: () => 0,
      monotonicNow: () => 0,
      setTimer: (callback: () => void) => {
        queueMicrotask(callback);
        return timer;
      },
    });
    await expect(sleep(5, { clock })).resolves.toBeUndefined();
  });

  it('rejects with the reason of an abort and leaves no timer', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const done = sleep(100, { clock, signal: controller.signal });
    const reason = new Error('stop');
    controller.abort(reason);
    await expect(done).rejects.toBe(reason);
    expect(clock.pendingTimers).toBe(0);
    await expect(sleep(1, { clock, signal: controller.signal })).rejects.toBe(reason);
  });

  it('refuses a callback that is not a function at once, not from the timer', () => {
    for (const callback of [undefined, null, 5, {}])
      expect(() => systemClock.setTimer(callback as never, 0)).toThrow(
        `setTimer: the callback is of type ${typeof callback}: expected a function`,
      );
  });

  it.each([
    ['the fake clock', new FakeClock()],
    ['the real clock', systemClock],
  ])('refuses what is not a time on %s', async (_name, clock) => {
    for (const ms of [Number.NaN, '5' as never, undefined as never]) {
      await expect(sleep(ms, { clock })).rejects.toThrow(RangeError);
      await expect(sleep(ms, { clock })).rejects.toThrow(/^sleep: ms .* is not valid: expected a number/);
      expect(() => clock.setTimer(() => undefined, ms)).toThrow(/^setTimer: delayMs .* is not valid/);
    }
    for (const ms of [-5, -Infinity, 0]) {
      const done = sleep(ms, { clock });
      if (clock instanceof FakeClock) await clock.advance(0);
      await done;
    }
  });

  it.each([
    ['the fake clock', new FakeClock()],
    ['the real clock', systemClock],
  ])('sleeps until the abort for Infinity on %s', async (_name, clock) => {
    const controller = new AbortController();
    const done = sleep(Infinity, { clock, signal: controller.signal });
    const outcome = expect(done).rejects.toThrow('enough');
    await settle();
    controller.abort(new Error('enough'));
    await outcome;
  });

  it('never ends early on the real clock', async () => {
    const early: number[] = [];
    await Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        const ms = (index % 40) * 0.37;
        const start = performance.now();
        await sleep(ms);
        const took = performance.now() - start;
        if (took < ms) early.push(ms - took);
      }),
    );
    expect(early).toEqual([]);
  });

  it('makes an error of a reason that is none', async () => {
    await expect(sleep(1, { signal: AbortSignal.abort('because') })).rejects.toSatisfy(
      (error) => isAbortError(error) && String(error).includes('because'),
    );
  });
});

describe('abortReason', () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  it.each([
    ['a text', 'stop'],
    ['null', null],
    ['an object', Object.freeze({ code: 1 })],
    ['an object without a prototype', Object.create(null)],
    ['a symbol', Symbol('stop')],
    ['a proxy that was revoked', revoked.proxy],
  ])('keeps what is not an Error as the cause: %s', (_name, reason) => {
    const error = abortReason(AbortSignal.abort(reason));
    expect(error).toBeInstanceOf(Error);
    expect(isAbortError(error)).toBe(true);
    expect(Object.is(error.cause, reason)).toBe(true);
  });

  it('is the Error itself, also where it is one of another realm', () => {
    const context = createContext({});
    const foreign: unknown = runInContext('new TypeError("elsewhere")', context);
    expect(Object.is(abortReason(AbortSignal.abort(foreign)), foreign)).toBe(true);
    const timeout = new DOMException('late', 'TimeoutError');
    expect(abortReason(AbortSignal.abort(timeout))).toBe(timeout);
  });

  it('names a text, and of an object its type alone', () => {
    expect(abortReason(AbortSignal.abort('stop')).message).toBe('aborted: stop');
    expect(abortReason(AbortSignal.abort({ token: 'secret' })).message).toBe('aborted: of type object');
  });
});
