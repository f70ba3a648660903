import { isObject, objectsOf, type JsonObject } from '../values/json.js';

/** How much there is to do for an object of a schema, beside what the object itself brings. */
export interface SchemaWeight {
  /** CEL rules, each counted once. */
  readonly rules: number;
  /** Defaults that may be filled in. */
  readonly defaults: number;
  /** Lists whose items have an identity, which are sets and lists of keyed items. */
  readonly listTypes: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function add(source: JsonObject, weight: Mutable<SchemaWeight>): void {
  weight.rules += objectsOf(source['x-kubernetes-validations']).length;
  if (source['default'] !== undefined && source['default'] !== null) weight.defaults++;
  const listType = source['x-kubernetes-list-type'];
  if (listType === 'set' || listType === 'map') weight.listTypes++;
  const { properties, additionalProperties, items } = source;
  if (isObject(properties))
    for (const name of Object.keys(properties)) {
      const property = properties[name];
      if (isObject(property)) add(property, weight);
    }
  if (isObject(additionalProperties)) add(additionalProperties, weight);
  if (isObject(items)) add(items, weight);
}

/** Counts rules, defaults and list types in an `openAPIV3Schema`, without compiling it. */
export function schemaWeight(source: JsonObject): SchemaWeight {
  const weight = { rules: 0, defaults: 0, listTypes: 0 };
  add(source, weight);
  return weight;
}
