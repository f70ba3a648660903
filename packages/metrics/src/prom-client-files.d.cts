import type * as index from 'prom-client';

/** One of the default metrics: registers what it measures. */
type DefaultMetric = (registry: index.Registry, options: { readonly eventLoopMonitoringPrecision: number }) => void;

export const Counter: typeof index.Counter;
export const Gauge: typeof index.Gauge;
export const Histogram: typeof index.Histogram;
export const Registry: typeof index.Registry;
export const defaultMetrics: Readonly<
  Record<
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
    | 'version'
    , DefaultMetric
  >
>;
