import { arrayOf, equalJson, objectsOf, type JsonObject } from '../engine/values/json.js';

/**
 * Lets a field have null. The API server refuses null for each `enum` of a field, even if null is one of its values, and does
 * not compare null with what is below `allOf`.
 */
export function takeNull(schema: JsonObject): void {
  schema['nullable'] = true;
  const { enum: values } = schema;
  if (!Array.isArray(values)) return;
  delete schema['enum'];
  schema['allOf'] = [...objectsOf(schema['allOf']), { enum: [...arrayOf(values), null] }];
}

/** A schema with the enum that {@link takeNull} has put below `allOf`. */
export function withOwnEnum(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema;
  if (schema['nullable'] !== true || schema['enum'] !== undefined) return schema;
  const parts = objectsOf(allOf);
  const moved = parts.find((part) => equalJson(Object.keys(part), ['enum']) && arrayOf(part['enum']).includes(null));
  if (moved === undefined) return schema;
  const others = parts.filter((part) => part !== moved);
  return { ...rest, enum: moved['enum'], ...(others.length > 0 && { allOf: others }) };
}
