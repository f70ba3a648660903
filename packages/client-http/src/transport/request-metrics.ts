import type { Metrics } from '@kctl/telemetry';

const durationBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const sizeBuckets = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];

/** Metrics of requests, by client-go's names. */
export interface RequestMetrics {
  /** One attempt was answered; `code` is the HTTP status or `<error>`. */
  answered(method: string, code: string, seconds: number): void;
  waited(method: string, seconds: number): void;
  retried(method: string, code: string): void;
  sized(method: string, requestBytes: number): void;
  /** The size of a whole answer. */
  received(method: string, bytes: number): void;
}

/** `rest_client_requests_total` always; the others, as in controller-runtime, only on request. */
export function createRequestMetrics(metrics: Metrics, host: string, isDetailed: boolean): RequestMetrics {
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Number of HTTP requests, partitioned by status code, method, and host.',
    labelNames: ['code', 'method', 'host'],
  });
  const children = new Map<string, { inc(by?: number): void }>();
  const count = (method: string, code: string): void => {
    const key = `${method} ${code}`;
    let child = children.get(key);
    if (child === undefined) children.set(key, (child = requests.with({ code, method, host })));
    child.inc();
  };
  if (!isDetailed) {
    const ignore = (): void => undefined;
    return { answered: count, waited: ignore, retried: ignore, sized: ignore, received: ignore };
  }
  const labelNames = ['verb', 'host'];
  const duration = metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Request latency in seconds. Broken down by verb, and host.',
    labelNames,
    buckets: durationBuckets,
  });
  const limiter = metrics.histogram({
    name: 'rest_client_rate_limiter_duration_seconds',
    help: 'Client side rate limiter latency in seconds. Broken down by verb, and host.',
    labelNames,
    buckets: durationBuckets,
  });
  const requestSize = metrics.histogram({
    name: 'rest_client_request_size_bytes',
    help: 'Request size in bytes. Broken down by verb and host.',
    labelNames,
    buckets: sizeBuckets,
  });
  const responseSize = metrics.histogram({
    name: 'rest_client_response_size_bytes',
    help: 'Response size in bytes. Broken down by verb and host.',
    labelNames,
    buckets: sizeBuckets,
  });
  const retries = metrics.counter({
    name: 'rest_client_request_retries_total',
    help: 'Number of request retries, partitioned by status code, verb, and host.',
    labelNames: ['code', 'verb', 'host'],
  });
  return {
    answered: (method, code, seconds) => {
      count(method, code);
      duration.with({ verb: method, host }).observe(seconds);
    },
    waited: (method, seconds) => limiter.with({ verb: method, host }).observe(seconds),
    retried: (method, code) => retries.with({ verb: method, host, code }).inc(),
    sized: (method, bytes) => requestSize.with({ verb: method, host }).observe(bytes),
    received: (method, bytes) => responseSize.with({ verb: method, host }).observe(bytes),
  };
}
