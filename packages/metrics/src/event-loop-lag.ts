import type { RecordableHistogram } from 'node:perf_hooks';
import type { Metrics } from '@kctl/telemetry';
import type { Clock, ClockTimer } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';

/** How often the lag is sampled. */
const intervalMs = 50;
const buckets: readonly number[] = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Samples of the lag, in whole nanoseconds, since the last reset. */
export interface LagSamples {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly stddev: number;
  percentile(percentile: number): number;
  reset(): void;
}

/** The lag of the event loop while it is measured. */
export interface EventLoopLag {
  /** Clock and timer of the measurement. */
  readonly clock: Clock;
  /** For those who report percentiles. The first call makes it; it has the samples from then on. */
  samples(): LagSamples;
  /** Stops the timer. Idempotent. */
  stop(): void;
}

/**
 * Measures how much later than asked for a timer fires: the time for which something held the event loop, garbage
 * collection included. `perf_hooks.monitorEventLoopDelay` was seen to miss blocking calls, and wakes the process a
 * hundred times a second. The timer does not keep the process alive.
 */
export function createEventLoopLag(metrics: Metrics, clock: Clock): EventLoopLag {
  const histogram = metrics
    .histogram({
      name: 'kctl_event_loop_lag_seconds',
      help: 'How much later than due a timer of the event loop fired, sampled every 50 ms.',
      buckets,
    })
    .with({});
  const gauge = metrics
    .gauge({
      name: 'kctl_event_loop_lag_max_seconds',
      help: 'The longest lag of the event loop since the metrics were last collected.',
    })
    .with({});
  let longest = 0;
  let samples: RecordableHistogram | undefined;
  let dueAt = 0;
  let timer: ClockTimer;
  const arm = (): void => {
    dueAt = clock.monotonicNow() + intervalMs;
    timer = startTimer(clock, sample, intervalMs, { keepAlive: false });
  };
  const sample = (): void => {
    const lagMs = Math.max(clock.monotonicNow() - dueAt, 0);
    const lag = lagMs / 1000;
    histogram.observe(lag);
    // The histogram of Node takes no zero.
    samples?.record(Math.max(Math.round(lagMs * 1e6), 1));
    longest = Math.max(longest, lag);
    arm();
  };
  arm();
  const removeHook = metrics.onCollect(() => {
    gauge.set(longest);
    longest = 0;
  });
  return {
    clock,
    samples: () => (samples ??= process.getBuiltinModule('node:perf_hooks').createHistogram()),
    stop: () => {
      timer.cancel();
      removeHook();
    },
  };
}
