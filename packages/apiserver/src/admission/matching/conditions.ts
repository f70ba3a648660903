import {
  duplicate,
  invalidValue,
  labelKey,
  objectsOf,
  required,
  stringOf,
  tooMany,
  type FieldError,
} from '@kctl/crd/engine';
import { PolicyEnvironment, type CompiledExpression } from '../policy/environment.js';
import { evaluateHereOrThere } from '../../offload/evaluate.js';
import type { Offload } from '../../offload/offload.js';
import {
  conditionBudget,
  evaluateConditions,
  Evaluation,
  factsOf,
  type EvaluationContext,
} from '../policy/evaluation.js';
import type { ConditionVerdict } from '../policy/verdict.js';
import type { ReviewedWrite } from '../review/admission-review.js';

/** The match conditions of a webhook, compiled. */
export interface MatchConditions {
  /** `problem`: what went wrong, where that refuses the write. */
  evaluate(write: ReviewedWrite, offload: Offload): Promise<ConditionVerdict>;
}

const maxConditions = 64;

let environment: PolicyEnvironment | undefined;

/** In an environment that is made with the first condition: few servers have any. */
function compileOne(text: string): CompiledExpression {
  environment ??= new PolicyEnvironment({ hasParams: false, hasAuthorizer: true, canPatch: false });
  return environment.compile(text, 'bool');
}

/** Compiles conditions; undefined where there are none. */
export function compileConditions(
  value: unknown,
  { ignoresFailures }: { readonly ignoresFailures: boolean },
): MatchConditions | undefined {
  const texts = objectsOf(value).map(({ expression }) => stringOf(expression));
  const conditions = texts.map(compileOne);
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
  return evaluateConditions(texts.map(compileOne), new Evaluation(context, new Map(), conditionBudget));
}

function validateExpression(expression: string, field: string): FieldError[] {
  const trimmed = expression.trim();
  if (trimmed === '') return [required(field)];
  const { problem } = compileOne(trimmed);
  return problem === undefined ? [] : [invalidValue(field, trimmed, problem)];
}

/** Validates `matchConditions`: names, and expressions that compile to a bool. */
export function validateConditions(value: unknown, field: string): FieldError[] {
  const conditions = objectsOf(value);
  const errors = conditions.length > maxConditions ? [tooMany(field, conditions.length, maxConditions)] : [];
  const seen = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    const at = `${field}[${index}]`;
    const name = stringOf(condition['name']);
    errors.push(...validateExpression(stringOf(condition['expression']), `${at}.expression`));
    if (name === '') errors.push(required(`${at}.name`));
    else errors.push(...labelKey(name).map((why) => invalidValue(`${at}.name`, name, why)));
    if (name !== '' && seen.has(name)) errors.push(duplicate(`${at}.name`, name));
    seen.add(name);
  }
  return errors;
}
