import type { Kind } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { ReconcileFunction, Reconciler } from '@kctl/controller';
import { terminalError } from '@kctl/controller';

/**
 * Fails requests that are only a name, without retrying them. The types promise a namespace, and the compiler alone
 * cannot check the keys that a handler or a raw source queues.
 */
export function requireNamespace<R>(kind: Kind, reconciler: Reconciler<R>): Reconciler<R> {
  const guard =
    (reconcile: ReconcileFunction<R>): ReconcileFunction<R> =>
    (request, context) =>
      isNameAlone(request)
        ? Promise.reject(terminalError(missingNamespace(kind, request)))
        : reconcile(request, context);
  if (typeof reconciler === 'function') return guard(reconciler);
  if (typeof reconciler?.reconcile !== 'function') return reconciler; // the controller refuses it; guarded it would not
  const onError = reconciler.onError?.bind(reconciler);
  const reconcile = guard((request, context) => reconciler.reconcile(request, context));
  return onError === undefined ? { reconcile } : { reconcile, onError };
}

function isNameAlone(request: unknown): request is { readonly name: unknown } {
  if (typeof request !== 'object' || request === null || !('name' in request)) return false;
  if ('namespace' in request && request.namespace !== undefined && request.namespace !== '') return false;
  for (const field in request) if (field !== 'name' && field !== 'namespace') return false;
  return true;
}

function missingNamespace(kind: Kind, request: { readonly name: unknown }): TypeError {
  return new TypeError(
    `the request ${JSON.stringify(request)} does not identify an object of ${formatGroupKind(kind)}: it has no namespace. Does a handler of watches(), or a raw source, omit it?`,
  );
}
