import { isObject, objectsOf, stringOf, type JsonObject } from '../engine/values/json.js';

/** A built-in type of Kubernetes, with its TypeScript source, and whether it is imported from `@kctl/apimachinery`. */
export interface KnownModel {
  readonly text: string;
  readonly imported: boolean;
}

const metaTypes: ReadonlySet<string> = new Set([
  'Condition',
  'LabelSelector',
  'ListMeta',
  'ObjectMeta',
  'OwnerReference',
]);

/** The types of `@kctl/apimachinery` that stand for models. */
export const importableTypes: readonly string[] = [...metaTypes, 'IntOrString', 'Quantity'];

const open = 'Record<string, unknown>';

/** Types for models that every server has, whatever group they are in. */
export function knownModel(name: string): KnownModel | undefined {
  const last = name.slice(name.lastIndexOf('.') + 1);
  if (/\.apis\.meta\.v1\.\w+$/.test(name)) {
    if (metaTypes.has(last)) return { text: last, imported: true };
    if (last === 'Time' || last === 'MicroTime' || last === 'Duration') return { text: 'string', imported: false };
    if (last === 'FieldsV1') return { text: open, imported: false };
  }
  if (/\.api\.resource\.Quantity$/.test(name)) return { text: 'Quantity', imported: true };
  if (/\.util\.intstr\.IntOrString$/.test(name)) return { text: 'IntOrString', imported: true };
  if (/\.pkg\.runtime\.(?:RawExtension|Object|Unknown)$/.test(name)) return { text: open, imported: false };
  return undefined;
}

/** The model that a schema refers to, also if the reference is the only item of `allOf`, as API servers write it. */
export function modelOf(schema: JsonObject): string | undefined {
  const direct = nameOfReference(schema['$ref']);
  if (direct !== undefined) return direct;
  const [only, ...others] = objectsOf(schema['allOf']);
  return only === undefined || others.length > 0 ? undefined : nameOfReference(only['$ref']);
}

function nameOfReference(reference: unknown): string | undefined {
  const match = /^#\/(?:components\/schemas|definitions)\/(.+)$/.exec(stringOf(reference));
  return match?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Resolves a schema to itself if it is not a reference; undefined if the document does not have it. */
export function dereferenced(schema: JsonObject, models: JsonObject | undefined): JsonObject | undefined {
  let current = schema;
  for (const seen = new Set<string>(); ; ) {
    const name = modelOf(current);
    if (name === undefined) return current;
    const target = models !== undefined && Object.hasOwn(models, name) ? models[name] : undefined;
    if (seen.has(name) || !isObject(target)) return undefined;
    seen.add(name);
    current = target;
  }
}

/**
 * Leaves out defaults of an OpenAPI document that only show the zero value of a Go field: `{}` of a struct, and `""` or 0 of
 * what is required.
 */
export function withoutZeroDefault(schema: JsonObject, isRequired: boolean): JsonObject {
  const { default: value, ...rest } = schema;
  const isEmpty = isObject(value) && Object.keys(value).length === 0;
  return isEmpty || (isRequired && (value === '' || value === 0 || value === false)) ? rest : schema;
}
