import type { Metrics } from '@kctl/telemetry';

/** Metrics of a schedule. */
export interface ScheduleMetrics {
  began(dueAt: number): void;
  ended(result: 'success' | 'error', durationMs: number): void;
  /** `skipped`: a run was under way; `missed`: it was too late to begin. */
  omitted(result: 'skipped' | 'missed', count: number): void;
}

const seconds = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600];

export function createScheduleMetrics(metrics: Metrics, schedule: string): ScheduleMetrics {
  const labelNames = ['schedule'];
  const labels = { schedule };
  const runs = metrics.counter({
    name: 'kctl_schedule_occurrences_total',
    help: 'Occurrences of schedules by result: success, error, skipped (a run was under way), missed',
    labelNames: ['schedule', 'result'],
  });
  const running = metrics.gauge({ name: 'kctl_schedule_running', help: 'Runs that are under way', labelNames });
  const last = metrics.gauge({
    name: 'kctl_schedule_last_run_timestamp_seconds',
    help: 'Time of the last occurrence that was begun, in seconds since the epoch',
    labelNames,
  });
  const durations = metrics.histogram({
    name: 'kctl_schedule_run_duration_seconds',
    help: 'How long runs of schedules take',
    labelNames,
    buckets: seconds,
  });
  return {
    began: (dueAt) => {
      running.with(labels).inc();
      last.with(labels).set(dueAt / 1000);
    },
    ended: (result, durationMs) => {
      running.with(labels).dec();
      runs.with({ schedule, result }).inc();
      durations.with(labels).observe(durationMs / 1000);
    },
    omitted: (result, count) => runs.with({ schedule, result }).inc(count),
  };
}
