import type { Kind } from '@kctl/apimachinery';
import { isNotFound } from '@kctl/apimachinery';
import type { ReadObject, Reader } from '@kctl/client';
import { requireKind } from '@kctl/client/internal';
import type { OptionNames } from '@kctl/options';
import { functionOption, optionWithMethods, requireOptions } from '@kctl/options';
import type { ObjectStep } from '../finalizer/finalizing.js';
import type { ReconcileFunction, ReconcileRequest } from '../reconciler/reconciler.js';
import { keyFor } from '../reconciler/key-for.js';
import { requireFunction } from '../event/required.js';

/** Options of {@link asReconciler}. */
export interface ObjectReconcilerOptions<K extends Kind> {
  readonly client: Pick<Reader, 'get'>;
  readonly kind: K;
  readonly reconcile: ObjectStep<K>;
  /** Called for an object that does not exist. @default nothing */
  readonly onMissing?: (request: ReconcileRequest) => void;
}

const optionNames: OptionNames<ObjectReconcilerOptions<never>> = {
  client: optionWithMethods(['get'], 'a client, such as manager.client'),
  kind: true,
  reconcile: true,
  onMissing: functionOption,
};

/**
 * A reconciler that is handed the object instead of its key. An object that does not exist is a success
 * without calling it. Mirrors `reconcile.AsReconciler`.
 *
 * @throws TypeError when an option is not valid
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { asReconciler, createController } from '@kctl/controller';
 *
 * const controller = createController({
 *   name: 'settings',
 *   reconciler: asReconciler({
 *     client,
 *     kind: ConfigMap,
 *     reconcile: async ({ metadata, data }) => console.log(metadata.name, data?.['colour']),
 *   }),
 * });
 * ```
 */
export function asReconciler<K extends Kind>(options: ObjectReconcilerOptions<K>): ReconcileFunction {
  requireOptions('asReconciler', options, optionNames);
  const { client, kind, reconcile, onMissing } = options;
  requireKind('asReconciler', kind);
  requireFunction('asReconciler', 'reconcile', reconcile);
  return async (request, context) => {
    let object: ReadObject<K>;
    try {
      object = await client.get(kind, keyFor(kind, request), { signal: context.signal });
    } catch (error) {
      if (isNotFound(error)) {
        onMissing?.(request);
        return {};
      }
      throw error;
    }
    return await reconcile(object, context);
  };
}
