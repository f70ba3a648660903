/** The schema of a custom resource as OpenAPI documents publish it. */
import { arrayOf, isObject, objectOf, stringOf, type JsonObject } from '@kctl/crd/internal/engine';
import type { ResourceDefinition } from '../../resource/resource.js';
import { modelName, sharedNames } from './custom-paths.js';
import type { CustomTexts } from './custom-texts.js';
import { schemaInOrder } from './go-order.js';

/** The versions of OpenAPI, of which v2 is less expressive. */
export type OpenApiVersion = 'v2' | 'v3';

/** Version and wording that a document is written in. */
interface Style {
  readonly version: OpenApiVersion;
  readonly texts: CustomTexts;
}

const plain = ['description', 'title', 'example', 'externalDocs', 'format', 'pattern', 'enum'];
const numbers = [
  ...['maximum', 'minimum', 'maxLength', 'minLength', 'maxItems', 'minItems'],
  ...['multipleOf', 'maxProperties', 'minProperties'],
];
const flags = ['exclusiveMaximum', 'exclusiveMinimum', 'uniqueItems'];
const extensions = ['x-kubernetes-list-type', 'x-kubernetes-map-type'];
const extensionFlags = [
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
];
const extensionLists = ['x-kubernetes-list-map-keys', 'x-kubernetes-validations'];
const junctors = ['allOf', 'anyOf', 'oneOf'];

const integerOrString = (): JsonObject[] => [{ type: 'integer' }, { type: 'string' }];

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** Keywords of a schema besides its children, without empty ones. */
function ownFacts(schema: JsonObject, version: OpenApiVersion): JsonObject {
  const facts: JsonObject = {};
  for (const name of plain) if (isFilled(schema[name])) facts[name] = schema[name];
  for (const name of numbers) if (typeof schema[name] === 'number') facts[name] = schema[name];
  for (const name of [...flags, ...extensionFlags]) if (schema[name] === true) facts[name] = true;
  for (const name of extensions) if (stringOf(schema[name]) !== '') facts[name] = schema[name];
  for (const name of [...extensionLists, 'required']) if (arrayOf(schema[name]).length > 0) facts[name] = schema[name];
  if (version === 'v3' && schema['default'] !== undefined && schema['default'] !== null)
    facts['default'] = schema['default'];
  return facts;
}

function isIntegerOrString(value: unknown): boolean {
  const types = arrayOf(value).map((each) => (isObject(each) && Object.keys(each).length === 1 ? each['type'] : ''));
  return types.length === 2 && types[0] === 'integer' && types[1] === 'string';
}

/** The value validations of `x-kubernetes-int-or-string`, spelt out if the schema does not have them. */
function spellOutIntOrString(published: JsonObject): void {
  if (published['x-kubernetes-int-or-string'] !== true) return;
  const allOf = arrayOf(published['allOf']);
  const [first] = allOf;
  if (isIntegerOrString(published['anyOf']) || (isObject(first) && isIntegerOrString(first['anyOf']))) return;
  if (published['anyOf'] === undefined) published['anyOf'] = integerOrString();
  else published['allOf'] = [{ anyOf: integerOrString() }, ...allOf];
}

/** Drops from a published schema what v2 cannot express, or what its clients cannot handle. */
function reduceToV2(published: JsonObject, source: JsonObject): void {
  for (const name of [...junctors, 'not']) delete published[name];
  if (source['nullable'] === true) for (const name of ['type', 'items', 'properties']) delete published[name];
  const keepsUnknown = source['x-kubernetes-preserve-unknown-fields'] === true;
  if (keepsUnknown) for (const name of ['items', 'properties']) delete published[name];
  const { type } = published;
  if ((type === 'array' && published['items'] === undefined) || (type === 'object' && keepsUnknown))
    delete published['type'];
  const isNullable = (name: unknown): boolean =>
    published['properties'] !== undefined &&
    objectOf(objectOf(source['properties'])[String(name)])['nullable'] === true;
  const required = arrayOf(published['required']).filter((name) => !isNullable(name));
  if (required.length === 0 || objectOf(source['additionalProperties'])['nullable'] === true)
    delete published['required'];
  else published['required'] = required;
}

/** A schema without type, description and the like, as it stands in `allOf` and similar keywords. */
function nested(schema: unknown, { texts }: Style): JsonObject {
  return published(objectOf(schema), { version: 'v3', texts });
}

