import type { Kind } from '@kctl/apimachinery';
import { isNotFound } from '@kctl/apimachinery';
import type { ReadObject, Reader } from '@kctl/client';
import type { ObjectStep } from './finalizer/finalizing.js';
import type { ReconcileFunction } from './reconciler.js';
import { keyFor } from './key-for.js';

/** Options of {@link asReconciler}. */
export interface ObjectReconcilerOptions<K extends Kind> {
  readonly client: Pick<Reader, 'get'>;
  readonly kind: K;
  readonly reconcile: ObjectStep<K>;
}

/**
 * A reconciler that is handed the object instead of its key. An object that does not exist is a success
 * without calling it. Mirrors `reconcile.AsReconciler`.
 */
export function asReconciler<K extends Kind>(options: ObjectReconcilerOptions<K>): ReconcileFunction {
  const { client, kind, reconcile } = options;
  return async (request, context) => {
    let object: ReadObject<K>;
    try {
      object = await client.get(kind, keyFor(kind, request), { signal: context.signal });
    } catch (error) {
      if (isNotFound(error)) return {};
      throw error;
    }
    return await reconcile(object, context);
  };
}
