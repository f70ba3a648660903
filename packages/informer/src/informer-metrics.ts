import type { Metrics } from '@kctl/telemetry';
import type { SkipReason } from './decoders/decoder.js';
import type { InformerState } from './informer-state.js';

/** Values read when metrics are exported. */
export interface InformerGauges {
  readonly objects: () => number;
  readonly bytes: () => number;
  readonly pending: () => number;
  readonly phase: () => InformerState['phase'];
  readonly resourceVersion: () => string;
}

/** Counts the objects that an informer skips. */
export function createSkipCounter(metrics: Metrics, name: string): (reason: SkipReason) => void {
  const skipped = metrics.counter({
    name: 'informer_skipped_objects_total',
    help: 'Objects that could not be stored or read, by reason',
    labelNames: ['name', 'reason'],
  });
  return (reason) => skipped.with({ name, reason }).inc();
}

/** Counts the objects that an index function fails for. */
export function createIndexErrorCounter(metrics: Metrics, name: string): (index: string) => void {
  const failed = metrics.counter({
    name: 'informer_index_errors_total',
    help: 'Failures of index functions; the object is stored without values for the index',
    labelNames: ['name', 'index'],
  });
  return (index) => failed.with({ name, index }).inc();
}

const handlerSeconds = [0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30];

/** Makes what observes, in ms, the callbacks of one handler. */
export function createHandlerTimer(metrics: Metrics, name: string): (handler: string) => (durationMs: number) => void {
  const durations = metrics.histogram({
    name: 'informer_handler_duration_seconds',
    help: 'How long a callback of an event handler takes, its promise included',
    labelNames: ['name', 'handler'],
    buckets: handlerSeconds,
  });
  return (handler) => {
    const series = durations.with({ name, handler });
    return (durationMs) => series.observe(durationMs / 1000);
  };
}

const phases: readonly InformerState['phase'][] = ['starting', 'listing', 'watching', 'retrying', 'stopped'];

/** Exports an informer's size and state. Returns what ends the export. */
export function createInformerMetrics(metrics: Metrics, name: string, gauges: InformerGauges): () => void {
  const labelNames = ['name'];
  const objects = metrics.gauge({
    name: 'informer_store_objects',
    help: 'Objects in the store of an informer',
    labelNames,
  });
  const bytes = metrics.gauge({
    name: 'informer_store_bytes',
    help: 'Bytes that an informer holds unparsed',
    labelNames,
  });
  const pending = metrics.gauge({
    name: 'informer_pending_events',
    help: 'Changes that wait for handlers',
    labelNames,
  });
  // By client-go's name.
  const version = metrics.gauge({
    name: 'informer_store_resource_version',
    help: 'Resource version that the store of an informer is at',
    labelNames,
  });
  const state = metrics.gauge({
    name: 'informer_state',
    help: '1 for the state that an informer is in',
    labelNames: ['name', 'state'],
  });
  const collect = (): void => {
    objects.with({ name }).set(gauges.objects());
    bytes.with({ name }).set(gauges.bytes());
    pending.with({ name }).set(gauges.pending());
    const at = Number(gauges.resourceVersion());
    if (Number.isFinite(at)) version.with({ name }).set(at);
    const current = gauges.phase();
    for (const phase of phases) state.with({ name, state: phase }).set(phase === current ? 1 : 0);
  };
  const stop = metrics.onCollect(collect);
  return () => {
    stop();
    for (const family of [objects, bytes, pending, version]) family.remove({ name });
    for (const phase of phases) state.remove({ name, state: phase });
  };
}
