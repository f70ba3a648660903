/**
 * The data model of Kubernetes, without I/O: kinds as values, objects as plain JSON, keys, selectors, status errors,
 * the order of resourceVersions, owner references, finalizers, conditions, quantities and patches. The built-in kinds
 * are subpaths by group and version: `@kctl/apimachinery/kinds/apps/v1`, `@kctl/apimachinery/kinds/core/v1`.
 *
 * @packageDocumentation
 */
export { parseJson, stringifyJson } from './json-text.js';
export type { Condition, ConditionList, ConditionStatus, ConditionUpdate, SetConditionOptions } from './condition.js';
export { childName } from './child-name.js';
export type { ChildNameOptions } from './child-name.js';
export {
  findCondition,
  isConditionFalse,
  isConditionTrue,
  removeCondition,
  setCondition,
} from './condition.js';
export type { DeepMutable } from './deep-readonly.js';
export { deepFreeze, mutableCopy } from './deep-readonly.js';
export { fieldSelectorFrom, parseFieldSelector } from './field-selector.js';
export { hasFinalizer, isDeleting, setFinalizer, unsetFinalizer } from './finalizer.js';
export type { IntOrString, Rounding } from './int-or-string.js';
export { parseIntOrString, scalePercent } from './int-or-string.js';
export type { JsonObject } from './json-object.js';
export { isSameJson } from './json-object.js';
export type { JsonPath } from './json-path.js';
export { compileJsonPath, isJsonPathError, JsonPathError } from './json-path.js';
export type { JsonPatchOperation } from './patch/json-patch.js';
export { createJsonPatch } from './patch/json-patch.js';
export type {
  DefineKindOptions,
  GroupVersionKind,
  GroupVersionResource,
  DraftOf,
  InputOf,
  Kind,
  KindScope,
  KindShape,
  KindWithInput,
  MetadataKind,
  ObjectOf,
  Persisted,
  PersistedObject,
  StrippedKind,
  Unread,
  UntypedKind,
  WholeKind,
} from './kind.js';
export {
  defineKind,
  formatApiVersion,
  formatGroupVersionKind,
  metadataOnly,
  parseApiVersion,
  stripped,
  untyped,
} from './kind.js';
export type {
  DeepReadonly,
  JsonValue,
  KubeList,
  KubeObject,
  ListMeta,
  ManagedFieldsEntry,
  ObjectMeta,
  OwnerReference,
  PartialObjectMetadata,
  PersistedIdentity,
  Primitive,
  Stripped,
  TypeMeta,
  UntypedObject,
  WholeObject,
} from './object.js';
export type { KeyOf, KeyOrObject, NamespacedKey, ObjectKey } from './object-key.js';
export { formatKey, keyOf, parseKey } from './object-key.js';
export { everything, labelSelectorFrom, nothing, parseLabelSelector } from './label-selector.js';
export { applyMergePatch, createMergePatch } from './patch/merge-patch.js';
export { nameFilter } from './name-filter.js';
export type { NameFilter, NamePattern } from './name-filter.js';
export type { Owner, OwnerReferenceOptions } from './owner-reference.js';
export {
  AlreadyOwnedError,
  controllerOf,
  hasControllerReference,
  hasOwnerReference,
  isAlreadyOwned,
  removeControllerReference,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './owner-reference.js';
export type { ParsedQuantity, Quantity } from './quantity.js';
export type { QuantityFormat, QuantityProblem } from './quantity/quantity-text.js';
export {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  isQuantity,
  isQuantityError,
  parseQuantity,
  QuantityError,
  quantityToNumber,
  subtractQuantities,
} from './quantity.js';
export type { GroupKind, Scheme } from './scheme.js';
export { createScheme } from './scheme.js';
export { isNoKindMatch, NoKindMatchError } from './no-kind-match.js';
export type { NoKindMatchFields } from './no-kind-match.js';
export { isSelectorError, SelectorError } from './selector-error.js';
export type { ResourceVersionOrder } from './resource-version.js';
export { compareResourceVersions } from './resource-version.js';
export type {
  FieldSelector,
  FieldTerm,
  LabelSelector,
  LabelSelectorOperator,
  LabelSelectorRequirement,
  Selector,
} from './selector.js';
export type { Status, StatusCause, StatusDetails, StatusReason } from './status.js';
export {
  isAlreadyExists,
  isBadRequest,
  isConflict,
  isExpired,
  isForbidden,
  isGone,
  isInternalError,
  isInvalid,
  isMethodNotSupported,
  isNotFound,
  isServerTimeout,
  isServiceUnavailable,
  isStatusError,
  isTimeout,
  isTooLargeResourceVersion,
  isTooManyRequests,
  isUnauthorized,
  isUnsupportedMediaType,
  StatusError,
} from './status-error.js';
