import type { Family, Labels, MetricOptions, Metrics } from '@kctl/telemetry';
import { systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { collectDefaultMetrics, Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import { CollectHooks } from './collect-hooks.js';
import { createEventLoopLag } from './event-loop-lag.js';
import { MetricShapeError } from './errors.js';

/** Options of {@link createPrometheusMetrics}. */
export interface PrometheusMetricsOptions {
  /** Where everything is registered; make one with `new Registry()`. prom-client's global one is never used. */
  readonly registry: Registry;
  /**
   * Whether to register prom-client's metrics of the process and of Node (`process_*`, `nodejs_*`).
   *
   * @default false
   */
  readonly defaultMetrics?: boolean;
  /** Whether to measure how late the event loop is; see the README. @default false */
  readonly eventLoopLag?: boolean;
  /** For the event-loop lag. @default systemClock */
  readonly clock?: Clock;
}

/** An export of all metrics. */
export interface MetricsExport {
  /** Value of the `Content-Type` header. */
  readonly contentType: string;
  readonly body: string;
}

/** The telemetry contract on a prom-client registry. */
export interface PrometheusMetrics extends Metrics, Disposable {
  readonly registry: Registry;
  /** All metrics of the registry, e.g. for the answer to `GET /metrics`. */
  export(): Promise<MetricsExport>;
  /** Stops timers and removes all collect functions. What was measured stays in the registry. Idempotent. */
  close(): void;
  [Symbol.dispose](): void;
}

/** What the three kinds of prom-client metrics share, as far as it is used here. */
interface PromMetric {
  readonly labelNames?: readonly string[];
  readonly upperBounds?: readonly number[];
  remove(labels: Labels): void;
}

/** A kind of metric: how to recognise it, make it, and make the child of some labels. */
interface KindOf<M extends PromMetric, T> {
  readonly is: (metric: unknown) => metric is M;
  readonly create: () => M;
  readonly child: (metric: M, labels: Labels) => T;
}

interface Declared {
  readonly shape: string;
  readonly family: Family<unknown>;
}

/**
 * Puts the telemetry contract on a prom-client registry. Starts nothing unless `eventLoopLag` or `defaultMetrics` is
 * set. Several of these may share a registry: they share the families of equal name and shape.
 */
export function createPrometheusMetrics(options: PrometheusMetricsOptions): PrometheusMetrics {
  const { registry, clock = systemClock } = options;
  const hooks = new CollectHooks();
  const declared = new Map<string, Declared>();

  const declare = <M extends PromMetric, T>(metric: MetricOptions, shape: string, kind: KindOf<M, T>): Family<T> => {
    const known = declared.get(metric.name);
    if (known !== undefined) {
      if (known.shape !== shape) throw new MetricShapeError(metric.name, `declared as ${known.shape}, now as ${shape}`);
      // Equal shapes name the same kind, hence the same T.
      return known.family as Family<T>;
    }
    const family = familyOf(metric, adopt(metric, shape, kind), kind);
    declared.set(metric.name, { shape, family });
    return family;
  };

  const adopt = <M extends PromMetric, T>(metric: MetricOptions, shape: string, kind: KindOf<M, T>): M => {
    const existing: unknown = registry.getSingleMetric(metric.name);
    if (existing === undefined) return hooks.attach(kind.create());
    const existingShape = kind.is(existing) ? shapeOf(shape.split(' ')[0] ?? '', existing) : 'another kind of metric';
    if (!kind.is(existing) || existingShape !== shape)
      throw new MetricShapeError(metric.name, `registered as ${existingShape} by somebody else, declared as ${shape}`);
    return hooks.attach(existing);
  };

  const registers = [registry];
  const metrics: Metrics = {
    counter: (metric) =>
      declare(metric, shapeOf('counter', metric), {
        is: (known): known is Counter => known instanceof Counter,
        create: () => new Counter({ ...promOptions(metric), registers }),
        child: (counter, labels) => {
          const child = counter.labels(labels);
          child.inc(0);
          return { inc: (by = 1) => child.inc(by) };
        },
      }),
    gauge: (metric) =>
      declare(metric, shapeOf('gauge', metric), {
        is: (known): known is Gauge => known instanceof Gauge,
        create: () => new Gauge({ ...promOptions(metric), registers }),
        child: (gauge, labels) => {
          const child = gauge.labels(labels);
          child.inc(0);
          return {
            set: (value) => child.set(value),
            inc: (by = 1) => child.inc(by),
            dec: (by = 1) => child.dec(by),
          };
        },
      }),
    histogram: (metric) =>
      declare(metric, shapeOf('histogram', { ...metric, upperBounds: metric.buckets }), {
        is: (known): known is Histogram => known instanceof Histogram,
        create: () => new Histogram({ ...promOptions(metric), buckets: [...metric.buckets], registers }),
        child: (histogram, labels) => {
          const child = histogram.labels(labels);
          return { observe: (value) => child.observe(value) };
        },
      }),
    onCollect: (collect) => hooks.add(collect),
  };

  if (options.defaultMetrics === true) collectDefaultMetrics({ register: registry });
  const stopLag = options.eventLoopLag === true ? createEventLoopLag(metrics, clock) : undefined;
  const close = (): void => {
    stopLag?.();
    hooks.clear();
  };
  return {
    ...metrics,
    registry,
    export: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
    close,
    [Symbol.dispose]: close,
  };
}

function promOptions(metric: MetricOptions): { name: string; help: string; labelNames: string[] } {
  return { name: metric.name, help: metric.help, labelNames: [...(metric.labelNames ?? [])] };
}

/** Kind, labels (their order does not matter) and buckets; the help text may differ. */
function shapeOf(
  kind: string,
  metric: { readonly labelNames?: readonly string[]; readonly upperBounds?: readonly number[] },
): string {
  const labels = [...(metric.labelNames ?? [])].sort().join(', ');
  const buckets = kind === 'histogram' ? ` and buckets ${(metric.upperBounds ?? []).join(', ')}` : '';
  return `${kind} with labels (${labels})${buckets}`;
}

function familyOf<M extends PromMetric, T>(options: MetricOptions, metric: M, kind: KindOf<M, T>): Family<T> {
  const labelNames = options.labelNames ?? [];
  const children = new Map<string, T>();
  const complete = (labels: Labels): Labels => {
    for (const label of Object.keys(labels))
      if (!labelNames.includes(label))
        throw new MetricShapeError(options.name, `label ${label} is not declared; it has (${labelNames.join(', ')})`);
    return Object.fromEntries(labelNames.map((label) => [label, labels[label] ?? '']));
  };
  const keyOf = (labels: Labels): string => JSON.stringify(Object.values(labels));
  return {
    with(labels) {
      const all = complete(labels);
      const key = keyOf(all);
      const known = children.get(key);
      if (known !== undefined) return known;
      const child = kind.child(metric, all);
      children.set(key, child);
      return child;
    },
    remove(labels) {
      const all = complete(labels);
      children.delete(keyOf(all));
      metric.remove(all);
    },
  };
}
