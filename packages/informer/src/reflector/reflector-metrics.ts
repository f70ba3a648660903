import type { Metrics } from '@kctl/telemetry';
import type { Failure } from './failure.js';

/** The reflector's counters. */
export interface ReflectorMetrics {
  listed(durationMs: number): void;
  synced(items: number): void;
  watchOpened(): void;
  watchClosed(durationMs: number, events: number): void;
  shortWatch(): void;
  failed(failure: Failure): void;
  streamingUnsupported(): void;
}

const seconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const watchSeconds = [1, 10, 60, 180, 300, 450, 600, 1200];
const counts = [1, 10, 100, 1000, 10_000, 100_000];

/** The names are client-go's (`reflector_*`, label `name`); `informer_failures_total` is ours. */
export function createReflectorMetrics(metrics: Metrics, name: string): ReflectorMetrics {
  const labels = { name };
  const labelNames = ['name'];
  const counter = (metric: string, help: string): { inc(by?: number): void } =>
    metrics.counter({ name: metric, help, labelNames }).with(labels);
  const histogram = (metric: string, help: string, buckets: readonly number[]): { observe(value: number): void } =>
    metrics.histogram({ name: metric, help, labelNames, buckets }).with(labels);
  const lists = counter('reflector_lists_total', 'Total number of API lists done by the reflectors');
  const listDuration = histogram(
    'reflector_list_duration_seconds',
    'How long an API list takes to return and decode for the reflectors',
    seconds,
  );
  const listItems = histogram(
    'reflector_items_per_list',
    'How many items an API list returns to the reflectors',
    counts,
  );
  const watches = counter('reflector_watches_total', 'Total number of API watches done by the reflectors');
  const shortWatches = counter(
    'reflector_short_watches_total',
    'Total number of short API watches done by the reflectors',
  );
  const watchDuration = histogram(
    'reflector_watch_duration_seconds',
    'How long an API watch takes to return and decode for the reflectors',
    watchSeconds,
  );
  const watchItems = histogram(
    'reflector_items_per_watch',
    'How many items an API watch returns to the reflectors',
    counts,
  );
  const failures = metrics.counter({
    name: 'informer_failures_total',
    help: 'Failed lists and watches by reason',
    labelNames: ['name', 'reason'],
  });
  return {
    listed: (durationMs) => {
      lists.inc();
      listDuration.observe(durationMs / 1000);
    },
    synced: (items) => listItems.observe(items),
    watchOpened: () => watches.inc(),
    watchClosed: (durationMs, events) => {
      watchDuration.observe(durationMs / 1000);
      watchItems.observe(events);
    },
    shortWatch: () => shortWatches.inc(),
    failed: ({ reason }) => failures.with({ name, reason }).inc(),
    streamingUnsupported: () => failures.with({ name, reason: 'streaming-unsupported' }).inc(),
  };
}
