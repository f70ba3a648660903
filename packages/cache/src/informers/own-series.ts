import type { Family, HistogramOptions, Labels, MetricOptions, Metrics } from '@kctl/telemetry';

/** The metrics of one informer. */
export interface OwnSeries {
  readonly metrics: Metrics;
  /** Removes what was written, unless a later informer of the same name writes there. What comes after it is ignored. */
  readonly remove: () => void;
}

/** Who writes to the series of which name: an informer that ends must not take those of its successor with it. */
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
            // The sink is the user's: its failures are reported where it is written to.
          }
        }
      },
    };
    this.#owners.set(name, own);
    return own;
  }
}

/** A child that is not written to once its series was removed: writing would bring it back. */
function whileThere<T extends object>(child: T, isThere: () => boolean): T {
  return new Proxy(child, {
    get: (target, member) => {
      const method: unknown = Reflect.get(target, member, target);
      if (typeof method !== 'function') return method;
      return (...args: readonly unknown[]): unknown => (isThere() ? Reflect.apply(method, target, args) : undefined);
    },
  });
}
