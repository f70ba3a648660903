import type { Registry } from 'prom-client';
import type { EventLoopLag } from './event-loop-lag.js';
import { Counter, defaultMetrics, Gauge } from './prom-client-parts.js';

/** In prom-client's order. */
const metrics = [
  processCpuTotal,
  defaultMetrics.processStartTime,
  defaultMetrics.osMemoryHeap,
  defaultMetrics.processOpenFileDescriptors,
  defaultMetrics.processMaxFileDescriptors,
  defaultMetrics.eventLoopLag,
  defaultMetrics.processResources,
  defaultMetrics.processHandles,
  defaultMetrics.processRequests,
  defaultMetrics.heapSizeAndUsed,
  defaultMetrics.heapSpacesSizeAndUsed,
  defaultMetrics.version,
  defaultMetrics.gc,
];

/**
 * The metrics that prom-client's `collectDefaultMetrics` registers, with the same names, labels and help strings.
 *
 * @param lag - a measurement of the event loop that is under way: `nodejs_eventloop_lag_*` then report its samples, and
 *   prom-client's own, which wakes the process every 10 ms, is not started
 */
export function collectDefaultMetrics(registry: Registry, lag?: EventLoopLag): void {
  for (const metric of metrics) {
    if (metric === defaultMetrics.eventLoopLag && lag !== undefined) sampledEventLoopLag(registry, lag);
    else metric(registry, { eventLoopMonitoringPrecision: 10 });
  }
}

/** In place of prom-client's, where the event loop is measured anyway. */
function sampledEventLoopLag(registry: Registry, lag: EventLoopLag): void {
  const registers = [registry];
  const samples = lag.samples();
  const current = new Gauge({
    name: 'nodejs_eventloop_lag_seconds',
    help: 'Lag of event loop in seconds.',
    registers,
    aggregator: 'average',
    collect() {
      const start = lag.clock.monotonicNow();
      setImmediate(() => {
        current.set((lag.clock.monotonicNow() - start) / 1000);
      });
      const isEmpty = samples.max < samples.min;
      for (const { gauge, read } of derived) gauge.set(isEmpty ? 0 : read() / 1e9);
      samples.reset();
    },
  });
  const derived = [
    {
      name: 'min',
      help: 'The minimum recorded event loop delay.',
      aggregator: 'min' as const,
      read: () => samples.min,
    },
    {
      name: 'max',
      help: 'The maximum recorded event loop delay.',
      aggregator: 'max' as const,
      read: () => samples.max,
    },
    { name: 'mean', help: 'The mean of the recorded event loop delays.', read: () => samples.mean },
    { name: 'stddev', help: 'The standard deviation of the recorded event loop delays.', read: () => samples.stddev },
    ...[50, 90, 99].map((percentile) => ({
      name: `p${percentile}`,
      help: `The ${percentile}th percentile of the recorded event loop delays.`,
      read: () => samples.percentile(percentile),
    })),
  ].map(({ name, help, read, ...more }) => ({
    gauge: new Gauge({
      name: `nodejs_eventloop_lag_${name}_seconds`,
      help,
      registers,
      aggregator: 'average' as const,
      ...more,
    }),
    read,
  }));
}

/** In place of prom-client's, which loads the OpenTelemetry API for exemplars. */
function processCpuTotal(registry: Registry): void {
  const registers = [registry];
  let last = process.cpuUsage();
  const user = new Counter({
    name: 'process_cpu_user_seconds_total',
    help: 'Total user CPU time spent in seconds.',
    registers,
    // Collected first of the three.
    collect() {
      const now = process.cpuUsage();
      const userSeconds = (now.user - last.user) / 1e6;
      const systemSeconds = (now.system - last.system) / 1e6;
      last = now;
      user.inc(userSeconds);
      system.inc(systemSeconds);
      total.inc(userSeconds + systemSeconds);
    },
  });
  const system = new Counter({
    name: 'process_cpu_system_seconds_total',
    help: 'Total system CPU time spent in seconds.',
    registers,
  });
  const total = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers,
  });
}
