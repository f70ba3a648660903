import { describe, expect, it } from 'vitest';
import { noopLogger, noopMetrics, noopTracer } from './noop.js';

describe('the no-op implementations', () => {
  it('take everything and say nothing', () => {
    expect(noopLogger.isEnabled('error')).toBe(false);
    expect(noopLogger.child({ a: 1 })).toBe(noopLogger);
    const gauge = noopMetrics.gauge({ name: 'depth', help: '' });
    gauge.with({}).set(1);
    gauge.remove({});
    noopMetrics.counter({ name: 'a', help: '' }).with({}).inc();
    noopMetrics
      .histogram({ name: 'b', help: '', buckets: [1] })
      .with({})
      .observe(1);
    const remove = noopMetrics.onCollect(() => undefined);
    expect(remove).not.toThrow();
  });

  it('runs traced work and passes on its outcome', async () => {
    expect(await noopTracer.withSpan('work', {}, async () => Promise.resolve(42))).toBe(42);
    await expect(noopTracer.withSpan('work', {}, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });
});
