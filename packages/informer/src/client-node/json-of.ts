import type { Kind, ObjectMeta, ObjectOf } from '@kctl/apimachinery';
import { requireKind } from '../required.js';

/** Members of models whose names are not those of the fields, because JavaScript once reserved them. */
const reserved = { _continue: 'continue', _default: 'default', _enum: 'enum', _from: 'from', _int: 'int' } as const;

type Reserved = typeof reserved;

/** Name of the field that a member of a model stands for. */
type FieldName<K> = K extends keyof Reserved
  ? Reserved[K]
  : K extends `x_kubernetes_${infer Rest}`
    ? `x-kubernetes-${Dashed<Rest>}`
    : K;

type Dashed<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}-${Dashed<Tail>}` : Name;

type FieldOf<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? FieldOf<Item>[]
    : T extends object
      ? { [K in keyof T as FieldName<K>]: FieldOf<T[K]> }
      : T;

/**
 * JSON form of a model of `@kubernetes/client-node`, with strings in the place of Dates and the names that fields have
 * in the API. A type for `defineKind`, and the result of {@link jsonOf}. It does not have apiVersion and kind, which are
 * those of the kind.
 *
 * @example
 * ```ts
 * import { defineKind } from '@kctl/apimachinery';
 * import type { JsonOf } from '@kctl/informer/client-node';
 * import type { V1Pod } from '@kubernetes/client-node';
 *
 * type Pod = JsonOf<V1Pod>;
 * export const Pod = defineKind<Pod>()({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });
 * ```
 */
export type JsonOf<M extends object> = M extends { metadata?: object }
  ? Omit<FieldOf<M>, 'apiVersion' | 'kind' | 'metadata'> & { metadata: ObjectMeta }
  : FieldOf<M>;

/** Members with dashes in the API. A label or a field of a user may begin as they do. */
const dashed = new Set(
  ['embedded_resource', 'int_or_string', 'list_map_keys', 'list_type', 'map_type', 'preserve_unknown_fields'].map(
    (name) => `x_kubernetes_${name}`,
  ),
).add('x_kubernetes_validations');

/**
 * What the members of a value are: fields of a model, models under names that users chose, or what is written as it is,
 * apart from Dates.
 */
type Content = 'model' | 'models' | 'any';

/** Contents of fields in a literal, by name. */
const contents: ReadonlyMap<string, Content> = new Map([
  ...['annotations', 'binaryData', 'data', 'labels', 'options', 'parameters', 'stringData'].map(anyContent),
  ...['default', 'enum', 'example'].map(anyContent),
  ...['definitions', 'dependencies', 'patternProperties', 'properties'].map((name) => [name, 'models'] as const),
]);

function anyContent(name: string): readonly [string, Content] {
  return [name, 'any'];
}

/**
 * Returns the JSON form of a model of `@kubernetes/client-node` as an object of a kind, which clients of `@kctl` write.
 * The type of the kind counts, because models have strings where the API has fixed values. Members that are undefined
 * are left out; the model is not changed.
 *
 * @throws TypeError with the path of a Date that is not valid, and for a model of another kind or without metadata
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { jsonOf } from '@kctl/informer/client-node';
 *
 * const model = { metadata: { namespace: 'shop', name: 'web', creationTimestamp: new Date() } }; // a V1Pod
 * await client.create(Pod, jsonOf(Pod, model));
 * ```
 */
export function jsonOf<K extends Kind>(kind: K, model: object): ObjectOf<K>;
export function jsonOf(kind: Kind, model: unknown): unknown {
  requireKind('jsonOf', kind);
  if (!isObject(model) || !('metadata' in model) || !isObject(model.metadata))
    throw new TypeError(`jsonOf ${kind.kind}: the model has no metadata: expected one such as a V1${kind.kind}`);
  for (const name of ['apiVersion', 'kind'] as const) {
    const given: unknown = Reflect.get(model, name);
    if (given !== undefined && given !== kind[name])
      throw new TypeError(
        `jsonOf ${kind.kind}: ${name} of the model is ${JSON.stringify(given)}: expected ${JSON.stringify(kind[name])}`,
      );
  }
  return fieldOf(model, 'model', '');
}

function fieldOf(value: unknown, content: Content, path: string): unknown {
  if (!isObject(value)) return value;
  if (value instanceof Date) return timeOf(value, path);
  if (Array.isArray(value)) return value.map((item: unknown, index) => fieldOf(item, content, `${path}[${index}]`));
  const describe = content === 'model' ? fieldsOf(value) : (name: string) => [name, inside[content]] as const;
  const fields: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const [field, contentOfField] = describe(key);
    const at = path === '' ? field : `${path}.${field}`;
    // Assigning to `__proto__` would change the prototype.
    Object.defineProperty(fields, field, { value: fieldOf(member, contentOfField, at), ...ordinary });
  }
  return fields;
}

const ordinary = { writable: true, enumerable: true, configurable: true } as const;
const inside = { models: 'model', any: 'any' } as const;

/**
 * The name in the API and the content of each member of a model. One that client-node has made knows; a literal does
 * not.
 */
function fieldsOf(model: object): (member: string) => readonly [string, Content] {
  // Not that of the model itself: users may have chosen the name for a member.
  const prototype: unknown = Object.getPrototypeOf(model);
  const ofClass: unknown = isObject(prototype) ? prototype.constructor : undefined;
  const table: unknown = typeof ofClass === 'function' ? Reflect.get(ofClass, 'attributeTypeMap') : undefined;
  if (Array.isArray(table)) {
    const known = new Map(
      table.filter(isAttribute).map(({ name, baseName, type }) => [name, [baseName, contentOf(type)]] as const),
    );
    return (member) => known.get(member) ?? [member, 'model'];
  }
  return (member) => {
    const field = isReserved(member) ? reserved[member] : dashed.has(member) ? member.replaceAll('_', '-') : member;
    return [field, contents.get(field) ?? 'model'];
  };
}

/** By the type in a table of client-node, e.g. `{ [key: string]: V1JSONSchemaProps; }` or `Array<any>`. */
function contentOf(type: string): Content {
  if (/\bany\b/.test(type) || type === 'object') return 'any';
  return type.startsWith('{') ? 'models' : 'model';
}

interface Attribute {
  readonly name: string;
  readonly baseName: string;
  readonly type: string;
}

function isAttribute(value: unknown): value is Attribute {
  return isObject(value) && 'name' in value && 'baseName' in value && 'type' in value;
}

function isReserved(member: string): member is keyof Reserved {
  return Object.hasOwn(reserved, member);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** RFC 3339, without a fraction if there is none. The microseconds of a `V1MicroTime` are kept. */
function timeOf(date: Date, path: string): string {
  if (Number.isNaN(date.getTime())) throw new TypeError(`jsonOf: ${path} of the model is a Date that is not valid`);
  return date.toISOString().replace('.000Z', 'Z');
}
