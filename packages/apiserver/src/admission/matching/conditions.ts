import {
  CelCompileError,
  CelEvaluationError,
  createCelEnvironment,
  type CelEnvironment,
  type CelProgram,
} from '@kctl/cel';
import { duplicate, invalidValue, required, tooMany, type FieldError } from '../../registry/field-error.js';
import { objectsOf, stringOf } from '../../registry/json.js';
import { labelKey } from '../../registry/name-rules.js';
import { admissionRequest, typedObject, type ReviewedWrite } from '../review/admission-review.js';

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

/** What all conditions of one webhook may cost together: upstream's `RuntimeCELCostBudgetMatchConditions`. */
const costBudget = 2_500_000;
const costOfOne = 1_000_000;
const maxConditions = 64;

let environment: CelEnvironment | undefined;

/** Made with the first condition: few servers have any. */
function compile(expression: string): CelProgram {
  environment ??= createCelEnvironment({
    variables: { object: 'dyn', oldObject: 'dyn', request: 'dyn', namespaceObject: 'dyn' },
  });
  return environment.compile(expression);
}

type Compiled = { readonly expression: string } & ({ readonly program: CelProgram } | { readonly problem: string });

function compileOne(expression: string): Compiled {
  try {
    const program = compile(expression);
    if (program.resultType === 'bool') return { expression, program };
    return { expression, problem: `must evaluate to bool but got ${program.resultType}` };
  } catch (error) {
    if (error instanceof CelCompileError) return { expression, problem: error.message };
    throw error;
  }
}

class Conditions implements MatchConditions {
  readonly #conditions: readonly Compiled[];
  readonly #ignoresFailures: boolean;

  constructor(expressions: readonly string[], ignoresFailures: boolean) {
    this.#conditions = expressions.map(compileOne);
    this.#ignoresFailures = ignoresFailures;
  }

  evaluate(reviewed: ReviewedWrite): ConditionResult {
    const { object: _object, oldObject: _old, uid: _uid, ...request } = admissionRequest('', reviewed);
    const { kind } = reviewed;
    const variables = {
      object: typedObject(reviewed.object, kind),
      oldObject: typedObject(reviewed.oldObject, kind),
      request,
      namespaceObject: null,
    };
    const problems: string[] = [];
    let left = costBudget;
    // All are evaluated: one that does not hold decides, whatever another one fails with.
    for (const condition of this.#conditions) {
      const outcome = evaluateOne(condition, variables, Math.min(left, costOfOne));
      left -= outcome.cost;
      if (left < 0) return this.#failed([outOfBudget]);
      if (outcome.problem !== undefined) problems.push(outcome.problem);
      else if (!outcome.holds) return { matches: false };
    }
    return problems.length > 0 ? this.#failed(problems) : { matches: true };
  }

  #failed(problems: readonly string[]): ConditionResult {
    if (this.#ignoresFailures) return { matches: false };
    const distinct = [...new Set(problems)];
    return { matches: false, problem: distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]` };
  }
}

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run';

interface Outcome {
  readonly holds: boolean;
  readonly cost: number;
  readonly problem?: string;
}

function evaluateOne(condition: Compiled, variables: Readonly<Record<string, unknown>>, costLimit: number): Outcome {
  if ('problem' in condition) return { holds: false, cost: 0, problem: `compilation error: ${condition.problem}` };
  try {
    const { value, cost } = condition.program.evaluate(variables, { costLimit });
    return { holds: value === true, cost };
  } catch (error) {
    if (!(error instanceof CelEvaluationError)) throw error;
    const problem = `expression '${condition.expression}' resulted in error: ${error.message}`;
    return { holds: false, cost: error.cost, problem };
  }
}

/** Compiles conditions; undefined where there are none. */
export function compileConditions(
  value: unknown,
  { ignoresFailures }: { readonly ignoresFailures: boolean },
): MatchConditions | undefined {
  const expressions = objectsOf(value).map(({ expression }) => stringOf(expression));
  return expressions.length === 0 ? undefined : new Conditions(expressions, ignoresFailures);
}

function validateExpression(expression: string, field: string): FieldError[] {
  const trimmed = expression.trim();
  if (trimmed === '') return [required(field)];
  const compiled = compileOne(trimmed);
  return 'problem' in compiled ? [invalidValue(field, trimmed, compiled.problem)] : [];
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
