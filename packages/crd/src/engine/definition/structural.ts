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
  type JsonObject,
} from '../values/json.js';
import { compileSchema } from '../schema/compile.js';
import { compilePattern } from '../schema/pattern.js';
import { pruneUnknown } from '../schema/prune.js';
import { validateValue } from '../schema/validate.js';
import type { Schema } from '../schema/schema.js';
import { checkCompleteness } from './completeness.js';
import { validateEmbedded } from './embedded.js';
import { checkList, checkMapType } from './merge-keywords.js';

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

/**
 * Places at which the `anyOf` of an int-or-string may name types, which are the schema itself and the first part of its
 * `allOf`. Upstream does not check whether the schema is an int-or-string.
 */
type Exception = 'own and first' | 'own' | 'none';

/** Whether a keyword has the value that it has without being there. */
function isUnset(keyword: string, value: unknown): boolean {
  if (value === false) return keyword !== 'additionalProperties';
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Checks a schema below a logical junctor, which may have constraints only. */
function checkNested(schema: JsonObject, field: string, exception: Exception = 'none'): FieldError[] {
  const errors = [
    ...checkConstraints(schema, field, exception),
    ...checkPreserve(schema, field),
    ...checkMapType(schema, field),
  ];
  for (const [keyword, text] of forbiddenInside) {
    if (!isUnset(keyword, schema[keyword])) errors.push(forbidden(`${field}.${keyword}`, text));
  }
  if (isObject(schema['items'])) errors.push(...checkNested(schema['items'], `${field}.items`));
  for (const [name, property] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
    const path = `${field}.properties[${name}]`;
    if (name === 'metadata') errors.push(forbidden(path, 'must not be specified in a nested context'));
    if (isObject(property)) errors.push(...checkNested(property, path));
  }
  return errors;
}

function checkConstraints(schema: JsonObject, field: string, exception: Exception): FieldError[] {
  const errors: FieldError[] = [];
  for (const junctor of junctors) {
    if (junctor === 'anyOf' && exception !== 'none' && intOrStringTypes(schema['anyOf'])) continue;
    for (const [index, part] of objectsOf(schema[junctor]).entries()) {
      const isFirst = junctor === 'allOf' && index === 0 && exception === 'own and first';
      errors.push(...checkNested(part, `${field}.${junctor}[${index}]`, isFirst ? 'own' : 'none'));
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

function checkPreserve(schema: JsonObject, field: string): FieldError[] {
  const keyword = 'x-kubernetes-preserve-unknown-fields';
  return schema[keyword] === false ? [invalidValue(`${field}.${keyword}`, false, 'must be true or undefined')] : [];
}

function checkMetadata(metadata: JsonObject, field: string, level: Level, isChecked: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (isChecked && metadata['type'] !== 'object') {
    errors.push(invalidValue(`${field}.type`, stringOf(metadata['type']), 'must be object'));
  }
  if (level !== 'root') return errors;
  const { type: _type, properties, default: _default, ...rest } = metadata;
  const names = Object.keys(isObject(properties) ? properties : {});
  if (
    !Object.entries(rest).every(([keyword, value]) => isUnset(keyword, value)) ||
    names.some((name) => name !== 'name' && name !== 'generateName')
  ) {
    const text = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(field, text));
  }
  return errors;
}

/** Context of a schema. */
interface Surroundings {
  /** Why there may be no default. */
  readonly noDefault?: string;
  /** Whether it belongs to the apiVersion, kind or metadata of an object. */
  readonly isMeta: boolean;
}

const metaFields: readonly string[] = ['apiVersion', 'kind', 'metadata'];

/** Returns the context of a property. */
function around(name: string, schema: JsonObject, level: Level, outer: Surroundings): Surroundings {
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  if (!isResource || !metaFields.includes(name)) return outer;
  return level === 'root' ? { isMeta: true, noDefault: `in top-level ${name}` } : { ...outer, isMeta: true };
}

/** Validates the combination of the keywords that define the kind of a value. */
function checkKind(schema: JsonObject, field: string, { noDefault, isMeta }: Surroundings): FieldError[] {
  const errors: FieldError[] = [];
  const embedded = `${field}.x-kubernetes-embedded-resource`;
  const value = schema['default'];
  if (noDefault !== undefined && value !== undefined && value !== null)
    errors.push(forbidden(`${field}.default`, `must not be set ${noDefault}`));
  if (schema['type'] === 'null')
    errors.push(forbidden(`${field}.type`, 'type cannot be set to null, use nullable as an alternative'));
  if (Array.isArray(schema['items']) && schema['items'].length > 0)
    errors.push(forbidden(`${field}.items`, 'items must be a schema object and not an array'));
  if (schema['x-kubernetes-embedded-resource'] !== true) return errors;
  if (isMeta) errors.push(forbidden(embedded, 'must not be used inside of resource meta'));
  if (schema['x-kubernetes-int-or-string'] === true)
    errors.push(invalidValue(embedded, true, 'must be false if x-kubernetes-int-or-string is true'));
  if (schema['additionalProperties'] !== undefined)
    errors.push(
      forbidden(`${field}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'),
    );
  return errors;
}

function checkAdditional(schema: JsonObject, level: Level, field: string, outer: Surroundings): FieldError[] {
  const errors: FieldError[] = [];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const additional = schema['additionalProperties'];
  if (additional !== undefined) {
    if (level === 'root') errors.push(forbidden(`${field}.additionalProperties`, 'must not be used at the root'));
    if (additional !== true && Object.keys(properties).length > 0) {
      errors.push(
        forbidden(`${field}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
      );
    }
    if (isObject(additional)) {
      const inMeta = { isMeta: true, noDefault: 'inside additionalProperties applying to object metadata' };
      const inner = outer.isMeta ? inMeta : outer;
      errors.push(...checkNode(additional, 'field', `${field}.additionalProperties`, inner));
    }
  }
  return errors;
}

/** Whether a type stands where one must, and is one that is known. */
function checkType(schema: JsonObject, level: Level, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = stringOf(schema['type']);
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
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
  return errors;
}

function checkNode(
  schema: JsonObject,
  level: Level,
  field: string,
  outer: Surroundings = { isMeta: false },
): FieldError[] {
  const errors = [...checkKind(schema, field, outer), ...checkPreserve(schema, field), ...checkMapType(schema, field)];
  const type = stringOf(schema['type']);
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
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
  if (type === 'array' && schema['items'] === undefined) errors.push(required(`${field}.items`, 'must be specified'));
  if (isObject(schema['items'])) errors.push(...checkNode(schema['items'], 'items', `${field}.items`, outer));
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const inner = around(name, schema, level, outer);
    errors.push(...checkNode(property, 'field', `${field}.properties[${name}]`, inner));
  }
  errors.push(...checkAdditional(schema, level, field, outer));
  errors.push(...checkConstraints(schema, field, 'own and first'), ...checkList(schema, field));

  errors.push(...checkType(schema, level, field));
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

/** Evaluates the rules of a default's schema, first as an update without changes, then as a new value. */
function defaultRules(source: JsonObject, value: unknown, path: string): FieldError[] {
  const rules = createRuleValidator(structuralSchema(source), { isResource: false });
  if (rules === undefined) return [];
  const unchanged = rules.validate(value, { old: value, path }).errors;
  return [...(unchanged.length > 0 ? unchanged : rules.validate(value, { path }).errors)];
}

/** Validates the types and metadata of the objects in a default, and of the default itself if it is an object. */
function embeddedErrors(value: unknown, schema: Schema, path: string): FieldError[] {
  return validateEmbedded({ value }, { properties: new Map([['value', schema]]) }).map((error) => ({
    ...error,
    field: error.field.replace(/^value/, () => path),
  }));
}

/** Every default must be valid and hold nothing that its own schema would prune. Upstream does not look below additionalProperties. */
function checkDefaults(source: JsonObject, field: string, isRoot = false): FieldError[] {
  const errors: FieldError[] = [];
  const value = source['default'];
  if (value !== undefined && value !== null) {
    const compiled = compileSchema(source);
    const schema = {
      ...compiled,
      ...(isRoot && { embedded: true }),
      // As upstream, which validates a default by its type if it has one, and an object by the other.
      ...(compiled.type !== undefined && { intOrString: false }),
    };
    const pruned: string[] = [];
    const copy = cloneJson(value);
    if (schema.preserveUnknown !== true)
      pruneUnknown({ value: copy }, { properties: new Map([['value', schema]]) }, pruned);
    if (pruned.length > 0) errors.push(invalidValue(`${field}.default`, value, 'must not have unknown fields'));
    const untyped = embeddedErrors(copy, schema, `${field}.default`);
    const found = untyped.length > 0 ? untyped : validateValue(copy, schema, `${field}.default`);
    errors.push(...(found.length > 0 ? found : defaultRules(source, copy, `${field}.default`)));
  }
  for (const [name, property] of Object.entries(isObject(source['properties']) ? source['properties'] : {})) {
    if (isObject(property)) errors.push(...checkDefaults(property, `${field}.properties[${name}]`));
  }
  if (isObject(source['items'])) errors.push(...checkDefaults(source['items'], `${field}.items`));
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
  const type = stringOf(source['type']);
  if (hasStatus && type !== '' && type !== 'object') {
    const text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    errors.push(invalidValue(`${field}.type`, type, text));
  } else if (hasStatus && Object.keys(source).some((keyword) => !rootKeywords.has(keyword))) {
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
  const structural = [...checkNode(source, 'root', field), ...checkCompleteness(source, field)].sort((a, b) =>
    compareText(formatFieldError(a), formatFieldError(b)),
  );
  errors.push(...structural);
  if (structural.length > 0) return errors;
  const defaults = checkDefaults(source, field, true);
  errors.push(...defaults);
  // Rules are checked only if their types can be determined.
  if (defaults.length === 0) errors.push(...checkRules(structuralSchema(source), field));
  return errors;
}
