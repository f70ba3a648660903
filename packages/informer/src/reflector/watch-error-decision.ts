import { isThenable } from '@kctl/options';
import type { InformerTrouble } from '../informer-state.js';

/** Decisions of a watch error handler, `retry` (by backoff) or `stop` (the informer ends with the error). */
export type WatchErrorDecision = 'retry' | 'stop';

/**
 * Receives every failure of a list or watch, with its class; may decide to give up. One that throws is logged, and the
 * informer goes on.
 */
export type WatchErrorHandler = (trouble: InformerTrouble) => WatchErrorDecision | undefined;

/** Calls the handler. If it throws, rejects or returns a promise, that is only reported, and the reflector goes on. */
export function decideOn(
  trouble: InformerTrouble,
  handler: WatchErrorHandler,
  report: (error: unknown) => void,
): WatchErrorDecision | undefined {
  try {
    const decision: unknown = handler(trouble);
    if (isThenable(decision)) {
      Promise.resolve(decision).catch(report);
      throw new TypeError('watchErrorHandler returned a promise: decide synchronously, by "retry" or "stop"');
    }
    return decision === 'stop' ? 'stop' : undefined;
  } catch (error) {
    report(error);
    return undefined;
  }
}
