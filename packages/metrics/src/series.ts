import type { Labels, MetricOptions } from '@kctl/telemetry';

/** Values of one set of labels. */
export interface Cell {
  readonly labels: Labels;
  /** False once it was removed or reset: it is exported no more, and a write has to ask for a new one. */
  isListed: boolean;
}

/** The kinds of metrics that there are, as prom-client names them. */
export type MetricKind = 'counter' | 'gauge' | 'histogram';

/** One line of an export, as prom-client takes it. */
export interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
  readonly sharedLabels?: Labels;
  readonly exemplar?: null | undefined;
}

/** Members of a metric that a registry of prom-client reads. */
export interface SeriesExport {
  readonly name: string;
  readonly help: string;
  readonly type: MetricKind;
  readonly values: readonly Sample[];
  readonly aggregator: 'sum';
}

/** A text and no class, so that several copies of this package on one registry know each other's metrics. */
const brand = '@kctl/metrics series 1';

/** Whether a metric of a registry is one of ours, of the given kind. */
export function isSeries(metric: unknown, kind: MetricKind): boolean {
  if (typeof metric !== 'object' || metric === null || !('brand' in metric) || !('type' in metric)) return false;
  return metric.brand === brand && metric.type === kind;
}

/**
 * A metric for a registry of prom-client that keeps plain numbers. prom-client's own ones check and hash the labels at
 * every write, which is a quarter of what a reconcile without work costs. Here labels are looked at when a child is
 * made, and put into prom-client's form at collection.
 */
export abstract class Series<C extends Cell> {
  readonly brand: string = brand;
  /** Not read-only: a registry for OpenMetrics takes `_total` off. */
  name: string;
  readonly help: string;
  readonly aggregator = 'sum';
  readonly labelNames: readonly string[];
  /** Called before the values are read, as prom-client does it. */
  collect: (() => unknown) | undefined;
  abstract readonly type: MetricKind;
  readonly #cells = new Map<string, C>();
  readonly #sortedNames: readonly string[];

  constructor({ name, help, labelNames = [] }: MetricOptions) {
    this.name = name;
    this.help = help;
    this.labelNames = [...labelNames];
    this.#sortedNames = this.labelNames.toSorted();
  }

  /** The cell of these labels; a new one is exported from now on. */
  cell(labels: Labels): C {
    const key = this.#keyOf(labels);
    let cell = this.#cells.get(key);
    if (cell === undefined) {
      cell = this.makeCell(labels);
      this.#cells.set(key, cell);
    }
    return cell;
  }

  remove(labels: Labels): void {
    const key = this.#keyOf(labels);
    const cell = this.#cells.get(key);
    if (cell !== undefined) cell.isListed = false;
    this.#cells.delete(key);
  }

  /** Forgets all cells. */
  reset(): void {
    for (const cell of this.#cells.values()) cell.isListed = false;
    this.#cells.clear();
  }

  /** Values in the form that prom-client exports. */
  async get(): Promise<SeriesExport> {
    const collected = this.collect?.();
    if (collected instanceof Promise) await collected;
    const { name, help, type, aggregator } = this;
    const values: Sample[] = [];
    for (const cell of this.#cells.values()) this.addSamples(values, cell);
    return { name, help, type, values, aggregator };
  }

  protected abstract makeCell(labels: Labels): C;
  protected abstract addSamples(samples: Sample[], cell: C): void;

  #keyOf(labels: Labels): string {
    return JSON.stringify(this.#sortedNames.map((name) => labels[name]));
  }
}

/** @throws TypeError for what is not a number, e.g. from a caller without types */
export function checkNumber(metric: string, value: unknown): void {
  if (typeof value !== 'number') throw new TypeError(`metric ${metric}: ${String(value)} is not a valid number`);
}
