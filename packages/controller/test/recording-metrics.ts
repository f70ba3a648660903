import type { Counter, Family, Gauge, Histogram, Labels, Metrics } from '@kctl/telemetry';

/** Metrics that a test can read back, by name and labels in the order of their declaration. */
export class RecordingMetrics implements Metrics {
  readonly values: Map<string, number> = new Map<string, number>();

  counter({ name }: { name: string }): Family<Counter> {
    return this.#family(name, (key) => ({ inc: (by = 1) => this.#add(key, by) }));
  }

  gauge({ name }: { name: string }): Family<Gauge> {
    return this.#family(name, (key) => ({
      set: (value) => void this.values.set(key, value),
      inc: (by = 1) => this.#add(key, by),
      dec: (by = 1) => this.#add(key, -by),
    }));
  }

  histogram({ name }: { name: string }): Family<Histogram> {
    return this.#family(name, (key) => ({ observe: () => this.#add(`${key} count`, 1) }));
  }

  onCollect(): () => void {
    return () => undefined;
  }

  /** e.g. `read('controller_runtime_reconcile_total', { controller: 'x', result: 'success' })` */
  read(name: string, labels: Labels): number | undefined {
    return this.values.get(keyOf(name, labels));
  }

  #family<T>(name: string, make: (key: string) => T): Family<T> {
    return { with: (labels) => make(keyOf(name, labels)), remove: () => undefined };
  }

  #add(key: string, by: number): void {
    this.values.set(key, (this.values.get(key) ?? 0) + by);
  }
}

function keyOf(name: string, labels: Labels): string {
  return `${name}${JSON.stringify(Object.fromEntries(Object.entries(labels).sort()))}`;
}
