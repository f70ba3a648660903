import { describe, expect, it } from 'vitest';
import { guardMetrics } from './guard-metrics.js';
import type { Metrics } from './metrics.js';
import { noopMetrics } from './noop.js';

const throwing = (): never => {
  throw new Error('the sink is broken');
};
const options = { name: 'x', help: 'x', buckets: [1] };

/** Calls everything that metrics have. */
function useAll(metrics: Metrics): void {
  const counter = metrics.counter(options);
  counter.with({}).inc(2);
  counter.remove({});
  const gauge = metrics.gauge(options).with({});
  gauge.set(5);
  gauge.inc();
  gauge.dec();
  metrics.histogram(options).with({}).observe(7);
  metrics.onCollect(() => undefined)();
}

describe('guardMetrics', () => {
  it('reports the first failure of a sink, and never throws', () => {
    const child = { inc: throwing, dec: throwing, set: throwing, observe: throwing };
    const family = () => ({ with: () => child, remove: throwing });
    for (const sink of [
      { counter: throwing, gauge: throwing, histogram: throwing, onCollect: throwing },
      { counter: family, gauge: family, histogram: family, onCollect: throwing },
    ]) {
      const reported: unknown[] = [];
      useAll(guardMetrics(sink, (error) => void reported.push(error)));
      expect(reported).toEqual([new Error('the sink is broken')]);
    }
  });

  it('hands everything on to a sink that works', () => {
    const calls: unknown[] = [];
    const log =
      (name: string) =>
      (...values: unknown[]): void =>
        void calls.push([name, ...values]);
    const child = { inc: log('inc'), dec: log('dec'), set: log('set'), observe: log('observe') };
    const family = () => ({ with: () => child, remove: log('remove') });
    const sink: Metrics = { counter: family, gauge: family, histogram: family, onCollect: () => log('uncollect') };
    useAll(guardMetrics(sink, () => expect.unreachable()));
    expect(calls).toEqual([
      ['inc', 2],
      ['remove', {}],
      ['set', 5],
      ['inc', undefined],
      ['dec', undefined],
      ['observe', 7],
      ['uncollect'],
    ]);
  });

  it('takes the stub of a test for what it can count, and guards once', () => {
    let counted = 0;
    const reported: unknown[] = [];
    const stub = { counter: () => ({ with: () => ({ inc: (by = 1) => void (counted += by) }) }) };
    const metrics = guardMetrics(stub as never, (error) => void reported.push(error));
    useAll(metrics);
    expect([counted, reported.length]).toEqual([2, 1]);
    expect(guardMetrics(metrics, () => undefined)).toBe(metrics);
    expect(guardMetrics(noopMetrics, () => undefined)).toBe(noopMetrics);
  });

  it('reports what an asynchronous sink rejects with', async () => {
    const reported: unknown[] = [];
    const inc = (): Promise<never> => Promise.reject(new Error('the sink is broken'));
    const stub = { counter: () => ({ with: () => ({ inc }) }) };
    guardMetrics(stub as never, (error) => void reported.push(error))
      .counter(options)
      .with({})
      .inc();
    await new Promise((resolve) => setImmediate(resolve));
    expect(reported).toEqual([new Error('the sink is broken')]);
  });
});
