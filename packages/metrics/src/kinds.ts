import type * as telemetry from '@kctl/telemetry';
import type { HistogramOptions, Labels, MetricOptions } from '@kctl/telemetry';
import { shownValue } from '@kctl/options';
import { HistogramSeries } from './histogram-series.js';
import { CounterSeries, GaugeSeries } from './number-series.js';
import { Counter, Gauge, Histogram } from './prom-client-parts.js';
import { isSeries } from './series.js';
import type { MetricKind } from './series.js';

/** Members that prom-client's metrics and ours share, as far as they are used here. */
export interface RegisteredMetric {
  readonly labelNames?: readonly string[];
  readonly upperBounds?: readonly number[];
  remove(labels: Labels): void;
}

/** A metric in a registry, and how to write to it. */
export interface Writable<T> {
  readonly metric: RegisteredMetric;
  readonly child: (labels: Labels) => T;
}

type Own<T> = RegisteredMetric & { child(labels: Labels): T };

/** A kind of metric. */
export interface KindOf<T> {
  readonly kind: MetricKind;
  /** Makes a metric. @throws Error for a name that Prometheus forbids; TypeError for buckets that it cannot read */
  readonly create: () => Own<T>;
  /** Access to a registered metric of this kind, made by this adapter or by other code; undefined for another kind. */
  readonly open: (metric: unknown) => Writable<T> | undefined;
}

export function counterKind(options: MetricOptions): KindOf<telemetry.Counter> {
  return {
    kind: 'counter',
    create: () => {
      new Counter(unregistered(options));
      return new CounterSeries(options);
    },
    open: (metric) => {
      if (isOwn<telemetry.Counter>(metric, 'counter')) return writable(metric);
      if (!(metric instanceof Counter)) return undefined;
      const child = (labels: Labels): telemetry.Counter => {
        const counter = metric.labels(labels);
        counter.inc(0);
        return { inc: (by = 1) => counter.inc(by) };
      };
      return { metric, child };
    },
  };
}

export function gaugeKind(options: MetricOptions): KindOf<telemetry.Gauge> {
  return {
    kind: 'gauge',
    create: () => {
      new Gauge(unregistered(options));
      return new GaugeSeries(options);
    },
    open: (metric) => {
      if (isOwn<telemetry.Gauge>(metric, 'gauge')) return writable(metric);
      if (!(metric instanceof Gauge)) return undefined;
      const child = (labels: Labels): telemetry.Gauge => {
        const gauge = metric.labels(labels);
        gauge.inc(0);
        return {
          set: (value) => gauge.set(value),
          inc: (by = 1) => gauge.inc(by),
          dec: (by = 1) => gauge.dec(by),
        };
      };
      return { metric, child };
    },
  };
}

export function histogramKind(options: HistogramOptions): KindOf<telemetry.Histogram> {
  return {
    kind: 'histogram',
    create: () => {
      requireBounds(options);
      new Histogram({ ...unregistered(options), buckets: [...options.buckets] });
      return new HistogramSeries(options);
    },
    open: (metric) => {
      if (isOwn<telemetry.Histogram>(metric, 'histogram')) return writable(metric);
      if (!(metric instanceof Histogram)) return undefined;
      const child = (labels: Labels): telemetry.Histogram => {
        const histogram = metric.labels(labels);
        return { observe: (value) => histogram.observe(value) };
      };
      return { metric, child };
    },
  };
}

/** @throws TypeError for bounds that Prometheus cannot read: the lines of a bucket count all that is below it */
function requireBounds({ name, buckets }: HistogramOptions): void {
  const given: unknown = buckets;
  const isAscending =
    Array.isArray(given) &&
    given.every((bound: unknown, at) => Number.isFinite(bound) && (at === 0 || Number(bound) > Number(given[at - 1])));
  if (!isAscending)
    throw new TypeError(
      `metric ${name}: buckets ${shownValue(given)} are not valid: expected finite numbers in ascending order`,
    );
}

/** Access to a metric of ours. */
export function writable<T>(metric: Own<T>): Writable<T> {
  return { metric, child: (labels) => metric.child(labels) };
}

function isOwn<T>(metric: unknown, kind: MetricKind): metric is Own<T> {
  return isSeries(metric, kind);
}

/** For a metric of prom-client that only lends its check of names. */
function unregistered(options: MetricOptions): { name: string; help: string; labelNames: string[]; registers: [] } {
  return { name: options.name, help: options.help, labelNames: [...(options.labelNames ?? [])], registers: [] };
}
