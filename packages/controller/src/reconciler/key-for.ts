import type { KeyOf, Kind, ObjectKey } from '@kctl/apimachinery';

/** A request as a key of the kind. @throws TypeError when the namespace is missing */
export function keyFor<K extends Kind>(kind: K, key: ObjectKey): KeyOf<K> {
  if (!isKeyOf(kind, key))
    throw new TypeError(`${kind.kind} ${key.name} needs a namespace: ${kind.kind} is namespaced`);
  return key;
}

function isKeyOf<K extends Kind>(kind: K, key: ObjectKey): key is ObjectKey & KeyOf<K> {
  return kind.scope === 'Cluster' || (key.namespace !== undefined && key.namespace !== '');
}
