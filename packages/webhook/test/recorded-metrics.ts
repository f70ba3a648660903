import type { Counter, Family, Gauge, Histogram, Labels, MetricOptions, Metrics } from '@kctl/telemetry';

/** Metrics whose values a test can read, as `name{label="value"}`. */
export class RecordedMetrics implements Metrics {
  readonly values: Map<string, number> = new Map<string, number>();

  counter(options: MetricOptions): Family<Counter> {
    return this.#family(options);
  }

  gauge(options: MetricOptions): Family<Gauge> {
    return this.#family(options);
  }

  histogram(options: MetricOptions): Family<Histogram> {
    return {
      with: (labels) => ({ observe: () => this.#add(`${options.name}_count`, labels, 1) }),
      remove: () => undefined,
    };
  }

  onCollect(): () => void {
    return () => undefined;
  }

  get(name: string, labels: Labels = {}): number | undefined {
    return this.values.get(keyOf(name, labels));
  }

  #family({ name }: MetricOptions): Family<Gauge> {
    return {
      remove: (labels) => void this.values.delete(keyOf(name, labels)),
      with: (labels) => {
        this.#add(name, labels, 0);
        return {
          inc: (by = 1) => this.#add(name, labels, by),
          dec: (by = 1) => this.#add(name, labels, -by),
          set: (value) => void this.values.set(keyOf(name, labels), value),
        };
      },
    };
  }

  #add(name: string, labels: Labels, by: number): void {
    const key = keyOf(name, labels);
    this.values.set(key, (this.values.get(key) ?? 0) + by);
  }
}

function keyOf(name: string, labels: Labels): string {
  const texts = Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, value]) => `${label}="${value}"`);
  return texts.length === 0 ? name : `${name}{${texts.join(',')}}`;
}
