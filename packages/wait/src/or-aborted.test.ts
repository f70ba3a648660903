import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { aborted, orAborted, untilAborted } from './or-aborted.js';
import { settle } from './testing/index.js';

const never = new Promise<never>(() => undefined);
const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('orAborted', () => {
  it('is the result of the work, whether it is a promise or not', async () => {
    const { signal } = new AbortController();
    await expect(orAborted(Promise.resolve(1), signal)).resolves.toBe(1);
    await expect(orAborted(2, signal)).resolves.toBe(2);
    await expect(orAborted(Promise.resolve(3), undefined)).resolves.toBe(3);
    await expect(orAborted(Promise.reject(new Error('work')), signal)).rejects.toThrow('work');
    expect(listeners(signal)).toBe(0);
  });

  it('is the reason of the abort, before or during the work, and drops a later rejection', async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', onUnhandled);
    const reason = new Error('stop');
    await expect(orAborted(never, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const work = Promise.withResolvers<undefined>();
    const result = orAborted(work.promise, controller.signal);
    controller.abort(reason);
    await expect(result).rejects.toBe(reason);
    work.reject(new Error('late'));
    await settle();
    process.off('unhandledRejection', onUnhandled);
    expect([unhandled, listeners(controller.signal)]).toEqual([[], 0]);
  });
});

describe('untilAborted', () => {
  it('resolves when the work settles, either way', async () => {
    const { signal } = new AbortController();
    await untilAborted(Promise.resolve(), signal);
    await untilAborted(Promise.reject(new Error('ignored')), signal);
    expect(listeners(signal)).toBe(0);
  });

  it('resolves at the abort, or after a turn of the event loop where that has been', async () => {
    const controller = new AbortController();
    const waiting = untilAborted(never, controller.signal);
    controller.abort();
    await waiting;
    let hasEnded = false;
    const quick = Promise.resolve().then(() => (hasEnded = true));
    await untilAborted(quick, controller.signal);
    await untilAborted(never, controller.signal);
    expect([hasEnded, listeners(controller.signal)]).toEqual([true, 0]);
  });
});

describe('aborted', () => {
  it('resolves at the abort, also where that has been', async () => {
    const controller = new AbortController();
    const waiting = aborted(controller.signal);
    controller.abort();
    await waiting;
    await aborted(controller.signal);
    expect(listeners(controller.signal)).toBe(0);
  });
});
