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
