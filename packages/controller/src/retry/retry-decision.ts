import { shownValue } from '@kctl/options';
import type { RetryDecision } from '../reconciler/reconciler.js';

/**
 * Result of a retry policy or an error hook.
 *
 * @throws TypeError naming what is not valid
 */
export function checkDecision(what: string, decision: unknown): RetryDecision {
  if (typeof decision !== 'object' || decision === null || !('type' in decision))
    throw invalid(what, `returned ${shownValue(decision)}`);
  switch (decision.type) {
    case 'backoff':
    case 'stop':
      return { type: decision.type };
    case 'retry': {
      const afterMs: unknown = 'afterMs' in decision ? decision.afterMs : undefined;
      if (typeof afterMs !== 'number' || !Number.isFinite(afterMs))
        throw invalid(what, `returned a retry with afterMs ${shownValue(afterMs)}`);
      return { type: 'retry', afterMs };
    }
    default:
      throw invalid(what, `returned a decision of type ${shownValue(decision.type)}`);
  }
}

function invalid(what: string, problem: string): TypeError {
  return new TypeError(
    `${what} ${problem}, which is not valid: expected { type: 'retry', afterMs } with a finite number of ms, { type: 'backoff' } or { type: 'stop' }`,
  );
}
