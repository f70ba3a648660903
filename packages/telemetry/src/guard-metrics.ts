import type { Counter, Family, Gauge, Histogram, Metrics } from './metrics.js';
import { noopMetrics } from './noop.js';

/** What {@link guardMetrics} has returned: it needs no guard. */
const guards = new WeakSet<Metrics>();

/**
 * Metrics that never throw: what the sink throws goes to `report`, the first time, and the measurement is lost. For
 * code that must not stop because a sink does.
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
  // Called a dozen times in each reconcile: a closure for each call would be a tenth of what a reconcile allocates.
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
  const family = <T>(declare: () => Family<T>, guard: (child: T | undefined) => T): Family<T> => {
    const declared = attempt(declare);
    return {
      with: (labels) => guard(attempt(() => declared?.with(labels))),
      remove: (labels) => attempt(() => declared?.remove(labels)),
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
    counter: (options) => family(() => sink.counter(options), counter),
    gauge: (options) => family(() => sink.gauge(options), gauge),
    histogram: (options) => family(() => sink.histogram(options), histogram),
    onCollect: (collect) => {
      const remove = attempt(() => sink.onCollect(collect));
      return () => attempt(() => remove?.());
    },
  };
  guards.add(metrics);
  return metrics;
}
