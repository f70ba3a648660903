/** A JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/**
 * Types without members to make readonly or optional. Tested for first, because `string & {}` in open unions counts as
 * an object.
 */
export type Primitive = string | number | bigint | boolean | symbol | null | undefined;

/**
 * `T` with every property readonly, at every depth. The type of everything that comes out of a cache.
 *
 * @example
 * ```ts
 * import type { DeepReadonly } from '@kctl/apimachinery';
 * import type { Pod } from '@kctl/apimachinery/kinds/core/v1';
 *
 * const images = (pod: DeepReadonly<Pod>): string[] => (pod.spec?.containers ?? []).map(({ image = '' }) => image);
 * ```
 */
export type DeepReadonly<T> = T extends Primitive
  ? T
  : T extends readonly (infer E)[]
    ? readonly DeepReadonly<E>[]
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T;

/** `apiVersion` and `kind` of an object. */
export interface TypeMeta {
  apiVersion?: string;
  kind?: string;
}

/** Points from a dependent to its owner. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  /** Whether the owner is the managing controller; at most one owner is. */
  controller?: boolean;
  /** Whether a foreground deletion of the owner waits for this dependent. */
  blockOwnerDeletion?: boolean;
}

/** Field ownership, with one entry for each manager, operation and subresource. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

/** Metadata of every persisted object. Timestamps are RFC 3339 strings, exactly as the server sends them. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  /** Opaque decimal string; compare with `compareResourceVersions`, never as a number. */
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
  selfLink?: string;
}

/**
 * Any Kubernetes object, as plain JSON sent by the server.
 *
 * @example
 * ```ts
 * import type { KubeObject } from '@kctl/apimachinery';
 *
 * interface Website extends KubeObject {
 *   spec: { host: string };
 * }
 * const website: Website = { metadata: { namespace: 'shop', name: 'front' }, spec: { host: 'shop.example.com' } };
 * ```
 */
export interface KubeObject extends TypeMeta {
  metadata: ObjectMeta;
}

/** The metadata that the server sets on every stored object. */
export interface PersistedIdentity {
  name: string;
  uid: string;
  /** Opaque decimal string; compare with `compareResourceVersions`, never as a number. */
  resourceVersion: string;
}

/** An object whose shape is not known at compile time. */
export interface UntypedObject extends KubeObject {
  [field: string]: unknown;
}

/** Marks a type whose objects may lack what the server has; never present at run time. */
declare const lacksFields: unique symbol;

/**
 * `T` as held by a cache that strips objects. Functions that read a `T` can read it, but it cannot be written back in
 * place of one. That would delete the stripped fields from the server, so `update` does not compile. Patch it, or read
 * the whole object first.
 */
export type Stripped<T> = T & { readonly [lacksFields]?: true };

/** Constraint for types that replace an object on the server, which excludes {@link Stripped} and metadata alone. */
export interface WholeObject {
  readonly [lacksFields]?: never;
}

/** The metadata-only form of an object. Reading `.spec` does not compile, and neither does writing it back. */
export interface PartialObjectMetadata extends KubeObject {
  metadata: ObjectMeta;
  readonly [lacksFields]?: true;
}

/** Metadata of a list answer. */
export interface ListMeta {
  /** The version of the collection at which the list was taken. */
  resourceVersion?: string;
  /** Token for the next page; absent or '' on the last one. */
  continue?: string;
  /** The number of items that follow the last one of this page, if the server reports it. */
  remainingItemCount?: number;
}

/** A list of objects. Items carry `apiVersion` and `kind`, even if the server omits them from list items. */
export interface KubeList<T> {
  apiVersion?: string;
  kind?: string;
  metadata: ListMeta;
  items: T[];
}
