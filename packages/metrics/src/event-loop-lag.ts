import type { Metrics } from '@kctl/telemetry';
import type { Clock, ClockTimer } from '@kctl/wait';

/** How often the lag is sampled. */
const intervalMs = 50;
const buckets: readonly number[] = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Measures how much later than asked for a timer fires: the time for which something held the event loop, garbage
 * collection included. `perf_hooks.monitorEventLoopDelay` was seen to miss blocking calls. Returns a function that
 * stops it. The timer does not keep the process alive.
 */
export function createEventLoopLag(metrics: Metrics, clock: Clock): () => void {
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
  let dueAt = 0;
  let timer: ClockTimer;
  const arm = (): void => {
    dueAt = clock.monotonicNow() + intervalMs;
    timer = clock.setTimer(sample, intervalMs, { keepAlive: false });
  };
  const sample = (): void => {
    const lag = Math.max(clock.monotonicNow() - dueAt, 0) / 1000;
    histogram.observe(lag);
    longest = Math.max(longest, lag);
    arm();
  };
  arm();
  const removeHook = metrics.onCollect(() => {
    gauge.set(longest);
    longest = 0;
  });
  return () => {
    timer.cancel();
    removeHook();
  };
}
