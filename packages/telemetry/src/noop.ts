import type { Counter, Family, Gauge, Histogram, Metrics } from './metrics.js';
import type { Logger } from './logger.js';
import type { Span, Tracer } from './tracer.js';

/**
 * A logger that writes nothing.
 *
 * @example
 * ```ts
 * import { noopLogger, type Logger } from '@kctl/telemetry';
 *
 * function sweep({ logger = noopLogger }: { logger?: Logger } = {}): void {
 *   logger.info('Sweeping');
 * }
 * ```
 */
export const noopLogger: Logger = {
  isEnabled: () => false,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => noopLogger,
};

const counter: Counter = { inc: () => undefined };
const gauge: Gauge = { set: () => undefined, inc: () => undefined, dec: () => undefined };
const histogram: Histogram = { observe: () => undefined };
const familyOf = <T>(child: T): Family<T> => ({ with: () => child, remove: () => undefined });

/** Metrics that go nowhere. */
export const noopMetrics: Metrics = {
  counter: () => familyOf(counter),
  gauge: () => familyOf(gauge),
  histogram: () => familyOf(histogram),
  onCollect: () => () => undefined,
};

const span: Span = { setAttributes: () => undefined, recordError: () => undefined, end: () => undefined };

/** A tracer that records nothing. */
export const noopTracer: Tracer = { withSpan: (_name, _attributes, work) => work(span) };
