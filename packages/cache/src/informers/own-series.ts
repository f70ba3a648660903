import type { Family, HistogramOptions, Labels, MetricOptions, Metrics } from '@kctl/telemetry';

/** The metrics of one informer. */
export interface OwnSeries {
  readonly metrics: Metrics;
  /** Removes the series, unless a later informer of the same name writes to it. Later writes are ignored. */
  readonly remove: () => void;
}

/** The writer of each named series. An informer that ends must not remove the series of its successor. */
export class SeriesOwners {
  readonly #owners = new Map<string, OwnSeries>();

  /** @param name - of the informer, which all of its series have as a label */
  claim(metrics: Metrics, name: string): OwnSeries {
    const written = new Map<string, () => void>();
    let isRemoved = false;
    const isOwner = (): boolean => this.#owners.get(name) === own;
    const noting =
      <T extends object, O extends MetricOptions>(declare: (options: O) => Family<T>) =>
      (options: O): Family<T> => {
        const family = declare(options);
        return {
          with: (labels) => {
            written.set(`${options.name} ${JSON.stringify(labels)}`, () => family.remove(labels));
            return whileThere(family.with(labels), () => !isRemoved);
          },
          remove: (labels: Labels) => {
            if (isOwner()) family.remove(labels);
          },
        };
      };
    const own: OwnSeries = {
      metrics: {
        counter: noting((options: MetricOptions) => metrics.counter(options)),
        gauge: noting((options: MetricOptions) => metrics.gauge(options)),
        histogram: noting((options: HistogramOptions) => metrics.histogram(options)),
        onCollect: (collect) => metrics.onCollect(collect),
      },
      remove: () => {
        isRemoved = true;
        if (!isOwner()) return;
        this.#owners.delete(name);
        for (const removeOne of written.values()) {
          try {
            removeOne();
          } catch {
            // The sink belongs to the user; its failures are reported on write.
          }
        }
      },
    };
    this.#owners.set(name, own);
    return own;
  }
}

/** A child that is not written to after its series was removed, because writing would bring it back. */
function whileThere<T extends object>(child: T, isThere: () => boolean): T {
  return new Proxy(child, {
    get: (target, member) => {
      const method: unknown = Reflect.get(target, member, target);
      if (typeof method !== 'function') return method;
      return (...args: readonly unknown[]): unknown => (isThere() ? Reflect.apply(method, target, args) : undefined);
    },
  });
}
