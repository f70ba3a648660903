import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import { mutableCopy } from '@kctl/apimachinery';
import { deepFreeze } from '@kctl/cache-index/internal';
import { transformObject } from '@kctl/informer/internal';
import type { ResolvedScope } from '../cache-options.js';
import type { ScopeTable } from './scope-table.js';

/** An object as a store of these scopes holds it; undefined if they exclude it. */
export function projected(table: ScopeTable, object: KubeObject): DeepReadonly<KubeObject> | undefined {
  const scope = table.scopeOf(object);
  return scope === undefined ? undefined : stored(table.kind, scope, object);
}

/** An object as the store of its scope holds it. */
function stored(kind: Kind, scope: ResolvedScope, object: KubeObject): DeepReadonly<KubeObject> {
  const { metadata } = object;
  // A copy, because stored objects are frozen, and a transform may change its argument.
  const whole: KubeObject = mutableCopy(
    kind.shape === 'metadata' ? { apiVersion: kind.apiVersion, kind: kind.kind, metadata } : object,
  );
  if (scope.keepManagedFields !== true) delete whole.metadata.managedFields;
  return deepFreeze(scope.transform === undefined ? whole : transformObject(whole, scope.transform));
}
