import type { UntypedObject } from '@kctl/apimachinery';
import { forbidden, invalidValue, required, tooLong, type FieldError } from './field-error.js';
import { arrayOf, compareText, equalSemantic, isObject, objectsOf, stringOf, stringsOf } from './json.js';
import { dns1123Label, labelKey, pathSegment, validLabelValue, type NameRule } from './name-rules.js';

const annotationLimit = 256 * 1024;

/** Validates a map of labels. */
export function validateLabels(labels: unknown, field: string): FieldError[] {
  if (!isObject(labels)) return [];
  const errors: FieldError[] = [];
  for (const key of Object.keys(labels).sort(compareText)) {
    for (const message of labelKey(key)) errors.push(invalidValue(field, key, message));
    const value = stringOf(labels[key]);
    for (const message of validLabelValue(value)) errors.push(invalidValue(field, value, message));
  }
  return errors;
}

/** Validates a map of annotations. */
export function validateAnnotations(annotations: unknown, field: string): FieldError[] {
  if (!isObject(annotations)) return [];
  const errors: FieldError[] = [];
  let size = 0;
  for (const key of Object.keys(annotations).sort(compareText)) {
    for (const message of labelKey(key.toLowerCase())) errors.push(invalidValue(field, key, message));
    size += Buffer.byteLength(key) + Buffer.byteLength(stringOf(annotations[key]));
  }
  if (size > annotationLimit) errors.push(tooLong(field, annotationLimit));
  return errors;
}

function validateOwnerReferences(references: unknown, field: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const reference of objectsOf(references)) {
    const apiVersion = stringOf(reference['apiVersion']);
    const kind = stringOf(reference['kind']);
    const version = apiVersion.includes('/') ? apiVersion.slice(apiVersion.indexOf('/') + 1) : apiVersion;
    if (version === '') errors.push(invalidValue(`${field}.apiVersion`, apiVersion, 'version must not be empty'));
    for (const name of ['kind', 'name', 'uid']) {
      if (stringOf(reference[name]) === '') errors.push(invalidValue(`${field}.${name}`, '', 'must not be empty'));
    }
    if (apiVersion === 'v1' && kind === 'Event') {
      errors.push(invalidValue(field, reference, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (reference['controller'] !== true) continue;
    const current = `${kind}/${stringOf(reference['name'])}`;
    if (controller === '') controller = current;
    else {
      const text = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`;
      errors.push(invalidValue(field, references, text));
    }
  }
  return errors;
}

function validateFinalizers(finalizers: unknown, field: string): FieldError[] {
  const names = stringsOf(finalizers);
  const errors = names.flatMap((name) => labelKey(name).map((message) => invalidValue(field, name, message)));
  if (names.includes('orphan') && names.includes('foregroundDeletion')) {
    errors.push(invalidValue(field, names, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

/** Rules for a kind's metadata beyond the general rules. */
export interface MetadataRules {
  readonly namespaced: boolean;
  readonly nameRule: NameRule;
}

/** Validates the metadata of an object that is about to be created. Mirrors `ValidateObjectMetaAccessor`. */
export function validateMetadata(object: UntypedObject, rules: MetadataRules): FieldError[] {
  const { metadata } = object;
  const { name = '', generateName = '', namespace = '' } = metadata;
  const errors: FieldError[] = [];
  if (generateName !== '') {
    const messages = rules.nameRule(generateName, true);
    errors.push(...messages.map((message) => invalidValue('metadata.generateName', generateName, message)));
  }
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else errors.push(...rules.nameRule(name).map((message) => invalidValue('metadata.name', name, message)));

  if (rules.namespaced) {
    if (namespace === '') errors.push(required('metadata.namespace'));
    else
      errors.push(...dns1123Label(namespace).map((message) => invalidValue('metadata.namespace', namespace, message)));
  } else if (namespace !== '') {
    errors.push(forbidden('metadata.namespace', 'not allowed on this type'));
  }
  errors.push(
    ...validateLabels(metadata.labels, 'metadata.labels'),
    ...validateAnnotations(metadata.annotations, 'metadata.annotations'),
    ...validateOwnerReferences(metadata.ownerReferences, 'metadata.ownerReferences'),
    ...validateFinalizers(metadata.finalizers, 'metadata.finalizers'),
  );
  return errors;
}

/** The last check before a create, for names that a kind's own rule lets pass. Mirrors the end of `rest.BeforeCreate`. */
export function validatePathSafety(object: UntypedObject): FieldError[] {
  const name = object.metadata.name ?? '';
  return pathSegment(name).map((message) => invalidValue('metadata.name', name, message));
}

/** Go's `%#v` of a string slice. */
function goStrings(names: readonly string[]): string {
  return `[]string{${names.map((name) => JSON.stringify(name)).join(', ')}}`;
}

const immutableFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

/** Validates the metadata of an update against the stored object. Mirrors `ValidateObjectMetaAccessorUpdate`. */
export function validateMetadataUpdate(object: UntypedObject, old: UntypedObject): FieldError[] {
  const { metadata } = object;
  const errors: FieldError[] = [];
  if (old.metadata.deletionTimestamp !== undefined) {
    const before = new Set(arrayOf(old.metadata.finalizers));
    const added = [...new Set(stringsOf(metadata.finalizers))].filter((name) => !before.has(name)).sort(compareText);
    if (added.length > 0) {
      const text = `no new finalizers can be added if the object is being deleted, found new finalizers ${goStrings(added)}`;
      errors.push(forbidden('metadata.finalizers', text));
    }
  }
  if ((metadata.resourceVersion ?? '') === '') {
    errors.push(invalidValue('metadata.resourceVersion', '', 'must be specified for an update'));
  }
  if ((metadata.generation ?? 0) < (old.metadata.generation ?? 0)) {
    errors.push(invalidValue('metadata.generation', metadata.generation ?? 0, 'must not be decremented'));
  }
  for (const name of immutableFields) {
    if (!equalSemantic(metadata[name], old.metadata[name])) {
      errors.push(invalidValue(`metadata.${name}`, metadata[name], 'field is immutable'));
    }
  }
  errors.push(
    ...validateLabels(metadata.labels, 'metadata.labels'),
    ...validateAnnotations(metadata.annotations, 'metadata.annotations'),
    ...validateOwnerReferences(metadata.ownerReferences, 'metadata.ownerReferences'),
    ...validateFinalizers(metadata.finalizers, 'metadata.finalizers'),
  );
  return errors;
}

/** Built-in kinds want finalizers with a domain, save for the server's own. */
export function validateBuiltinFinalizers(object: UntypedObject): FieldError[] {
  return stringsOf(object.metadata.finalizers).flatMap((name, index) =>
    name.includes('/') || standardFinalizers.has(name)
      ? []
      : [
          invalidValue(
            `metadata.finalizers[${index}]`,
            name,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  );
}

const standardFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Warnings for finalizers of custom resources that another writer could pick by accident. */
export function finalizerWarnings(object: UntypedObject, old?: UntypedObject): string[] {
  const before = new Set(arrayOf(old?.metadata.finalizers));
  const warnings: string[] = [];
  for (const name of [...new Set(stringsOf(object.metadata.finalizers))].sort(compareText)) {
    if (before.has(name)) continue;
    const head = `metadata.finalizers: ${JSON.stringify(name)}: `;
    warnings.push(...labelKey(name).map((message) => head + message));
    if (name.includes('/') || standardFinalizers.has(name)) continue;
    const path = name.includes('.') ? ' including a path (/)' : '';
    warnings.push(
      `${head}prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
    );
  }
  return warnings;
}
