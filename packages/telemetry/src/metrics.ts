/** Label values of one sample. Every declared label name should have a value; a missing one counts as ''. */
export type Labels = Readonly<Record<string, string>>;

/** Declaration of a metric. */
export interface MetricOptions {
  /** Name by Prometheus rules, e.g. `workqueue_depth`. */
  readonly name: string;
  /** One sentence for people. */
  readonly help: string;
  /** Names of the labels; none by default. */
  readonly labelNames?: readonly string[];
}

/** Declaration of a histogram. */
export interface HistogramOptions extends MetricOptions {
  /** Upper bounds of the buckets, ascending, without +Inf. */
  readonly buckets: readonly number[];
}

/** A value that only grows. */
export interface Counter {
  /** Adds `by` (default 1, ≥ 0). */
  inc(by?: number): void;
}

/** A value that goes up and down. */
export interface Gauge {
  set(value: number): void;
  /** Adds `by` (default 1). */
  inc(by?: number): void;
  /** Subtracts `by` (default 1). */
  dec(by?: number): void;
}

/** A distribution. */
export interface Histogram {
  observe(value: number): void;
}

/** A metric with labels: `with(labels)` hands out the child to write to. Keep the child; asking again is a look-up. */
export interface Family<T> {
  with(labels: Labels): T;
  /** Forgets the child with these labels; its series is no longer exported. */
  remove(labels: Labels): void;
}

/**
 * Sink of measurements. Declaring the same name twice with the same shape returns the same family; with another shape
 * it throws. An implementation belongs to one registry, and nothing is global.
 */
export interface Metrics {
  counter(options: MetricOptions): Family<Counter>;
  gauge(options: MetricOptions): Family<Gauge>;
  histogram(options: HistogramOptions): Family<Histogram>;
  /**
   * Calls `collect` right before each export, so that a gauge can be computed only at collection.
   * Returns a function that removes it.
   */
  onCollect(collect: () => void): () => void;
}
