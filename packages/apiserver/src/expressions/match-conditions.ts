import {
  duplicate,
  invalidValue,
  labelKey,
  objectsOf,
  required,
  stringOf,
  tooMany,
  type FieldError,
} from '@kctl/crd/internal/engine';
import { PolicyEnvironment, type CompiledExpression } from './environment.js';

const maxConditions = 64;

let environment: PolicyEnvironment | undefined;

/** Compiles one match condition, in an environment that is made with the first of them, since few servers have any. */
export function compileCondition(text: string): CompiledExpression {
  environment ??= new PolicyEnvironment({ hasParams: false, hasAuthorizer: true, canPatch: false });
  return environment.compile(text, 'bool');
}

function validateExpression(expression: string, field: string): FieldError[] {
  const trimmed = expression.trim();
  if (trimmed === '') return [required(field)];
  const { problem } = compileCondition(trimmed);
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
