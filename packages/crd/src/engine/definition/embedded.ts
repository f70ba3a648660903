import { objectMetaStruct } from '../go/object-meta.js';
import { invalidValue, required, type FieldError } from '../values/field-error.js';
import { isObject, stringOf, type JsonObject } from '../values/json.js';
import { validateAnnotations, validateLabels } from '../values/metadata-validation.js';
import { decodeStruct } from '../go/go-decode.js';
import type { Schema } from '../schema/schema.js';

/** Calls back for every embedded resource below a value (not for the value itself at the root). */
function eachEmbedded(
  value: unknown,
  schema: Schema | true | undefined,
  path: string,
  visit: (embedded: JsonObject, path: string) => void,
): void {
  if (schema === undefined || schema === true) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) eachEmbedded(item, schema.items, `${path}[${index}]`, visit);
    return;
  }
  if (!isObject(value)) return;
  if (schema.embedded === true && path !== '') visit(value, path);
  if (schema.properties === undefined && schema.additional === undefined) return;
  for (const name of Object.keys(value)) {
    const child = schema.properties?.get(name) ?? schema.additional;
    if (child !== undefined) eachEmbedded(value[name], child, path === '' ? name : `${path}.${name}`, visit);
  }
}

/** Passes the metadata of embedded resources through ObjectMeta, in place. @throws GoDecodeError */
export function coerceEmbedded(body: JsonObject, schema: Schema, found: string[]): void {
  eachEmbedded(body, schema, '', (embedded, path) => {
    if (isObject(embedded['metadata'])) {
      embedded['metadata'] = decodeStruct(embedded['metadata'], objectMetaStruct(), found, `${path}.metadata`);
    }
  });
}

/** Embedded resources must name their type and have sound metadata. */
export function validateEmbedded(body: JsonObject, schema: Schema): FieldError[] {
  const errors: FieldError[] = [];
  eachEmbedded(body, schema, '', (embedded, path) => {
    for (const name of ['apiVersion', 'kind']) {
      const value = embedded[name];
      if (value === undefined) errors.push(required(`${path}.${name}`));
      else if (stringOf(value) === '') errors.push(invalidValue(`${path}.${name}`, value, 'must not be empty'));
    }
    const metadata = embedded['metadata'];
    if (!isObject(metadata)) return;
    errors.push(
      ...validateLabels(metadata['labels'], `${path}.metadata.labels`),
      ...validateAnnotations(metadata['annotations'], `${path}.metadata.annotations`),
    );
  });
  return errors;
}
