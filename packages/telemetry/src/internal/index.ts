/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { guardLogger } from '../guard-logger.js';
export { guardMetrics } from '../guard-metrics.js';
export { guardSinks } from '../guard-sinks.js';
export type { Sinks } from '../guard-sinks.js';
export { exponentialBuckets } from '../exponential-buckets.js';
export { loggerOption, metricsOption, requestCounterOption, tracerOption } from '../option-checks.js';
export { messageOf } from '../message-of.js';
