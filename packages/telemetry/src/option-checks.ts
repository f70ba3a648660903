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
 * What keeps a value from being a {@link Logger}, in a sentence that names the option; undefined when nothing does. For
 * what takes a logger as an option, before it begins: the first line would throw otherwise.
 *
 * @example
 * ```ts
 * import { loggerOption } from '@kctl/telemetry';
 *
 * loggerOption('logger', {}); // 'logger has no method isEnabled, …: expected a Logger, such as createConsoleLogger() …'
 * ```
 */
export function loggerOption(name: string, value: unknown): string | undefined {
  return problemOf(name, value, {
    methods: loggerMethods,
    expected: 'a Logger, such as createConsoleLogger() or createPinoLogger(pino())',
  });
}

/** What keeps a value from being {@link Metrics}, as {@link loggerOption} does for a logger. */
export function metricsOption(name: string, value: unknown): string | undefined {
  return problemOf(name, value, {
    methods: metricsMethods,
    expected: 'Metrics, such as createPrometheusMetrics({ registry }) of @kctl/metrics',
  });
}

/** What keeps a value from being a {@link Tracer}, as {@link loggerOption} does for a logger. */
export function tracerOption(name: string, value: unknown): string | undefined {
  return problemOf(name, value, {
    methods: tracerMethods,
    expected: 'a Tracer, which has withSpan(name, attributes, work)',
  });
}

/** What keeps a value from being a {@link RequestCounter}, as {@link loggerOption} does for a logger. */
export function requestCounterOption(name: string, value: unknown): string | undefined {
  return problemOf(name, value, {
    methods: requestCounterMethods,
    expected: 'a RequestCounter, which has run(tally, work), such as an AsyncLocalStorage',
  });
}

function problemOf(
  name: string,
  value: unknown,
  { methods, expected }: { readonly methods: object; readonly expected: string },
): string | undefined {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
    return `${name} is ${value === null ? 'null' : `a value of type ${typeof value}`}: expected ${expected}`;
  // The stub of a test has a part of the contract; what has none of it is another thing.
  const names = Object.keys(methods);
  if (names.some((method) => hasMethod(value, method))) return undefined;
  return `${name} has no method ${names.join(', ')}: expected ${expected}`;
}

/** What throws when it is asked has no methods: a proxy that was revoked. */
function hasMethod(value: object, method: string): boolean {
  try {
    return typeof Reflect.get(value, method) === 'function';
  } catch {
    return false;
  }
}
