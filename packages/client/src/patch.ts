import { createJsonPatch, createMergePatch } from '@kctl/apimachinery';
import type {
  DeepReadonly,
  JsonPatchOperation,
  Kind,
  KubeObject,
  ObjectOf,
  Primitive,
  Unread,
} from '@kctl/apimachinery';
import { isSet } from './kube-object.js';
import { requireObject, requireOptionsObject } from './checks/require-arguments.js';
import { requireOptions, booleanOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';

export type { JsonPatchOperation } from '@kctl/apimachinery';

/** A change to send instead of a whole object, by its content type. */
export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'merge'; readonly body: object }
  | { readonly type: 'strategic'; readonly body: object }
  | { readonly type: 'apply'; readonly body: object };

/** Options of {@link mergeFrom}. */
export interface MergeFromOptions {
  /**
   * Sends the resourceVersion of `original` along, so that the server refuses the patch with a conflict when the object
   * has changed since. Needed whenever a list is changed, because a merge patch replaces lists as a whole, including
   * items that others have added in the meantime.
   *
   * @default false
   */
  readonly optimisticLock?: boolean;
}

const mergeFromOptionNames: OptionNames<MergeFromOptions> = { optimisticLock: booleanOption };

/**
 * The merge patch that turns `original` into `modified`. Mirrors `client.MergeFrom` and
 * `MergeFromWithOptimisticLock`.
 *
 * @throws TypeError when an optimistic lock is requested and `original` has no resourceVersion
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { mergeFrom } from '@kctl/client';
 *
 * const labelled = { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, checked: 'true' } } };
 * await client.patch(Pod, pod, mergeFrom(pod, labelled)); // sends the label alone
 * ```
 */
export function mergeFrom<T extends DeepReadonly<KubeObject>>(
  original: T,
  modified: DeepReadonly<Unread<NoInfer<T>>>,
  options: MergeFromOptions = {},
): Patch & { readonly type: 'merge' } {
  requireOptionsObject('mergeFrom', options);
  requireOptions('mergeFrom', options, mergeFromOptionNames);
  const body = createMergePatch(original, modified);
  return { type: 'merge', body: options.optimisticLock === true ? lockOn('mergeFrom', original, body) : body };
}

/** The body of a patch with the resourceVersion that its object must have. */
export function lockOn(
  what: string,
  original: DeepReadonly<KubeObject>,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  requireObject(what, 'original', original);
  const { resourceVersion } = original.metadata;
  if (!isSet(resourceVersion) || resourceVersion === '')
    throw new TypeError(`${what}: the original has no resourceVersion to lock on: pass the object as it was read`);
  return { ...body, metadata: { ...memberOf(body, 'metadata'), resourceVersion } };
}

function memberOf(body: Readonly<Record<string, unknown>>, key: string): object {
  const value = body[key];
  return typeof value === 'object' && value !== null ? value : {};
}

/** A JSON patch of these operations. */
export function jsonPatch(...operations: readonly JsonPatchOperation[]): Patch & { readonly type: 'json' } {
  return { type: 'json', operations };
}

/** The JSON patch that turns `original` into `modified`; add `test` operations in front to guard it. */
export function jsonPatchFrom(original: object, modified: object): Patch & { readonly type: 'json' } {
  return { type: 'json', operations: createJsonPatch(original, modified) };
}

/**
 * The body of a merge patch of a type, which may contain any of its fields. null deletes a field, and a list replaces
 * the list.
 */
export type MergePatchBody<T> = T extends Primitive
  ? T
  : T extends readonly (infer E)[]
    ? readonly DeepReadonly<E>[]
    : T extends object
      ? { readonly [P in keyof T]?: MergePatchBody<T[P]> | null }
      : T;

/** Directives of a strategic merge patch for an object or for an item of a list. */
export interface StrategicDirectives {
  /** `delete` deletes the item or object; `replace` takes the rest as it is, in a list the whole list. */
  readonly $patch?: 'delete' | 'replace' | 'merge';
  /** Fields of a union that stay; the others are deleted. */
  readonly $retainKeys?: readonly string[];
  /** The order of a list. */
  readonly [order: `$setElementOrder/${string}`]: readonly unknown[] | undefined;
  /** Items to delete from a list of strings or numbers. */
  readonly [items: `$deleteFromPrimitiveList/${string}`]: readonly unknown[] | undefined;
}

/**
 * The body of a strategic merge patch of a type, with any of its fields, and of the items of its lists. null deletes a
 * field.
 */
export type StrategicPatchBody<T> = T extends Primitive
  ? T
  : T extends readonly (infer E)[]
    ? readonly StrategicPatchBody<E>[]
    : T extends object
      ? { readonly [P in keyof T]?: StrategicPatchBody<T[P]> | null } & StrategicDirectives
      : T;

/**
 * A JSON merge patch with this body. With a kind, the body is checked against its type.
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { mergePatch } from '@kctl/client';
 *
 * const key = { namespace: 'shop', name: 'settings' };
 * await client.patch(ConfigMap, key, mergePatch(ConfigMap, { data: { colour: 'red', size: null } }));
 * ```
 */
export function mergePatch(body: object): Patch & { readonly type: 'merge' };
export function mergePatch<K extends Kind>(
  kind: K,
  body: MergePatchBody<ObjectOf<K>>,
): Patch & { readonly type: 'merge' };
export function mergePatch(first: object, body: object = first): Patch & { readonly type: 'merge' } {
  return { type: 'merge', body };
}

/**
 * Returns a strategic merge patch with this body, for built-in kinds, which merge some lists by key. With a kind, the
 * body is checked against its type.
 */
export function strategicPatch(body: object): Patch & { readonly type: 'strategic' };
export function strategicPatch<K extends Kind>(
  kind: K,
  body: StrategicPatchBody<ObjectOf<K>>,
): Patch & { readonly type: 'strategic' };
export function strategicPatch(first: object, body: object = first): Patch & { readonly type: 'strategic' } {
  return { type: 'strategic', body };
}

/**
 * Returns a server-side apply of this object, whose fields are the field owner's configuration. It must set
 * `apiVersion`, `kind` and `metadata.name`; `apply` fills them in.
 */
export function applyPatch(object: object): Patch & { readonly type: 'apply' } {
  return { type: 'apply', body: object };
}

/**
 * Reports whether a patch changes nothing, so that there is no need to send it. An apply is never empty, because it
 * claims fields.
 */
export function isEmptyPatch(patch: Patch): boolean {
  requireOptionsObject('isEmptyPatch', patch, 'a patch, such as mergeFrom returns');
  switch (patch.type) {
    case 'json':
      return patch.operations.every(({ op }) => op === 'test');
    case 'merge':
    case 'strategic':
      return Object.keys(patch.body).length === 0;
    case 'apply':
      return false;
  }
}
