/**
 * What @kctl packages say about themselves, without naming a vendor: Logger, Metrics and Tracer contracts.
 *
 * @packageDocumentation
 */
export { createConsoleLogger } from './console-logger.js';
export type { ConsoleLoggerOptions } from './console-logger.js';
export type { LogFields, Logger, LogLevel } from './logger.js';
export type { Counter, Family, Gauge, Histogram, HistogramOptions, Labels, MetricOptions, Metrics } from './metrics.js';
export { noopLogger, noopMetrics, noopTracer } from './noop.js';
export type { Span, SpanAttributes, Tracer } from './tracer.js';
