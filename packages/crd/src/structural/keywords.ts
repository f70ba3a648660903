import { isObject, type JsonObject } from '../engine/values/json.js';
import { immutableKey } from '../markers/markers.js';
import { libraryOnlyKey, lostKey } from '../source/zod-inspection.js';

/** Keywords that structural schemas have with the same meaning. */
export const plain = [
  'title',
  'description',
  'default',
  'example',
  'externalDocs',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;

/** Keywords that are read elsewhere, or that do not constrain values. */
export const silent: ReadonlySet<string> = new Set([
  ...plain,
  '$anchor',
  '$comment',
  '$defs',
  '$id',
  '$schema',
  'additionalProperties',
  'allOf',
  'anyOf',
  'const',
  'definitions',
  'enum',
  'examples',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'id',
  'items',
  'maximum',
  'minimum',
  'not',
  'nullable',
  'oneOf',
  'pattern',
  'properties',
  'propertyNames',
  'readOnly',
  'required',
  'type',
  'contentEncoding',
  immutableKey,
  libraryOnlyKey,
  lostKey,
]);

/** The values of a map with arbitrary names, as TypeBox writes it, with a pattern that matches every name. */
export function anyName({ patternProperties: patterns, additionalProperties: additional }: JsonObject): unknown {
  if (!isObject(patterns) || (additional !== undefined && additional !== false)) return undefined;
  const [first, ...others] = Object.entries(patterns);
  const isAny = first !== undefined && others.length === 0 && ['^.*$', '^(.*)$', '.*'].includes(first[0]);
  return isAny ? first[1] : undefined;
}
