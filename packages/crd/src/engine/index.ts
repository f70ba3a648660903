/**
 * The rules of custom resources, as the API server applies them. They include structural schemas, pruning, defaults,
 * validation, the validation of CustomResourceDefinitions themselves. The embedded API server and
 * {@link https://www.npmjs.com/package/@kctl/crd @kctl/crd} share it.
 *
 * @packageDocumentation
 */
export type { CustomResourceRules, RuleOutlet, RuleRun } from './custom-resource.js';
export { CustomResourceValidator } from './custom-resource.js';
export type { CrdNames } from './definition/crd-names.js';
export {
  crdCondition,
  crdGroup,
  crdStorageKey,
  crdStorageVersion,
  crdVersions,
  hasCrdCondition,
  readNames,
} from './definition/crd-names.js';
export { caBundleOf, validateCrd, validateCrdChange } from './definition/crd-validation.js';
export { coerceEmbedded, validateEmbedded } from './definition/embedded.js';
export type { ScalePaths } from './definition/scale-paths.js';
export { readScalePaths, validateScalePaths } from './definition/scale-paths.js';
export { validateSchemaSource } from './definition/structural.js';
export { validateCaBundle, validateWebhookAddress } from './definition/validate-client-config.js';
export { GoDecodeError, decodeStruct, zeroStruct } from './go/go-decode.js';
export { goQuoted, goTimeQuoted, isGoPrintable } from './values/go-quoted.js';
export { GoTable } from './go/go-table.js';
export { TimeError, canonicalMicroTime, canonicalTime } from './go/go-time.js';
export type { GoField, GoScalar, GoStruct, GoType } from './go/go-type.js';
export { objectMetaStruct } from './go/object-meta.js';
export { QuantityError, canonicalQuantity, quantityNanos } from './go/quantity.js';
export { compileSchema } from './schema/compile.js';
export { applyDefaults, dropNulls } from './schema/default.js';
export { fingerprint } from './schema/fingerprint.js';
export { matchesFormat } from './schema/formats/formats.js';
export type { JsonPath } from '@kctl/apimachinery';
export { compileJsonPath } from '@kctl/apimachinery';
export { JsonPathError } from '@kctl/apimachinery/internal';
export { simplePath } from './schema/simple-path.js';
export { validateListTypes } from './schema/list-types.js';
export type { CompiledPattern, Pattern } from './schema/pattern.js';
export { compilePattern, lazyPattern } from './schema/pattern.js';
export { pruneUnknown } from './schema/prune.js';
export type { ListType, Schema, SchemaType, ValidationRule, ValueConstraints } from './schema/schema.js';
export { jsonTypeOf } from './schema/schema.js';
export { validateValue } from './schema/validate.js';
export { schemaWeight, type SchemaWeight } from './schema/weight.js';
export type { FieldError, FieldErrorReason } from './values/field-error.js';
export {
  duplicate,
  forbidden,
  formatFieldError,
  formatFieldErrors,
  invalidValue,
  notFoundValue,
  notSupported,
  notSupportedText,
  quoteValue,
  required,
  toCauses,
  tooLong,
  tooMany,
  typeInvalid,
} from './values/field-error.js';
export type { Json } from './values/json-text.js';
export { jsonText } from './values/json-text.js';
export type { JsonObject } from './values/json.js';
export {
  arrayOf,
  at,
  cloneJson,
  compareText,
  ensureObject,
  equalJson,
  equalSemantic,
  hasEmptyOwners,
  isObject,
  numberOf,
  objectOf,
  objectsOf,
  setDefault,
  setOwn,
  stringMapOf,
  stringOf,
  stringsOf,
} from './values/json.js';
export type { MetadataRules } from './values/metadata-validation.js';
export {
  finalizerWarnings,
  validateAnnotations,
  validateBuiltinFinalizers,
  validateLabels,
  validateMetadata,
  validateMetadataUpdate,
  validatePathSafety,
} from './values/metadata-validation.js';
export type { NameRule } from './values/name-rules.js';
export {
  configMapKey,
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  labelKey,
  labelName,
  pathSegment,
  portName,
  rangeError,
  regexError,
  subdomainName,
  validLabelValue,
} from './values/name-rules.js';
