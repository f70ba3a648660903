import type { Metrics } from '@kctl/telemetry';
import type { SkipReason } from './decoders/decoder.js';
import type { InformerState } from './informer-state.js';

/** What is looked at when metrics are exported. */
export interface InformerGauges {
  readonly objects: () => number;
  readonly bytes: () => number;
  readonly pending: () => number;
  readonly phase: () => InformerState['phase'];
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
  const state = metrics.gauge({
    name: 'informer_state',
    help: '1 for the state that an informer is in',
    labelNames: ['name', 'state'],
  });
  const collect = (): void => {
    objects.with({ name }).set(gauges.objects());
    bytes.with({ name }).set(gauges.bytes());
    pending.with({ name }).set(gauges.pending());
    const current = gauges.phase();
    for (const phase of phases) state.with({ name, state: phase }).set(phase === current ? 1 : 0);
  };
  const stop = metrics.onCollect(collect);
  return () => {
    stop();
    for (const family of [objects, bytes, pending]) family.remove({ name });
    for (const phase of phases) state.remove({ name, state: phase });
  };
}
