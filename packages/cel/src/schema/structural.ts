/** A CEL rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** Properties of a node of a structural schema (`openAPIV3Schema`) that CEL needs. */
export interface StructuralSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly nullable?: boolean;
  readonly properties?: ReadonlyMap<string, StructuralSchema>;
  readonly additional?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly hasDefault?: boolean;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly intOrString?: boolean;
  /** Whether any value is allowed here and CEL sees it as it is; no schema keyword sets this. */
  readonly dynamic?: boolean;
  readonly preserveUnknown?: boolean;
  readonly embedded?: boolean;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly rules?: readonly ValidationRule[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Json = Readonly<Record<string, unknown>>;

const types: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isType(value: unknown): value is NonNullable<StructuralSchema['type']> {
  return types.has(value);
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function ruleOf(source: Json): ValidationRule {
  const rule: Mutable<ValidationRule> = { rule: typeof source['rule'] === 'string' ? source['rule'] : '' };
  for (const name of ['message', 'messageExpression', 'reason', 'fieldPath'] as const) {
    const value = source[name];
    if (typeof value === 'string') rule[name] = value;
  }
  if (typeof source['optionalOldSelf'] === 'boolean') rule.optionalOldSelf = source['optionalOldSelf'];
  return rule;
}

function readLimits(source: Json, schema: Mutable<StructuralSchema>): void {
  for (const name of ['maxLength', 'maxItems', 'maxProperties'] as const) {
    const value = source[name];
    if (typeof value === 'number' || typeof value === 'bigint') schema[name] = Number(value);
  }
  if (typeof source['format'] === 'string') schema.format = source['format'];
  if (Array.isArray(source['enum'])) schema.enum = source['enum'];
  const required = stringsOf(source['required']);
  if (required.length > 0) schema.required = required;
}

function readExtensions(source: Json, schema: Mutable<StructuralSchema>): void {
  if (source['nullable'] === true) schema.nullable = true;
  if (source['default'] !== undefined && source['default'] !== null) schema.hasDefault = true;
  if (source['x-kubernetes-int-or-string'] === true) schema.intOrString = true;
  if (source['x-kubernetes-preserve-unknown-fields'] === true) schema.preserveUnknown = true;
  if (source['x-kubernetes-embedded-resource'] === true) schema.embedded = true;
  const listType = source['x-kubernetes-list-type'];
  if (listType === 'atomic' || listType === 'set' || listType === 'map') schema.listType = listType;
  const keys = stringsOf(source['x-kubernetes-list-map-keys']);
  if (keys.length > 0) schema.listMapKeys = keys;
  const mapType = source['x-kubernetes-map-type'];
  if (mapType === 'atomic' || mapType === 'granular') schema.mapType = mapType;
  const rules = source['x-kubernetes-validations'];
  if (Array.isArray(rules)) schema.rules = rules.filter(isJson).map(ruleOf);
}

/**
 * Reads an `openAPIV3Schema`. Takes any JSON object. The validation of the CustomResourceDefinition checks whether it
 * is structural; malformed parts are left out here.
 */
export function structuralSchema(source: object): StructuralSchema {
  const schema: Mutable<StructuralSchema> = {};
  if (!isJson(source)) return schema;
  if (isType(source['type'])) schema.type = source['type'];
  readLimits(source, schema);
  readExtensions(source, schema);
  if (isJson(source['properties'])) {
    schema.properties = new Map(
      Object.entries(source['properties']).map(([name, property]) => [
        name,
        structuralSchema(isJson(property) ? property : {}),
      ]),
    );
  }
  if (isJson(source['additionalProperties'])) schema.additional = structuralSchema(source['additionalProperties']);
  if (isJson(source['items'])) schema.items = structuralSchema(source['items']);
  return schema;
}

const text: StructuralSchema = { type: 'string' };
const objectMeta: StructuralSchema = {
  type: 'object',
  properties: new Map([
    ['name', text],
    ['generateName', text],
  ]),
};

/** The schema with `kind`, `apiVersion` and `metadata`, which a resource always has; other metadata is not exposed. */
export function withTypeAndObjectMeta(schema: StructuralSchema): StructuralSchema {
  const properties = new Map(schema.properties);
  properties.set('kind', text).set('apiVersion', text).set('metadata', objectMeta);
  return { ...schema, properties };
}
