import { exponentialBuckets } from '@kctl/telemetry/internal';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { goNumber } from './go-number.js';
import { createPrometheusMetrics } from './index.js';

describe('bounds of histograms in the export', () => {
  // What a Go program prints for these values with strconv.FormatFloat(value, 'g', -1, 64).
  it.each([
    [0.00025, '0.00025'],
    [0.00001, '1e-05'],
    [0.25, '0.25'],
    [64, '64'],
    [100_000, '100000'],
    [123_456, '123456'],
    [1_234_567, '1.234567e+06'],
    [1_048_576, '1.048576e+06'],
    [16_777_216, '1.6777216e+07'],
    [1e21, '1e+21'],
    [0, '0'],
  ])('writes %d as Go does: %s', (value, text) => {
    expect(goNumber(value)).toBe(text);
  });

  it('have the `le` labels that controller-runtime prints for its queues', async () => {
    const metrics = createPrometheusMetrics({ registry: new Registry() });
    const buckets = exponentialBuckets(10e-9, 10, 12);
    metrics.histogram({ name: 'workqueue_queue_duration_seconds', help: 'waited', buckets }).with({}).observe(1);
    const { body } = await metrics.export();
    expect([...body.matchAll(/le="([^"]*)"/g)].map(([, le]) => le)).toEqual([
      '1e-08',
      '1e-07',
      '1e-06',
      '9.999999999999999e-06',
      '9.999999999999999e-05',
      '0.001',
      '0.01',
      '0.1',
      '1',
      '10',
      '100',
      '1000',
      '+Inf',
    ]);
  });
});
