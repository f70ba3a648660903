/**
 * CEL as in the Kubernetes API server, checked against structural schemas, with its libraries, bounded by its costs.
 *
 * @packageDocumentation
 */
export { createCelEnvironment } from './environment.js';
export type {
  CelCompileOptions,
  CelEnvironment,
  CelEnvironmentOptions,
  CelVariable,
  SchemaVariable,
} from './environment.js';
export type { CelActivation, CelEvaluateOptions, CelProgram, CelResult } from './program.js';
export { CelCompileError, CelCostExceededError, CelEvaluationError } from './errors.js';
export type { CelIssue } from './syntax/issues.js';
export type { CostEstimate } from './cost/estimate.js';
export { structuralSchema } from './schema/structural.js';
export type { StructuralSchema, ValidationRule } from './schema/structural.js';
export { createRuleValidator } from './rules/rule-validator.js';
export type {
  RuleFindings,
  RuleValidateOptions,
  RuleValidator,
  RuleValidatorOptions,
} from './rules/rule-validator.js';
export { checkRules } from './rules/check-rules.js';
export type { CheckRulesOptions } from './rules/check-rules.js';
export type { RuleError } from './rules/rule-error.js';
