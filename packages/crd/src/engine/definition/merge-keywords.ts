import { forbidden, invalidValue, notSupportedText, required, type FieldError } from '../values/field-error.js';
import { isObject, stringOf, stringsOf, type JsonObject } from '../values/json.js';

/** Validates how server-side apply merges a list. */
export function checkList(schema: JsonObject, field: string): FieldError[] {
  const type = stringOf(schema['x-kubernetes-list-type']);
  const keys = stringsOf(schema['x-kubernetes-list-map-keys']);
  const errors: FieldError[] = [];
  if (type !== '' && !['atomic', 'set', 'map'].includes(type)) {
    errors.push(notSupportedText(`${field}.x-kubernetes-list-type`, type, ['atomic', 'set', 'map']));
  }
  const items = isObject(schema['items']) ? schema['items'] : {};
  if (type !== '' && schema['type'] !== 'array') errors.push(notArray(schema, field));
  else if (type === 'set') errors.push(...notAtomic(items, `${field}.items`));
  if ((type === 'set' || type === 'map') && items['nullable'] === true)
    errors.push(forbidden(`${field}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${type}`));
  if (type !== 'map') {
    const text = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const place = `${field}.x-kubernetes-list-type`;
    if (keys.length > 0) errors.push(type === '' ? required(place, text) : invalidValue(place, type, text));
    return errors;
  }
  if (keys.length === 0) {
    errors.push(required(`${field}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map'));
  }
  if (schema['items'] === undefined) {
    errors.push(required(`${field}.items`, 'must have a schema if x-kubernetes-list-type is map'));
  }
  if (items['type'] !== 'object') {
    if (isObject(schema['items']))
      errors.push(invalidValue(`${field}.items.type`, stringOf(items['type']), `must be object ${inMap}`));
    return errors;
  }
  const properties = isObject(items['properties']) ? items['properties'] : {};
  const mandatory = stringsOf(items['required']);
  for (const [index, key] of keys.entries()) {
    const property = properties[key];
    if (!isObject(property)) {
      const text = 'entries must all be names of item properties';
      errors.push(invalidValue(`${field}.x-kubernetes-list-map-keys`, keys, text));
    } else if (!mandatory.includes(key) && property['default'] === undefined) {
      const text =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      errors.push(required(`${field}.items.properties[${key}].default`, text));
    }
    if (keys.indexOf(key) < index)
      errors.push(invalidValue(`${field}.x-kubernetes-list-map-keys`, keys, 'must not contain duplicate entries'));
    if (isObject(property))
      errors.push(...notScalar(property, stringOf(items['type']), `${field}.items.properties[${key}]`));
  }
  return errors;
}

/** Validates how server-side apply merges a map. */
export function checkMapType(schema: JsonObject, field: string): FieldError[] {
  const keyword = 'x-kubernetes-map-type';
  const mapType = schema[keyword];
  const type = stringOf(schema['type']);
  if (mapType === undefined) return [];
  const text = `must be object if ${keyword} is specified`;
  const wrongType = type === '' ? required(`${field}.type`, text) : invalidValue(`${field}.type`, type, text);
  const known = ['atomic', 'granular'];
  return [
    ...(type === 'object' ? [] : [wrongType]),
    ...(known.includes(stringOf(mapType)) ? [] : [notSupportedText(`${field}.${keyword}`, mapType, known)]),
  ];
}

const inMap = "if parent array's x-kubernetes-list-type is map";

function notArray(schema: JsonObject, field: string): FieldError {
  const text = 'must be array if x-kubernetes-list-type is specified';
  const given = stringOf(schema['type']);
  return given === '' ? required(`${field}.type`, text) : invalidValue(`${field}.type`, given, text);
}

/** Validates the items of a set, which are compared whole. */
function notAtomic(items: JsonObject, field: string): FieldError[] {
  const list = items['x-kubernetes-list-type'];
  const isGranular =
    items['type'] === 'array'
      ? list !== undefined && list !== 'atomic'
      : items['type'] === 'object' && items['x-kubernetes-map-type'] !== 'atomic';
  if (!isGranular) return [];
  const keyword = items['type'] === 'array' ? 'x-kubernetes-list-type' : 'x-kubernetes-map-type';
  // Upstream shows the list type in both.
  const shown = typeof list === 'string' ? list : null;
  return [
    invalidValue(`${field}.${keyword}`, shown, 'must be atomic as item of a list with x-kubernetes-list-type=set'),
  ];
}

/** Validates a property that is a key of the items of a map; upstream shows the type of the items. */
function notScalar(property: JsonObject, shown: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (property['type'] === 'array' || property['type'] === 'object')
    errors.push(invalidValue(`${field}.type`, shown, `must be a scalar type ${inMap}`));
  if (property['nullable'] === true)
    errors.push(
      forbidden(`${field}.nullable`, 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'),
    );
  return errors;
}
