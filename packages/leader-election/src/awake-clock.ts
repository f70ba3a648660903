import { platform, uptime } from 'node:os';
import { clockOption, functionOption, numberOption, requireOptions, type OptionNames } from '@kctl/options';
import { systemClock, type Clock } from '@kctl/wait';

/** Differences below this are the resolution of the two clocks, not a suspension, in ms. */
const toleranceMs = 100;

/** Options of {@link createAwakeClock}. */
export interface AwakeClockOptions {
  /** @default systemClock */
  readonly clock?: Clock;
  /**
   * Time since the machine started, suspensions included, in ms; null if `clock` counts them itself. @default by
   * platform
   */
  readonly bootTimeMs?: (() => number) | null;
  /** `bootTimeMs() - clock.monotonicNow()` without any suspension. @default what it is now */
  readonly bootOffsetMs?: number;
}

const optionNames: OptionNames<AwakeClockOptions> = {
  clock: clockOption,
  bootTimeMs: (name: string, value: unknown) => (value === null ? undefined : functionOption(name, value)),
  bootOffsetMs: numberOption({ least: -Infinity }),
};

/**
 * A clock whose monotonic time goes on while the machine is suspended, as the lease does for other candidates. On Linux
 * the usual monotonic clock (CLOCK_MONOTONIC) stands still then; the uptime (CLOCK_BOOTTIME) does not, so what it is
 * ahead is added. On other systems the monotonic clock counts suspensions already.
 */
export function createAwakeClock(options: AwakeClockOptions = {}): Clock {
  requireOptions('createAwakeClock', options, optionNames);
  const { clock = systemClock, bootTimeMs = bootTime } = options;
  if (bootTimeMs === null) return clock;
  const offset = options.bootOffsetMs ?? bootTimeMs() - clock.monotonicNow();
  let suspendedMs = 0;
  return {
    now: () => clock.now(),
    monotonicNow: () => {
      const now = clock.monotonicNow();
      const ahead = bootTimeMs() - now - offset;
      // Never decreases, because monotonic time must not go back.
      if (ahead > suspendedMs + toleranceMs) suspendedMs = ahead;
      return now + suspendedMs;
    },
    setTimer: (callback, delayMs, timerOptions) => clock.setTimer(callback, delayMs, timerOptions),
  };
}

/** CLOCK_BOOTTIME, if it differs from the time that `performance.now` counts. */
const bootTime: (() => number) | null = platform() === 'linux' ? () => uptime() * 1000 : null;

/** The boot offset of a clock now, for another thread's {@link createAwakeClock}; undefined if it has no offset. */
export function bootOffsetMs(clock: Clock): number | undefined {
  return bootTime === null ? undefined : bootTime() - clock.monotonicNow();
}
