import { deepFreeze, mutableCopy } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import type { CacheView } from './cache-view.js';

/** Returns the object as a store of this kind would hold it, frozen; undefined if the store would exclude it. */
export function projected(
  cache: CacheView,
  kind: Kind,
  object: DeepReadonly<KubeObject>,
): DeepReadonly<KubeObject> | undefined {
  if (cache.project !== undefined) {
    // The whole object, even for a store of metadata, because its selectors may use any field.
    const held = cache.project(kind, mutableCopy(object));
    return held === undefined ? undefined : deepFreeze(ofShape(kind, held));
  }
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return deepFreeze(mutableCopy(ofShape(kind, { ...object, metadata })));
}

/**
 * Reports whether a store of this kind would hold the object; true if the cache fails to report it, which must not fail
 * a write.
 */
export function isHeld(cache: CacheView, kind: Kind, object: DeepReadonly<KubeObject>): boolean {
  try {
    return projected(cache, kind, object) !== undefined;
  } catch {
    return true;
  }
}

function ofShape(kind: Kind, object: DeepReadonly<KubeObject>): DeepReadonly<KubeObject> {
  if (kind.shape !== 'metadata') return object;
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: object.metadata };
}
