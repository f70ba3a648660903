import type { Labels, MetricOptions, Metrics } from '@kctl/telemetry';
import { expect, it } from 'vitest';
import { startCache, startSyncedCache, Thing } from './fake-server.js';
import { SeriesOwners } from '../src/informers/own-series.js';

/** Metrics of which a test sees the series that are there. */
function seen(): { readonly metrics: Metrics; readonly series: Set<string>; readonly collect: () => void } {
  const series = new Set<string>();
  const hooks = new Set<() => void>();
  const declare = ({ name }: MetricOptions): { with(labels: Labels): never; remove(labels: Labels): void } => {
    const textOf = (labels: Labels): string => `${name} ${Object.values(labels).join(' ')}`;
    return {
      with: (labels) => {
        const write = (): void => void series.add(textOf(labels));
        write();
        return { inc: write, dec: write, set: write, observe: write } as never;
      },
      remove: (labels) => void series.delete(textOf(labels)),
    };
  };
  const metrics: Metrics = {
    counter: declare,
    gauge: declare,
    histogram: declare,
    onCollect: (hook) => (hooks.add(hook), () => void hooks.delete(hook)),
  };
  return { metrics, series, collect: () => hooks.forEach((hook) => hook()) };
}

it('leaves no series of a namespace that has left, and those of others and of one that is back', async () => {
  const { metrics, series, collect } = seen();
  const { cache, stop } = await startSyncedCache({
    byObject: [{ kind: Thing }],
    defaultNamespaces: { a: {}, b: {} },
    metrics,
    handlerMetrics: true,
  });
  cache.informerFor(Thing).addEventHandler({ onEvent: () => undefined }, { name: 'counter' });
  collect();
  const of = (namespace: string): string[] => [...series].filter((text) => text.includes(` in ${namespace}`));
  const before = of('b').length;
  expect(before).toBeGreaterThan(5);
  await cache.setNamespaces({ a: {} });
  await expect.poll(() => of('b')).toEqual([]);
  expect(of('a').length).toBeGreaterThan(5);
  // Back again, twice, without a wait between: what ends takes nothing of its successor with it.
  await cache.setNamespaces({ a: {}, b: {} });
  await Promise.all([cache.setNamespaces({ a: {} }), cache.setNamespaces({ a: {}, b: {} })]);
  collect();
  await expect.poll(() => of('b').length).toBeGreaterThan(5);
  await stop();
});

it('goes on where the sink cannot remove', async () => {
  const { metrics } = seen();
  const broken: Metrics = {
    ...metrics,
    counter: (options) => ({ ...metrics.counter(options), remove: undefined as never }),
  };
  const { cache, stop } = startCache({
    byObject: [{ kind: Thing }],
    defaultNamespaces: { a: {}, b: {} },
    metrics: broken,
  });
  await cache.setNamespaces({ a: {} });
  await stop();
});

it('ignores what is written after the end, and leaves the series of a successor', () => {
  const { metrics, series } = seen();
  const owners = new SeriesOwners();
  const options = { name: 'lists', help: 'Lists', labelNames: ['name'] };
  const first = owners.claim(metrics, 'pods');
  const child = first.metrics.counter(options).with({ name: 'pods' });
  const second = owners.claim(metrics, 'pods');
  second.metrics.counter(options).with({ name: 'pods' }).inc();
  first.metrics.counter(options).remove({ name: 'pods' });
  first.remove();
  expect([...series]).toEqual(['lists pods']);
  second.remove();
  child.inc();
  expect([...series]).toEqual([]);
});
