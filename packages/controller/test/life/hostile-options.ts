import type { Metrics } from '@kctl/telemetry';
import type { ControllerOptions, ReconcileRequest } from '../../src/index.js';

/** Hook, policy, limiter, metrics sink and tracer that throw or return garbage. */
export function hostileOptions(): Partial<ControllerOptions<ReconcileRequest>> {
  const throwing = (): never => {
    throw new Error('hostile');
  };
  const child = { inc: throwing, dec: throwing, set: throwing, observe: throwing };
  const family = () => ({ with: () => child, remove: throwing });
  const metrics: Metrics = { counter: family, gauge: family, histogram: family, onCollect: throwing };
  let turn = 0;
  const pick = (...answers: readonly unknown[]): unknown => answers[turn++ % answers.length];
  return {
    metrics,
    rateLimiter: {
      when: () => (pick(Number.NaN, -1, undefined) ?? throwing()) as number,
      forget: throwing,
      numRequeues: throwing,
    },
    retryPolicy: { decide: () => pick({ type: 'retry', afterMs: Number.NaN }, undefined, 'x') as never },
    onError: async () => pick('garbage', undefined, { type: 'retry', afterMs: Number.NaN }) as never,
    tracer: {
      withSpan: (_name, _attributes, work) => {
        const begin = () => work({ setAttributes: throwing, recordError: throwing, end: throwing });
        switch (turn++ % 4) {
          case 0:
            return throwing();
          case 1:
            return begin();
          case 2:
            void begin();
            return new Promise(() => undefined);
          default:
            setImmediate(() => void begin());
            return Promise.reject(new Error('hostile'));
        }
      },
    },
    logFields: throwing,
  };
}
