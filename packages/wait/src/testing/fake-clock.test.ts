import { expect, it } from 'vitest';
import { FakeClock, settle } from './index.js';

it('never goes back when a timer moves it beyond the target of the call that fired it', async () => {
  for (const way of ['advance', 'advanceSync'] as const) {
    const clock = new FakeClock({ now: 0 });
    clock.setTimer(() => clock.advanceSync(50), 10);
    await clock[way](20);
    await settle();
    expect([clock.monotonicNow(), clock.now()]).toEqual([60, 60]);
  }
});
