import type { CelEnvironment } from '../environment.js';
import { CelCompileError } from '../errors.js';
import type { CelProgram } from '../program.js';
import type { StructuralSchema, ValidationRule } from '../schema/structural.js';
import { resolveFieldPath } from './field-path.js';

/** A rule of `x-kubernetes-validations`, compiled. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Absent for an empty rule, and for one that does not compile. */
  readonly program?: CelProgram;
  readonly error?: string;
  readonly message?: CelProgram;
  readonly messageError?: string;
  readonly usesOldSelf: boolean;
  /** The rule's `fieldPath` as errors print it, relative to the node. */
  readonly fieldPath: string;
}

/** Compiles the rules of the nodes of schemas; the libraries are shared. */
export class RuleCompiler {
  readonly #base: CelEnvironment;

  constructor(base: CelEnvironment) {
    this.#base = base;
  }

  /** The rules of one node, in order. */
  compile(schema: StructuralSchema, isResource: boolean): CompiledRule[] {
    const rules = schema.rules ?? [];
    if (rules.length === 0) return [];
    const self = { schema, isResource };
    const plain = this.#base.extend({ self, oldSelf: self });
    const optional = this.#base.extend({ self, oldSelf: { ...self, isOptional: true } });
    return rules.map((rule) => compileRule(rule, schema, rule.optionalOldSelf === true ? optional : plain));
  }
}

/**
 * Compiles an expression of a type, or returns the error in upstream's words. Another type is detected before the
 * expression is planned.
 */
function compileAs(
  environment: CelEnvironment,
  expression: string,
  [type, otherType]: readonly [type: string, otherType: string],
): CelProgram | string {
  try {
    return environment.compile(expression, { resultType: type });
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    return error.message.startsWith('must evaluate to') ? otherType : error.message;
  }
}

function compileRule(rule: ValidationRule, schema: StructuralSchema, environment: CelEnvironment): CompiledRule {
  const fieldPath = rule.fieldPath === undefined ? '' : (resolveFieldPath(rule.fieldPath, schema) ?? '');
  const base = { rule, fieldPath, usesOldSelf: false };
  if (rule.rule.trim() === '') return base;
  const program = compileAs(environment, rule.rule, ['bool', 'cel expression must evaluate to a bool']);
  if (typeof program === 'string') return { ...base, error: program };
  const compiled = { ...base, program, usesOldSelf: program.variables.has('oldSelf') };
  if (rule.messageExpression === undefined || rule.messageExpression === '') return compiled;
  const message = compileAs(environment, rule.messageExpression, ['string', 'must evaluate to a string']);
  if (typeof message !== 'string') return { ...compiled, message };
  return { ...compiled, messageError: `messageExpression ${message.replace(/^program /, '')}` };
}
