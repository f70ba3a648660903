import { platform, uptime } from 'node:os';
import { systemClock, type Clock } from '@kctl/wait';

/** Differences below this are the resolution of the two clocks, not a suspension, in ms. */
const toleranceMs = 100;

/**
 * A clock whose monotonic time goes on while the machine is suspended, as the lease does for everybody else. On Linux
 * the usual monotonic clock (CLOCK_MONOTONIC) stands still then; the uptime (CLOCK_BOOTTIME) does not, so what it is
 * ahead is added. On other systems the monotonic clock counts suspensions already.
 */
export function createAwakeClock(
  clock: Clock = systemClock,
  bootTimeMs: (() => number) | undefined = platform() === 'linux' ? () => uptime() * 1000 : undefined,
): Clock {
  if (bootTimeMs === undefined) return clock;
  const offset = bootTimeMs() - clock.monotonicNow();
  let suspendedMs = 0;
  return {
    now: () => clock.now(),
    monotonicNow: () => {
      const now = clock.monotonicNow();
      const ahead = bootTimeMs() - now - offset;
      // Only ever more: monotonic time must not go back.
      if (ahead > suspendedMs + toleranceMs) suspendedMs = ahead;
      return now + suspendedMs;
    },
    setTimer: (callback, delayMs, options) => clock.setTimer(callback, delayMs, options),
  };
}
