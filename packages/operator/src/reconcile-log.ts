import type { Logger, Span, SpanAttributes, Tracer } from '@kctl/telemetry';
import { systemClock, type Clock } from '@kctl/wait';

/**
 * A tracer that writes a line for each reconcile with its request, reasons, result, duration in ms and number of
 * requests. For development; a busy operator has thousands a second.
 */
export function createReconcileLog(logger: Logger, clock: Clock = systemClock): Tracer {
  return {
    withSpan: async (name, attributes, work) => {
      if (name !== 'reconcile') return await work(silent);
      const startedMs = clock.monotonicNow();
      let seen: SpanAttributes = { result: 'success', ...attributes };
      const span: Span = {
        setAttributes: (more) => (seen = { ...seen, ...more }),
        recordError: () => (seen = { ...seen, result: 'error' }),
        end: () => undefined,
      };
      try {
        return await work(span);
      } finally {
        const { requests, ...fields } = seen;
        const sent = requests === undefined ? {} : { requests };
        logger.info('reconciled', { ...fields, ms: Math.round(clock.monotonicNow() - startedMs), ...sent });
      }
    },
  };
}

const silent: Span = { setAttributes: () => undefined, recordError: () => undefined, end: () => undefined };
