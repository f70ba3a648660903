import {
  cloneJson,
  formatFieldErrors,
  isObject,
  stringOf,
  validateAnnotations,
  validateLabels,
  type JsonObject,
} from '@kctl/crd/internal/engine';

/** Fields of the metadata that a converter may change. */
const changeable = ['labels', 'annotations'] as const;

/** Go's `%T` of a value that was decoded from JSON. */
export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int64';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    default:
      return 'map[string]interface {}';
  }
}

/** Why an object that a converter returned is not the one that it was given; undefined if it is. */
export function identityProblem(original: JsonObject, converted: JsonObject): string | undefined {
  const [before, after] = [metadataOf(original), metadataOf(converted)];
  const pairs = [
    ['kind', stringOf(original['kind']), stringOf(converted['kind'])],
    ['name', stringOf(before['name']), stringOf(after['name'])],
    ['namespace', stringOf(before['namespace']), stringOf(after['namespace'])],
    ['UID', stringOf(before['uid']), stringOf(after['uid'])],
  ] as const;
  const different = pairs.find(([, was, is]) => was !== is);
  return different === undefined ? undefined : `must have the same ${different[0]}: ${different[1]} != ${different[2]}`;
}

function metadataOf(object: JsonObject): JsonObject {
  return isObject(object['metadata']) ? object['metadata'] : {};
}

/**
 * Puts the metadata of the original into a converted object, in place; labels and annotations of the converted one stay.
 * Mirrors `restoreObjectMeta`.
 *
 * @returns what is wrong with the metadata of the converted object; undefined if nothing is
 */
export function restoreMetadata(original: JsonObject, converted: JsonObject): string | undefined {
  if (!Object.hasOwn(converted, 'metadata')) return 'missing metadata in converted object';
  const answered = converted['metadata'];
  if (!isObject(answered)) return `invalid metadata of type ${goTypeOf(answered)} in converted object`;
  const restored = cloneJson(metadataOf(original));
  converted['metadata'] = restored;
  for (const field of changeable) {
    const value = answered[field];
    if (value === undefined || value === null) {
      delete restored[field];
      continue;
    }
    if (!isObject(value)) return `invalid metadata.${field} of type ${goTypeOf(value)} in converted object`;
    const problem = mapProblem(field, isObject(restored[field]) ? restored[field] : {}, value);
    if (problem !== undefined) return problem;
    restored[field] = value;
  }
  return undefined;
}

/** Describes an error in changed labels or annotations. */
function mapProblem(field: 'labels' | 'annotations', before: JsonObject, after: JsonObject): string | undefined {
  let isChanged = Object.keys(before).length !== Object.keys(after).length;
  for (const [key, value] of Object.entries(after)) {
    if (typeof value !== 'string')
      return `metadata.${field}[${key}] must be a string, but is ${goTypeOf(value)} in converted object`;
    if (!Object.hasOwn(before, key) || before[key] !== value) isChanged = true;
  }
  if (!isChanged) return undefined;
  // The singular is upstream's.
  const errors =
    field === 'labels' ? validateLabels(after, 'metadata.labels') : validateAnnotations(after, 'metadata.annotation');
  return errors.length === 0 ? undefined : formatFieldErrors(errors);
}
