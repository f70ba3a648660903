/**
 * Custom resources from schemas. One definition provides the types, the kind token, the CustomResourceDefinition, and
 * validation as the API server does it.
 *
 * @packageDocumentation
 */
export { defineResource } from './resource/define-resource.js';
export type { Resource, ResourceVersion, VersionInput, VersionObject } from './resource/define-resource.js';
export { isResourceDefinitionError, ResourceDefinitionError } from './structural/definition-error.js';
export type { DefinitionProblem } from './structural/definition-error.js';
export type { PrintColumn, ResourceOptions, ScaleOptions, VersionOptions } from './resource/options.js';
export type { ValidateOptions, Validation } from './resource/validation.js';
export { crdYaml } from './resource/yaml.js';
export { diffCrd } from './diff/diff-crd.js';
export type { AffectedObject, CrdDiff, DiffCrdOptions } from './diff/diff-crd.js';
export type { ChangeClass, CrdChange } from './diff/changes.js';
export { definitionsOfOpenApi } from './kinds/open-api.js';
export type { ServedResource } from './kinds/open-api-kinds.js';
export { generateKinds } from './kinds/generate-kinds.js';
export type { GeneratedModule, GenerateKindsOptions } from './kinds/generate-kinds.js';
export { fromJsonSchema } from './source/schema-value.js';
export type { JsonSchemaRequest, SchemaInput, SchemaOutput, SchemaValue } from './source/schema-value.js';
export type { FieldSetting } from './structural/field-settings.js';
export { conditions } from './markers/conditions.js';
export type { CelOptions, Marker } from './markers/markers.js';
export {
  atLeastOneOf,
  atMostOneOf,
  cel,
  defaultTo,
  duration,
  embeddedResource,
  exactlyOneOf,
  externalDocs,
  format,
  immutable,
  intOrString,
  libraryOnly,
  listAtomic,
  listMap,
  listSet,
  mapAtomic,
  mapGranular,
  markers,
  nullable,
  preserveUnknownFields,
  quantity,
  timestamp,
} from './markers/markers.js';
export type { FieldError, FieldErrorReason } from './engine/values/field-error.js';
