import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isAbortError, sleep } from './sleep.js';
import { FakeClock } from './testing/index.js';

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

  it('makes an error of a reason that is none', async () => {
    await expect(sleep(1, { signal: AbortSignal.abort('because') })).rejects.toSatisfy(
      (error) => isAbortError(error) && String(error).includes('because'),
    );
  });
});
