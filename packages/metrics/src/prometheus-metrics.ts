import { noopLogger } from '@kctl/telemetry';
import { loggerOption } from '@kctl/telemetry/internal';
import type { Family, Labels, Logger, MetricOptions, Metrics } from '@kctl/telemetry';
import {
  booleanOption,
  clockOption,
  listOption,
  optionWithMethods,
  requireOptions,
  shownType,
  textOption,
} from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import type { Registry } from 'prom-client';
import { CollectHooks } from './collect-hooks.js';
import { collectDefaultMetrics } from './default-metrics.js';
import { createEventLoopLag } from './event-loop-lag.js';
import { MetricShapeError } from './errors.js';
import { counterKind, gaugeKind, histogramKind, writable } from './kinds.js';
import type { KindOf, Writable } from './kinds.js';
import { Registry as OwnRegistry } from './prom-client-parts.js';

/** Options of {@link createPrometheusMetrics}. */
export interface PrometheusMetricsOptions {
  /** Where everything is registered. prom-client's global one is never used. @default a new one */
  readonly registry?: Registry;
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
  /** Receives what a function of `onCollect` throws; the export goes on without its values. @default none */
  readonly logger?: Logger;
}

const optionNames: OptionNames<PrometheusMetricsOptions> = {
  registry: optionWithMethods(['registerMetric', 'metrics'], 'a Registry of prom-client'),
  defaultMetrics: booleanOption,
  eventLoopLag: booleanOption,
  clock: clockOption,
  logger: loggerOption,
};

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
  /** Stops timers and removes all collect functions. Values that were measured stay in the registry. Idempotent. */
  close(): void;
  [Symbol.dispose](): void;
}

interface Declared {
  readonly shape: string;
  readonly family: Family<unknown>;
}

/**
 * Puts the telemetry contract on a prom-client registry. Starts nothing unless `eventLoopLag` or `defaultMetrics` is
 * set. Several of these may share a registry: they share the families of equal name and shape.
 */
export function createPrometheusMetrics(options: PrometheusMetricsOptions = {}): PrometheusMetrics {
  requireOptions('createPrometheusMetrics', options, optionNames);
  const { registry = new OwnRegistry(), clock = systemClock, logger = noopLogger } = options;
  const hooks = new CollectHooks((error) => logger.error('a collect function of the metrics failed', { error }));
  const declared = new Map<string, Declared>();

  const declare = <T>(metric: MetricOptions, shape: string, kind: KindOf<T>): Family<T> => {
    const known = declared.get(metric.name);
    if (known !== undefined) {
      if (known.shape !== shape) throw new MetricShapeError(metric.name, `declared as ${known.shape}, now as ${shape}`);
      // Equal shapes name the same kind, hence the same T.
      return known.family as Family<T>;
    }
    const family = familyOf(metric, adopt(metric, shape, kind));
    declared.set(metric.name, { shape, family });
    return family;
  };

  const adopt = <T>(metric: MetricOptions, shape: string, kind: KindOf<T>): Writable<T> => {
    const existing: unknown = registry.getSingleMetric(metric.name);
    if (existing === undefined) {
      const created = hooks.attach(kind.create());
      register(registry, created);
      return writable(created);
    }
    const opened = kind.open(existing);
    const existingShape =
      opened === undefined ? 'another kind of metric' : shapeOf(kind.kind, { ...opened.metric, name: metric.name });
    if (opened === undefined || existingShape !== shape)
      throw new MetricShapeError(metric.name, `registered as ${existingShape} by other code, declared as ${shape}`);
    hooks.attach(opened.metric);
    return opened;
  };

  const metrics: Metrics = {
    counter: (metric) => declare(metric, shapeOf('counter', metric), counterKind(metric)),
    gauge: (metric) => declare(metric, shapeOf('gauge', metric), gaugeKind(metric)),
    histogram: (metric) =>
      declare(metric, shapeOf('histogram', { ...metric, upperBounds: metric.buckets }), histogramKind(metric)),
    onCollect: (collect) => hooks.add(collect),
  };

  const lag = options.eventLoopLag === true ? createEventLoopLag(metrics, clock) : undefined;
  if (options.defaultMetrics === true) collectDefaultMetrics(registry, lag);
  const close = (): void => {
    lag?.stop();
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

/** prom-client takes any object with the members that it reads; its types name its own classes only. */
function register(registry: { registerMetric(metric: object): void }, metric: object): void {
  registry.registerMetric(metric);
}

const labelNamesCheck = listOption('a list of names', textOption);
const bucketsCheck = listOption('a list of upper bounds', (name, value) =>
  typeof value === 'number' ? undefined : `${name} is ${shownType(value)}: expected a number`,
);

/** Kind, labels (their order does not matter) and buckets; the help text may differ. */
function shapeOf(
  kind: string,
  metric: { readonly name: string; readonly labelNames?: readonly string[]; readonly upperBounds?: readonly number[] },
): string {
  const problem =
    textOption('name', metric.name) ??
    (metric.labelNames === undefined ? undefined : labelNamesCheck('labelNames', metric.labelNames)) ??
    (metric.upperBounds === undefined ? undefined : bucketsCheck('buckets', metric.upperBounds));
  if (problem !== undefined) throw new MetricShapeError(metric.name, problem);
  const labels = [...(metric.labelNames ?? [])].sort().join(', ');
  const buckets = kind === 'histogram' ? ` and buckets ${(metric.upperBounds ?? []).join(', ')}` : '';
  return `${kind} with labels (${labels})${buckets}`;
}

function familyOf<T>(options: MetricOptions, { metric, child: makeChild }: Writable<T>): Family<T> {
  const labelNames = options.labelNames ?? [];
  const children = new Map<string, T>();
  const complete = (labels: Labels): Labels => {
    for (const label of Object.keys(labels))
      if (!labelNames.includes(label))
        throw new MetricShapeError(options.name, `label ${label} is not declared; it has (${labelNames.join(', ')})`);
    // A number and its text are one series: both would be two lines of an export for one.
    const given: Readonly<Record<string, string | number>> = labels;
    return Object.fromEntries(labelNames.map((label) => [label, String(given[label] ?? '')]));
  };
  const keyOf = (labels: Labels): string => JSON.stringify(Object.values(labels));
  return {
    with(labels) {
      const all = complete(labels);
      const key = keyOf(all);
      const known = children.get(key);
      if (known !== undefined) return known;
      const child = makeChild(all);
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
