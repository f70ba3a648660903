import type { Counter, Family, Gauge, Histogram, Metrics } from './metrics.js';

/**
 * Metrics that never throw: what the sink throws goes to `report`, the first time, and the measurement is lost. For
 * code that must not stop because a sink does.
 */
export function guardMetrics(sink: Metrics, report: (error: unknown) => void): Metrics {
  let hasReported = false;
  const attempt = <T>(call: () => T): T | undefined => {
    try {
      return call();
    } catch (error) {
      if (!hasReported) report(error);
      hasReported = true;
      return undefined;
    }
  };
  const family = <T>(declare: () => Family<T>, guard: (child: T | undefined) => T): Family<T> => {
    const declared = attempt(declare);
    return {
      with: (labels) => guard(attempt(() => declared?.with(labels))),
      remove: (labels) => attempt(() => declared?.remove(labels)),
    };
  };
  const counter = (child: Counter | undefined): Counter => ({ inc: (by) => attempt(() => child?.inc(by)) });
  const gauge = (child: Gauge | undefined): Gauge => ({
    set: (value) => attempt(() => child?.set(value)),
    inc: (by) => attempt(() => child?.inc(by)),
    dec: (by) => attempt(() => child?.dec(by)),
  });
  const histogram = (child: Histogram | undefined): Histogram => ({
    observe: (value) => attempt(() => child?.observe(value)),
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
