import type * as parts from './prom-client-parts.js';

export const Counter: typeof parts.Counter;
export const Gauge: typeof parts.Gauge;
export const Histogram: typeof parts.Histogram;
export const Registry: typeof parts.Registry;
export const defaultMetrics: typeof parts.defaultMetrics;
