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
export { defaultCostLimit } from './program.js';
export type { CelActivation, CelEvaluateOptions, CelProgram, CelResult } from './program.js';
export { CelCompileError, CelCostExceededError, CelEvaluationError, CelInlineCostError } from './errors.js';
export { authorizerValue, jsonPatchLibrary } from './library/authorizer.js';
export type { AuthorizationAnswer, AuthorizationQuestion } from './library/authorizer.js';
export type { CelIssue } from './syntax/issues.js';
export type { CostEstimate } from './cost/estimate.js';
export { escapeField } from './schema/escape.js';
export { structuralSchema } from './schema/structural.js';
export type { StructuralSchema, ValidationRule } from './schema/structural.js';
export { formatDouble } from './values/go-format.js';
export { parseRequestUri } from './values/request-uri.js';
export type { UrlParts } from './values/request-uri.js';
export { parseDurationField } from './values/time.js';
export { jsonNumber } from './values/json-number.js';
export { jsonValue as celValue } from './values/json.js';
export { valueJson } from './values/to-json.js';
export type { FunctionEntry } from './check/functions.js';
export type { TypeProvider } from './check/scope.js';
export type { CelType } from './types/type.js';
export { parseType } from './types/parse-type.js';
export {
  Duration,
  Failure,
  LibraryValue,
  ListValue,
  MapValue,
  Optional,
  StructValue,
  Timestamp,
  TypeValue,
  Uint,
} from './values/value.js';
export type { Value } from './values/value.js';
export { Correlation } from './rules/correlation.js';
export type { CorrelatedSchema } from './rules/correlation.js';
export { createRuleValidator, hasRules } from './rules/rule-validator.js';
export type {
  RuleFindings,
  RuleValidateOptions,
  RuleValidator,
  RuleValidatorOptions,
} from './rules/rule-validator.js';
export { checkRules } from './rules/check-rules.js';
export type { CheckRulesOptions } from './rules/check-rules.js';
export type { RuleError } from './rules/rule-error.js';
