import perfHooks from 'node:perf_hooks';
import { noopLogger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { collectDefaultMetrics, Counter, Registry, register as globalRegistry } from 'prom-client';
import { describe, expect, it, vi } from 'vitest';
import { createPrometheusMetrics, isMetricShapeError } from './index.js';

const lines = (body: string): string[] => body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('PrometheusMetrics', () => {
  it('writes counters, gauges and histograms into the injected registry and nowhere else', async () => {
    const registry = new Registry();
    const metrics = createPrometheusMetrics({ registry });
    metrics
      .counter({ name: 'adds_total', help: 'adds', labelNames: ['name'] })
      .with({ name: 'q' })
      .inc(2);
    const depth = metrics.gauge({ name: 'depth', help: 'depth' }).with({});
    depth.set(5);
    depth.inc();
    depth.dec(2);
    metrics
      .histogram({ name: 'took_seconds', help: 'took', buckets: [0.1, 1] })
      .with({})
      .observe(0.5);
    const { body, contentType } = await metrics.export();
    expect(lines(body)).toEqual([
      'adds_total{name="q"} 2',
      'depth 4',
      'took_seconds_bucket{le="0.1"} 0',
      'took_seconds_bucket{le="1"} 1',
      'took_seconds_bucket{le="+Inf"} 1',
      'took_seconds_sum 0.5',
      'took_seconds_count 1',
    ]);
    expect(contentType).toBe(Registry.PROMETHEUS_CONTENT_TYPE);
    expect(globalRegistry.getMetricsAsArray()).toEqual([]);
  });

  it('exports a child as 0 before its first use, as Go does', async () => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    metrics.counter({ name: 'errors_total', help: 'errors', labelNames: ['controller'] }).with({ controller: 'c' });
    metrics.gauge({ name: 'workers', help: 'workers', labelNames: ['controller'] }).with({ controller: 'c' });
    expect(lines((await metrics.export()).body)).toEqual([
      'errors_total{controller="c"} 0',
      'workers{controller="c"} 0',
    ]);
  });

  it('returns the same family for the same name and shape', async () => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    const first = metrics.counter({ name: 'a_total', help: 'a', labelNames: ['x', 'y'] });
    const second = metrics.counter({ name: 'a_total', help: 'another text', labelNames: ['y', 'x'] });
    expect(second).toBe(first);
    expect(first.with({ x: '1', y: '2' })).toBe(second.with({ y: '2', x: '1' }));
    const buckets = [1, 2];
    expect(metrics.histogram({ name: 'h', help: 'h', buckets })).toBe(
      metrics.histogram({ name: 'h', help: 'h', buckets }),
    );
  });

  it.each([
    ['kind', () => ({ kind: 'gauge' as const, labelNames: ['x'] })],
    ['labels', () => ({ kind: 'counter' as const, labelNames: ['z'] })],
  ])('refuses another %s under the same name', (_what, other) => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    metrics.counter({ name: 'a_total', help: 'a', labelNames: ['x'] });
    const { kind, labelNames } = other();
    let thrown: unknown;
    try {
      metrics[kind]({ name: 'a_total', help: 'a', labelNames });
    } catch (error) {
      thrown = error;
    }
    expect(isMetricShapeError(thrown)).toBe(true);
    expect(String(thrown)).toContain('a_total');
  });

  it('refuses other buckets under the same name', () => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    metrics.histogram({ name: 'h', help: 'h', buckets: [1] });
    expect(() => metrics.histogram({ name: 'h', help: 'h', buckets: [1, 2] })).toThrow('buckets');
  });

  it.each([[[1, 0.5]], [[1, 1]], [[0.5, Infinity]], [[NaN]], [undefined]])(
    'refuses buckets that no reader of histograms takes: %s',
    (buckets) => {
      const metrics = createPrometheusMetrics({ registry: new Registry() });
      expect(() => metrics.histogram({ name: 'h', help: 'h', buckets: buckets as number[] })).toThrow(
        /^metric h: buckets .* not valid: expected finite numbers in ascending order$/,
      );
    },
  );

  it('takes a number for its text in a label', async () => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    const family = metrics.counter({ name: 'a_total', help: 'a', labelNames: ['code'] });
    family.with({ code: '200' }).inc();
    family.with({ code: 200 as never }).inc();
    expect(lines((await metrics.export()).body)).toEqual(['a_total{code="200"} 2']);
    family.remove({ code: 200 as never });
    expect(lines((await metrics.export()).body)).toEqual([]);
  });

  it('counts a missing label as empty and refuses an undeclared one', async () => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    const family = metrics.counter({ name: 'a_total', help: 'a', labelNames: ['x', 'y'] });
    family.with({ y: '2' }).inc();
    expect(lines((await metrics.export()).body)).toEqual(['a_total{x="",y="2"} 1']);
    expect(() => family.with({ z: '1' })).toThrow('label z is not declared');
  });

  it('stops exporting a removed child, and starts it anew when it is asked for again', async () => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    const family = metrics.gauge({ name: 'g', help: 'g', labelNames: ['x'] });
    family.with({ x: '1' }).set(3);
    family.with({ x: '2' }).set(4);
    family.remove({ x: '1' });
    expect(lines((await metrics.export()).body)).toEqual(['g{x="2"} 4']);
    family.with({ x: '1' }).inc();
    expect(lines((await metrics.export()).body)).toEqual(['g{x="2"} 4', 'g{x="1"} 1']);
  });

  it('runs each collect function once before each export, until it is removed', async () => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    const early = metrics.gauge({ name: 'early', help: 'registered first' }).with({});
    const late = metrics.gauge({ name: 'late', help: 'registered second' }).with({});
    let runs = 0;
    const remove = metrics.onCollect(() => {
      runs++;
      early.set(runs * 10);
      late.set(runs * 100);
    });
    expect(lines((await metrics.export()).body)).toEqual(['early 10', 'late 100']);
    expect(lines((await metrics.export()).body)).toEqual(['early 20', 'late 200']);
    remove();
    expect(lines((await metrics.export()).body)).toEqual(['early 20', 'late 200']);
    expect(runs).toBe(2);
  });

  it('exports everything else if a collect function throws or rejects, and logs the failure', async () => {
    const errors: unknown[] = [];
    const logger = { ...noopLogger, error: (_message: string, fields: object = {}) => void errors.push(fields) };
    const metrics = createPrometheusMetrics({ registry: new Registry(), logger });
    const gauge = metrics.gauge({ name: 'computed', help: 'after those that fail' }).with({});
    metrics.onCollect(() => {
      throw new Error('thrown');
    });
    metrics.onCollect(() => Promise.reject(new Error('rejected')) as never);
    metrics.onCollect(() => gauge.set(1));
    expect(lines((await metrics.export()).body)).toEqual(['computed 1']);
    expect(errors).toEqual([{ error: new Error('thrown') }, { error: new Error('rejected') }]);
  });

  it.each([
    ['labelNames', { labelNames: 'by' }, 'labelNames is a value of type string: expected a list of names'],
    ['an element of them', { labelNames: [null] }, 'labelNames[0] is null'],
    ['buckets', { buckets: [null] }, 'buckets[0] is null: expected a number'],
  ])('refuses %s that cannot be', (_what, wrong, message) => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    expect(() => metrics.histogram({ name: 'h', help: 'h', buckets: [1], ...wrong } as never)).toThrow(message);
  });

  it('shares families with another adapter on the same registry, and runs the hooks of both', async () => {
    const registry = new Registry();
    const one = createPrometheusMetrics({ registry });
    const two = createPrometheusMetrics({ registry });
    const options = { name: 'shared', help: 'shared', labelNames: ['by'] };
    const ofOne = one.gauge(options).with({ by: 'one' });
    const ofTwo = two.gauge(options).with({ by: 'two' });
    one.onCollect(() => ofOne.set(1));
    two.onCollect(() => ofTwo.set(2));
    expect(lines((await one.export()).body)).toEqual(['shared{by="one"} 1', 'shared{by="two"} 2']);
    expect(() => two.counter(options)).toThrow('declared as gauge');
  });

  it('refuses a name that somebody else registered with another shape', () => {
    const registry = new Registry();
    new Counter({ name: 'taken', help: 'taken', registers: [registry] });
    const metrics = createPrometheusMetrics({ registry });
    expect(() => metrics.gauge({ name: 'taken', help: 'x' })).toThrow('other code');
    expect(() => metrics.counter({ name: 'taken', help: 'x', labelNames: ['y'] })).toThrow('other code');
    expect(() => metrics.counter({ name: 'taken', help: 'x' })).not.toThrow();
  });

  it('registers the metrics of Node only when asked', () => {
    const plain = new Registry();
    createPrometheusMetrics({ registry: plain });
    expect(plain.getMetricsAsArray()).toEqual([]);
    const full = new Registry();
    createPrometheusMetrics({ registry: full, defaultMetrics: true });
    const reference = new Registry();
    collectDefaultMetrics({ register: reference });
    expect(full.getMetricsAsArray().map(({ name }) => name)).toEqual(
      reference.getMetricsAsArray().map(({ name }) => name),
    );
  });

  it('measures how late the event loop is, and stops when closed', async () => {
    const clock = new FakeClock();
    const lateClock = {
      ...{ now: () => clock.now(), setTimer: clock.setTimer.bind(clock) },
      monotonicNow: () => clock.monotonicNow() * 1.5,
    };
    const metrics = createPrometheusMetrics({ registry: new Registry(), eventLoopLag: true, clock: lateClock });
    clock.advanceSync(50);
    const { body } = await metrics.export();
    expect(lines(body)).toContain('kctl_event_loop_lag_max_seconds 0.025');
    expect(lines(body)).toContain('kctl_event_loop_lag_seconds_bucket{le="0.02"} 0');
    expect(lines(body)).toContain('kctl_event_loop_lag_seconds_bucket{le="0.05"} 1');
    expect(lines((await metrics.export()).body)).toContain('kctl_event_loop_lag_max_seconds 0');
    metrics.close();
    metrics[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the default metrics', () => {
  const described = (body: string): string[] => body.split('\n').filter((line) => line.startsWith('#'));

  it('are those of prom-client, in its order, with its texts and types', async () => {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    using metrics = createPrometheusMetrics({ defaultMetrics: true });
    expect(described((await metrics.export()).body)).toEqual(described(await registry.metrics()));
    using measured = createPrometheusMetrics({ defaultMetrics: true, eventLoopLag: true });
    expect(described((await measured.export()).body).filter((line) => !line.includes(' kctl_'))).toEqual(
      described(await registry.metrics()),
    );
  });

  it('report the samples of the event-loop lag where that is measured, and start no second timer', async () => {
    const monitor = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
    const clock = new FakeClock();
    // A timer is late by as much as the clock has run ahead.
    let aheadMs = 0;
    using metrics = createPrometheusMetrics({
      defaultMetrics: true,
      eventLoopLag: true,
      clock: {
        ...{ now: () => clock.now(), setTimer: clock.setTimer.bind(clock) },
        monotonicNow: () => clock.monotonicNow() + aheadMs,
      },
    });
    const seconds = async (name: string): Promise<number> => {
      const { body } = await metrics.export();
      const line = body.split('\n').find((text) => text.startsWith(`nodejs_eventloop_lag_${name}_seconds `));
      return Number(line?.split(' ')[1]);
    };
    expect(await seconds('max')).toBe(0);
    for (const lateMs of [0, 0, 200]) {
      aheadMs += lateMs;
      clock.advanceSync(50);
    }
    expect(await seconds('max')).toBeCloseTo(0.2, 2);
    clock.advanceSync(50);
    expect(await seconds('max')).toBeLessThan(0.001);
    expect(monitor).not.toHaveBeenCalled();
  });

  it('count the CPU time of the process', async () => {
    using metrics = createPrometheusMetrics({ defaultMetrics: true });
    const read = async (name: string): Promise<number> => {
      const line = (await metrics.export()).body.split('\n').find((text) => text.startsWith(`${name} `));
      return Number(line?.split(' ')[1]);
    };
    const before = process.cpuUsage();
    let sum = 0;
    while (process.cpuUsage(before).user < 20_000) sum += Math.sqrt(sum + 1);
    const user = await read('process_cpu_user_seconds_total');
    expect(user).toBeGreaterThanOrEqual(0.02);
    expect(await read('process_cpu_seconds_total')).toBeGreaterThanOrEqual(user);
  });
});

it('makes a registry of its own, whose metrics of user code are recognized', async () => {
  using metrics = createPrometheusMetrics();
  const requests = new Counter({ name: 'requests_total', help: 'requests', registers: [metrics.registry] });
  requests.inc();
  metrics.counter({ name: 'requests_total', help: 'requests' }).with({}).inc(2);
  expect(lines((await metrics.export()).body)).toEqual(['requests_total 3']);
  expect(metrics.registry).toBeInstanceOf(Registry);
});
