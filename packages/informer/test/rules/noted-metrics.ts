import type { Counter, Family, Gauge, Histogram, Labels, MetricOptions, Metrics } from '@kctl/telemetry';

/** Metrics that a test can read, as `name{"label":"value"}`. */
export class NotedMetrics implements Metrics {
  readonly values: Map<string, number> = new Map<string, number>();
  readonly observed: Map<string, number[]> = new Map<string, number[]>();
  readonly #collectors = new Set<() => void>();

  counter(options: MetricOptions): Family<Counter> {
    return this.#family(options);
  }

  gauge(options: MetricOptions): Family<Gauge> {
    return this.#family(options);
  }

  histogram({ name }: MetricOptions): Family<Histogram> {
    return {
      with: (labels) => ({
        observe: (value) => {
          const key = keyOf(name, labels);
          this.observed.set(key, [...(this.observed.get(key) ?? []), value]);
        },
      }),
      remove: (labels) => void this.observed.delete(keyOf(name, labels)),
    };
  }

  onCollect(collect: () => void): () => void {
    this.#collectors.add(collect);
    return () => void this.#collectors.delete(collect);
  }

  /** As an export sees it. */
  get(name: string, labels: Labels): number | undefined {
    for (const collect of this.#collectors) collect();
    return this.values.get(keyOf(name, labels));
  }

  times(name: string, labels: Labels): readonly number[] {
    return this.observed.get(keyOf(name, labels)) ?? [];
  }

  #family({ name }: MetricOptions): Family<Gauge> {
    return {
      with: (labels) => {
        const key = keyOf(name, labels);
        const add = (by: number): void => void this.values.set(key, (this.values.get(key) ?? 0) + by);
        return {
          inc: (by = 1) => add(by),
          dec: (by = 1) => add(-by),
          set: (value) => void this.values.set(key, value),
        };
      },
      remove: (labels) => void this.values.delete(keyOf(name, labels)),
    };
  }
}

function keyOf(name: string, labels: Labels): string {
  return `${name}${JSON.stringify(labels)}`;
}
