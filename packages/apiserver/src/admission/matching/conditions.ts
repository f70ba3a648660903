import { duplicate, invalidValue, required, tooMany, type FieldError } from '../../registry/field-error.js';
import { objectsOf, stringOf } from '../../registry/json.js';
import { labelKey } from '../../registry/name-rules.js';
import { PolicyEnvironment, type CompiledExpression } from '../policy/environment.js';
import { conditionBudget, evaluateConditions, Evaluation, type ConditionVerdict } from '../policy/evaluation.js';
import type { ReviewedWrite } from '../review/admission-review.js';

/** The match conditions of a webhook, compiled. */
export interface MatchConditions {
  /** `problem`: what went wrong, where that refuses the write. */
  evaluate(write: ReviewedWrite): ConditionVerdict;
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
  const conditions = objectsOf(value).map(({ expression }) => compileOne(stringOf(expression)));
  if (conditions.length === 0) return undefined;
  return {
    evaluate(reviewed) {
      const input = { reviewed, params: undefined, namespace: undefined };
      const verdict = evaluateConditions(conditions, new Evaluation(input, new Map(), conditionBudget));
      return verdict.problem !== undefined && ignoresFailures ? { matches: false } : verdict;
    },
  };
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
