import type { Counter, Family, Histogram, Metrics } from '@kctl/telemetry';

/** Calls a hook of the caller's. What it throws, or rejects with, is reported and concerns nothing else. */
export function callHook(hook: () => unknown, report: (error: unknown) => void): void {
  try {
    const result = hook();
    if (isThenable(result)) void Promise.resolve(result).catch(report);
  } catch (error) {
    report(error);
  }
}

/** Counters and histograms that cannot fail once they are declared: the first failure of each is reported. */
export function guardedMetrics(metrics: Metrics, report: (error: unknown) => void): Metrics {
  const counter = (family: Family<Counter>): Family<Counter> =>
    guardedFamily(family, (make, guard) => ({ inc: (by) => guard(() => make().inc(by)) }), report);
  const histogram = (family: Family<Histogram>): Family<Histogram> =>
    guardedFamily(family, (make, guard) => ({ observe: (value) => guard(() => make().observe(value)) }), report);
  return {
    counter: (options) => counter(metrics.counter(options)),
    histogram: (options) => histogram(metrics.histogram(options)),
    gauge: (options) => metrics.gauge(options),
    onCollect: (collect) => metrics.onCollect(collect),
  };
}

function guardedFamily<T>(
  family: Family<T>,
  wrap: (make: () => T, guard: (use: () => void) => void) => T,
  report: (error: unknown) => void,
): Family<T> {
  let hasFailed = false;
  const guard = (use: () => void): void =>
    callHook(use, (error) => {
      if (!hasFailed) report(error);
      hasFailed = true;
    });
  return {
    with: (labels) => {
      let child: T | undefined;
      return wrap(() => (child ??= family.with(labels)), guard);
    },
    remove: (labels) => guard(() => family.remove(labels)),
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
