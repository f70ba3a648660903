/**
 * The telemetry contract on prom-client, with an injected registry.
 *
 * @packageDocumentation
 */
export { isMetricShapeError, MetricShapeError } from './errors.js';
export { createPrometheusMetrics } from './prometheus-metrics.js';
export type { MetricsExport, PrometheusMetrics, PrometheusMetricsOptions } from './prometheus-metrics.js';
