import { objectsOf } from '../../registry/json.js';
import type { ReviewedWrite } from '../review/admission-review.js';

/** What came of match conditions: whether all hold, or why that cannot be said. */
export interface ConditionResult {
  readonly matches: boolean;
  /** What went wrong, where that refuses the write. */
  readonly problem?: string;
}

/** The match conditions of a webhook or a policy, compiled. */
export interface MatchConditions {
  evaluate(write: ReviewedWrite): ConditionResult;
}

/** Compiles conditions that have been validated; undefined where there are none. */
export function compileConditions(
  value: unknown,
  { ignoresFailures }: { readonly ignoresFailures: boolean },
): MatchConditions | undefined {
  if (objectsOf(value).length === 0) return undefined;
  // Until the CEL engine is here: what cannot be evaluated is an error of the condition.
  return {
    evaluate: () =>
      ignoresFailures ? { matches: false } : { matches: false, problem: 'match conditions are not evaluated yet' },
  };
}
