import type { Counter, Family, Gauge, Histogram, Metrics } from './metrics.js';
import { noopMetrics } from './noop.js';

/** Metrics that {@link guardMetrics} has returned, which need no guard. */
const guards = new WeakSet<Metrics>();

/**
 * Metrics that never throw. The first error of the sink goes to `report`, and the measurement is lost. For code that
 * must not stop because a sink does.
 */
export function guardMetrics(sink: Metrics, report: (error: unknown) => void): Metrics {
  if (sink === noopMetrics || guards.has(sink)) return sink;
  let hasReported = false;
  const failed = (error: unknown): void => {
    if (!hasReported) report(error);
    hasReported = true;
  };
  const attempt = <T>(call: () => T): T | undefined => {
    try {
      return call();
    } catch (error) {
      failed(error);
      return undefined;
    }
  };
  // Called a dozen times in each reconcile. A closure for each call would be a tenth of the allocations of a reconcile.
  const guarded =
    <C, V>(child: C | undefined, call: (child: C, value: V) => unknown) =>
    (value: V): void => {
      try {
        const result = child === undefined ? undefined : call(child, value);
        // A sink that is asynchronous may reject.
        if (result instanceof Promise) result.catch(failed);
      } catch (error) {
        failed(error);
      }
    };
  /** Returns the object that the sink returned, if it has one of these methods: the stub of a test has what it counts. */
  const having = <T>(what: string, methods: readonly string[], returned: T | undefined): T | undefined => {
    if (returned === undefined || hasOneOf(returned, methods)) return returned;
    throw new TypeError(
      `${what} of the metrics returned an object without ${methods.join(' and ')}: expected Metrics of @kctl/telemetry`,
    );
  };
  const family = <T>(
    [kind, ...methods]: readonly [kind: string, ...methods: string[]],
    declare: () => Family<T>,
    guard: (child: T | undefined) => T,
  ): Family<T> => {
    const declared = attempt(() => having(kind, ['with'], declare()));
    return {
      with: (labels) => guard(attempt(() => having(`with of a ${kind}`, methods, declared?.with(labels)))),
      remove: (labels) => attempt(() => (hasOneOf(declared, ['remove']) ? declared?.remove(labels) : undefined)),
    };
  };
  const counter = (child: Counter | undefined): Counter => ({ inc: guarded(child, (to, by?: number) => to.inc(by)) });
  const gauge = (child: Gauge | undefined): Gauge => ({
    set: guarded(child, (to, value: number) => to.set(value)),
    inc: guarded(child, (to, by?: number) => to.inc(by)),
    dec: guarded(child, (to, by?: number) => to.dec(by)),
  });
  const histogram = (child: Histogram | undefined): Histogram => ({
    observe: guarded(child, (to, value: number) => to.observe(value)),
  });
  const metrics: Metrics = {
    counter: (options) => family(['counter', 'inc'], () => sink.counter(options), counter),
    gauge: (options) => family(['gauge', 'set', 'inc', 'dec'], () => sink.gauge(options), gauge),
    histogram: (options) => family(['histogram', 'observe'], () => sink.histogram(options), histogram),
    onCollect: (collect) => {
      const remove: unknown = attempt(() => sink.onCollect(collect));
      return () =>
        attempt(() => (typeof remove === 'function' ? void Reflect.apply(remove, undefined, []) : undefined));
    },
  };
  guards.add(metrics);
  return metrics;
}

function hasOneOf(value: unknown, methods: readonly string[]): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return methods.some((method) => typeof Reflect.get(value, method) === 'function');
}
