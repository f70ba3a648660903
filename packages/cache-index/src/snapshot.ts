import type { KubeObject } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import type { IndexSnapshot } from './index-reader.js';
import { pick } from './pick.js';
import type { StoredObject } from './stored-object.js';

/** Versions never change, so keeping them is all that a snapshot takes. */
export function createSnapshot<T extends KubeObject>(
  versions: readonly StoredObject<T>[],
  resourceVersion: string,
  onUnreadable?: (error: unknown) => void,
): IndexSnapshot<T> {
  let byKey: Map<string, StoredObject<T>> | undefined;
  return {
    size: versions.length,
    resourceVersion,
    get: (key) => {
      byKey ??= new Map(versions.map((stored) => [formatKey(stored), stored]));
      return byKey.get(formatKey(key))?.object;
    },
    list: ({ namespace, selector } = {}) =>
      pick(namespace === undefined ? versions : versions.filter((stored) => stored.namespace === namespace), {
        selector,
        storedOf: (stored) => stored,
        read: (stored) => stored.object,
        onUnreadable,
      }),
  };
}