function addChildren(target: JsonObject, schema: JsonObject, style: Style): void {
  const { properties, items, additionalProperties: more } = schema;
  if (isObject(properties) && Object.keys(properties).length > 0)
    target['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, child]) => [name, published(objectOf(child), style)]),
    );
  if (isObject(items)) target['items'] = published(items, style);
  if (typeof more === 'boolean') target['additionalProperties'] = more;
  else if (isObject(more)) target['additionalProperties'] = published(more, style);
  for (const name of junctors) {
    const members = arrayOf(schema[name]);
    if (members.length > 0) target[name] = members.map((member) => nested(member, style));
  }
  if (isObject(schema['not'])) target['not'] = nested(schema['not'], style);
}

/** An object inside of an object has its own kind and metadata. */
function addEmbedded(target: JsonObject, style: Style): void {
  if (target['x-kubernetes-embedded-resource'] !== true) return;
  if (style.version === 'v2' && target['x-kubernetes-preserve-unknown-fields'] === true) return;
  addObjectFields(target, style.texts.embeddedTypeMeta, style);
  const required = arrayOf(target['required']);
  target['required'] = [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))];
}

function addObjectFields(target: JsonObject, typeMeta: JsonObject, { version, texts }: Style): void {
  target['properties'] = {
    ...objectOf(target['properties']),
    ...typeMeta,
    metadata: described(sharedNames.objectMeta, texts.metadata, version),
  };
}

function published(schema: JsonObject, style: Style): JsonObject {
  const { version } = style;
  const target = ownFacts(schema, version);
  if (stringOf(schema['type']) !== '') target['type'] = schema['type'];
  if (version === 'v3' && schema['nullable'] === true) target['nullable'] = true;
  addChildren(target, schema, style);
  spellOutIntOrString(target);
  if (version === 'v2') reduceToV2(target, schema);
  addEmbedded(target, style);
  return target;
}

function reference(model: string, version: OpenApiVersion): JsonObject {
  return { $ref: `#/${version === 'v2' ? 'definitions' : 'components/schemas'}/${model}` };
}

/** A reference with a description, since in v3 nothing stands beside `$ref`. */
function described(model: string, description: string, version: OpenApiVersion): JsonObject {
  return version === 'v2'
    ? { ...reference(model, version), description }
    : { allOf: [reference(model, version)], description };
}

/** A version of a custom resource, and the source of its schema. */
export interface CustomKind {
  readonly definition: ResourceDefinition;
  readonly schema: JsonObject | undefined;
  /** Whether the definition as a whole keeps unknown fields. */
  readonly keepsUnknown: boolean;
}

function ownSchema({ schema, keepsUnknown }: CustomKind, style: Style): JsonObject {
  if (schema === undefined) return { type: 'object' };
  // Clients of v2 would take what is not listed for unknown.
  if (style.version === 'v2' && (keepsUnknown || schema['x-kubernetes-preserve-unknown-fields'] === true))
    return { type: 'object' };
  const target = published(schema, style);
  addObjectFields(target, style.texts.typeMeta, style);
  return target;
}

/** The definitions of a custom resource and of its list, by their names. */
export function customSchemas(kind: CustomKind, style: Style): JsonObject {
  const { version, texts } = style;
  const { definition } = kind;
  const { group, version: apiVersion, kind: name, listKind, plural, selectableFields } = definition;
  const describe = (kindName: string): JsonObject => ({
    'x-kubernetes-group-version-kind': [{ group, kind: kindName, version: apiVersion }],
    ...(selectableFields.length > 0 && {
      'x-kubernetes-selectable-fields': selectableFields.map((fieldPath) => ({ fieldPath })),
    }),
  });
  const model = modelName(definition, name);
  const list = {
    description: `${listKind} is a list of ${name}`,
    properties: {
      ...texts.typeMeta,
      items: { description: texts.listItems(plural), items: reference(model, version), type: 'array' },
      metadata: described(sharedNames.listMeta, texts.listMetadata, version),
    },
    required: ['items'],
    type: 'object',
    ...describe(listKind),
  };
  return {
    [model]: schemaInOrder({ ...ownSchema(kind, style), ...describe(name) }),
    [modelName(definition, listKind)]: schemaInOrder(list),
  };
}
