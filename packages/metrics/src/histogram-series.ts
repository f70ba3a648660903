import type { Histogram, HistogramOptions, Labels } from '@kctl/telemetry';
import { goNumber } from './go-number.js';
import { Series } from './series.js';
import type { Cell, Sample, SeriesExport } from './series.js';

interface HistogramCell extends Cell {
  /** Observations by bucket, not accumulated; the last one is of those above all bounds. */
  readonly counts: Float64Array;
  sum: number;
  count: number;
}

/** A histogram of plain numbers. */
export class HistogramSeries extends Series<HistogramCell> {
  override readonly type = 'histogram';
  readonly upperBounds: readonly number[];

  constructor(options: HistogramOptions) {
    super(options);
    this.upperBounds = [...options.buckets];
    if (this.labelNames.length === 0) this.cell({});
  }

  /** Unlike a number it is exported from its first observation on. */
  child(labels: Labels): Histogram {
    const { upperBounds } = this;
    let cell: HistogramCell | undefined;
    return {
      observe: (value) => {
        if (!Number.isFinite(value)) throw new TypeError(`metric ${this.name}: ${String(value)} is not a valid number`);
        if (cell?.isListed !== true) cell = this.cell(labels);
        let bucket = 0;
        while (bucket < upperBounds.length && !(value <= (upperBounds[bucket] ?? Infinity))) bucket++;
        cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1;
        cell.sum += value;
        cell.count++;
      },
    };
  }

  /** What prom-client's text export asks for: the labels that all lines of a child share stay apart. */
  async getForPromString(): Promise<SeriesExport> {
    const exported = await super.get();
    const values = exported.values.map((sample) => {
      const le = sample.labels['le'];
      return typeof le === 'number' ? { ...sample, labels: { le: goNumber(le) } } : sample;
    });
    return { ...exported, values };
  }

  override async get(): Promise<SeriesExport> {
    const exported = await super.get();
    const values = exported.values.map(({ sharedLabels, labels, ...rest }) => ({
      ...rest,
      labels: { ...labels, ...sharedLabels },
    }));
    return { ...exported, values };
  }

  protected override makeCell(labels: Labels): HistogramCell {
    return { labels, isListed: true, counts: new Float64Array(this.upperBounds.length + 1), sum: 0, count: 0 };
  }

  protected override addSamples(samples: Sample[], cell: HistogramCell): void {
    const { labels: sharedLabels, counts, sum, count } = cell;
    const bucket = `${this.name}_bucket`;
    let below = 0;
    for (const [at, le] of this.upperBounds.entries()) {
      below += counts[at] ?? 0;
      samples.push({ labels: { le }, sharedLabels, value: below, metricName: bucket, exemplar: null });
    }
    samples.push(
      { labels: { le: '+Inf' }, sharedLabels, value: count, metricName: bucket, exemplar: null },
      { labels: {}, sharedLabels, value: sum, metricName: `${this.name}_sum`, exemplar: undefined },
      { labels: {}, sharedLabels, value: count, metricName: `${this.name}_count`, exemplar: undefined },
    );
  }
}
