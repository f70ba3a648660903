import type { KeyOf, KeyOrObject, Kind, ObjectKey } from '@kctl/apimachinery';
import { parseApiVersion } from '@kctl/apimachinery';
import { formatGroupKind, isJsonObject } from '@kctl/apimachinery/internal';
import { shownValue } from '@kctl/options';
import { isKubeObject } from '../kube-object.js';

/** For clients. Refuses a value that cannot be a kind, which an import under a wrong name yields. @throws TypeError */
export function requireKind(verb: string, kind: unknown): void {
  const given = kind;
  const isKind =
    isJsonObject(given) && ['plural', 'apiVersion', 'kind'].every((member) => typeof given[member] === 'string');
  if (!isKind)
    throw new TypeError(
      `${verb}: the kind is ${typeof given === 'object' && given !== null ? 'not a Kind' : shownValue(given)}: expected a token such as ConfigMap or what defineKind returns; is its import right?`,
    );
}

/**
 * For clients. As {@link requireKind}, and returns the key that a call gives as a key or as an object of the kind.
 *
 * @throws TypeError if it has no name, or no namespace although the kind needs one, and for an object of another kind,
 * which a cache would look up, not find, and report as gone
 */
export function requireKey<K extends Kind>(verb: string, kind: K, named: KeyOrObject<K>): KeyOf<K> {
  const key = keyIn(verb, kind, named);
  if (key.name === '')
    throw new TypeError(
      `${verb} ${kind.kind}: name "" is not valid: expected the name of an object, which is not empty`,
    );
  if (kind.scope === 'Cluster' || (key.namespace ?? '') !== '') return key;
  throw new TypeError(
    `${verb} ${kind.kind} ${JSON.stringify(key.name)}: namespace is not set: ${kind.plural} live in a namespace: pass { namespace, name }`,
  );
}

/** {@link requireKey} for what fills in the namespace itself, or leaves that to a client that may do so. */
export function keyIn<K extends Kind>(verb: string, kind: K, named: KeyOrObject<K>): KeyOf<K>;
export function keyIn(verb: string, kind: Kind, named: object): ObjectKey {
  requireKind(verb, kind);
  const given: unknown = named;
  if (isKey(given)) return given;
  if (isKubeObject(given) && isKey(given.metadata)) {
    requireSameKind(verb, kind, given);
    const { name } = given.metadata;
    // JSON may have null for an absent value.
    const namespace = given.metadata.namespace ?? undefined;
    return namespace === undefined ? { name } : { namespace, name };
  }
  const expected = kind.scope === 'Namespaced' ? '{ namespace, name }' : '{ name }';
  throw new TypeError(
    `${verb} ${kind.kind}: the key is ${typeof given === 'object' && given !== null ? 'an object without a name' : shownValue(given)}: expected ${expected} or an object that was read`,
  );
}

function isKey(value: unknown): value is ObjectKey {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}

/** An object of another kind has the same name by accident; another version of the kind is the same object. */
function requireSameKind(
  verb: string,
  kind: Kind,
  object: { readonly apiVersion?: string; readonly kind?: string },
): void {
  const { apiVersion, kind: name } = object;
  if (typeof apiVersion !== 'string' || typeof name !== 'string' || name === 'PartialObjectMetadata') return;
  const given = { group: parseApiVersion(apiVersion).group, kind: name };
  if (given.kind === kind.kind && given.group === kind.group) return;
  throw new TypeError(
    `${verb} ${formatGroupKind(kind)}: the object is a ${formatGroupKind(given)}: pass an object of the kind, or a key`,
  );
}
