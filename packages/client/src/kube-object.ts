import { isJsonObject } from '@kctl/apimachinery/internal';
import type {
  DeepReadonly,
  DraftOf,
  KeyOf,
  Kind,
  KubeObject,
  ManagedFieldsEntry,
  ObjectMeta,
} from '@kctl/apimachinery';

/** The metadata of any object, because in generic code TypeScript does not see that every kind has metadata. */
export function metadataOf(object: unknown): DeepReadonly<ObjectMeta> {
  if (isKubeObject(object)) return object.metadata;
  throw new TypeError('the object has no metadata: expected a Kubernetes object');
}

/** The finalizers of any object: JSON may have anything in the place of the list. */
export function finalizersOf(object: unknown): readonly string[] {
  const { finalizers } = metadataOf(object);
  const isList: boolean = Array.isArray(finalizers);
  return isList ? (finalizers ?? []) : [];
}

/** The managed fields of any object, but for what is not an entry among them. */
export function managedFieldsOf(object: unknown): readonly DeepReadonly<ManagedFieldsEntry>[] {
  const { managedFields } = metadataOf(object);
  return Array.isArray(managedFields) ? managedFields.filter((entry) => isJsonObject(entry)) : [];
}

/** Reports whether there is a value. JSON may have null for a type's undefined. */
export function isSet<T>(value: T): value is NonNullable<T> {
  return value !== undefined && value !== null;
}

/** Whether a value has the form of a Kubernetes object. */
export function isKubeObject(value: unknown): value is DeepReadonly<KubeObject> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'metadata' in value &&
    typeof value.metadata === 'object' &&
    value.metadata !== null
  );
}

/**
 * Returns the key of an object of a kind. @throws TypeError when it has no name, or no namespace although the kind
 * needs one
 */
export function keyOfKind<K extends Kind>(kind: K, object: unknown): KeyOf<K>;
export function keyOfKind(kind: Kind, object: unknown): object {
  const metadata = metadataOf(object);
  const name = metadata.name ?? '';
  const namespace = metadata.namespace ?? '';
  if (name === '') throw new TypeError(`${kind.kind}: metadata.name is not set`);
  if (kind.scope === 'Cluster') return { name };
  if (namespace === '')
    throw new TypeError(`${kind.kind} ${name}: metadata.namespace is not set, and the kind is namespaced`);
  return { namespace, name };
}

/** A new object of a kind that has nothing but its identity. */
export function emptyObject<K extends Kind>(kind: K, key: KeyOf<K>): DraftOf<K>;
export function emptyObject(kind: Kind, key: { readonly namespace?: string; readonly name: string }): object {
  const { namespace, name } = key;
  const metadata = (namespace ?? '') === '' || kind.scope === 'Cluster' ? { name } : { namespace, name };
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata };
}
