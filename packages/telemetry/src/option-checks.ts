import { optionWithMethods, type OptionCheck } from '@kctl/options';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import type { RequestCounter } from './request-counter.js';
import type { Tracer } from './tracer.js';

/** Method names of a contract, complete by type. */
type Methods<T> = Readonly<Record<keyof T, true>>;

const loggerMethods: Methods<Logger> = {
  isEnabled: true,
  trace: true,
  debug: true,
  info: true,
  warn: true,
  error: true,
  child: true,
};
const metricsMethods: Methods<Metrics> = { counter: true, gauge: true, histogram: true, onCollect: true };
const requestCounterMethods: Methods<RequestCounter> = { run: true };
const tracerMethods: Methods<Tracer> = { withSpan: true };

/**
 * A check that an option is a {@link Logger}. Without it, the first line would throw.
 *
 * @example
 * ```ts
 * import { loggerOption } from '@kctl/telemetry/internal';
 *
 * loggerOption('logger', {}); // 'logger has no method isEnabled, …: expected a Logger, such as createConsoleLogger() …'
 * ```
 */
export const loggerOption: OptionCheck = optionWithMethods(
  Object.keys(loggerMethods),
  'a Logger, such as createConsoleLogger() or createPinoLogger(pino())',
);

/** A check that an option is {@link Metrics}. */
export const metricsOption: OptionCheck = optionWithMethods(
  Object.keys(metricsMethods),
  'Metrics, such as createPrometheusMetrics({ registry }) of @kctl/metrics',
);

/** A check that an option is a {@link Tracer}. */
export const tracerOption: OptionCheck = optionWithMethods(
  Object.keys(tracerMethods),
  'a Tracer, which has withSpan(name, attributes, work)',
);

/** A check that an option is a {@link RequestCounter}. */
export const requestCounterOption: OptionCheck = optionWithMethods(
  Object.keys(requestCounterMethods),
  'a RequestCounter, which has run(tally, work), such as an AsyncLocalStorage',
);
