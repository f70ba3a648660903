import { duplicate, invalidValue, type FieldError } from '../values/field-error.js';
import { isObject } from '../values/json.js';
import { fingerprint } from './fingerprint.js';
import type { Schema } from './schema.js';

/** Indexes at which a value occurs for the second time. */
function repeated(values: readonly unknown[]): number[] {
  const seen = new Map<string, number>();
  const indexes: number[] = [];
  for (const [index, value] of values.entries()) {
    const key = fingerprint(value);
    const times = seen.get(key) ?? 0;
    if (times === 1) indexes.push(index);
    seen.set(key, times + 1);
  }
  return indexes;
}

function checkMap(items: readonly unknown[], keys: readonly string[], field: string): FieldError[] {
  for (const [index, item] of items.entries()) {
    if (item !== null && !isObject(item)) {
      return [invalidValue(`${field}[${index}]`, item, 'must be an object for an array of list-type map')];
    }
  }
  const identities = items.map((item) => {
    const identity: Record<string, unknown> = {};
    if (isObject(item)) for (const key of keys) if (Object.hasOwn(item, key)) identity[key] = item[key];
    return identity;
  });
  return repeated(identities).map((index) => duplicate(`${field}[${index}]`, identities[index]));
}

/** Checks that lists of type set and map have no duplicates. Mirrors `ValidateListSetsAndMaps`. */
export function validateListTypes(value: unknown, schema: Schema | true | undefined, field = ''): FieldError[] {
  if (schema === undefined || schema === true || schema.has?.listTypes === false) return [];
  const errors: FieldError[] = [];
  if (Array.isArray(value)) {
    if (schema.listType === 'set') {
      for (const index of repeated(value)) errors.push(duplicate(`${field}[${index}]`, value[index]));
    } else if (schema.listType === 'map') {
      errors.push(...checkMap(value, schema.listMapKeys ?? [], field));
    }
    for (const [index, item] of value.entries()) {
      errors.push(...validateListTypes(item, schema.items, `${field}[${index}]`));
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const named = schema.properties?.get(name);
      const path = named === undefined ? `${field}[${name}]` : field === '' ? name : `${field}.${name}`;
      errors.push(...validateListTypes(value[name], named ?? schema.additional, path));
    }
  }
  return errors;
}
