import { expect, it } from 'vitest';
import { FakeClock } from './testing/index.js';
import { createItemBackoff } from './item-backoff.js';

it('doubles the delay of an id up to the limit, and of each id apart (TestSlowBackoff)', async () => {
  const clock = new FakeClock();
  const backoff = createItemBackoff({ initialMs: 1000, maxMs: 50_000, clock });
  expect(backoff.get('a')).toBe(0);
  expect(backoff.isInBackoff('a')).toBe(false);
  const delays: number[] = [];
  for (let failures = 0; failures < 8; failures++) {
    await clock.advance(100);
    delays.push(backoff.next('a'));
  }
  expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 50_000, 50_000]);
  expect(backoff.next('b')).toBe(1000);
  backoff.reset('a');
  expect([backoff.get('a'), backoff.get('b')]).toEqual([0, 1000]);
});

it('is in back-off until the delay is over, since the failure or since an instant (TestIsInBackOffSince…)', async () => {
  const clock = new FakeClock();
  const backoff = createItemBackoff({ initialMs: 1000, maxMs: 10_000, clock });
  backoff.next('a');
  const failedAt = clock.monotonicNow();
  await clock.advance(999);
  expect([backoff.isInBackoff('a'), backoff.isInBackoffSince('a', failedAt)]).toEqual([true, true]);
  await clock.advance(1);
  expect([backoff.isInBackoff('a'), backoff.isInBackoffSince('a', failedAt)]).toEqual([false, false]);
  expect(backoff.isInBackoffSince('a', clock.monotonicNow())).toBe(true);
  expect(backoff.isInBackoffSince('b', clock.monotonicNow())).toBe(false);
});

it('starts over after twice the limit without a failure, and lets go of such ids (TestBackoffReset, TestBackoffGC)', async () => {
  const clock = new FakeClock();
  const backoff = createItemBackoff({ initialMs: 1000, maxMs: 5000, clock });
  for (let failures = 0; failures < 3; failures++) backoff.next('a');
  await clock.advance(10_000);
  expect([backoff.get('a'), backoff.size]).toEqual([4000, 1]);
  backoff.gc();
  expect(backoff.size).toBe(1);
  await clock.advance(1);
  expect([backoff.get('a'), backoff.isInBackoff('a')]).toEqual([0, false]);
  backoff.gc();
  expect(backoff.size).toBe(0);
  expect(backoff.next('a')).toBe(1000);
});

it('retains the ids that failed lately alone, without a call of gc', async () => {
  const clock = new FakeClock();
  const backoff = createItemBackoff({ initialMs: 10, maxMs: 10, clock });
  for (let id = 0; id < 1000; id++) {
    await clock.advance(1);
    backoff.next(`id-${id}`);
  }
  expect(backoff.size).toBeLessThan(200);
});

it('adds a random share of the delay, never beyond the limit (TestBackoffWithJitter)', () => {
  const clock = new FakeClock();
  const backoff = createItemBackoff({ initialMs: 1000, maxMs: 3000, jitter: 0.5, random: () => 0.5, clock });
  expect([backoff.next('a'), backoff.next('a'), backoff.next('a')]).toEqual([1250, 2812.5, 3000]);
});

it.each([
  [{ initialMs: 0, maxMs: 1 }, 'initialMs'],
  [{ initialMs: 10, maxMs: 1 }, 'maxMs'],
  [{ initialMs: 1, maxMs: Number.NaN }, 'maxMs'],
  [{ initialMs: 1, maxMs: 1, jitter: -1 }, 'jitter'],
])('refuses %o', (options, name) => {
  expect(() => createItemBackoff(options)).toThrow(`createItemBackoff: ${name}`);
});
