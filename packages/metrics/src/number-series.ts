import type { Counter, Gauge, Labels, MetricOptions } from '@kctl/telemetry';
import { checkNumber, Series } from './series.js';
import type { Cell, Sample } from './series.js';

interface NumberCell extends Cell {
  value: number;
}

abstract class NumberSeries extends Series<NumberCell> {
  constructor(options: MetricOptions) {
    super(options);
    this.#preset();
  }

  override reset(): void {
    super.reset();
    this.#preset();
  }

  protected override makeCell(labels: Labels): NumberCell {
    return { labels, isListed: true, value: 0 };
  }

  protected override addSamples(samples: Sample[], { labels, value }: NumberCell): void {
    samples.push({ value, labels });
  }

  /** Without labels there is one value, and it is there from the start. */
  #preset(): void {
    if (this.labelNames.length === 0) this.cell({});
  }
}

/** A counter of plain numbers. */
export class CounterSeries extends NumberSeries {
  override readonly type = 'counter';

  child(labels: Labels): Counter {
    let cell = this.cell(labels);
    return {
      inc: (by = 1) => {
        checkNumber(this.name, by);
        if (by < 0) throw new RangeError(`metric ${this.name}: a counter cannot decrease, got ${by}`);
        if (!Number.isFinite(by)) throw new TypeError(`metric ${this.name}: ${by} is not a valid number`);
        if (!cell.isListed) cell = this.cell(labels);
        cell.value += by;
      },
    };
  }
}

/** A gauge of plain numbers. */
export class GaugeSeries extends NumberSeries {
  override readonly type = 'gauge';

  child(labels: Labels): Gauge {
    let cell = this.cell(labels);
    const listed = (value: number): NumberCell => {
      checkNumber(this.name, value);
      if (!cell.isListed) cell = this.cell(labels);
      return cell;
    };
    return {
      set: (value) => void (listed(value).value = value),
      inc: (by = 1) => void (listed(by).value += by),
      dec: (by = 1) => void (listed(by).value -= by),
    };
  }
}
