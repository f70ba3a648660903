import { systemClock } from '@kctl/wait';
import { expect, it } from 'vitest';
import { bootOffsetMs } from '../awake-clock.js';
import { createProcessClock, createSharedMemory, sharedState } from './shared-state.js';

it('is one state for all views of the memory, each value by itself and to the microsecond', () => {
  const memory = createSharedMemory();
  const [one, other] = [sharedState(memory), sharedState(memory)];
  const values = { openUntil: 1.001, expiresAt: 2_000_000.5, term: 3, heartbeat: 0.25 };
  expect({ ...other }).toEqual({ openUntil: 0, expiresAt: 0, term: 0, heartbeat: 0 });
  Object.assign(one, values);
  expect({ ...other }).toEqual(values);
  other.openUntil = 0;
  expect({ ...one }).toEqual({ ...values, openUntil: 0 });
});

it('has a clock with the time of the process, and of the wall', async () => {
  const clock = createProcessClock();
  const before = Number(process.hrtime.bigint()) / 1e6;
  const seen = clock.monotonicNow();
  expect(seen).toBeGreaterThanOrEqual(before - 0.001);
  expect(seen).toBeLessThanOrEqual(Number(process.hrtime.bigint()) / 1e6);
  expect(Math.abs(clock.now() - systemClock.now())).toBeLessThan(60_000);
  await new Promise<void>((resolve) => clock.setTimer(resolve, 0));
});

it('has a clock that counts a suspension before its thread began, if that thread knows the offset of the first', () => {
  const clock = createProcessClock();
  const offset = bootOffsetMs(clock);
  expect(offset === undefined).toBe(process.platform !== 'linux');
  const suspendedMs = offset === undefined ? 0 : 3_600_000; // elsewhere than on Linux, the clock counts it itself
  const later = createProcessClock(offset === undefined ? undefined : offset - suspendedMs);
  const ahead = later.monotonicNow() - clock.monotonicNow();
  expect(ahead).toBeGreaterThan(suspendedMs - 60_000);
  expect(ahead).toBeLessThan(suspendedMs + 60_000);
});
