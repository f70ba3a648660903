import type { Metrics } from '@kctl/telemetry';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createPrometheusMetrics } from './index.js';

const labelNames = ['x', 'y'];
const buckets = [0.1, 0.5, 1, 2.5];

/** The same declarations and writes, once on plain prom-client and once through the adapter. */
function promMetrics(registry: Registry): Pick<Metrics, 'counter' | 'gauge' | 'histogram'> {
  const registers = [registry];
  const family = <T>(metric: { remove(labels: object): void }, child: (labels: object) => T) => ({
    with: child,
    remove: (labels: object) => metric.remove(labels),
  });
  return {
    counter: ({ name, help, labelNames: names = [] }) => {
      const metric = new Counter({ name, help, labelNames: [...names], registers });
      return family(metric, (labels) => {
        const child = metric.labels(labels);
        child.inc(0);
        return child;
      });
    },
    gauge: ({ name, help, labelNames: names = [] }) => {
      const metric = new Gauge({ name, help, labelNames: [...names], registers });
      return family(metric, (labels) => {
        const child = metric.labels(labels);
        child.inc(0);
        return child;
      });
    },
    histogram: ({ name, help, buckets: bounds, labelNames: names = [] }) => {
      const metric = new Histogram({ name, help, labelNames: [...names], buckets: [...bounds], registers });
      return family(metric, (labels) => metric.labels(labels));
    },
  };
}

function write(metrics: Pick<Metrics, 'counter' | 'gauge' | 'histogram'>, reset: () => void, step: number): void {
  const counter = metrics.counter({ name: 'c_total', help: 'c \\ "c"\nc', labelNames });
  const gauge = metrics.gauge({ name: 'g', help: 'g', labelNames });
  const histogram = metrics.histogram({ name: 'h_seconds', help: 'h', labelNames, buckets });
  const bare = {
    counter: metrics.counter({ name: 'bare_total', help: 'bare' }),
    gauge: metrics.gauge({ name: 'bare', help: 'bare' }),
    histogram: metrics.histogram({ name: 'bare_seconds', help: 'bare', buckets }),
  };
  if (step === 0) return;
  const a = { x: 'a', y: '1' };
  const b = { x: 'b"\\\n', y: '' };
  const [countA, countB, gaugeA, gaugeB] = [counter.with(a), counter.with(b), gauge.with(a), gauge.with(b)];
  const [tookA, tookB] = [histogram.with(a), histogram.with(b)];
  for (const by of [0.1, 0.2, 0.7, 3, 1e-9]) countB.inc(by);
  gaugeA.set(0.3);
  gaugeA.inc(0.1);
  gaugeB.dec(1e21);
  gaugeB.dec();
  for (const value of [0, -1, 0.1, 0.100001, 0.7, 2.5, 2.6, 1e9, 0.3]) tookB.observe(value);
  if (step === 1) return;
  bare.counter.with({}).inc(2);
  bare.gauge.with({}).set(Number.NaN);
  bare.histogram.with({}).observe(0.2);
  tookA.observe(7);
  if (step === 2) return;
  counter.remove(a);
  gauge.remove(a);
  histogram.remove(b);
  if (step === 3) return;
  countA.inc(); // a child that somebody kept counts from 0 again
  gaugeA.dec(2);
  tookB.observe(0.2);
  gauge.with(a).inc();
  if (step === 4) return;
  reset();
  if (step === 5) return;
  countB.inc();
  gaugeB.inc(3);
  tookA.observe(1);
  bare.histogram.with({}).observe(3);
}

describe('series', () => {
  it.each([0, 1, 2, 3, 4, 5, 6])('exports what prom-client would export (step %i)', async (step) => {
    for (const contentType of [Registry.PROMETHEUS_CONTENT_TYPE, Registry.OPENMETRICS_CONTENT_TYPE] as const)
      for (const defaultLabels of [{}, { pod: 'p', x: 'default' }]) {
        const make = (): Registry => {
          const registry = new Registry();
          // prom-client types a registry by the content type that it was made with.
          (registry as Registry<never>).setContentType(contentType as never);
          registry.setDefaultLabels(defaultLabels);
          return registry;
        };
        const [expected, actual] = [make(), make()];
        write(promMetrics(expected), () => expected.resetMetrics(), step);
        const metrics = createPrometheusMetrics({ registry: actual });
        write(metrics, () => actual.resetMetrics(), step);
        expect((await metrics.export()).body).toBe(await expected.metrics());
        expect((await metrics.export()).body).toBe(await expected.metrics());
        expect(await actual.getMetricsAsJSON()).toEqual(await expected.getMetricsAsJSON());
      }
  });

  it('lets two adapters on a registry write to the same child', async () => {
    const registry = new Registry();
    const children = [createPrometheusMetrics({ registry }), createPrometheusMetrics({ registry })].map((metrics) => ({
      gauge: metrics.gauge({ name: 'g', help: 'g', labelNames }).with({ x: '1', y: '2' }),
      histogram: metrics.histogram({ name: 'h', help: 'h', labelNames, buckets: [1] }).with({ y: '2', x: '1' }),
    }));
    for (const { gauge, histogram } of children) {
      gauge.inc(2);
      histogram.observe(0.5);
    }
    children[0]?.gauge.set(7);
    children[1]?.gauge.dec();
    const body = await registry.metrics();
    expect(body).toContain('g{x="1",y="2"} 6');
    expect(body).toContain('h_count{x="1",y="2"} 2');
  });

  it('writes to metrics that somebody else made', async () => {
    const registry = new Registry();
    const registers = [registry];
    const counter = new Counter({ name: 'c', help: 'c', registers });
    new Gauge({ name: 'g', help: 'g', registers });
    new Histogram({ name: 'h', help: 'h', buckets, registers });
    const metrics = createPrometheusMetrics({ registry });
    counter.inc(2);
    metrics.counter({ name: 'c', help: 'c' }).with({}).inc();
    const gauge = metrics.gauge({ name: 'g', help: 'g' }).with({});
    gauge.set(5);
    gauge.inc();
    gauge.dec(3);
    metrics.histogram({ name: 'h', help: 'h', buckets }).with({}).observe(1);
    const body = await registry.metrics();
    for (const line of ['c 3', 'g 3', 'h_count 1', 'h_bucket{le="1"} 1']) expect(body).toContain(`\n${line}\n`);
  });

  it('refuses what is no measurement, and names that Prometheus forbids', () => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    const counter = metrics.counter({ name: 'c', help: 'c' }).with({});
    expect(() => counter.inc(-1)).toThrow('metric c: a counter cannot decrease');
    for (const value of [Infinity, Number.NaN]) expect(() => counter.inc(value)).toThrow(TypeError);
    expect(() => metrics.gauge({ name: 'g', help: 'g' }).with({}).set(JSON.parse('"1"'))).toThrow(TypeError);
    const histogram = metrics.histogram({ name: 'h', help: 'h', buckets }).with({});
    for (const value of [Number.NaN, Infinity, JSON.parse('"1"')]) expect(() => histogram.observe(value)).toThrow('h');
    expect(() => metrics.counter({ name: 'not-allowed', help: 'c' })).toThrow('Invalid metric name');
    expect(() => metrics.gauge({ name: 'n', help: 'n', labelNames: ['a-b'] })).toThrow('Invalid label name');
    expect(() => metrics.histogram({ name: 'n', help: 'n', labelNames: ['le'], buckets })).toThrow('le');
    expect(() => metrics.gauge({ name: 'n', help: '' })).toThrow('help');
  });
});
