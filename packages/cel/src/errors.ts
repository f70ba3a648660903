import type { CelIssue } from './syntax/issues.js';

/** An expression does not compile, because of a syntax error, a type error, or a result of the wrong type. */
export class CelCompileError extends Error {
  override readonly name = 'CelCompileError';
  /** The findings, in source order; empty if the result type is wrong. */
  readonly issues: readonly CelIssue[];

  constructor(message: string, issues: readonly CelIssue[] = []) {
    super(message);
    this.issues = issues;
  }
}

/**
 * An evaluation that ended in an error: `no such key: foo`, `division by zero`, …
 *
 * @example
 * ```ts
 * import { CelEvaluationError, createCelEnvironment } from '@kctl/cel';
 *
 * const program = createCelEnvironment({ variables: { object: 'dyn' } }).compile('object.spec.replicas > 3');
 * try {
 *   program.evaluate({ object: {} });
 * } catch (error) {
 *   if (error instanceof CelEvaluationError) console.log(error.message); // no such key: spec
 * }
 * ```
 */
export class CelEvaluationError extends Error {
  override readonly name: string = 'CelEvaluationError';
  /** Cost spent until then. */
  readonly cost: number;

  constructor(message: string, cost: number) {
    super(message);
    this.cost = cost;
  }
}

/** An evaluation that was stopped because it cost more than its limit. */
export class CelCostExceededError extends CelEvaluationError {
  override readonly name = 'CelCostExceededError';

  constructor(cost: number) {
    super('operation cancelled: actual cost limit exceeded', cost);
  }
}

/** An evaluation costs more than its caller wants to wait for; there is no verdict. */
export class CelInlineCostError extends Error {
  override readonly name = 'CelInlineCostError';
  readonly code = 'KCTL_CEL_INLINE_COST';

  constructor() {
    super('the evaluation costs more than it may here: evaluate it again without inlineCost, in another thread');
  }
}
