import { FakeClock } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { createAwakeClock } from './awake-clock.js';

it('counts the time during which the machine was suspended, and never goes back', async () => {
  const fake = new FakeClock();
  let bootMs = 5_000_000;
  const clock = createAwakeClock({ clock: fake, bootTimeMs: () => bootMs });
  const start = clock.monotonicNow();
  await fake.advance(1_000);
  bootMs += 1_000;
  expect(clock.monotonicNow() - start).toBe(1_000);
  // Jitter of the coarser clock is no suspension.
  bootMs += 10;
  expect(clock.monotonicNow() - start).toBe(1_000);
  bootMs += 59_990;
  expect(clock.monotonicNow() - start).toBe(61_000);
  bootMs -= 50;
  expect(clock.monotonicNow() - start).toBe(61_000);
  await fake.advance(500);
  bootMs += 500;
  expect(clock.monotonicNow() - start).toBe(61_500);
});

it('runs with the system', () => {
  const clock = createAwakeClock();
  const first = clock.monotonicNow();
  expect(clock.monotonicNow()).toBeGreaterThanOrEqual(first);
  expect(createAwakeClock({ bootTimeMs: null }).monotonicNow()).toBeGreaterThan(0);
});

it('counts what came before it, if it is given the offset of the first clock', async () => {
  const fake = new FakeClock();
  const at = fake.monotonicNow();
  const clock = createAwakeClock({ clock: fake, bootTimeMs: () => 60_000 + fake.monotonicNow(), bootOffsetMs: 0 });
  expect(clock.monotonicNow() - at).toBe(60_000);
});

it.each([
  [100, 0],
  [101, 101],
])('takes a difference of %i ms between its two clocks for a suspension of %i ms', async (ahead, suspended) => {
  const fake = new FakeClock();
  await fake.advance(1_000);
  let bootMs = 5_000;
  const clock = createAwakeClock({ clock: fake, bootTimeMs: () => bootMs });
  bootMs += ahead;
  expect(clock.monotonicNow() - fake.monotonicNow()).toBe(suspended);
});

it('leaves the wall clock and the timers as they are', async () => {
  const fake = new FakeClock();
  const clock = createAwakeClock({ clock: fake, bootTimeMs: () => 0 });
  expect(clock.now()).toBe(fake.now());
  let fired = 0;
  clock.setTimer(() => fired++, 1_000);
  clock.setTimer(() => fired++, 1_000).cancel();
  await fake.advance(999);
  expect(fired).toBe(0);
  await fake.advance(1);
  expect(fired).toBe(1);
});

it.each([
  [{ bootTimeMs: 5 }, 'bootTimeMs'],
  [{ bootOffsetMs: Number.NaN }, 'bootOffsetMs'],
])('refuses %o', (options, name) => {
  expect(() => createAwakeClock(options as never)).toThrow(`createAwakeClock: ${name}`);
});
