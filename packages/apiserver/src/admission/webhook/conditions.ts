import { objectsOf, stringOf } from '@kctl/crd/internal/engine';
import { compileCondition } from '../../expressions/match-conditions.js';
import { evaluateHereOrThere } from '../expressions/evaluate-here-or-there.js';
import type { Offload } from '../../offload/offload.js';
import {
  conditionBudget,
  evaluateConditions,
  Evaluation,
  factsOf,
  type EvaluationContext,
} from '../expressions/evaluation.js';
import type { ConditionVerdict } from '../../offload/verdict.js';
import type { ReviewedWrite } from '../review/admission-review.js';

/** The match conditions of a webhook, compiled. */
export interface MatchConditions {
  /** `problem` describes a failure that refuses the write. */
  evaluate(write: ReviewedWrite, offload: Offload): Promise<ConditionVerdict>;
}

/** Compiles conditions; undefined without conditions. */
export function compileConditions(
  value: unknown,
  { ignoresFailures }: { readonly ignoresFailures: boolean },
): MatchConditions | undefined {
  const texts = objectsOf(value).map(({ expression }) => stringOf(expression));
  const conditions = texts.map(compileCondition);
  if (conditions.length === 0) return undefined;
  return {
    async evaluate(reviewed, offload) {
      const facts = factsOf({ reviewed, params: undefined, namespace: undefined });
      const verdict = await evaluateHereOrThere(
        { offload, facts, write: reviewed.write },
        (context) => evaluateConditions(conditions, new Evaluation(context, new Map(), conditionBudget)),
        (answers) => ({ type: 'conditions', conditions: texts, facts, answers }),
      );
      return verdict.problem !== undefined && ignoresFailures ? { matches: false } : verdict;
    },
  };
}

/** The match conditions of a webhook in another thread. */
export function evaluateWebhookConditions(texts: readonly string[], context: EvaluationContext): ConditionVerdict {
  return evaluateConditions(texts.map(compileCondition), new Evaluation(context, new Map(), conditionBudget));
}
