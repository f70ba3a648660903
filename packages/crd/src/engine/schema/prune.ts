import { isObject } from '../values/json.js';
import type { Schema } from './schema.js';

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/**
 * Removes, in place, what a schema does not name; `found` gets the path of each. At the root and in embedded resources
 * apiVersion, kind and metadata stay. Mirrors structural `Prune`.
 */
export function pruneUnknown(root: unknown, schema: Schema, found: string[]): void {
  prune(root, { ...schema, embedded: true }, '', found);
}

function prune(value: unknown, schema: Schema | true | undefined, path: string, found: string[]): void {
  if (schema === true || schema?.preserveUnknown === true) {
    if (schema !== true) skip(value, schema, path, found);
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) prune(item, schema?.items, `${path}[${index}]`, found);
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    if (schema?.embedded === true && metaFields.has(name)) continue;
    const property = schema?.properties?.get(name) ?? schema?.additional;
    if (property !== undefined) {
      prune(value[name], property, join(path, name), found);
      continue;
    }
    if (!metaFields.has(name) || path !== '') found.push(join(path, name));
    delete value[name];
  }
}

/** Below preserve-unknown-fields only what is named is looked at. */
function skip(value: unknown, schema: Schema, path: string, found: string[]): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    for (const [index, item] of value.entries()) skip(item, items, `${path}[${index}]`, found);
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    if (schema.embedded === true && metaFields.has(name)) continue;
    const property = schema.properties?.get(name) ?? schema.additional;
    if (property !== undefined) prune(value[name], property, join(path, name), found);
  }
}
