import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { anySignal, timeoutSignal } from './abort-link.js';
import { isDeadlineExceeded } from './deadline-error.js';
import { FakeClock } from './testing/index.js';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('anySignal', () => {
  it('aborts with the first source that aborts and its reason, and lets go of the others', () => {
    const a = new AbortController();
    const b = new AbortController();
    const link = anySignal([a.signal, undefined, b.signal]);
    expect(link.signal.aborted).toBe(false);
    const reason = new Error('stop');
    b.abort(reason);
    expect(link.signal.reason).toBe(reason);
    expect([listeners(a.signal), listeners(b.signal)]).toEqual([0, 0]);
  });

  it('is aborted from the start when a source is, and listens to none', () => {
    const a = new AbortController();
    const reason = new Error('gone');
    const link = anySignal([a.signal, AbortSignal.abort(reason)]);
    expect(link.signal.reason).toBe(reason);
    expect(listeners(a.signal)).toBe(0);
  });

  it('refuses a source that is no signal, and leaves nothing on the others', () => {
    const a = new AbortController();
    expect(() => anySignal([a.signal, new AbortController() as never])).toThrow('signal is an AbortController');
    expect(listeners(a.signal)).toBe(0);
  });

  it('leaves nothing on its sources when disposed, and does not follow them any more', () => {
    const a = new AbortController();
    let signal: AbortSignal;
    {
      using link = anySignal([a.signal]);
      signal = link.signal;
      expect(listeners(a.signal)).toBe(1);
    }
    expect(listeners(a.signal)).toBe(0);
    a.abort();
    expect(signal.aborted).toBe(false);
  });

  it('can be aborted by itself without aborting its sources', () => {
    const a = new AbortController();
    const link = anySignal([a.signal]);
    const reason = new Error('own');
    link.abort(reason);
    expect(link.signal.reason).toBe(reason);
    expect(a.signal.aborted).toBe(false);
    expect(listeners(a.signal)).toBe(0);
  });
});

describe('timeoutSignal', () => {
  it('aborts in time with a deadline error', () => {
    const clock = new FakeClock();
    const { signal } = timeoutSignal(clock, 500);
    clock.advanceSync(499);
    expect(signal.aborted).toBe(false);
    clock.advanceSync(1);
    expect(isDeadlineExceeded(signal.reason)).toBe(true);
    expect(signal.reason).toMatchObject({ timeoutMs: 500, code: 'KCTL_DEADLINE_EXCEEDED' });
  });

  it('leaves no timer when disposed or aborted', () => {
    const clock = new FakeClock();
    timeoutSignal(clock, 500)[Symbol.dispose]();
    const link = timeoutSignal(clock, 500);
    link.abort(new Error('enough'));
    expect(clock.pendingTimers).toBe(0);
    expect(link.signal.reason).toEqual(new Error('enough'));
  });
});
