import { arrayOf, cloneJson, isObject, numberOf, objectsOf, stringsOf, type JsonObject } from '../values/json.js';
import { LazyProperties } from './lazy-properties.js';
import { lazyPattern } from './pattern.js';
import type { ListType, Schema, SchemaType, ValidationRule } from './schema.js';
import { schemaWeight } from './weight.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const types: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);
const listTypes: ReadonlySet<unknown> = new Set(['atomic', 'set', 'map']);

function isType(value: unknown): value is SchemaType {
  return types.has(value);
}

function isListType(value: unknown): value is ListType {
  return listTypes.has(value);
}

const numericKeywords = [
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;
const flagKeywords = ['exclusiveMinimum', 'exclusiveMaximum', 'uniqueItems', 'nullable'] as const;
const junctors = ['allOf', 'anyOf', 'oneOf'] as const;

function compileRule(source: JsonObject): ValidationRule {
  const rule: Mutable<ValidationRule> = { rule: typeof source['rule'] === 'string' ? source['rule'] : '' };
  for (const name of ['message', 'messageExpression', 'reason', 'fieldPath'] as const) {
    const value = source[name];
    if (typeof value === 'string') rule[name] = value;
  }
  if (typeof source['optionalOldSelf'] === 'boolean') rule.optionalOldSelf = source['optionalOldSelf'];
  return rule;
}

function compileConstraints(source: JsonObject, schema: Mutable<Schema>): void {
  for (const name of numericKeywords) {
    const value = numberOf(source[name]);
    if (value !== undefined) schema[name] = value;
  }
  for (const name of flagKeywords) if (source[name] === true) schema[name] = true;
  if (typeof source['format'] === 'string' && source['format'] !== '') schema.format = source['format'];
  if (Array.isArray(source['enum'])) schema.enum = cloneJson(arrayOf(source['enum']));
  if (typeof source['pattern'] === 'string' && source['pattern'] !== '') {
    schema.pattern = lazyPattern(source['pattern']);
  }
  const required = stringsOf(source['required']);
  if (required.length > 0) schema.required = required;
  for (const name of junctors) {
    const parts = objectsOf(source[name]);
    if (parts.length > 0) schema[name] = parts.map(compileSchema);
  }
  if (isObject(source['not'])) schema.not = compileSchema(source['not']);
}

function compileExtensions(source: JsonObject, schema: Mutable<Schema>): void {
  if (source['x-kubernetes-preserve-unknown-fields'] === true) schema.preserveUnknown = true;
  if (source['x-kubernetes-embedded-resource'] === true) schema.embedded = true;
  if (source['x-kubernetes-int-or-string'] === true) schema.intOrString = true;
  const listType = source['x-kubernetes-list-type'];
  if (isListType(listType)) schema.listType = listType;
  const keys = stringsOf(source['x-kubernetes-list-map-keys']);
  if (keys.length > 0) schema.listMapKeys = keys;
  const mapType = source['x-kubernetes-map-type'];
  if (mapType === 'atomic' || mapType === 'granular') schema.mapType = mapType;
  const rules = objectsOf(source['x-kubernetes-validations']);
  if (rules.length > 0) schema.rules = rules.map(compileRule);
}

/**
 * Compiles an `openAPIV3Schema`; named properties on first use. Takes any JSON object. The CRD validation reports
 * malformed parts.
 */
export function compileSchema(source: JsonObject): Schema {
  const schema: Mutable<Schema> = {};
  if (isType(source['type'])) schema.type = source['type'];
  if (source['default'] !== undefined && source['default'] !== null) schema.default = cloneJson(source['default']);
  compileConstraints(source, schema);
  compileExtensions(source, schema);

  const properties = source['properties'];
  if (isObject(properties)) schema.properties = new LazyProperties(properties, compileSchema);
  const additional = source['additionalProperties'];
  if (isObject(additional)) schema.additional = compileSchema(additional);
  else if (additional === true) schema.additional = true;
  else if (additional === false) {
    // As upstream, pruning leaves them for the validation to refuse.
    schema.additional = {};
    schema.isClosed = true;
  }
  if (isObject(source['items'])) schema.items = compileSchema(source['items']);
  const { rules, defaults, listTypes } = schemaWeight(source);
  schema.has = { rules: rules > 0, defaults: defaults > 0, listTypes: listTypes > 0 };
  return schema;
}
