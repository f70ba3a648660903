import type { Counter, Family, Gauge, Histogram, Metrics } from './metrics.js';

/**
 * Metrics that never throw: what the sink throws goes to `report`, the first time, and the measurement is lost. For
 * code that must not stop because a sink does.
 */
export function guardMetrics(sink: Metrics, report: (error: unknown) => void): Metrics {
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
    <C, V>(child: C | undefined, call: (child: C, value: V) => void) =>
    (value: V): void => {
      try {
        if (child !== undefined) call(child, value);
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
  return {
    counter: (options) => family(() => sink.counter(options), counter),
    gauge: (options) => family(() => sink.gauge(options), gauge),
    histogram: (options) => family(() => sink.histogram(options), histogram),
    onCollect: (collect) => {
      const remove = attempt(() => sink.onCollect(collect));
      return () => attempt(() => remove?.());
    },
  };
}
