import { deepFreeze, mutableCopy } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import type { CacheView } from './cache-view.js';

/** The object as a store of this kind would hold it, frozen; undefined where the store would leave it out. */
export function projected(
  cache: CacheView,
  kind: Kind,
  object: DeepReadonly<KubeObject>,
): DeepReadonly<KubeObject> | undefined {
  const whole =
    kind.shape === 'metadata' ? { apiVersion: kind.apiVersion, kind: kind.kind, metadata: object.metadata } : object;
  if (cache.project !== undefined) {
    const held = cache.project(kind, mutableCopy(whole));
    return held === undefined ? undefined : deepFreeze(held);
  }
  const { managedFields: _managedFields, ...metadata } = whole.metadata;
  return deepFreeze(mutableCopy({ ...whole, metadata }));
}
