/**
 * Vendor-neutral telemetry contracts of @kctl packages, which are Logger, Metrics and Tracer.
 *
 * @packageDocumentation
 */
export { createConsoleLogger } from './console-logger.js';
export type { ConsoleLogger, ConsoleLoggerOptions } from './console-logger.js';
export type { LogSampling } from './log-sampler.js';
export { createOpenTelemetryLogger } from './open-telemetry-logger.js';
export type {
  OpenTelemetryLike,
  OpenTelemetryLoggerOptions,
  OpenTelemetryRecord,
  OpenTelemetryValue,
} from './open-telemetry-logger.js';
export { createPinoLogger } from './pino-logger.js';
export type { PinoLike } from './pino-logger.js';
export { describeError } from './describe-error.js';
export type { DescribedError } from './describe-error.js';
export { loggable } from './loggable.js';
export type { Loggable, LoggableOptions } from './loggable.js';
export type { LogFields, Logger, LogLevel } from './logger.js';
export type { Counter, Family, Gauge, Histogram, HistogramOptions, Labels, MetricOptions, Metrics } from './metrics.js';
export { noopLogger, noopMetrics, noopTracer } from './noop.js';
export type { RequestCounter, RequestTally } from './request-counter.js';
export type { Span, SpanAttributes, Tracer } from './tracer.js';
export { wholeObject } from './whole-object.js';
export type { WholeObject } from './whole-object.js';
