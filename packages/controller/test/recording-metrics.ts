import type { Counter, Family, Gauge, Histogram, Labels, MetricOptions, Metrics } from '@kctl/telemetry';

/** Metrics that a test can read back, by name and labels in the order of their declaration. */
export class RecordingMetrics implements Metrics {
  readonly values: Map<string, number> = new Map<string, number>();

  counter(options: MetricOptions): Family<Counter> {
    return this.#family(options, (key) => ({ inc: (by = 1) => this.#add(key, by) }));
  }

  gauge(options: MetricOptions): Family<Gauge> {
    return this.#family(options, (key) => ({
      set: (value) => void this.values.set(key, value),
      inc: (by = 1) => this.#add(key, by),
      dec: (by = 1) => this.#add(key, -by),
    }));
  }

  histogram(options: MetricOptions): Family<Histogram> {
    return this.#family(options, (key) => ({ observe: () => this.#add(`${key} count`, 1) }));
  }

  onCollect(): () => void {
    return () => undefined;
  }

  /** e.g. `read('controller_runtime_reconcile_total', { controller: 'x', result: 'success' })` */
  read(name: string, labels: Labels): number | undefined {
    return this.values.get(keyOf(name, labels));
  }

  #family<T>({ name, labelNames = [] }: MetricOptions, make: (key: string) => T): Family<T> {
    const declared = labelNames.toSorted().join();
    const made = (labels: Labels): T => {
      const given = Object.keys(labels).sort().join();
      if (given !== declared) throw new Error(`${name} has the labels ${declared}, not ${given}`);
      return make(keyOf(name, labels));
    };
    return { with: made, remove: () => undefined };
  }

  #add(key: string, by: number): void {
    this.values.set(key, (this.values.get(key) ?? 0) + by);
  }
}

function keyOf(name: string, labels: Labels): string {
  return `${name}${JSON.stringify(Object.fromEntries(Object.entries(labels).sort()))}`;
}
