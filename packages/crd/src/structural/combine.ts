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

/** Whether a schema allows null alone. */
export function isNull(schema: JsonObject): boolean {
  return schema['type'] === 'null' || (Array.isArray(schema['enum']) && equalJson(schema['enum'], [null]));
}

/** Takes null out of a schema: `type: [x, null]` and `anyOf: [x, null]` are a nullable x. */
export function liftNull(schema: JsonObject): { readonly schema: JsonObject; readonly isNullable: boolean } {
  const { type } = schema;
  if (Array.isArray(type) && type.includes('null')) {
    const rest = arrayOf(type).filter((each) => each !== 'null');
    const values = Array.isArray(schema['enum']) ? schema['enum'].filter((each) => each !== null) : undefined;
    const lifted = {
      ...schema,
      type: rest.length === 1 ? rest[0] : rest,
      ...(values !== undefined && { enum: values }),
    };
    return { schema: lifted, isNullable: true };
  }
  for (const junctor of ['anyOf', 'oneOf']) {
    const parts = objectsOf(schema[junctor]);
    const rest = parts.filter((part) => !isNull(part));
    if (rest.length === parts.length || rest.length === 0) continue;
    const { [junctor]: _all, ...beside } = schema;
    const [only] = rest;
    const lifted = rest.length === 1 && only !== undefined ? { ...only, ...beside } : { ...beside, [junctor]: rest };
    const inner = liftNull(lifted);
    return { schema: inner.schema, isNullable: true };
  }
  return { schema, isNullable: false };
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
    } else if (keyword === 'x-kubernetes-validations' && Array.isArray(present) && Array.isArray(value)) {
      merged[keyword] = [...arrayOf(present), ...arrayOf(value)];
    } else if (keyword !== 'description' && keyword !== 'title' && !(keyword === 'type' && present === 'integer')) {
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
    const both = mergeTwo(present, schema);
    if (both === undefined) return undefined;
    merged[name] = both;
  }
  return merged;
}

/**
 * Takes `allOf` into the schema itself where that says the same: bounds below `allOf` do not lower the estimated cost of
 * rules. What cannot be merged is undefined.
 */
export function mergeAll(schema: JsonObject, parts: readonly JsonObject[]): JsonObject | undefined {
  const { allOf: _parts, ...beside } = schema;
  return parts.reduce<JsonObject | undefined>(
    (whole, part) => (whole === undefined ? undefined : mergeTwo(whole, part)),
    beside,
  );
}

/** The values of a union of constants; undefined where a part is anything else. */
export function unionOfValues(parts: readonly JsonObject[]): unknown[] | undefined {
  const values: unknown[] = [];
  for (const part of parts) {
    const { const: value, enum: several, type: _type, title: _title, description: _text, ...rest } = part;
    if (Object.keys(rest).length > 0) return undefined;
    if (Array.isArray(several)) values.push(...arrayOf(several));
    else if (value !== undefined) values.push(value);
    else return undefined;
  }
  return values;
}

/** Whether a union is that of an int-or-string. */
export function isIntOrString(parts: readonly JsonObject[]): boolean {
  const types = parts.map(({ type }) => type);
  return parts.length === 2 && types.includes('string') && (types.includes('integer') || types.includes('number'));
}
