/**
 * The data model of Kubernetes, without I/O: kinds as values, objects as plain JSON, keys, selectors, status errors
 * and the order of resourceVersions.
 *
 * @packageDocumentation
 */
export { parseJson, stringifyJson } from './json.js';
export type {
  DefineKindOptions,
  GroupVersionKind,
  GroupVersionResource,
  Kind,
  KindScope,
  KindShape,
  MetadataKind,
  ObjectOf,
  UntypedKind,
} from './kind.js';
export {
  defineKind,
  formatApiVersion,
  formatGroupKind,
  formatGroupResource,
  formatGroupVersionKind,
  isOfKind,
  isSameKind,
  metadataOnly,
  parseApiVersion,
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
  TypeMeta,
  UntypedObject,
} from './object.js';
export type { KeyOf, NamespacedKey, ObjectKey } from './object-key.js';
export { formatKey, isSameKey, keyOf, parseKey } from './object-key.js';
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
