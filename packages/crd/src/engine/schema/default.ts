import { cloneJson, isObject, setOwn } from '../values/json.js';
import type { Schema } from './schema.js';

function takesNull(schema: Schema | true | undefined): boolean {
  return schema === undefined || schema === true || schema.nullable === true;
}

/**
 * Removes, in place, nulls that are neither allowed nor replaced by a default. Mirrors
 * `PruneNonNullableNullsWithoutDefaults`.
 */
export function dropNulls(value: unknown, schema: Schema | true | undefined): void {
  if (schema === undefined || schema === true) return;
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, schema.items);
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    const named = schema.properties?.get(name);
    const property = named ?? schema.additional;
    if (property === undefined) continue;
    if (value[name] === null && !takesNull(property) && property !== true && property.default === undefined) {
      delete value[name];
    } else {
      dropNulls(value[name], property);
    }
  }
}

/** Fills in the defaults of a schema, in place, as deep copies. Mirrors structural `Default`. */
export function applyDefaults(value: unknown, schema: Schema | true | undefined): void {
  if (schema === undefined || schema === true || schema.has?.defaults === false) return;
  if (Array.isArray(value)) {
    const { items } = schema;
    for (const [index, item] of value.entries()) {
      if (item === null && !takesNull(items) && items?.default !== undefined) value[index] = cloneJson(items.default);
      applyDefaults(value[index], items);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const [name, property] of schema.properties ?? []) {
    if (property.default === undefined) continue;
    const present = Object.hasOwn(value, name) ? value[name] : undefined;
    if (present === undefined || (present === null && !takesNull(property))) {
      setOwn(value, name, cloneJson(property.default));
    }
  }
  for (const name of Object.keys(value)) {
    const named = schema.properties?.get(name);
    if (named === undefined && schema.additional !== undefined && schema.additional !== true) {
      const { additional } = schema;
      if (value[name] === null && !takesNull(additional) && additional.default !== undefined) {
        setOwn(value, name, cloneJson(additional.default));
      }
      applyDefaults(value[name], additional);
    } else {
      applyDefaults(value[name], named);
    }
  }
}
