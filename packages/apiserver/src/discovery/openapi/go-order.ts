/** The order in which Go writes the members of a document, and how it writes what HTML would take for its own. */
import { isObject, type JsonObject } from '@kctl/crd/internal/engine';

const schemaMembers = [
  ...['$ref', 'description', 'type', 'nullable', 'format', 'title', 'default', 'maximum', 'exclusiveMaximum'],
  ...['minimum', 'exclusiveMinimum', 'maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems'],
  ...['multipleOf', 'enum', 'maxProperties', 'minProperties', 'required', 'items', 'allOf', 'oneOf', 'anyOf', 'not'],
  ...['properties', 'additionalProperties', 'externalDocs', 'example'],
];
const places: ReadonlyMap<string, number> = new Map(schemaMembers.map((name, index) => [name, index]));
const placeOf = (name: string): number => places.get(name) ?? schemaMembers.length;

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** An object with its members by name. */
export function sortedByName<T>(object: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(object).sort(byName));
}

/** A value without a schema, with objects in order of names at every level. */
function plainInOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainInOrder);
  if (!isObject(value)) return value;
  return sortedByName(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainInOrder(member)])));
}

/** A schema and those in it, with members in the order of Go's struct, and properties and extensions by name. */
export function schemaInOrder(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([name, value]): [string, unknown] => [name, memberInOrder(name, value)]);
  return Object.fromEntries(entries.sort((a, b) => placeOf(a[0]) - placeOf(b[0]) || byName(a, b)));
}

function memberInOrder(name: string, value: unknown): unknown {
  if (name === 'properties' && isObject(value))
    return sortedByName(
      Object.fromEntries(
        Object.entries(value).map(([property, inner]) => [property, isObject(inner) ? schemaInOrder(inner) : inner]),
      ),
    );
  if (['allOf', 'anyOf', 'oneOf'].includes(name) && Array.isArray(value))
    return value.map((inner: unknown) => (isObject(inner) ? schemaInOrder(inner) : inner));
  if (['items', 'not', 'additionalProperties'].includes(name) && isObject(value)) return schemaInOrder(value);
  return plainInOrder(value);
}
