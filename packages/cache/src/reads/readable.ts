import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import { isObjectDecodeError } from '@kctl/informer';

/**
 * The object of a version; undefined if its bytes are not a valid object. The informer has reported that, and a list
 * leaves the object out, so it costs one object, not the list.
 */
export function readable<T extends KubeObject>(stored: StoredObject<T>): DeepReadonly<T> | undefined {
  try {
    return stored.object;
  } catch (error) {
    if (isObjectDecodeError(error)) return undefined;
    throw error;
  }
}

/** The objects of versions, without those that cannot be read. */
export function readableOf<T extends KubeObject>(versions: readonly StoredObject<T>[]): DeepReadonly<T>[] {
  const objects: DeepReadonly<T>[] = [];
  for (const stored of versions) {
    const object = readable(stored);
    if (object !== undefined) objects.push(object);
  }
  return objects;
}
