import type { CelEnvironment } from '../environment.js';
import { CelCompileError } from '../errors.js';
import type { CelProgram } from '../program.js';
import type { StructuralSchema, ValidationRule } from '../schema/structural.js';
import { resolveFieldPath } from './field-path.js';

/** A rule of `x-kubernetes-validations`, compiled. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Absent for a rule without text, and for one that does not compile. */
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

function detailOf(error: unknown): string {
  if (error instanceof CelCompileError) return error.message;
  throw error;
}

function compileRule(rule: ValidationRule, schema: StructuralSchema, environment: CelEnvironment): CompiledRule {
  const fieldPath = rule.fieldPath === undefined ? '' : (resolveFieldPath(rule.fieldPath, schema) ?? '');
  const base = { rule, fieldPath, usesOldSelf: false };
  if (rule.rule.trim() === '') return base;
  let program: CelProgram;
  try {
    program = environment.compile(rule.rule);
  } catch (error) {
    return { ...base, error: detailOf(error) };
  }
  if (program.resultType !== 'bool') return { ...base, error: 'cel expression must evaluate to a bool' };
  const compiled = { ...base, program, usesOldSelf: program.variables.has('oldSelf') };
  if (rule.messageExpression === undefined || rule.messageExpression === '') return compiled;
  try {
    const message = environment.compile(rule.messageExpression);
    if (message.resultType !== 'string') {
      return { ...compiled, messageError: 'messageExpression must evaluate to a string' };
    }
    return { ...compiled, message };
  } catch (error) {
    return { ...compiled, messageError: `messageExpression ${detailOf(error)}` };
  }
}
