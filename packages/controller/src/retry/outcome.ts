import { shownValue } from '@kctl/options';
import type { ReconcileResult } from '../reconciler/reconciler.js';

/** Outcome of a run. The loop switches over it, and policies read it. */
export type Outcome =
  | { readonly type: 'done' }
  | {
      readonly type: 'requeueAfter';
      /** > 0. */
      readonly afterMs: number;
      /** Whether the time stands although the key runs before it. */
      readonly keep: boolean;
      readonly priority: number | undefined;
    }
  | { readonly type: 'backoff'; readonly priority: number | undefined }
  /** Failed, and tried again after `afterMs` if that is > 0, else according to the rate limiter. */
  | { readonly type: 'error'; readonly error: unknown; readonly afterMs: number | undefined }
  /** Failed, and not tried again before the next event. */
  | { readonly type: 'terminal'; readonly error: unknown }
  /** Cut short by the stop of the controller. */
  | { readonly type: 'stopped'; readonly error: unknown };

const done: Outcome = { type: 'done' };

/**
 * Follow-up requested by a reconciler's result.
 *
 * @throws TypeError when it is not valid, because ignoring a mistake in it would lose a requeue
 */
export function outcomeOf(result: unknown): Outcome {
  if (result === undefined || result === null) return done;
  const { requeueAfterMs, keep = false, priority, backoff } = checkResult(result);
  if (requeueAfterMs !== undefined && requeueAfterMs > 0)
    return { type: 'requeueAfter', afterMs: requeueAfterMs, keep, priority };
  return requeueAfterMs !== undefined || backoff === true ? { type: 'backoff', priority } : done;
}

/**
 * Whether a result requests another run. A `requeueAfterMs` of zero or less counts, too, because a `deadline - now`
 * that is computed a moment late must not be taken for "done".
 *
 * @throws TypeError as {@link outcomeOf}
 */
export function asksForAnotherRun(result: unknown): result is ReconcileResult {
  return outcomeOf(result).type !== 'done';
}

/** The fields that a result may have; each its own check. */
const resultFields: { readonly [K in keyof ReconcileResult]-?: (value: unknown) => boolean } = {
  requeueAfterMs: Number.isFinite,
  keep: (value) => typeof value === 'boolean',
  priority: Number.isFinite,
  backoff: (value) => typeof value === 'boolean',
};

const expectedTypes: Readonly<Record<keyof ReconcileResult, string>> = {
  requeueAfterMs: 'finite number of ms',
  keep: 'boolean',
  priority: 'finite number',
  backoff: 'boolean',
};

function checkResult(result: unknown): ReconcileResult {
  if (typeof result !== 'object' || result === null)
    throw invalidResult(`the result ${shownValue(result)} is not valid`);
  for (const [field, value] of Object.entries(result)) {
    if (!isResultField(field)) throw invalidResult(`the result has an unknown field ${JSON.stringify(field)}`);
    if (value !== undefined && !resultFields[field](value))
      throw invalidResult(`${field} ${shownValue(value)} is not valid: it must be a ${expectedTypes[field]}`);
  }
  return result;
}

function isResultField(field: string): field is keyof ReconcileResult {
  return Object.hasOwn(resultFields, field);
}

function invalidResult(problem: string): TypeError {
  return new TypeError(`reconcile: ${problem}; expected nothing or { requeueAfterMs, keep, backoff, priority }`);
}
