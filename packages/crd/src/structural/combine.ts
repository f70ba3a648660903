import { arrayOf, equalJson, isObject, objectsOf, type JsonObject } from '../engine/values/json.js';

const tighter: Readonly<Record<string, (a: number, b: number) => number>> = {
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxLength: Math.min,
  maxItems: Math.min,
  maxProperties: Math.min,
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minLength: Math.max,
  minItems: Math.max,
  minProperties: Math.max,
};

/** The bounds that both schemas have, at their tighter value. */
export function tightened(a: JsonObject, b: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(tighter).flatMap(([keyword, choose]) => {
      const [left, right] = [a[keyword], b[keyword]];
      return typeof left === 'number' && typeof right === 'number' ? [[keyword, choose(left, right)]] : [];
    }),
  );
}

/** Whether a schema allows null alone. */
export function isNull(schema: JsonObject): boolean {
  return schema['type'] === 'null' || schema['const'] === null || equalJson(schema['enum'], [null]);
}

/** Keywords that describe a schema and limit no values. */
const annotations: ReadonlySet<string> = new Set([
  ...['title', 'description', 'default', 'example', 'examples', 'id', '$id', '$anchor', '$schema', '$comment'],
  ...['$defs', 'definitions', 'deprecated', 'readOnly', 'writeOnly', 'externalDocs'],
]);

/** Intersection of two schemas, with the annotations of the first; undefined if they contradict one another. */
export function intersect(schema: JsonObject, other: JsonObject): JsonObject | undefined {
  const own = Object.entries(other).filter(([keyword]) => !annotations.has(keyword) || schema[keyword] === undefined);
  return mergeTwo(schema, Object.fromEntries(own));
}

function mergeTwo(a: JsonObject, b: JsonObject): JsonObject | undefined {
  const merged: JsonObject = { ...a };
  for (const [keyword, value] of Object.entries(b)) {
    const present = merged[keyword];
    if (present === undefined || equalJson(present, value)) {
      merged[keyword] = value;
      continue;
    }
    const bound = tighter[keyword];
    if (bound !== undefined && typeof present === 'number' && typeof value === 'number') {
      merged[keyword] = bound(present, value);
    } else if (keyword === 'required' && Array.isArray(present) && Array.isArray(value)) {
      merged[keyword] = [...new Set([...arrayOf(present), ...arrayOf(value)])];
    } else if (keyword === 'properties' && isObject(present) && isObject(value)) {
      const properties = mergeProperties(present, value);
      if (properties === undefined) return undefined;
      merged[keyword] = properties;
    } else if (keyword === 'type' && present === 'number' && value === 'integer') {
      merged[keyword] = value;
    } else if (keyword === 'pattern') {
      merged['allOf'] = [...objectsOf(merged['allOf']), { pattern: value }];
    } else if (keyword === 'additionalProperties' && (present === false || value === false)) {
      merged[keyword] = false;
    } else if (keyword === 'enum' && Array.isArray(present) && Array.isArray(value)) {
      const common = arrayOf(present).filter((each) => arrayOf(value).some((other) => equalJson(each, other)));
      if (common.length === 0) return undefined;
      merged[keyword] = common;
    } else if (
      (keyword === 'x-kubernetes-validations' || keyword === 'allOf') &&
      Array.isArray(present) &&
      Array.isArray(value)
    ) {
      merged[keyword] = [...arrayOf(present), ...arrayOf(value)];
    } else if (!(keyword === 'type' && present === 'integer' && value === 'number')) {
      return undefined;
    }
  }
  return merged;
}

function mergeProperties(a: JsonObject, b: JsonObject): JsonObject | undefined {
  const merged: JsonObject = { ...a };
  for (const [name, schema] of Object.entries(b)) {
    const present = merged[name];
    if (!isObject(present) || !isObject(schema)) {
      merged[name] = schema;
      continue;
    }
    const both = intersect(present, schema);
    if (both === undefined) return undefined;
    merged[name] = both;
  }
  return merged;
}

/**
 * Merges `allOf` into the schema itself if the result is equivalent, because bounds below `allOf` do not lower the
 * estimated cost of rules. Undefined if they cannot be merged.
 */
export function mergeAll(schema: JsonObject, parts: readonly JsonObject[]): JsonObject | undefined {
  const { allOf: _parts, ...beside } = schema;
  return parts.reduce<JsonObject | undefined>(
    (whole, part) => (whole === undefined ? undefined : intersect(whole, part)),
    beside,
  );
}
