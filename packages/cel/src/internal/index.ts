/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { defaultCostLimit } from '../program.js';
export { CelInlineCostError } from '../errors.js';
export { authorizerValue, jsonPatchLibrary } from '../library/authorizer.js';
export type { AuthorizationAnswer, AuthorizationQuestion } from '../library/authorizer.js';
export { escapeField } from '../schema/escape.js';
export { formatDouble } from '../values/go-format.js';
export { parseRequestUri } from '../values/request-uri.js';
export { parseDurationField } from '../values/time.js';
export { jsonNumber } from '../values/json-number.js';
export { jsonValue as celValue } from '../values/json.js';
export { valueJson } from '../values/to-json.js';
export type { TypeProvider } from '../check/scope.js';
export type { CelType } from '../types/type.js';
export { parseType } from '../types/parse-type.js';
export { Failure, ListValue, MapValue, StructValue } from '../values/value.js';
export type { Value } from '../values/value.js';
export { Correlation } from '../rules/correlation.js';
