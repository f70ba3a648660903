import { exponentialBuckets } from '@kctl/telemetry/internal';
import type { Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';

/** As in controller-runtime, from 10 ns, ×10, 12 buckets. */
const latencyBuckets = exponentialBuckets(10e-9, 10, 12);

/** controller-runtime's webhook metrics. */
export interface WebhookMetrics {
  /** Exports the series of a path with 0 before its first request. */
  preset(path: string): void;
  /** Counts a request; call the result with the status code when it was answered. */
  begin(path: string): (code: number) => void;
  /** Counts a handler that threw. */
  panic(type: 'admission' | 'conversion' | 'authentication'): void;
}

export function createWebhookMetrics(metrics: Metrics, clock: Clock): WebhookMetrics {
  const latency = metrics.histogram({
    name: 'controller_runtime_webhook_latency_seconds',
    help: 'Histogram of the latency of processing admission requests',
    labelNames: ['webhook'],
    buckets: latencyBuckets,
  });
  const total = metrics.counter({
    name: 'controller_runtime_webhook_requests_total',
    help: 'Total number of admission requests by HTTP status code.',
    labelNames: ['webhook', 'code'],
  });
  const inFlight = metrics.gauge({
    name: 'controller_runtime_webhook_requests_in_flight',
    help: 'Current number of admission requests being served.',
    labelNames: ['webhook'],
  });
  const panics = metrics
    .counter({ name: 'controller_runtime_webhook_panics_total', help: 'Total number of webhook panics' })
    .with({});
  const conversionPanics = metrics
    .counter({
      name: 'controller_runtime_conversion_webhook_panics_total',
      help: 'Total number of conversion webhook panics',
    })
    .with({});
  return {
    preset: (webhook) => {
      inFlight.with({ webhook }).set(0);
      for (const code of ['200', '500']) total.with({ webhook, code }).inc(0);
    },
    begin: (webhook) => {
      const startedAt = clock.monotonicNow();
      const gauge = inFlight.with({ webhook });
      gauge.inc();
      return (code) => {
        gauge.dec();
        total.with({ webhook, code: String(code) }).inc();
        latency.with({ webhook }).observe((clock.monotonicNow() - startedAt) / 1000);
      };
    },
    panic: (type) => (type === 'conversion' ? conversionPanics : panics).inc(),
  };
}
