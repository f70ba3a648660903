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

/** Fields whose members are named by users, so that none of them is a field of a model. */
const maps = new Set(['annotations', 'binaryData', 'data', 'labels', 'options', 'parameters', 'stringData']);

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
  return fieldOf(model, '', '');
}

function fieldOf(value: unknown, name: string, path: string): unknown {
  if (!isObject(value)) return value;
  if (value instanceof Date) return timeOf(value, path);
  if (Array.isArray(value)) return value.map((item: unknown, index) => fieldOf(item, '', `${path}[${index}]`));
  const names = namesOf(value, name);
  const fields: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const field = names(key);
    const at = path === '' ? field : `${path}.${field}`;
    // Assigning to `__proto__` would change the prototype.
    Object.defineProperty(fields, field, { value: fieldOf(member, field, at), ...ordinary });
  }
  return fields;
}

const ordinary = { writable: true, enumerable: true, configurable: true } as const;

/** How the members of an object are named in the API. A model that client-node has made knows; a literal does not. */
function namesOf(value: object, name: string): (member: string) => string {
  const table: unknown = Reflect.get(value.constructor ?? Object, 'attributeTypeMap');
  if (Array.isArray(table)) {
    const known = new Map<string, string>(
      table.filter(isAttribute).map(({ name: member, baseName }) => [member, baseName] as const),
    );
    return (member) => known.get(member) ?? member;
  }
  if (maps.has(name)) return (member) => member;
  return (member) => {
    if (isReserved(member)) return reserved[member];
    return member.startsWith('x_kubernetes_') ? member.replaceAll('_', '-') : member;
  };
}

function isAttribute(value: unknown): value is { readonly name: string; readonly baseName: string } {
  return isObject(value) && 'name' in value && 'baseName' in value;
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
