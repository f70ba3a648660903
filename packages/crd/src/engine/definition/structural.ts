import { checkRules, createRuleValidator, structuralSchema } from '@kctl/cel';
import {
  forbidden,
  formatFieldError,
  invalidValue,
  notSupportedText,
  required,
  type FieldError,
} from '../values/field-error.js';
import {
  arrayOf,
  compareText,
  cloneJson,
  equalJson,
  isObject,
  objectsOf,
  stringOf,
  stringsOf,
  type JsonObject,
} from '../values/json.js';
import { compileSchema } from '../schema/compile.js';
import { compilePattern } from '../schema/pattern.js';
import { pruneUnknown } from '../schema/prune.js';
import { validateValue } from '../schema/validate.js';

type Level = 'root' | 'items' | 'field';

const emptyTypes: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  items: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};
const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const junctors = ['allOf', 'anyOf', 'oneOf'] as const;

/** Keywords that structural schemas do not allow below allOf, anyOf, oneOf and not. */
const forbiddenInside: readonly [keyword: string, text: string][] = [
  ['type', 'must be empty to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

const unsupported = ['$ref', 'definitions', 'dependencies', 'id', 'patternProperties', 'additionalItems'];

function intOrStringTypes(list: unknown): boolean {
  return equalJson(arrayOf(list), [{ type: 'integer' }, { type: 'string' }]);
}

/** A schema below a logical junctor: constraints only. */
function checkNested(schema: JsonObject, field: string, skipsTypes = false): FieldError[] {
  const errors = checkConstraints(schema, field, skipsTypes);
  for (const [keyword, text] of forbiddenInside) {
    const value = schema[keyword];
    const isUnset =
      value === undefined || value === false || value === '' || (Array.isArray(value) && value.length === 0);
    if (!isUnset) errors.push(forbidden(`${field}.${keyword}`, text));
  }
  if (isObject(schema['items'])) errors.push(...checkNested(schema['items'], `${field}.items`));
  for (const [name, property] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
    const path = `${field}.properties[${name}]`;
    if (name === 'metadata') errors.push(forbidden(path, 'must not be specified in a nested context'));
    if (isObject(property)) errors.push(...checkNested(property, path));
  }
  return errors;
}

function checkConstraints(schema: JsonObject, field: string, skipsTypes: boolean): FieldError[] {
  const errors: FieldError[] = [];
  for (const junctor of junctors) {
    if (junctor === 'anyOf' && skipsTypes && intOrStringTypes(schema['anyOf'])) continue;
    for (const [index, part] of objectsOf(schema[junctor]).entries()) {
      const isFirst = junctor === 'allOf' && index === 0 && skipsTypes;
      errors.push(...checkNested(part, `${field}.${junctor}[${index}]`, isFirst));
    }
  }
  if (isObject(schema['not'])) errors.push(...checkNested(schema['not'], `${field}.not`));
  const pattern = stringOf(schema['pattern']);
  const compiled = compilePattern(pattern);
  if (pattern !== '' && 'problem' in compiled) {
    const text = `must be a valid regular expression, but isn't: ${compiled.problem}`;
    errors.push(invalidValue(`${field}.pattern`, pattern, text));
  }
  return errors;
}

function checkMetadata(metadata: JsonObject, field: string, level: Level, isChecked: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (isChecked && metadata['type'] !== 'object') {
    errors.push(invalidValue(`${field}.type`, stringOf(metadata['type']), 'must be object'));
  }
  if (level !== 'root') return errors;
  const { type: _type, description: _text, properties, default: _default, ...rest } = metadata;
  const names = Object.keys(isObject(properties) ? properties : {});
  if (Object.keys(rest).length > 0 || names.some((name) => name !== 'name' && name !== 'generateName')) {
    const text = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(field, text));
  }
  return errors;
}

function checkList(schema: JsonObject, field: string): FieldError[] {
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

const inMap = "if parent array's x-kubernetes-list-type is map";

function notArray(schema: JsonObject, field: string): FieldError {
  const text = 'must be array if x-kubernetes-list-type is specified';
  const given = stringOf(schema['type']);
  return given === '' ? required(`${field}.type`, text) : invalidValue(`${field}.type`, given, text);
}

/** What is wrong with the items of a set: they are compared whole. */
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

/** What is wrong with a property that is a key of the items of a map; upstream shows the type of the items. */
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

function checkNode(schema: JsonObject, level: Level, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = stringOf(schema['type']);
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  for (const keyword of unsupported) {
    if (schema[keyword] !== undefined) errors.push(forbidden(`${field}.${keyword}`, `${keyword} is not supported`));
  }
  if (schema['uniqueItems'] === true)
    errors.push(
      forbidden(
        `${field}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  if (type === 'array' && !isObject(schema['items'])) errors.push(required(`${field}.items`, 'must be specified'));
  if (isObject(schema['items'])) errors.push(...checkNode(schema['items'], 'items', `${field}.items`));
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  for (const [name, property] of Object.entries(properties)) {
    if (isObject(property)) errors.push(...checkNode(property, 'field', `${field}.properties[${name}]`));
  }
  const additional = schema['additionalProperties'];
  if (additional !== undefined && additional !== false) {
    if (level === 'root') errors.push(forbidden(`${field}.additionalProperties`, 'must not be used at the root'));
    if (Object.keys(properties).length > 0) {
      errors.push(
        forbidden(`${field}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
      );
    }
    if (isObject(additional)) errors.push(...checkNode(additional, 'field', `${field}.additionalProperties`));
  } else if (additional === false) {
    errors.push(forbidden(`${field}.additionalProperties`, 'additionalProperties cannot be set to false'));
  }
  errors.push(...checkConstraints(schema, field, isIntOrString), ...checkList(schema, field));

  if (isIntOrString && preserves) {
    errors.push(
      invalidValue(
        `${field}.x-kubernetes-preserve-unknown-fields`,
        true,
        'must be false if x-kubernetes-int-or-string is true',
      ),
    );
  }
  if (isEmbedded && type !== 'object') {
    const text = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(`${field}.type`, text) : invalidValue(`${field}.type`, type, text));
  } else if (type === '' && !isIntOrString && !preserves) {
    errors.push(required(`${field}.type`, emptyTypes[level]));
  } else if (type !== '' && !types.includes(type)) {
    errors.push(notSupportedText(`${field}.type`, type, types));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalidValue(`${field}.type`, type, 'must be object at the root'));
  }
  const isResource = level === 'root' || isEmbedded;
  for (const name of ['kind', 'apiVersion']) {
    const property = properties[name];
    if (isResource && isObject(property) && property['type'] !== 'string') {
      errors.push(invalidValue(`${field}.properties[${name}].type`, stringOf(property['type']), 'must be string'));
    }
  }
  if (isObject(properties['metadata'])) {
    errors.push(...checkMetadata(properties['metadata'], `${field}.properties[metadata]`, level, isResource));
  }
  if (isEmbedded && !preserves && Object.keys(properties).length === 0) {
    const text =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${field}.properties`, text));
  }
  return errors;
}

/** What the rules of a default's own schema say of it: as an update that leaves it as it is, and as a new value. */
function defaultRules(source: JsonObject, value: unknown, path: string): FieldError[] {
  const rules = createRuleValidator(structuralSchema(source), { isResource: false });
  if (rules === undefined) return [];
  const unchanged = rules.validate(value, { old: value, path }).errors;
  return [...(unchanged.length > 0 ? unchanged : rules.validate(value, { path }).errors)];
}

/** Every default must be valid and hold nothing that its own schema would prune. */
function checkDefaults(source: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const value = source['default'];
  if (value !== undefined && value !== null) {
    const schema = compileSchema(source);
    const pruned: string[] = [];
    const copy = cloneJson(value);
    if (schema.preserveUnknown !== true)
      pruneUnknown({ value: copy }, { properties: new Map([['value', schema]]) }, pruned);
    if (pruned.length > 0) errors.push(invalidValue(`${field}.default`, value, 'must not have unknown fields'));
    const found = validateValue(copy, schema, `${field}.default`);
    errors.push(...(found.length > 0 ? found : defaultRules(source, copy, `${field}.default`)));
  }
  for (const [name, property] of Object.entries(isObject(source['properties']) ? source['properties'] : {})) {
    if (isObject(property)) errors.push(...checkDefaults(property, `${field}.properties[${name}]`));
  }
  if (isObject(source['items'])) errors.push(...checkDefaults(source['items'], `${field}.items`));
  if (isObject(source['additionalProperties'])) {
    errors.push(...checkDefaults(source['additionalProperties'], `${field}.additionalProperties`));
  }
  return errors;
}

const rootKeywords: ReadonlySet<string> = new Set([
  'description',
  'type',
  'format',
  'title',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'required',
  'items',
  'properties',
  'externalDocs',
  'example',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
]);

/** Validates an `openAPIV3Schema`: it must be structural, its defaults valid, its rules compile. Errors are sorted, as upstream's are. */
export function validateSchemaSource(source: JsonObject, field: string, hasStatus: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (hasStatus && Object.keys(source).some((keyword) => !rootKeywords.has(keyword))) {
    const list =
      '[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]';
    errors.push(
      invalidValue(
        field,
        source,
        `only ${list} fields are allowed at the root of the schema if the status subresource is enabled`,
      ),
    );
  }
  if (source['nullable'] === true) errors.push(forbidden(`${field}.nullable`, 'nullable cannot be true at the root'));
  const structural = checkNode(source, 'root', field).sort((a, b) =>
    compareText(formatFieldError(a), formatFieldError(b)),
  );
  errors.push(...structural);
  if (structural.length > 0) return errors;
  const defaults = checkDefaults(source, field);
  errors.push(...defaults);
  // Rules are looked at where their types can be known.
  if (defaults.length === 0) errors.push(...checkRules(structuralSchema(source), field));
  return errors;
}
