/**
 * The parts of prom-client that this package uses, by file: its index also loads the push gateway, the cluster registry,
 * summaries with their digests and the whole OpenTelemetry API, which together cost each process 60 files and 8 MB. The
 * classes are those of the index, so that registries and metrics of user code are recognized.
 */
import '@kctl/telemetry/require-in-bundles'; // before a CommonJS package
import type * as index from 'prom-client';
import files from './prom-client-files.cjs';

/** One of the default metrics: registers what it measures. */
export type DefaultMetric = (
  registry: index.Registry,
  options: { readonly eventLoopMonitoringPrecision: number },
) => void;

/** Their file names. */
export type DefaultMetricName =
  | 'eventLoopLag'
  | 'gc'
  | 'heapSizeAndUsed'
  | 'heapSpacesSizeAndUsed'
  | 'osMemoryHeap'
  | 'processHandles'
  | 'processMaxFileDescriptors'
  | 'processOpenFileDescriptors'
  | 'processRequests'
  | 'processResources'
  | 'processStartTime'
  | 'version';

export const Counter: typeof index.Counter = files.Counter;
export const Gauge: typeof index.Gauge = files.Gauge;
export const Histogram: typeof index.Histogram = files.Histogram;
export const Registry: typeof index.Registry = files.Registry;
export const defaultMetrics: Readonly<Record<DefaultMetricName, DefaultMetric>> = files.defaultMetrics;
