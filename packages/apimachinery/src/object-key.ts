import type { Kind } from './kind.js';
import { metadataOf, requireRecord, requireText } from './arguments/require-arguments.js';

/** Namespace and name of an object; cluster-scoped objects have no namespace. Mirrors `types.NamespacedName`. */
export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/**
 * The key of a namespaced object.
 *
 * @example
 * ```ts
 * import type { NamespacedKey } from '@kctl/apimachinery';
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 *
 * const settingsOf = ({ namespace, name }: NamespacedKey) =>
 *   client.get(ConfigMap, { namespace, name: `${name}-settings` });
 * ```
 */
export interface NamespacedKey extends ObjectKey {
  readonly namespace: string;
}

/**
 * The key of objects of kind `K`. It has a namespace if the kind is namespaced, so that forgetting it does not compile.
 */
export type KeyOf<K extends Kind> = K['scope'] extends 'Namespaced' ? NamespacedKey : ObjectKey;

/**
 * Reference to one object of kind `K` in a call, either its key or the object itself as it was read, in any form
 * (whole, frozen, metadata alone). Only the name and namespace of an object are used.
 */
export type KeyOrObject<K extends Kind> = KeyOf<K> | { readonly metadata: KeyOf<K> };

/**
 * Returns the key of an object, with a namespace by type if the object has one by type. @throws TypeError when it has
 * no name
 *
 * @example
 * ```ts
 * import { keyOf } from '@kctl/apimachinery';
 *
 * keyOf({ metadata: { namespace: 'shop', name: 'web-0' } }); // { namespace: 'shop', name: 'web-0' }
 * ```
 */
export function keyOf(object: { readonly metadata: NamespacedKey }): NamespacedKey;
export function keyOf(object: {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}): ObjectKey;
export function keyOf(object: {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}): ObjectKey {
  const metadata = metadataOf('keyOf', 'object', object);
  // JSON may have null for an absent value.
  const name = metadata.name ?? '';
  const namespace = metadata.namespace ?? '';
  if (name === '') throw new TypeError('keyOf: metadata.name is not set: an object without a name has no key');
  return namespace === '' ? { name } : { namespace, name };
}

/**
 * Returns `namespace/name`, or `name` alone, which is client-go's key string.
 *
 * @example
 * ```ts
 * import { formatKey } from '@kctl/apimachinery';
 *
 * formatKey({ namespace: 'shop', name: 'web-0' }); // 'shop/web-0'
 * formatKey({ name: 'node-1' }); // 'node-1'
 * ```
 */
export function formatKey(key: ObjectKey): string {
  requireRecord('formatKey', 'key', key, 'an object with name, and namespace where there is one');
  const namespace = key.namespace ?? '';
  return namespace === '' ? key.name : `${namespace}/${key.name}`;
}

/**
 * The inverse of {@link formatKey}. @throws TypeError when there is more than one slash or no name
 *
 * @example
 * ```ts
 * import { parseKey } from '@kctl/apimachinery';
 *
 * const { namespace = 'default', name } = parseKey('shop/web-0');
 * ```
 */
export function parseKey(text: string): ObjectKey {
  requireText('parseKey', 'key', text);
  const parts = text.split('/');
  const [first = '', second] = parts;
  const isKey = parts.length === 1 ? first !== '' : parts.length === 2 && second !== '';
  if (!isKey) throw new TypeError(`parseKey: ${JSON.stringify(text)} is not a key: expected name or namespace/name`);
  return second === undefined ? { name: first } : first === '' ? { name: second } : { namespace: first, name: second };
}
